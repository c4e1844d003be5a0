"""Tables for spreadsheets, which would take some names for formulas and compute them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn._typing import JSONValue
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    import pandas as pd

Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Write ' before names that begin with =, +, - or @, which a spreadsheet would take for formulas.",
    ),
]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a formula."""


def check_spreadsheet(path: Path | None) -> None:
    """Refuse to make anything but a text file for a spreadsheet."""
    if path is None or path.suffix.lower() not in {".csv", ".tsv"}:
        raise ChmcnnError("--spreadsheet is for CSV and TSV files; name one with -o, or leave it out.")


def guard_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    r"""Return a table in which no name is a formula.

    >>> import pandas as pd
    >>> guard_formulas(pd.DataFrame({"=a": [-0.5]}, index=["-b"])).to_csv()
    ",'=a\n'-b,-0.5\n"
    """
    texts = frame.select_dtypes(exclude="number").map(_guard)
    guarded = frame.assign(**{str(name): texts[name] for name in texts})
    return guarded.rename(index=_guard, columns=_guard).rename_axis(index=_guard(frame.index.name))


def _guard(cell: JSONValue) -> JSONValue:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
