"""The explorer in a real browser, on a desktop and on a phone; `make browser` runs these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.browser import CHROMIUM
from tests.explorer.driver import DRIVER, Browser, Key, browsing
from tests.explorer.pages import CATEGORY, COLUMN, IMAGE, LINK, SCRIPT, TITLE, Model, create_large, create_pets
from tests.serving.running import serving

from chmcnn.serving import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium and its driver are not installed"),
]

WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def pets() -> Model:
    return create_pets()


@pytest.fixture(scope="module")
def large() -> Model:
    return create_large()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def addresses(pets: Model, large: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where the explorers are: two services and two reports."""
    folder = tmp_path_factory.mktemp("reports")
    files = {"report": pets.report, "large report": large.report}
    for name, content in files.items():
        (folder / f"{name}.html").write_text(content, encoding="utf-8")
    with (
        serving(create_app(pets.model, facts=pets.facts)) as service,
        serving(create_app(large.model, facts=large.facts)) as other,
    ):
        places = {name: (folder / f"{name}.html").as_uri() for name in files}
        yield {"service": f"{service}/", "large service": f"{other}/", **places}


class Page:
    """An explorer in the browser."""

    def __init__(self, browser: Browser, width: int, address: str) -> None:
        self.browser, self.texts, self.press, self.run = browser, browser.texts, browser.press, browser.run
        self.click, self.type, self.wait = browser.click, browser.type, browser.wait
        browser.resize(width)
        browser.visit(address)
        self.wait(lambda: self.texts("#explorer h2"))

    def wait_for(self, heading: str) -> None:
        """Wait until a view has this heading."""
        self.wait(lambda: self.texts("#explorer h2") == [heading])

    def search(self, text: str, first: str) -> None:
        """Search, from wherever the focus is."""
        self.press("/", text)
        self.wait(lambda: self.texts(".found [aria-selected=true] .label") == [first])

    def is_shown(self, selector: str) -> bool:
        shown: bool = self.run("return document.querySelector(arguments[0]).checkVisibility()", selector)
        return shown

    def check(self) -> None:
        """Nothing is out of sight, and the browser does not complain."""
        beyond = self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert (beyond, self.browser.read_log()) == (0, [])


@pytest.fixture(params=WIDTHS)
def visit(request: pytest.FixtureRequest, browser: Browser, addresses: dict[str, str]) -> Callable[[str], Page]:
    """Open an explorer at one of the widths."""
    return lambda name: Page(browser, WIDTHS[request.param], addresses[name])


@pytest.mark.parametrize("name", ["service", "report"])
def test_a_class_is_searched_and_its_names_stay_text(visit: Callable[[str], Page], name: str) -> None:
    page = visit(name)
    page.search("SCRIPT ale", SCRIPT)
    page.press(Key.ENTER)
    page.wait_for(SCRIPT)
    assert sorted(page.texts(".crumbs .label")) == [IMAGE, "Any animal", LINK], "one class with three parents"
    assert sorted(page.texts(".lineage .node .label")) == sorted(["Any animal", IMAGE, LINK, SCRIPT])
    assert len(page.texts(".lineage path")) == 3
    page.click(f".crumbs a[title='{LINK}']")
    page.wait_for(LINK)
    assert page.texts(".children .label") == [SCRIPT]
    assert page.run("return document.querySelectorAll('#explorer script, #explorer img, #explorer b').length") == 0
    page.check()


@pytest.mark.parametrize("name", ["service", "report"])
def test_keys_walk_up_and_down(visit: Callable[[str], Page], name: str) -> None:
    page = visit(name)
    page.search("any", "Any animal")
    page.press("zzz")
    page.wait(lambda: page.texts(".found .more") == ["No class has these words"])
    page.press(Key.ESCAPE)
    assert not page.is_shown(".found")
    page.search("anim", "Any animal")
    page.press(Key.ENTER)
    page.wait_for("Any animal")
    first, second = page.texts(".children .label")
    page.press(Key.DOWN, Key.DOWN)
    assert page.run("return document.activeElement.textContent").startswith(second)
    page.press(Key.UP)
    assert page.run("return document.activeElement.textContent").startswith(first)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press(Key.RIGHT)
    page.wait_for(first)
    above = page.texts(".crumbs .label")[0]
    page.press(Key.LEFT)
    page.wait_for(above)
    page.check()


def test_a_class_has_its_rows_measures_curve_and_delegates(visit: Callable[[str], Page], pets: Model) -> None:
    found = {}
    for name in ("service", "report"):
        page = visit(name)
        page.search("any", "Any animal")
        page.click(".found [role=option]")
        page.wait_for("Any animal")
        found[name] = (
            page.texts(".stats dt"),
            page.texts(".stats dd"),
            page.texts(".card h3"),
            page.texts(".card .label"),
        )
        assert page.run("return document.querySelector('.curve polyline').points.length") == 21
    assert found["service"] == found["report"], "both show the same"
    at = pets.model.hierarchy_.index("animal")
    assert found["service"][1][:3] == [
        str(pets.facts.rows[at]),
        str(pets.facts.test_rows[at]),
        f"{pets.facts.auprc[at]:.3f}",
    ]
    assert {"Children 2", "Precision and recall", "Who decides its score"} <= set(found["service"][2])


def test_a_row_is_predicted_and_the_threshold_changes_the_answer(visit: Callable[[str], Page]) -> None:
    page = visit("service")
    page.click("nav a[href='#/predict']")
    page.wait_for("Predict")
    assert page.texts(".field label") == ["size", COLUMN, "day", "note"]
    assert page.run("return [...document.querySelectorAll('.field > :nth-child(2)')].map(each => each.localName)") == [
        *("input", "select", "input", "textarea"),
    ]
    page.type("#explorer-field-0", "big")
    page.click(".form .main")
    page.wait(lambda: page.texts(".problem")[-1].startswith("size is big; expected a number"))
    page.browser.put("#explorer-field-0", "-3.2")
    page.type("#explorer-field-1", CATEGORY[:3])
    page.type("#explorer-field-3", "seen in the park")
    page.click(".form .main")
    page.wait(lambda: page.texts(".outline .name .label"))
    assert {"Any animal", IMAGE, TITLE} <= set(page.texts(".outline .name .label"))
    assert len(page.texts(".outline .name .label")) == len(set(page.texts(".outline .name .label"))), "each class once"
    assert any(text.startswith("also below ") or " also below " in text for text in page.texts(".outline .notes"))
    page.type("[type=range]", Key.END)
    assert page.texts(".told") == ["No class reaches the threshold."]
    assert page.texts("output") == ["1.00"]
    page.type("[type=range]", Key.HOME)
    assert len(page.texts(".outline .name .label")) >= 3
    page.check()


def test_pasted_rows_are_predicted_and_wrong_ones_named(visit: Callable[[str], Page]) -> None:
    page = visit("service")
    page.run("location.hash = '#/predict'")
    page.wait_for("Predict")
    page.click(".ways button:last-child")
    text = "textarea[aria-label='Rows as CSV or JSON']"
    for pasted, told in (
        (f"size,{COLUMN},day\n1,south,2026-01-01", "rows.csv: there is no column 'note'"),
        ("[1, 2", "This is not JSON"),
        ('{"size": "x"}', f"rows[0] has no '{COLUMN}'"),
    ):
        page.browser.put(text, pasted)
        page.click("form:not([hidden]) .main")
        page.wait(lambda told=told: page.texts(".problem")[-1].startswith(told))  # type: ignore[misc]
    page.browser.put(text, f"size,{COLUMN},day,note\n3,south,2026-01-01,a\n-3,south,,b\n")
    page.click("form:not([hidden]) .main")
    page.wait(lambda: page.texts(".rowchoice option") == ["0", "1"])
    assert " predicted" in page.texts(".told")[0]


def test_a_report_shows_examples_and_a_table_of_all_classes(visit: Callable[[str], Page]) -> None:
    page = visit("report")
    page.click("nav a[href='#/examples']")
    page.wait_for("Examples")
    assert set(page.texts(".outline .verdict")) <= {"✓ right", "✗ wrong", "○ missed"}
    assert page.texts(".graph .node .label")
    page.click("nav a[href='#/table']")
    page.wait_for("All classes")
    assert page.texts("#explorer thead button")[:3] == ["class", "title", "level"]
    page.click("#explorer thead button")
    assert page.texts("#explorer tbody th") == sorted(["animal", "cat", IMAGE, LINK, SCRIPT])
    assert page.texts("#explorer [aria-sort=ascending]") == ["class"]
    page.check()


@pytest.mark.parametrize("name", ["large service", "large report"])
def test_45000_classes_are_searched_and_walked(visit: Callable[[str], Page], name: str, large: Model) -> None:
    hierarchy = large.model.hierarchy_
    page = visit(name)
    assert "45,000 classes" in page.texts("#explorer header p")[0]
    page.search("c0", hierarchy.classes[0])
    assert page.texts(".found .more")[0].endswith("more: add a word")
    page.press(Key.BACKSPACE, Key.BACKSPACE, "44999")
    page.wait(lambda: page.texts(".found .label") == ["c44999"])
    page.press(Key.ENTER)
    page.wait_for("c44999")
    assert page.texts(".crumbs .label") == list(hierarchy.parents("c44999"))
    widest = max(hierarchy.classes, key=lambda each: len(hierarchy.children(each)))
    children = len(hierarchy.children(widest))
    assert children > 50
    page.search(widest, widest)
    page.press(Key.ENTER)
    page.wait_for(widest)
    assert len(page.texts(".children .label")) == 50
    page.click(".children button")
    page.wait(lambda: len(page.texts(".children .label")) == min(children, 100))
    page.check()


def test_45000_classes_are_predicted(visit: Callable[[str], Page]) -> None:
    page = visit("large service")
    page.run("location.hash = '#/predict'")
    page.wait_for("Predict")
    page.click("form .main")
    page.wait(lambda: page.texts(".problem")[-1] == "Paste a row first.")
    page.type("form textarea", "0.5, 1.5, -1")
    page.click("form .main")
    page.wait(lambda: page.texts(".outline .name .label"))
    page.type("[type=range]", Key.HOME)
    shown = page.texts(".outline .name .label")
    assert 1 < len(shown) <= 401
    assert len(set(shown)) == len(shown)
    assert page.texts(".limited:not([hidden])") == ["Only the 500 classes with the highest scores are shown."]
    page.check()


def test_a_token_is_asked_for_and_kept_in_the_page_only(browser: Browser, pets: Model) -> None:
    with serving(create_app(pets.model, token="a-secret")) as place:  # noqa: S106 -- of this test
        page = Page(browser, 390, f"{place}/")
        page.wait(lambda: page.texts(".token h2"))
        page.press("wrong", Key.ENTER)
        page.wait(lambda: page.texts(".token .problem") == ["This token is not valid."])
        page.press("a-secret", Key.ENTER)
        page.wait(lambda: "5 classes" in "".join(page.texts("#explorer header p")))
        stored = page.run("return [localStorage.length, sessionStorage.length, document.cookie, location.href]")
        assert stored == [0, 0, "", f"{place}/"]


def test_dark_mode_and_print(browser: Browser, addresses: dict[str, str]) -> None:
    page = Page(browser, 1280, addresses["service"])
    look = """const [body, bar] = ["body", ".bar-top"].map(each => getComputedStyle(document.querySelector(each)));
              return [body.backgroundColor, bar.display];"""
    seen = []
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    media: dict[str, Any]
    for media in ({}, {"features": dark}, {"media": "print", "features": dark}):
        browser.control("Emulation.setEmulatedMedia", **media)
        seen.append(page.run(look))
    browser.control("Emulation.setEmulatedMedia", media="", features=[])
    assert seen == [["rgb(255, 255, 255)", "flex"], ["rgb(20, 24, 29)", "flex"], ["rgb(255, 255, 255)", "none"]]


def test_a_report_opens_at_a_class(browser: Browser, addresses: dict[str, str]) -> None:
    page = Page(browser, 1280, f"{addresses['report']}#/class/cat")
    page.wait_for(TITLE)
    page.run("location.hash = '#/class/unknown'")
    page.wait(lambda: page.texts(".problem")[0] == "There is no class unknown.")
    page.run("location.hash = '#/class/cat'")
    page.wait(lambda: not page.is_shown(".problem"))
    page.check()
