"""A search as a page, as a picture and in the terminal."""

import math

import pandas as pd
import pytest

from chmcnn.report.search import draw, page
from chmcnn.report.searching import Display, best_rows, print_search
from chmcnn.search import Progress, SearchResult

STATES = ("finished", "failed", "pruned", "finished", "finished", "running")
SCORES = (0.5, math.nan, math.nan, 0.7, 0.6, math.nan)


def result(states: tuple[str, ...] = STATES, importances: bool = True) -> SearchResult:
    rows = [
        {
            "number": number,
            "state": state,
            "auprc": SCORES[number],
            "epochs_run": 9,
            "seconds": 1.5,
            "widths": [100, 50],
            "learning_rate": 0.00012345,
            "class_weight": None,
            "reason": "the loss is <nan>" if state == "failed" else "",
        }
        for number, state in enumerate(states)
    ]
    searched = ("widths", "learning_rate", "class_weight")
    shares = {"learning_rate": 0.75, "widths": 0.25, "class_weight": 0.0} if importances else {}
    best = {"epochs": 9, "widths": [100, 50], "learning_rate": 0.00012345} if "finished" in states else {}
    return SearchResult("my <table>.csv", 8, pd.DataFrame(rows), searched, best, shares)


def test_the_page_has_everything_and_needs_nothing_else() -> None:
    shown = page(result(), "chmcnn search <mine>")
    for text in (
        "my &lt;table&gt;.csv",
        "<b>0.700</b>",
        "100x50",
        "0.000123",
        "&lt;mine&gt;",
        "the loss is &lt;nan&gt;",
    ):
        assert text in shown
    assert "6 trials of 8: 3 finished, 1 pruned, 1 failed, 1 running." in shown
    assert shown.count("data:image/png;base64,") == 2
    assert "http" not in shown
    assert "@media print" in shown


def test_the_page_of_a_search_that_found_nothing() -> None:
    shown = page(result(("failed", "pruned"), importances=False), "chmcnn search")
    assert "2 trials of 8: 1 pruned, 1 failed." in shown
    assert "best setting" not in shown
    assert shown.count("data:image/png;base64,") == 1


def test_the_picture_has_the_scores_the_best_so_far_and_the_importances() -> None:
    history, importances = draw(result()).axes
    lines = {str(line.get_label()): line for line in history.lines}
    assert set(lines) == {"finished", "best so far", "pruned", "failed"}
    assert list(lines["finished"].get_xdata()) == [0, 3, 4]  # type: ignore[arg-type]
    assert list(lines["best so far"].get_ydata()) == [0.5, 0.7, 0.7]  # type: ignore[arg-type]
    assert [label.get_text() for label in importances.get_yticklabels()] == ["learning_rate", "widths", "class_weight"]
    assert [text.get_text() for text in importances.texts] == ["75%", "25%", "0%"]
    assert len(draw(result(importances=False)).axes) == 1


def test_the_best_come_first() -> None:
    heads, rows = best_rows(result())
    assert heads == ["trial", "AU(PRC)", "widths", "learning rate", "class weight"]
    assert [row[0] for row in rows] == ["3", "4", "0"]
    assert rows[0] == ["3", "0.700", "100x50", "0.000123", "-"]


def test_it_is_printed_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    print_search(result())
    shown = capsys.readouterr().out
    assert "my <table>.csv: best trials" in shown
    assert "1 trial failed: the loss is <nan>" in shown


def test_progress_tells_what_is_done_the_best_and_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Display() as progress:
        progress(Progress(1, 4, math.nan))
        progress(Progress(2, 4, 0.5))
    shown = capsys.readouterr()
    for text in ("2 of 4 trials done in", "best AU(PRC) so far 0.500", "left"):
        assert text in shown.err
    assert shown.out == ""
    with Display(quiet=True) as progress:
        progress(Progress(1, 4, 0.5))
    assert capsys.readouterr().err == ""
