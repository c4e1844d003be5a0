"""A comparison in the terminal."""

import pytest
from tests.results import WHY, summed_up

from chmcnn.comparison._figures import Figures
from chmcnn.comparison._runs import Run, RunSpec
from chmcnn.report.comparison_terminal import ComparisonDisplay, print_comparison, score_rows

MANY = [f"data{number}" for number in range(6)]


def test_what_there_are_more_of_goes_down() -> None:
    tall = score_rows(summed_up(folds=True))
    assert [row[0].text for row in tall] == ["AU(PRC)", "C-HMCNN", "h+", "f+"]
    assert [row[1].best for row in tall] == [False, True, False, False]
    assert tall[3][1].text.endswith("*")
    wide = score_rows(summed_up(MANY, lacking={("data1", "h+")}))
    assert [row[0].text for row in wide] == ["AU(PRC)", *MANY, "average rank"]
    assert wide[2][2].text == "no result"
    assert wide[-1][1].best


def test_it_is_printed_with_reasons_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(summed_up(["[mine]"], lacking={("[mine]", "f+")}))
    shown = " ".join(capsys.readouterr().out.split())
    assert "[mine]" in shown
    assert f"f+ has no result on [mine]: {WHY}" in shown
    assert "all seeds share the same test rows" in shown
    assert "│ f+ │ - │ - │ - │ - │ - │" in shown


def test_progress_tells_what_is_done_and_how_systems_score(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    figures = Figures(0.5, None, None, 0, 0.0, 0, 1.0, 0.1, None, None, 1)
    with ComparisonDisplay(["a", "b"], 4) as progress:
        progress(Run(RunSpec("mine", "a"), "", figures), fresh=False)
        progress(Run(RunSpec("mine", "b"), "", None, "why"), fresh=True)
    shown = capsys.readouterr()
    assert "of 4 done in" in shown.err
    assert "0.500" in shown.err
    assert "0, 1 without" in shown.err
    assert shown.out == ""
    with ComparisonDisplay(["a"], 1, quiet=True) as progress:
        progress(Run(RunSpec("mine", "a"), "", figures), fresh=True)
    assert capsys.readouterr().err == ""
