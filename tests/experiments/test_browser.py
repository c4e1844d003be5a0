"""The page in a real browser, on a desktop, on a phone and on paper, where Chromium is installed."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.browser import CHROMIUM, show
from tests.experiments.example import FACTS, by_name

from chmcnn.experiments import registry
from chmcnn.experiments.page import page

WIDTHS = {"desktop": 1200, "phone": 390, "paper": 718, "results": 1200, "results on a phone": 390}
"""In pixels; paper is A4 between margins of a centimetre. Results are those of this repository, others are invented."""
RESULTS = Path(__file__).parents[2] / "results"
LISTENING = "<script>errors = []; onerror = message => { errors.push(message) };</script>"
LOOKING = """
const found = {};
for (const frame of document.querySelectorAll("iframe")) {
  const [window, page] = [frame.contentWindow, frame.contentDocument], style = window.getComputedStyle;
  const [real, invented] = ["table3", "figure2"].map(name => page.querySelector(`#${name}-table-1 + div table`));
  const table = real || invented;
  const head = table.tHead.rows[0].cells[1];
  const click = () => {
    head.querySelector("button").click();
    return [head.getAttribute("aria-sort"), ...[...table.tBodies[0].rows].map(row => row.cells[1].textContent)];
  };
  found[frame.id] = {
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    pictures: [...page.images].map(image => image.naturalWidth > 0),
    fetched: window.performance.getEntriesByType("resource").map(each => each.name).filter(name => name[4] !== ":"),
    font: Math.min(...[...page.querySelectorAll("td, p, li")].map(each => parseFloat(style(each).fontSize))),
    link: style(page.querySelector("a")).color,
    cut: [...page.querySelectorAll("#table1-table-1 + div")].map(each => each.scrollWidth - each.clientWidth),
    long: [...page.querySelectorAll(".long")].map(each => each.offsetWidth),
    once: click(), twice: click(), sorted: table.querySelectorAll("[aria-sort]").length,
    last: table.rows[table.rows.length - 1].cells[0].textContent,
    dangling: [...page.querySelectorAll("a")].filter(link => !page.getElementById(link.hash.slice(1))).length,
    errors: window.errors,
  };
}
document.body.textContent = JSON.stringify(found);
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a script sees of the page in frames of each width: windows themselves cannot be as narrow as a phone."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    shown = page(by_name(), versions=FACTS).replace("<head>", f"<head>{LISTENING}")
    real = {name: registry.read_section(name, RESULTS) for name in registry.EXPERIMENTS}
    ours = page(real, versions=registry.read_versions(RESULTS)).replace("<head>", f"<head>{LISTENING}")
    pages = {"paper": shown.replace("@media print", "@media all"), "results": ours, "results on a phone": ours}
    frames = "".join(
        f'<iframe id="{name}" width="{width}" srcdoc="{html.escape(pages.get(name, shown))}"></iframe>'
        for name, width in WIDTHS.items()
    )
    file = tmp_path_factory.mktemp("browser") / "page.html"
    file.write_text(f"<!doctype html><body>{frames}<script>onload = () => {{{LOOKING}}}</script>", encoding="utf-8")
    shown = show(file, "--hide-scrollbars")
    body = re.search("<body>(.*)</body>", shown, re.DOTALL)
    assert body, shown[:1000]
    read: dict[str, Any] = json.loads(html.unescape(body[1]))
    return read


@pytest.mark.parametrize("name", WIDTHS)
def test_nothing_but_tables_scrolls_sideways(found: dict[str, Any], name: str) -> None:
    assert found[name]["overflow"] == 0


@pytest.mark.parametrize("name", WIDTHS)
def test_it_works_without_errors_and_without_a_network(found: dict[str, Any], name: str) -> None:
    assert found[name]["errors"] == []
    assert found[name]["fetched"] == []
    assert set(found[name]["pictures"]) == {True}
    assert found[name]["dangling"] == 0


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_a_click_on_a_head_sorts_by_number_and_another_one_the_other_way(found: dict[str, Any], name: str) -> None:
    assert found[name]["once"] == ["ascending", "500", "20,000", "1,234,567", "-"]
    assert found[name]["twice"] == ["descending", "1,234,567", "20,000", "500", "-"], "what is not known stays last"
    assert found[name]["sorted"] == 1


@pytest.mark.parametrize("name", ["results", "results on a phone"])
def test_means_stay_last_and_words_have_room(found: dict[str, Any], name: str) -> None:
    assert found[name]["once"][0] == "ascending"
    assert found[name]["once"][1:] == found[name]["twice"][:0:-1]
    assert found[name]["last"] == "mean"
    assert min(found[name]["long"]) >= 240
    if name == "results":
        assert found[name]["cut"] == [0], "all of table 1 is seen"


def test_letters_are_large_enough_and_links_are_not_blue_on_paper(found: dict[str, Any]) -> None:
    assert found["desktop"]["font"] >= 13
    assert found["phone"]["font"] >= 13
    assert found["paper"]["font"] >= 10, "7.5 pt"
    assert found["desktop"]["link"] == "rgb(31, 90, 148)"
    assert found["paper"]["link"] == "rgb(34, 34, 34)"
