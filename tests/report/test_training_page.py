"""The page of a model, with few and with many classes."""

import copy
import dataclasses
import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser import CHROMIUM, show

from chmcnn import CHMCNNClassifier, Hierarchy
from chmcnn.datasets import Table
from chmcnn.datasets.synthetic import learnable
from chmcnn.evaluation import Answer, Evaluation, Example, evaluate
from chmcnn.report import class_table, class_tree
from chmcnn.report.page import render
from chmcnn.report.reliability import draw_reliability
from chmcnn.report.training_page import Origin, list_settings, page

ORIGIN = Origin(title="chmcnn: <mine>", facts={"rows": "many"}, command="chmcnn train my.csv --seed 7")
DAY = "86400"
SMALL, LARGE = learnable(rows=80, classes=12, depth=3), learnable(rows=80, classes=90, depth=3)


@pytest.fixture(scope="module")
def models() -> dict[int, tuple[CHMCNNClassifier, Evaluation]]:
    """Return a small and a large model with their evaluations."""
    found = {}
    for data in (SMALL, LARGE):
        model = CHMCNNClassifier(data.hierarchy, epochs=2, widths=[8], random_state=7)
        model.fit(data.train.X, data.train.Y)
        found[len(data.hierarchy)] = model, evaluate(model, data.test.X, data.test.Y, "test", repeats=2)
    return found


@pytest.fixture(scope="module")
def small(models: dict[int, tuple[CHMCNNClassifier, Evaluation]]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", DAY)
        return page(models[12][0], SMALL.train, models[12][1], ORIGIN)


@pytest.fixture(scope="module")
def large(models: dict[int, tuple[CHMCNNClassifier, Evaluation]]) -> str:
    return page(models[90][0], LARGE.train, models[90][1], ORIGIN)


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pictures, which take a second to render."""
    monkeypatch.setattr("chmcnn.report.training_page.inline", lambda _figure: "data:,")


def class_data(html: str) -> dict[str, Any]:
    match = re.search(r'id="class-data">([^<]*)<', html)
    assert match
    found: dict[str, Any] = json.loads(gzip.decompress(b64decode(match[1])))
    return found


def test_the_page_says_how_it_was_made(small: str, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = re.sub(r"<[^>]*>+", " ", small)
    assert "chmcnn train my.csv --seed 7" in text
    assert re.search(r"seed\s+7\b", text)
    assert re.search(r"versions\s+chmcnn \S+, torch \S+, numpy \S+, python \S+", text)
    assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", large)
    assert re.search(r"widths\s+\[8\]", text)
    assert re.search(r"patience\s+10\b", text)  # of the preset
    assert re.search(r"max_minutes\s+none\b", text)
    assert "<mine>" not in small
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert render("training.html", **_values()).count("1970-01-01 00:00 UTC") == 2


def _values() -> dict[str, Any]:
    values: dict[str, Any] = {
        "evaluation": None,
        "titles": {},
        "tree": None,
        "best": [],
        "worst": [],
        "answers": 1,
        "class_data": "",
    }
    return values | {"seed": 0, "settings": {}, "versions": {}, "origin": ORIGIN, "pictures": {"overview": ""}}


def test_two_pages_of_one_day_are_the_same(
    small: str, models: dict[int, tuple[CHMCNNClassifier, Evaluation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", DAY)
    assert page(models[12][0], SMALL.train, models[12][1], ORIGIN) == small


def test_few_classes_are_a_picture_and_many_are_a_tree(small: str, large: str) -> None:
    assert "The hierarchy, and how many rows" in small
    assert "<details" not in small
    assert "The hierarchy, and how many rows" not in large
    assert "<details" in large
    assert "classes below" in large


def test_all_classes_are_in_the_page_with_their_figures(
    large: str, models: dict[int, tuple[CHMCNNClassifier, Evaluation]]
) -> None:
    found, evaluation = class_data(large), models[90][1]
    assert found["header"] == [
        *("class", "level", "training rows", "test rows", "AU(PRC)", "precision", "recall", "F1"),
    ]
    assert {row[0] for row in found["rows"]} == set(LARGE.hierarchy.classes)
    sizes = [row[2] for row in found["rows"]]
    assert sizes == sorted(sizes, reverse=True)
    for name, _, _, rows, area, *_ in found["rows"]:
        each = evaluation.by_class.get(name)
        assert (rows, area) == ((each.rows, round(each.auprc, 3)) if each else (0, None))


def test_the_page_needs_nothing_else(small: str, large: str) -> None:
    for html in (small, large):
        assert "http" not in html
        assert not re.search(r"<script[^>]* src=|<link|@import", html)


@pytest.mark.usefixtures("without_pictures")
def test_a_page_without_an_evaluation(models: dict[int, tuple[CHMCNNClassifier, Evaluation]]) -> None:
    html = page(models[90][0], LARGE.train, None, ORIGIN)
    assert "so the model was not evaluated" in html
    assert class_data(html)["header"] == ["class", "level", "training rows"]


@pytest.mark.usefixtures("without_pictures")
def test_titles_stand_beside_the_names(models: dict[int, tuple[CHMCNNClassifier, Evaluation]]) -> None:
    titles = {name: f"the <title> of {name}" for name in SMALL.hierarchy.classes[1:]}
    model, evaluation = models[12]
    model = copy.copy(model)
    model.hierarchy_ = model.hierarchy_.with_titles(titles)
    html = page(model, SMALL.train, evaluation, ORIGIN)
    last = SMALL.hierarchy.classes[-1]
    title = f"the &lt;title&gt; of {last}"
    assert f'{last} <span class="title" title="{title}">{title}</span>' in html
    found = class_data(html)
    assert found["header"][:2] == ["class", "title"]
    assert {row[0]: row[1] for row in found["rows"]} == {SMALL.hierarchy.classes[0]: "", **titles}


@pytest.mark.usefixtures("without_pictures")
def test_examples_show_right_and_wrong_in_words_and_signs(
    models: dict[int, tuple[CHMCNNClassifier, Evaluation]],
) -> None:
    model, evaluation = models[12]
    a, b, c = SMALL.hierarchy.classes[:3]
    answers = [Answer(a, 0.9, "right"), Answer(b, 0.8, "wrong"), Answer(c, 0.1, "missed")]
    example = Example("YAL001C", 0.5, answers + [Answer(c, 0.05, "missed")] * 12, {"right": 4})
    html = page(model, SMALL.train, dataclasses.replace(evaluation, examples=[example]), ORIGIN)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))
    for expected in (
        f"YAL001C F1 0.50 {a} 0.90 ✓ right {b} 0.80 ✗ wrong {c} 0.10 ○ missed",
        "and more: 3 missed",
        "Their ancestors: 4 right",
    ):
        assert expected in text


def test_a_tree_keeps_the_largest_classes() -> None:
    hierarchy = Hierarchy.from_paths([f"root/{branch}/{leaf}" for branch in "abcde" for leaf in range(6)])
    sizes = np.array([len(hierarchy) - at for at in range(len(hierarchy))])
    tree = class_tree.prune(hierarchy, sizes, nodes=8, children=3)
    (root,) = tree.children
    assert (root.name, root.descendants, root.more) == ("root", 35, 2)
    assert [(each.name, len(each.children), each.more, each.descendants) for each in root.children] == [
        ("root/a", 3, 3, 6),
        ("root/b", 1, 5, 6),
        ("root/c", 0, 6, 6),
    ]


def test_a_class_with_several_parents_stands_below_one() -> None:
    hierarchy = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "d")])
    tree = class_tree.prune(hierarchy, np.array([5, 4, 3, 2]))
    assert [(each.name, [child.name for child in each.children]) for each in tree.children] == [
        ("a", ["c", "d"]),
        ("b", []),
    ]


def test_the_table_of_a_flat_hierarchy_without_rows() -> None:
    hierarchy = Hierarchy.from_edges([], classes=["a", "b"])
    assert class_table.list_classes(hierarchy, np.array([0, 3]), "training rows", None)["rows"] == [
        ["b", 0, 3],
        ["a", 0, 0],
    ]


@pytest.mark.usefixtures("without_pictures")
def test_settings_of_a_loaded_model_are_those_of_the_training(
    models: dict[int, tuple[CHMCNNClassifier, Evaluation]], tmp_path: Path
) -> None:
    model = models[12][0]
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert list_settings(loaded) == list_settings(model)
    html = page(loaded, Table(SMALL.test.X, SMALL.test.Y, SMALL.hierarchy), None, ORIGIN)
    assert "validation score by epoch" in html


LOOKING = """<script>
setTimeout(() => {
  const rows = () => [...document.querySelectorAll("#class-table tbody tr")].map(row => row.cells[0].textContent);
  const get = id => document.getElementById(id), found = {first: rows(), shown: get("class-shown").textContent};
  get("class-after").click(); found.second = rows();
  document.querySelector("#class-table th button").click(); found.sorted = rows();
  get("class-search").value = "NAME"; get("class-search").oninput();
  found.searched = rows(); found.none = get("class-shown").textContent;
  found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  found.cut = [...document.querySelectorAll(".wide")].filter(each => each.scrollWidth > each.clientWidth).length;
  const result = document.createElement("pre");
  result.id = "result"; result.textContent = JSON.stringify(found); document.body.append(result);
}, 1000);
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_classes_can_be_paged_sorted_and_searched_in_a_browser(large: str, tmp_path: Path) -> None:
    last = LARGE.hierarchy.classes[-1]
    file = tmp_path / "page.html"
    file.write_text(large.replace("</body>", LOOKING.replace("NAME", last.upper()) + "</body>"))
    shown = show(file, "--window-size=1280,900")
    match = re.search(r'<pre id="result">(.*?)</pre>', shown)
    assert match, shown[-500:]
    found = json.loads(match[1])
    names = [row[0] for row in class_data(large)["rows"]]
    assert (found["first"], found["second"]) == (names[:25], names[25:50])
    assert found["shown"] == "1 to 25 of 90"
    assert found["sorted"] == sorted(names)[:25]
    assert found["searched"] == [last]
    assert found["none"] == "1 to 1 of 1"
    assert found["overflow"] <= 0
    assert found["cut"] == 0, "no table has columns out of sight on a wide screen"


@pytest.mark.usefixtures("without_pictures")
def test_a_calibrated_model_shows_the_error_before_and_after_and_how_risks_held() -> None:
    model = CHMCNNClassifier(SMALL.hierarchy, epochs=2, widths=[8], random_state=7, calibration="temperature")
    model.fit(SMALL.train.X, SMALL.train.Y)
    evaluation = evaluate(model, SMALL.test.X, SMALL.test.Y, "test", repeats=2)
    assert evaluation.trust is not None
    text = re.sub(r"<[^>]*>+", " ", page(model, SMALL.train, evaluation, ORIGIN))
    said = f"Calibrated (temperature): the calibration error is {evaluation.trust.error:.4f}, and "
    assert f"{said}{evaluation.trust.error_before:.4f} before the calibration." in text
    assert "a wrong path (--back-off)" in text
    legend = draw_reliability(evaluation.trust).axes[0].get_legend()
    assert legend is not None
    assert [entry.get_text() for entry in legend.get_texts()] == ["before", "after"]


def test_a_model_without_calibration_says_how_to_get_it(small: str) -> None:
    assert "The scores were not calibrated" in small
