"""A section in the terminal."""

import io

import pytest
from rich.console import Console
from tests.experiments.example import DATASETS, SYSTEMS, sections

from chmcnn.experiments.terminal import show


def _shown(number: int, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    show(sections()[number], console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_wide_table_is_divided_and_each_part_has_its_first_column() -> None:
    shown = _shown(0)
    assert max(len(line.rstrip()) for line in shown.splitlines() if "reproduce" not in line) <= 80
    assert all(shown.count(f"┃ {name}") + shown.count(f" {name} ┃") for name in SYSTEMS)
    assert shown.count("┃ data set") == 2
    assert shown.count(f"│ {DATASETS[0]} ") == 2
    assert "…" not in shown
    assert _shown(0, width=130).count("┃ data set") == 1, "where there is room, it is one"


def test_checks_say_yes_or_no_and_why() -> None:
    shown = _shown(0)
    assert "\nyes: AU(PRC) of C-HMCNN on cellcycle_FUN, within 0.01\n     published: 0.255; ours: 0.253\n" in shown
    assert "\nno:  average rank" in shown
    assert "\n     HMCN-F was tuned here" in shown


def test_texts_are_never_taken_as_markup() -> None:
    assert "[bold]brackets[/bold]" in _shown(0)
    assert ":smile:" in _shown(0)


def test_numbers_stay_whole_where_words_are_folded_and_the_command_is_one_line() -> None:
    shown = _shown(1)
    for text in ("1,234,567", "4.26e-15", "0.981", "<b>Half</b> of it", "in all of the runs that"):
        assert text in shown
    assert _shown(0).splitlines()[-1] == f"Made by: {sections()[0].command}"


def test_it_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    show(sections()[2])
    assert capsys.readouterr().out.startswith("Significance\n\nNo checks")
