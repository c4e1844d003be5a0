"""The command line: one file for each command. Heavy imports happen inside the commands."""

import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from chmcnn import ChmcnnError, __version__
from chmcnn._wording import make_printable
from chmcnn._workers import Place, find_place, has_abandoned
from chmcnn.cli import datasets, reproduce
from chmcnn.cli._groups import flag
from chmcnn.cli.compare import compare
from chmcnn.cli.demo import demo
from chmcnn.cli.evaluate import evaluate
from chmcnn.cli.explain import explain
from chmcnn.cli.predict import predict
from chmcnn.cli.rectangles import rectangles
from chmcnn.cli.search import search
from chmcnn.cli.serve import serve
from chmcnn.cli.sign import create_key, sign
from chmcnn.cli.train import train

_INTERRUPTED, _TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM, as in shells."""

_OUT_OF_MEMORY = re.compile("MemoryError|OutOfMemory|(can't|cannot) allocate memory|not enough memory", re.IGNORECASE)
"""What Python, numpy, Arrow and torch raise if the memory is too small."""

_ARGUMENT = re.compile(
    r"\b(id_column|categorical|text|labels|separator|path_separator|delimiter|hierarchy|label_file|verify_key)=(?=(['\"\w])?)"
)
"""Arguments in messages that are options of commands."""

_SPINS = "1000"
"""How often a thread of OpenMP looks for work before it sleeps. GNU's own value is far higher, which hardly helps on an
idle machine, and costs a lot beside other work: `python -m benchmarks.waiting`."""

app = typer.Typer(
    name="chmcnn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (demo, train, search, predict, evaluate, explain, serve, sign, create_key, compare, rectangles):
    app.command()(_command)
app.add_typer(datasets.app, name="datasets")
app.add_typer(reproduce.app, name="reproduce")


def _show_version(value: bool) -> None:  # noqa: FBT001 -- the form typer calls
    if value:
        typer.echo(f"chmcnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 -- its callback does what it asks for
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hierarchical multi-label classification whose predictions never contradict the hierarchy."""
    if context.invoked_subcommand != "train" and _find_place().size > 1:
        raise ChmcnnError(
            f"Several processes of torchrun cannot share the command {context.invoked_subcommand!r}, only 'train'; "
            "start it without torchrun."
        )


def main() -> None:
    """Run the command line; bad input or an unwritable file ends with a message and exit code 2."""
    if sys.stdout is None:
        _fail("standard output is closed, so no result can be printed; redirect it to a file, or to /dev/null.")
    before, warnings.formatwarning = warnings.formatwarning, _format_warning
    if "OMP_WAIT_POLICY" not in os.environ:  # the user's own choice
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
    try:
        with _interrupt_on_termination() as terminations:
            _run(terminations)
    finally:
        warnings.formatwarning = before


def _run(terminations: list[int]) -> None:
    """Call the command, and end with a message where it fails or is interrupted."""
    try:
        app()
    except SystemExit as stop:
        if stop.code != _INTERRUPTED:
            _flush()
            raise
        typer.echo(
            "chmcnn: interrupted. Run the same command again to resume a training, search, comparison or reproduction.",
            err=True,
        )
        _flush()
        code = _TERMINATED if terminations else _INTERRUPTED
        if has_abandoned():
            os._exit(code)  # Python would wait for members of an ensemble that are still in training
        sys.exit(code)
    except (ChmcnnError, OSError) as error:
        _fail(_describe(error))
    except (MemoryError, RuntimeError) as error:
        if not _OUT_OF_MEMORY.search(f"{type(error).__name__}: {error}"):
            raise
        reason = str(error).partition("\n")[0]
        _fail(
            f"there is not enough memory{reason and ': '}{reason}. Use a smaller --width or --batch-size, "
            "fewer columns or classes, or --stream for rows that do not fit into memory."
        )


@contextmanager
def _interrupt_on_termination() -> Iterator[list[int]]:
    """Let SIGTERM, by which clusters end a job, do what Ctrl-C does; yield the signals that came, so far none."""
    came: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        came.append(number)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # so that a second one ends the process
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    # Under torchrun a process may wait for others in code that no handler interrupts.
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL or _find_place().size > 1:
        yield came
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _format_warning(message: Warning | str, *_: object, **__: object) -> str:
    """Return what a warning says, as any notice: which line of this package warns says nothing to a user."""
    return f"{make_printable(str(message))}\n"


def _fail(message: str) -> NoReturn:
    typer.echo(f"chmcnn{_name_process()}: {make_printable(message)}", err=True)
    sys.exit(2)


def _describe(error: ChmcnnError | OSError) -> str:
    if isinstance(error, ChmcnnError):
        return _name_options(str(error))
    return f"{error.filename or 'the output'}: {error.strerror or error}."


def _flush() -> None:
    """Print what is still in memory; fail if that is not possible."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads the rest, as with `| head`
        _discard_output()
        sys.exit(1)
    except OSError as error:
        _discard_output()
        _fail(f"the result cannot be printed: {error.strerror}.")


def _discard_output() -> None:
    """Let Python end without another attempt to print."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _name_process() -> str:
    """Return which of several processes has a message; nothing for one."""
    place = _find_place()
    return f" (process {place.rank + 1} of {place.size})" if place.size > 1 else ""


def _find_place() -> Place:
    """Return the place among the processes of torchrun; an environment that is half there matters to trainings only."""
    try:
        return find_place()
    except ChmcnnError:
        return Place()


def _name_options(message: str) -> str:
    """Return a message of the library, which speaks of arguments, with the options of the command line.

    >>> _name_options("name it in categorical=, or pass path_separator='>'.")
    "name it in --categorical, or pass --path-separator '>'."
    """
    return _ARGUMENT.sub(lambda found: flag(found[1]) + (" " if found[2] else ""), message)
