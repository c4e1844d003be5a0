"""The explorer in a browser: ``python -m benchmarks.explorer``. It needs Chromium and its driver.

Draws docs/images/explorer.png, and measures pages of the handwritten digits and of 45,000 classes.
"""

import io
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tests.explorer.driver import Browser, Key, browsing

from benchmarks.markdown import table
from benchmarks.measure import load, save
from chmcnn import CHMCNNClassifier, datasets
from chmcnn.datasets import Dataset, Table
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.evaluation import evaluate
from chmcnn.report.training_page import Origin, page

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "explorer.png"
CLASSES, EDGES, DEPTH, LABELS = 45_000, 70_000, 12, 20
COMMAND = "python -m benchmarks.explorer"
CHOOSE = """
for (const each of document.querySelectorAll("body > :not(#explorer)")) each.remove();
const choice = document.querySelector(".rowchoice select");
if (choice) {
  const sizes = [...choice.options].map((_, at) => {
    choice.selectedIndex = at;
    choice.dispatchEvent(new Event("change"));
    return document.querySelectorAll(".outline .verdict").length + (at > 0);
  });
  choice.selectedIndex = sizes.indexOf(Math.max(...sizes));
  choice.dispatchEvent(new Event("change"));
}
"""
"""Leave the explorer alone in the page, and show the row with most classes."""
WORDS = ("regulation", "of", "the", "binding", "transport", "process", "cell", "activity", "response", "membrane")


def main() -> None:
    """Draw the picture, measure the pages, and write results/explorer.json."""
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        digits, large = (Path(folder, name) for name in ("digits.html", "large.html"))
        digits.write_text(create_page(datasets.load("digits"), epochs=15), encoding="utf-8")
        draw(browser, digits)
        large.write_text(create_page(draw_large(), epochs=1), encoding="utf-8")
        rows = [measure(browser, digits, "curve"), measure(browser, large, "c44999")]
    print(save("explorer", COMMAND, rows))


def report() -> str:
    """Return the table of the guide."""
    content = load("explorer")
    header = ["classes", "report", "of it the explorer", "until it can be used", "a search", "a class"]
    cells = [
        [f"{row['classes']:,}", f"{row['report MB']:.1f} MB", f"{row['explorer MB']:.1f} MB"]
        + [f"{row[name]:.0f} ms" for name in ("open ms", "search ms", "class ms")]
        for row in content["rows"]
    ]
    return table(header, cells) + f"\nMeasured by `{content['command']}` in Chromium, by the clock.\n"


def draw_large() -> Dataset:
    """Draw rows of 45,000 classes with titles, each row with many of them."""
    random = np.random.default_rng(0)
    hierarchy = random_hierarchy(CLASSES, edges=EDGES, depth=DEPTH)
    titles = {name: " ".join(random.choice(WORDS, 5)) for name in hierarchy.classes}
    hierarchy = hierarchy.with_titles(titles)

    def draw_rows(rows: int) -> Table:
        labels = hierarchy.encode_sparse([set(random.choice(hierarchy.classes, LABELS)) for _ in range(rows)])
        return Table(random.normal(size=(rows, 5)), labels, hierarchy)

    return Dataset("large", draw_rows(500), draw_rows(100), draw_rows(1500))


def create_page(data: Dataset, epochs: int) -> str:
    """Return the report of a model of a data set."""
    model = CHMCNNClassifier(data.hierarchy, epochs=epochs, random_state=0, threshold="tune")
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    evaluation = evaluate(model, data.test.X, data.test.Y, f"test part of {data.name}", repeats=1)
    return page(model, data.train, evaluation, Origin(title=f"chmcnn: {data.name}", facts={}, command=COMMAND))


def measure(browser: Browser, file: Path, name: str) -> dict[str, Any]:
    """Return the size of a report, and the time until its explorer shows what it is asked for."""
    browser.resize(1280)
    browser.visit("about:blank")
    opened = _time(browser, lambda: browser.order("url", url=file.as_uri()), lambda: browser.texts("#explorer h2"))
    classes = browser.run("return document.querySelector('#explorer header p').textContent").split()[0]
    found = _time(browser, lambda: browser.press("/", name), lambda: browser.texts(".found .id, .found .label"))
    shown = _time(browser, lambda: browser.press(Key.ENTER), lambda: browser.texts(".lineage, .crumbs, .children"))
    text = file.read_text(encoding="utf-8")
    data = text.partition('id="explorer-data">')[2].partition("<")[0]
    return {
        "classes": int(classes.replace(",", "")),
        "report MB": len(text.encode()) / 1e6,
        "explorer MB": len(data) / 1e6,
        "open ms": opened,
        "search ms": found,
        "class ms": shown,
    }


def _time(browser: Browser, act: Callable[[], object], is_there: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    browser.wait(is_there)
    return (time.perf_counter() - start) * 1e3


def draw(browser: Browser, file: Path) -> None:
    """Draw a class, and a row with its answer, side by side."""
    browser.resize(760, 1000)
    shots = []
    for place, kind in (("#/class/5", ".curve"), ("#/examples", ".graph")):
        browser.visit(f"{file.as_uri()}{place}")
        browser.wait(lambda kind=kind: browser.texts(kind))  # type: ignore[misc]
        browser.run(CHOOSE)
        box = browser.run("return document.getElementById('explorer').getBoundingClientRect().toJSON()")
        clip = {"x": box["x"] - 12, "y": box["y"] - 12, "width": box["width"] + 24, "height": 900, "scale": 1.4}
        options = {"clip": clip, "captureBeyondViewport": True}
        shots.append(Image.open(io.BytesIO(b64decode(browser.control("Page.captureScreenshot", **options)["data"]))))
    whole = Image.new("RGB", (sum(shot.width for shot in shots), max(shot.height for shot in shots)), "white")
    whole.paste(shots[0], (0, 0))
    whole.paste(shots[1], (shots[0].width, 0))
    whole.quantize(256).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
