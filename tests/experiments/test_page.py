"""The page that a reader checks the paper with, as text; `test_browser.py` looks at it."""

import re
from html.parser import HTMLParser
from itertools import pairwise

from tests.experiments.example import DATASETS, FACTS, SYSTEMS, by_name, sections

from chmcnn.experiments.page import page
from chmcnn.experiments.section import Check, Section

SHOWN = page(by_name(), versions=FACTS)


class Tags(HTMLParser):
    """All tags that open and close, refused if they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))
        if tag not in {"meta", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_tag_is_closed_and_every_id_is_there_once() -> None:
    tags = Tags(SHOWN)
    assert tags.open == []
    ids = [attributes["id"] for _, attributes in tags.all if "id" in attributes]
    assert len(ids) == len(set(ids)) == 8


def test_the_top_counts_what_agrees_and_tells_each_check() -> None:
    text = " ".join(re.sub("<[^>]*>", "", SHOWN.split("Contents")[0]).split())
    assert (
        "3 of 5 experiments have results, 2 have not been run. Of the results, 3 of 4 comparisons agree with the paper."
        in text
    )
    assert "2 experiments have not been run." in text
    top = SHOWN.split("<nav")[0]
    assert top.count("✓ yes") == 3
    assert top.count("✗ no") == 1
    assert top.count('href="#table2"') == 3


def test_sections_have_all_that_is_said_of_them() -> None:
    for section in sections():
        assert f'<h2 id="{section.name}">{section.title}</h2>' in SHOWN
        assert f"<code>{section.command}</code>" in SHOWN
    for text in (
        *DATASETS,
        *SYSTEMS,
        "1,234,567",
        "0.981",
        "One is a tie.",
        "A dash: no result.",
        "No rows.",
    ):
        assert f">{text}<" in SHOWN
    assert "nan" not in SHOWN.split("<body>")[1].split("<figure>")[0]


def test_what_was_not_run_is_told_with_its_command_and_the_foot_tells_versions() -> None:
    assert "<li>table3: <code>chmcnn reproduce table3</code></li>" in SHOWN
    assert '<th scope="row">torch</th><td>2.7.1+cpu</td>' in SHOWN


def test_texts_are_never_taken_as_markup() -> None:
    assert [tag for tag, _ in Tags(SHOWN).all if tag in {"script", "b", "i"}] == ["script"], "our own"
    assert SHOWN.count("&lt;script&gt;alert") == 3


def test_it_needs_nothing_else_and_has_the_form_of_a_document() -> None:
    tags = Tags(SHOWN).all
    assert ("html", {"lang": "en"}) in tags
    assert "http" not in SHOWN
    assert "<button" not in SHOWN, "heads are buttons only where JavaScript runs"
    for tag, attributes in tags:
        assert tag != "link"
        assert tag != "img" or (attributes["alt"] and str(attributes["src"]).startswith("data:image/png;base64,"))
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_a_page_without_results_and_one_where_all_agrees() -> None:
    empty = page({"table3": None}, versions={})
    assert "1 experiment has not been run." in empty
    assert "with the paper" not in empty
    check = Check("a", "1", "1", agrees=True)
    whole = page({"one": Section("one", "One", "", "chmcnn reproduce one", (check,))}, versions={})
    assert "<strong>1 of 1 experiments has results: 1 of 1 comparisons agrees with the paper.</strong>" in whole
    assert "not-run" not in whole


def test_goals_are_counted_apart_from_figures_of_the_paper() -> None:
    checks = (Check("a", "1", "1", agrees=True), Check("speed", "100 or more", "99", agrees=False, goal=True))
    shown = page({"one": Section("one", "One", "", "chmcnn reproduce one", checks)}, versions={})
    assert "1 of 1 comparisons agrees with the paper, 0 of 1 goals is reached." in shown
    assert "<td>goal: 100 or more</td><td>99</td>" in shown
    assert "A goal of this project, not a result of the paper: 100 or more; ours: 99. Reached: " in shown
