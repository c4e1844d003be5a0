"""Options that several commands have, each defined once, and the groups of them that are not about data or files."""

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn._typing import JSONValue
from chmcnn._wording import escape_in_json, make_printable
from chmcnn.cli._groups import OptionGroup
from chmcnn.settings import SEED

RUNNING = "Running"
_DEVICE = typer.Option(help="Device, such as cpu or cuda.", rich_help_panel=RUNNING)

Model = Annotated[Path, typer.Argument(help="Model folder.")]
Data = Annotated[
    str,
    typer.Argument(
        help="Name of a data set, or a table of your own: CSV, TSV, Parquet, ARFF, svmlight or .npz.", metavar="data"
    ),
]
DataOrFiles = Annotated[
    list[str],
    typer.Argument(
        help="Name of a data set, or a table of your own: CSV, TSV, Parquet, ARFF, svmlight or .npz, or a folder of "
        "Parquet files; with --stream, several files, folders or patterns.",
        metavar="data",
    ),
]
Rows = Annotated[str, typer.Argument(help="Table with the columns that the model was trained on, or a data set.")]
RowsOrFiles = Annotated[
    list[str],
    typer.Argument(
        help="Table with the columns that the model was trained on, or a data set; for a folder as --output, Parquet "
        "files, folders or patterns.",
        metavar="data",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        help="Score from which a class is predicted, from 0 to 1, or one that was tuned in training: tune (one per "
        "class), hierarchical_f or fmax (one for all). Default: that of the model."
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(envvar="CHMCNN_DATA", help="Folder with the benchmark's files; searched before the user's cache."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of runs at once. Default: one for each core, or for each thread of the cluster.",
        rich_help_panel=RUNNING,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, such as tcp://scheduler:8786: its workers compute, not this machine.",
        rich_help_panel=RUNNING,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices.", rich_help_panel=RUNNING)]


@dataclass(frozen=True)
class Invocation(OptionGroup):
    """How a command was called: the options that every command understands, and the command line itself."""

    json: Json = False
    data_dir: DataDir = None
    quiet: Quiet = False

    @property
    def command(self) -> str:
        """The command line, for the record: absolute paths as names only, and no password of a database."""
        words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
        return re.sub(r"(://[^:/@\s]+:)[^@\s]+@", r"\1***@", shlex.join(["chmcnn", *words]))

    def notify(self, message: str) -> None:
        """Print a message that is not a result: on standard error, unless quiet."""
        if not self.quiet:
            typer.echo(make_printable(message), err=True)

    def print_json(self, content: JSONValue) -> bool:
        """Print a result as JSON if that was asked for; return whether it was."""
        if self.json:
            from chmcnn._io.strict_json import dumps

            typer.echo(escape_in_json(dumps(content)))
        return self.json


@dataclass(frozen=True)
class ComputeOptions(OptionGroup):
    """What a model is computed with."""

    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help=SEED.help, rich_help_panel=RUNNING)] = SEED.default
    device: Annotated[str, _DEVICE] = "auto"


@dataclass(frozen=True)
class LoadingOptions(OptionGroup):
    """How a model is loaded."""

    device: Annotated[str, _DEVICE] = "auto"
    verify_key: Annotated[
        Path | None,
        typer.Option(help="PEM file with a public key: refuse a model without a signature of it (see chmcnn sign)."),
    ] = None
