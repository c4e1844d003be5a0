"""A search in the terminal."""

import math

import pytest
from tests.report.search_results import search_result

from chmcnn.report.search_terminal import SearchDisplay, best_rows, print_search
from chmcnn.search import Progress


def test_the_best_come_first() -> None:
    heads, rows = best_rows(search_result())
    assert heads == ["trial", "AU(PRC)", "widths", "learning rate", "class weight"]
    assert [row[0] for row in rows] == ["3", "4", "0"]
    assert rows[0] == ["3", "0.700", "100x50", "0.000123", "-"]


def test_it_is_printed_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    print_search(search_result())
    shown = capsys.readouterr().out
    assert "my <table>.csv: best trials" in shown
    assert "1 trial failed: the loss is <nan>" in shown


def test_progress_tells_what_is_done_the_best_and_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with SearchDisplay() as progress:
        progress(Progress(1, 4, math.nan))
        progress(Progress(2, 4, 0.5))
    shown = capsys.readouterr()
    for text in ("2 of 4 trials done in", "best AU(PRC) so far 0.500", "left"):
        assert text in shown.err
    assert shown.out == ""
    with SearchDisplay(quiet=True) as progress:
        progress(Progress(1, 4, 0.5))
    assert capsys.readouterr().err == ""
