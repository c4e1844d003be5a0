"""The explorer in a real browser, on a desktop and on a phone; `make browser` runs these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.pages import (
    CATEGORY,
    CHROMIUM,
    COLUMN,
    DRIVER,
    IMAGE,
    LINK,
    SCRIPT,
    TITLE,
    Key,
    Model,
    browsing,
    create_large,
    create_pets,
)
from tests.serving.running import serving

from chmcnn.serving import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'chmcnn[browser]'")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium and its driver are not installed")

WIDTHS = {"desktop": 1280, "phone": 390}
LONGEST = 60.0
"""Seconds to wait for what must come; nothing here depends on how long it takes."""


@pytest.fixture(scope="module")
def pets() -> Model:
    return create_pets()


@pytest.fixture(scope="module")
def large() -> Model:
    return create_large()


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
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

    def __init__(self, driver: Any, width: int, address: str) -> None:
        self.driver = driver
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get_log("browser")  # what another page said
        driver.get("about:blank")
        driver.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)", selector
        )
        return found

    def wait(self, is_there: Callable[[Page], object]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self, LONGEST, 0.02).until(is_there)  # type: ignore[type-var]  # it only passes the page on

    def wait_for(self, heading: str) -> None:
        self.wait(lambda page: page.texts("#explorer h2") == [heading])

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def search(self, text: str, first: str) -> None:
        self.press("/", text)
        self.wait(lambda page: page.texts(".found [aria-selected=true] .label") == [first])

    def focused(self) -> str:
        text: str = self.run("return document.activeElement.textContent")
        return text

    def overflow(self) -> int:
        pixels: int = self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return pixels

    def errors(self) -> list[str]:
        """What the browser complains about: scripts, the content security policy, files that are not there."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(params=WIDTHS)
def visit(request: pytest.FixtureRequest, driver: Any, addresses: dict[str, str]) -> Callable[[str], Page]:
    """Open an explorer at one of the widths."""
    return lambda name: Page(driver, WIDTHS[request.param], addresses[name])


@pytest.mark.parametrize("name", ["service", "report"])
def test_a_class_is_searched_and_its_names_stay_text(visit: Callable[[str], Page], name: str) -> None:
    page = visit(name)
    page.wait(lambda page: page.texts("#explorer h2"))
    page.search("SCRIPT ale", SCRIPT)
    page.press(Key.ENTER)
    page.wait_for(SCRIPT)
    assert sorted(page.texts(".crumbs .label")) == [IMAGE, "Any animal", LINK], "one class with three parents"
    assert sorted(page.texts(".lineage .node .label")) == sorted(["Any animal", IMAGE, LINK, SCRIPT])
    assert len(page.texts(".lineage path")) == 3
    page.find(f".crumbs a[title='{LINK}']").click()
    page.wait_for(LINK)
    assert page.texts(".children .label") == [SCRIPT]
    assert page.run("return document.querySelectorAll('#explorer script, #explorer img, #explorer b').length") == 0
    assert (page.overflow(), page.errors()) == (0, [])


@pytest.mark.parametrize("name", ["service", "report"])
def test_keys_walk_up_and_down(visit: Callable[[str], Page], name: str) -> None:
    page = visit(name)
    page.wait(lambda page: page.texts("#explorer h2"))
    page.search("any", "Any animal")
    page.press("zzz")
    page.wait(lambda page: page.texts(".found .more") == ["No class has these words"])
    page.press(Key.ESCAPE)
    assert not page.find(".found").is_displayed()
    page.search("anim", "Any animal")
    page.press(Key.ENTER)
    page.wait_for("Any animal")
    first, second = page.texts(".children .label")
    page.press(Key.DOWN, Key.DOWN)
    assert page.focused().startswith(second)
    page.press(Key.UP)
    assert page.focused().startswith(first)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press(Key.RIGHT)
    page.wait_for(first)
    above = page.texts(".crumbs .label")[0]
    page.press(Key.LEFT)
    page.wait_for(above)
    assert page.errors() == []


def test_a_class_has_its_rows_measures_curve_and_delegates(visit: Callable[[str], Page], pets: Model) -> None:
    found = {}
    for name in ("service", "report"):
        page = visit(name)
        page.wait(lambda page: page.texts("#explorer h2"))
        page.search("any", "Any animal")
        page.find(".found [role=option]").click()
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
    page.wait(lambda page: page.texts("#explorer h2"))
    page.find("nav a[href='#/predict']").click()
    page.wait_for("Predict")
    assert page.texts(".field label") == ["size", COLUMN, "day", "note"]
    assert [page.find(f"#explorer-field-{at}").tag_name for at in range(4)] == ["input", "select", "input", "textarea"]
    page.find("#explorer-field-0").send_keys("big")
    page.find(".form .main").click()
    page.wait(lambda page: page.texts(".problem")[-1].startswith("size is big; expected a number"))
    page.find("#explorer-field-0").clear()
    page.find("#explorer-field-0").send_keys("-3.2")
    page.find("#explorer-field-1").send_keys(CATEGORY[:3])
    page.find("#explorer-field-3").send_keys("seen in the park")
    page.find(".form .main").click()
    page.wait(lambda page: page.texts(".outline .name .label"))
    assert {"Any animal", IMAGE, TITLE} <= set(page.texts(".outline .name .label"))
    assert len(page.texts(".outline .name .label")) == len(set(page.texts(".outline .name .label"))), "each class once"
    assert any(text.startswith("also below ") or " also below " in text for text in page.texts(".outline .notes"))
    slider = page.find("[type=range]")
    slider.send_keys(Key.END)
    assert page.texts(".told") == ["No class reaches the threshold."]
    assert page.texts("output") == ["1.00"]
    slider.send_keys(Key.HOME)
    assert len(page.texts(".outline .name .label")) >= 3
    assert (page.overflow(), page.errors()) == (0, [])


def test_pasted_rows_are_predicted_and_wrong_ones_named(visit: Callable[[str], Page]) -> None:
    page = visit("service")
    page.wait(lambda page: page.texts("#explorer h2"))
    page.run("location.hash = '#/predict'")
    page.wait_for("Predict")
    page.find(".ways button:last-child").click()
    text = page.find("textarea[aria-label='Rows as CSV or JSON']")
    for pasted, told in (
        (f"size,{COLUMN},day\n1,south,2026-01-01", "rows.csv: there is no column 'note'"),
        ("[1, 2", "This is not JSON"),
        ('{"size": "x"}', f"rows[0] has no '{COLUMN}'"),
    ):
        text.clear()
        page.run("arguments[0].value = arguments[1]", text, pasted)
        page.find("form:not([hidden]) .main").click()
        page.wait(lambda page, told=told: page.texts(".problem")[-1].startswith(told))  # type: ignore[misc]
    page.run("arguments[0].value = arguments[1]", text, f"size,{COLUMN},day,note\n3,south,2026-01-01,a\n-3,south,,b\n")
    page.find("form:not([hidden]) .main").click()
    page.wait(lambda page: page.texts(".rowchoice option") == ["0", "1"])
    assert page.texts(".told")[0].endswith("decided by a class below")


def test_a_report_shows_examples_and_a_table_of_all_classes(visit: Callable[[str], Page]) -> None:
    page = visit("report")
    page.wait(lambda page: page.texts("#explorer h2"))
    page.find("nav a[href='#/examples']").click()
    page.wait_for("Examples")
    assert set(page.texts(".outline .verdict")) <= {"✓ right", "✗ wrong", "○ missed"}
    assert page.texts(".graph .node .label")
    page.find("nav a[href='#/table']").click()
    page.wait_for("All classes")
    assert page.texts("#explorer thead button")[:3] == ["class", "title", "level"]
    page.find("#explorer thead button").click()
    assert page.texts("#explorer tbody th") == sorted(["animal", "cat", IMAGE, LINK, SCRIPT])
    assert page.texts("#explorer [aria-sort=ascending]") == ["class"]
    assert (page.overflow(), page.errors()) == (0, [])


@pytest.mark.parametrize("name", ["large service", "large report"])
def test_45000_classes_are_searched_and_walked(visit: Callable[[str], Page], name: str, large: Model) -> None:
    hierarchy = large.model.hierarchy_
    page = visit(name)
    page.wait(lambda page: page.texts("#explorer h2"))
    assert "45,000 classes" in page.texts("#explorer header p")[0]
    page.search("c0", hierarchy.classes[0])
    assert page.texts(".found .more")[0].endswith("more: add a word")
    page.press(Key.BACKSPACE, Key.BACKSPACE, "44999")
    page.wait(lambda page: page.texts(".found .label") == ["c44999"])
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
    page.find(".children button").click()
    page.wait(lambda page: len(page.texts(".children .label")) == min(children, 100))
    assert (page.overflow(), page.errors()) == (0, [])


def test_45000_classes_are_predicted(visit: Callable[[str], Page]) -> None:
    page = visit("large service")
    page.wait(lambda page: page.texts("#explorer h2"))
    page.run("location.hash = '#/predict'")
    page.wait_for("Predict")
    page.find("form .main").click()
    page.wait(lambda page: page.texts(".problem")[-1] == "Paste a row first.")
    page.find("form textarea").send_keys("0.5, 1.5, -1")
    page.find("form .main").click()
    page.wait(lambda page: page.texts(".outline .name .label"))
    page.find("[type=range]").send_keys(Key.HOME)
    shown = page.texts(".outline .name .label")
    assert 1 < len(shown) <= 401
    assert len(set(shown)) == len(shown)
    assert (page.overflow(), page.errors()) == (0, [])


def test_a_token_is_asked_for_and_kept_in_the_page_only(driver: Any, pets: Model) -> None:
    with serving(create_app(pets.model, token="a-secret")) as place:  # noqa: S106 -- of this test
        page = Page(driver, 390, f"{place}/")
        page.wait(lambda page: page.texts(".token h2"))
        page.press("wrong", Key.ENTER)
        page.wait(lambda page: page.texts(".token .problem") == ["This token is not valid."])
        page.press("a-secret", Key.ENTER)
        page.wait(lambda page: "5 classes" in "".join(page.texts("#explorer header p")))
        stored = page.run("return [localStorage.length, sessionStorage.length, document.cookie, location.href]")
        assert stored == [0, 0, "", f"{place}/"]


def test_dark_mode_and_print(driver: Any, addresses: dict[str, str]) -> None:
    page = Page(driver, 1280, addresses["service"])
    page.wait(lambda page: page.texts("#explorer h2"))
    look = """const [body, bar] = ["body", ".bar-top"].map(each => getComputedStyle(document.querySelector(each)));
              return [body.backgroundColor, bar.display];"""
    seen = []
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    for media in ({}, {"features": dark}, {"media": "print", "features": dark}):
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        seen.append(page.run(look))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert seen == [["rgb(255, 255, 255)", "flex"], ["rgb(20, 24, 29)", "flex"], ["rgb(255, 255, 255)", "none"]]


def test_a_report_opens_at_a_class(driver: Any, addresses: dict[str, str], tmp_path: Path) -> None:
    page = Page(driver, 1280, f"{addresses['report']}#/class/cat")
    page.wait_for(TITLE)
    page.run("location.hash = '#/class/unknown'")
    page.wait(lambda page: page.texts(".problem")[0] == "There is no class unknown.")
    page.run("location.hash = '#/class/cat'")
    page.wait(lambda page: not page.find(".problem").is_displayed())
    assert page.errors() == []
    assert list(tmp_path.iterdir()) == []
