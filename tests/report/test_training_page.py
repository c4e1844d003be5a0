"""The page of a model, with few and with many classes."""

import copy
import dataclasses
import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chmcnn import CHMCNNClassifier
from chmcnn.datasets import Table
from chmcnn.datasets.synthetic import learnable
from chmcnn.evaluation import Answer, Evaluation, Example, evaluate
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


def read_data(html: str) -> dict[str, Any]:
    match = re.search(r'id="explorer-data">([^<]*)<', html)
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
    values: dict[str, Any] = {"evaluation": None, "titles": {}, "best": [], "worst": [], "answers": 1}
    values |= {"explorer": "", "script": "", "style": "", "policy": ""}
    return values | {"seed": 0, "settings": {}, "versions": {}, "origin": ORIGIN, "pictures": {"overview": ""}}


def test_two_pages_of_one_day_are_the_same(
    small: str, models: dict[int, tuple[CHMCNNClassifier, Evaluation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", DAY)
    assert page(models[12][0], SMALL.train, models[12][1], ORIGIN) == small


def test_few_classes_are_a_picture_and_many_are_in_the_explorer_alone(small: str, large: str) -> None:
    assert "The hierarchy, and how many rows" in small
    assert "The hierarchy, and how many rows" not in large
    assert "How many rows the classes have" in large
    assert 'id="explorer"' in large


def test_all_classes_are_in_the_page_with_their_figures(
    large: str, models: dict[int, tuple[CHMCNNClassifier, Evaluation]]
) -> None:
    found, (model, evaluation) = read_data(large), models[90]
    facts, hierarchy = found["facts"], LARGE.hierarchy
    assert tuple(found["names"]) == hierarchy.classes
    assert np.reshape(found["edges"], (-1, 2)).tolist() == hierarchy.edges.tolist()
    assert facts["rows"] == LARGE.train.Y.sum(axis=0).tolist()
    assert found["thresholds"] == model.threshold
    for at, name in enumerate(hierarchy.classes):
        each = evaluation.by_class.get(name)
        assert facts["test_rows"][at] == (each.rows if each else 0)
        assert facts["auprc"][at] == (round(each.auprc, 3) if each else None)
    assert [example["name"] for example in found["examples"]] == [example.row for example in evaluation.examples]


def test_the_page_needs_nothing_else(small: str, large: str) -> None:
    for html in (small, large):
        assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"<script[^>]* src=|<link|@import|style=", html)


def test_only_the_script_and_the_style_of_the_page_are_allowed(small: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', small)
    assert unescape(policy).startswith("default-src 'none'; ")
    for name in ("script", "style"):
        (content,) = re.findall(f"<{name}>(.*?)</{name}>", small, re.DOTALL)
        assert f"{name}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in unescape(policy)


@pytest.mark.usefixtures("without_pictures")
def test_a_page_without_an_evaluation(models: dict[int, tuple[CHMCNNClassifier, Evaluation]]) -> None:
    html = page(models[90][0], LARGE.train, None, ORIGIN)
    assert "so the model was not evaluated" in html
    found = read_data(html)
    assert (found["facts"]["evaluation"], found["facts"]["auprc"], found["examples"]) == (None, [], [])


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
    found = read_data(html)
    assert {found["names"][int(at)]: each for at, each in found["titles"].items()} == titles


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


@pytest.mark.usefixtures("without_pictures")
def test_a_calibrated_model_shows_the_error_before_and_after_and_how_risks_held() -> None:
    model = CHMCNNClassifier(SMALL.hierarchy, epochs=2, widths=[8], random_state=7, calibration="temperature")
    with pytest.warns(UserWarning, match="10 rows cannot tell probabilities well"):
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
