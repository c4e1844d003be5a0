"""A section as text and as plain values."""

import json

from tests.experiments.example import sections

from chmcnn._io.strict_json import dumps
from chmcnn.experiments.section import SectionTable, facts, find_numeric_columns, format_cells


def test_numbers_are_written_with_the_digits_of_their_table() -> None:
    table = SectionTable(
        "", ("a", "b", "c", "d"), (("x", 1234.5678, 1234, None), ("y", float("nan"), 0, "-5")), digits=1
    )
    assert format_cells(table) == [["x", "1,234.6", "1,234", "-"], ["y", "-", "0", "-5"]]
    assert find_numeric_columns(table) == [False, True, True, True]


def test_a_column_with_a_word_in_it_and_one_of_an_empty_table_are_told_apart() -> None:
    assert find_numeric_columns(SectionTable("", ("a", "b"), (("x", 1), ("y", "none")))) == [False, False]
    assert find_numeric_columns(SectionTable("", ("a", "b"), (("x", 1), ("y", "unknown (paper: 2)")))) == [
        False,
        True,
    ]
    assert len(find_numeric_columns(SectionTable("", ("a", "b"), ()))) == 2


def test_a_section_is_given_to_machines_as_plain_values() -> None:
    first, second, _ = (json.loads(dumps(facts(section))) for section in sections())
    assert first["checks"][1]["agrees"] is False
    assert first["checks"][1]["published"] == "1.25"
    assert second["tables"][0]["columns"][:2] == ["step", "epochs"]
    assert second["tables"][0]["rows"][2] == [9, None, None, "-", None]
    assert second["pictures"] == ["figure2"]
