"""The command line: one file for each command. Heavy imports happen inside the commands."""

import re
import sys
from typing import Annotated

import typer

from chmcnn import ChmcnnError, __version__
from chmcnn.cli import datasets, reproduce
from chmcnn.cli._groups import flag
from chmcnn.cli.compare import compare
from chmcnn.cli.demo import demo
from chmcnn.cli.evaluate import evaluate
from chmcnn.cli.explain import explain
from chmcnn.cli.predict import predict
from chmcnn.cli.rectangles import rectangles
from chmcnn.cli.search import search
from chmcnn.cli.train import train

_INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

_ARGUMENT = re.compile(
    r"\b(id_column|categorical|text|labels|path_separator|delimiter|hierarchy|label_file)=(?=(['\"\w])?)"
)
"""Arguments in messages that are options of commands."""

app = typer.Typer(
    name="chmcnn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (demo, train, search, predict, evaluate, explain, compare, rectangles):
    app.command()(_command)
app.add_typer(datasets.app, name="datasets")
app.add_typer(reproduce.app, name="reproduce")


def _show_version(value: bool) -> None:  # noqa: FBT001 -- the form typer calls
    if value:
        typer.echo(f"chmcnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hierarchical multi-label classification whose predictions never contradict the hierarchy."""


def main() -> None:
    """Run the command line; bad input or an unwritable file ends with a message and exit code 2."""
    try:
        app()
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            typer.echo(
                "chmcnn: interrupted. Run the same command again to resume a training, search, comparison or "
                "reproduction.",
                err=True,
            )
        raise
    except (ChmcnnError, OSError) as error:
        typer.echo(f"chmcnn: {_name_options(str(error))}", err=True)
        sys.exit(2)


def _name_options(message: str) -> str:
    """Return a message of the library, which speaks of arguments, with the options of the command line.

    >>> _name_options("name it in categorical=, or pass path_separator='>'.")
    "name it in --categorical, or pass --path-separator '>'."
    """
    return _ARGUMENT.sub(lambda found: flag(found[1]) + (" " if found[2] else ""), message)
