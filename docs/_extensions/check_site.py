"""Check the built pages: each link inside the site has a target, and a page loads nothing from elsewhere.

python docs/_extensions/check_site.py build/docs
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser fetches by itself, by tag."""


class Page(HTMLParser):
    """The links, the targets and the loaded files of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.targets: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the attributes of a tag name."""
        found = {key: value for key, value in attrs if value}
        self.targets.update(found[key] for key in ("id", "name") if key in found)
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") not in {"canonical", "next", "prev"}:
            self.loaded.add(found[LOADED[tag]])


def check(folder: Path) -> list[str]:
    """Return what is wrong, one line each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in _find_pages(folder)}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        faults += [f"{name} loads {each} from elsewhere" for each in page.loaded if urlsplit(each).netloc]
        inside = {each for each in page.links | page.loaded if not urlsplit(each).netloc and not urlsplit(each).scheme}
        faults += [f"{name} links to {each}, which does not exist" for each in inside if not _exists(each, path, pages)]
    return sorted(faults)


def _find_pages(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]  # those are the theme's


def _exists(link: str, source: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if target in pages and parts.fragment:
        return unquote(parts.fragment) in pages[target].targets
    return target.exists()


if __name__ == "__main__":
    found = check(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(found) if found else 0)
