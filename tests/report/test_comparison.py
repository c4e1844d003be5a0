"""A comparison as a page, as a picture and in the terminal."""

import pytest
from tests.results import WHY, summed_up

from chmcnn.comparison._runs import Figures, Run, RunSpec
from chmcnn.report.comparing import Display, print_comparison, score_rows
from chmcnn.report.comparison import draw, page

MANY = [f"data{number}" for number in range(6)]


def test_the_page_has_everything_and_needs_nothing_else() -> None:
    found = summed_up(MANY, lacking={("data0", "f+")})
    shown = page(found, "chmcnn compare <mine>")
    assert "3 systems on 6 data sets" in shown
    assert shown.count("data:image/png;base64,") == 7, "one of each data set, and the critical-difference diagram"
    for text in ("no result", WHY, "Wilcoxon", "critical-difference", "1,000", "30 MiB", "&lt;mine&gt;"):
        assert text.lower() in shown.lower()
    assert "http" not in shown
    assert "nan" not in shown.replace("data:", "").split("<body>")[1].split("base64")[0]


def test_the_page_of_one_data_set_and_folds() -> None:
    shown = page(summed_up(["my <table>.csv"], folds=True), "chmcnn compare")
    assert "3 systems on my &lt;table&gt;.csv" in shown
    assert "5 folds" in shown
    assert "a star marks what differs significantly from C-HMCNN" in shown
    assert shown.count("data:image/png;base64,") == 1


def test_a_picture_has_a_dot_for_each_result() -> None:
    axis = draw(summed_up(lacking={("mine", "f+")}), "mine").axes[0]
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in dots] == [5, 5]  # type: ignore[arg-type]
    assert [text.get_text() for text in axis.texts] == ["no result"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["C-HMCNN", "h+", "f+"]


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
    with Display(["a", "b"], 4) as progress:
        progress(Run(RunSpec("mine", "a"), "", figures), fresh=False)
        progress(Run(RunSpec("mine", "b"), "", None, "why"), fresh=True)
    shown = capsys.readouterr()
    assert "of 4 done in" in shown.err
    assert "0.500" in shown.err
    assert "0, 1 without" in shown.err
    assert shown.out == ""
    with Display(["a"], 1, quiet=True) as progress:
        progress(Run(RunSpec("mine", "a"), "", figures), fresh=True)
    assert capsys.readouterr().err == ""
