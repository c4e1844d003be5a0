"""What commands write and print: files, JSON, tables and notices."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from chmcnn.cli._groups import OptionGroup
from chmcnn.cli._options import Force
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from chmcnn._typing import JSONValue
    from chmcnn.evaluation import Evaluation

_MODEL_FILE = re.compile(r"model\.json(\.sig)?|.*\.safetensors|.*\.skops|class_facts.*\.json")


@dataclass(frozen=True)
class FileOutput(OptionGroup):
    """The file that a command writes. A command says in a subclass what is in it."""

    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None
    force: Force = False

    def list_files(self) -> list[Path]:
        """Return the files that are written."""
        return [] if self.output is None else [self.output]

    def check_beside(self, options: Mapping[str, JSONValue]) -> None:
        """Refuse to overwrite what the command reads, or a part of a model, also with --force."""
        others = [value for name, value in options.items() if name not in {field.name for field in fields(self)}]
        read = [each for value in others for each in (value if isinstance(value, list) else [value])]
        for path in map(Path.resolve, self.list_files()):  # a link is followed when it is written to
            if _MODEL_FILE.fullmatch(path.name) and (path.parent / "model.json").is_file():
                raise ChmcnnError(f"{path} is a part of a model, which is never overwritten; choose another file.")
            for other in read:
                if isinstance(other, str | Path) and _reads(Path(other), path):
                    raise ChmcnnError(f"{path} is read by this command, and never overwritten; choose another file.")

    def check(self, *suffixes: str) -> None:
        """Refuse a file that must not be overwritten, or of an unknown kind, before any work is done for it."""
        from chmcnn._io.files import refuse_existing

        if self.output is None:
            return
        refuse_existing(self.output, force=self.force)
        if self.output.suffix.lower() not in suffixes:
            raise ChmcnnError(f"{self.output} ends in {self.output.suffix!r}; expected {' or '.join(suffixes)}.")


def _reads(source: Path, path: Path) -> bool:
    """Return whether a file is read from there: it is that file, or a part of that folder of Parquet files."""
    try:
        if source.is_dir():
            return path.is_file() and path.suffix == ".parquet" and path.parent == source.resolve()
        return path.is_file() and path.samefile(source)
    except (OSError, ValueError):  # one of them is no file
        return False


@dataclass(frozen=True)
class PictureOutput(OptionGroup):
    """The picture that a command writes."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture to write, such as PNG, PDF or SVG. Default: NAME.png."),
    ] = None
    force: Force = False

    def path(self, default: Path) -> Path:
        """Return the path, or the default; refuse one that must not be overwritten, or is not that of a picture."""
        from chmcnn._io.files import refuse_existing
        from chmcnn.report import refuse_format

        path = self.output or default
        refuse_existing(path, force=self.force)
        refuse_format(path)
        return path


def print_evaluation(evaluation: Evaluation) -> None:
    """Print a table of measures."""
    from rich.console import Console
    from rich.table import Table

    from chmcnn._wording import escape_markup

    title = f"{evaluation.title}: {evaluation.rows:,} rows, {evaluation.classes:,} classes"
    table = Table(title=escape_markup(title), show_header=False)
    interval = evaluation.describe_interval()
    table.add_row("[bold]AU(PRC)[/bold]", f"[bold]{evaluation.auprc.value:.3f}[/bold] ({interval})")
    for name, figure in evaluation.figures.items():
        table.add_row(name, f"{int(figure):,}" if name == "violations" else f"{figure:.3f}")
    for name, field in (("AU(PRC)", "auprc"), ("hierarchical F", "f")):
        levels = ", ".join(f"{level}: {getattr(figures, field):.2f}" for level, figures in evaluation.levels.items())
        table.add_row(f"{name} by level", levels)
    Console().print(table)


class _Terminal:
    """Standard output, with characters that control a terminal written as escapes."""

    def write(self, text: str) -> int:
        """Print text."""
        from chmcnn._wording import make_printable

        return sys.stdout.write(make_printable(text))

    def flush(self) -> None:
        """Print what is still in memory."""
        sys.stdout.flush()


def find_output() -> TextIO:
    """Return where to print a table to: a file or another program gets it as it is, a terminal in a safe form."""
    return cast("TextIO", _Terminal()) if sys.stdout.isatty() else sys.stdout


def write(path: Path, text: str) -> None:
    """Write a text file, all at once."""
    from chmcnn._io.files import atomic

    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
