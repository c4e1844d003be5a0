"""Options that several commands have, each said once."""

from pathlib import Path
from typing import Annotated

import typer

_OWN = "Your own table"
_RUN = "Running"

DataDir = Annotated[
    Path | None,
    typer.Option(
        envvar="CHMCNN_DATA", help="A folder that has the benchmark's files; looked into before the user's cache."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Write over what exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_RUN)]
Device = Annotated[str, typer.Option(help="Where to compute, such as cpu or cuda.", rich_help_panel=_RUN)]
Seed = Annotated[
    int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same model.", rich_help_panel=_RUN)
]
Hierarchy = Annotated[
    Path | None, typer.Option(help="The hierarchy: edges (CSV), OBO, JSON or ARFF.", rich_help_panel=_OWN)
]
Labels = Annotated[str, typer.Option(help="The column of labels.", rich_help_panel=_OWN)]
ClassColumn = Annotated[
    list[str] | None,
    typer.Option(help="A column of 0 and 1 for a class; may be given again.", rich_help_panel=_OWN),
]
Separator = Annotated[str, typer.Option(help="What stands between two labels.", rich_help_panel=_OWN)]
PathSeparator = Annotated[
    str, typer.Option(help="What joins the parts of a label that is a path.", rich_help_panel=_OWN)
]
IdColumn = Annotated[str | None, typer.Option(help="A column that names the rows.", rich_help_panel=_OWN)]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of categories; may be given again.", rich_help_panel=_OWN)
]
Delimiter = Annotated[str | None, typer.Option(help="What stands between two cells.", rich_help_panel=_OWN)]
