"""What commands write and print: files, JSON, tables and notices."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from chmcnn._workers import find_place
from chmcnn.cli._groups import OptionGroup
from chmcnn.cli._options import Force, Invocation
from chmcnn.errors import ChmcnnError, ModelError

if TYPE_CHECKING:
    from typing import TextIO

    from chmcnn import CHMCNNClassifier, CoherentEnsemble
    from chmcnn._typing import JSONValue
    from chmcnn.cli._data import Parts
    from chmcnn.evaluation import Evaluation

REPORT = "report.html"
ModelFolder = Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")]


@dataclass(frozen=True)
class FileOutput(OptionGroup):
    """The file that a command writes. A command says in a subclass what is in it."""

    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None
    force: Force = False

    def check(self, *suffixes: str) -> None:
        """Refuse a file that must not be overwritten, or of an unknown kind, before any work is done for it."""
        from chmcnn._io.files import refuse_existing

        if self.output is None:
            return
        refuse_existing(self.output, force=self.force)
        if self.output.suffix.lower() not in suffixes:
            raise ChmcnnError(f"{self.output} ends in {self.output.suffix!r}; expected {' or '.join(suffixes)}.")


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


@dataclass(frozen=True)
class ModelOutput(OptionGroup):
    """The folder of the model that a command trains."""

    output: ModelFolder = Path("model")
    force: Force = False

    def check(self) -> None:
        """Refuse a folder that must not be overwritten or cannot be written, before any work is done for it."""
        from chmcnn._io.files import require_writable

        if self.output.exists() and not self.force:
            raise ModelError(
                "already exists; choose another folder with -o, or use --force to overwrite it", self.output
            )
        if self.output.exists() and not (self.output / "model.json").is_file():
            raise ModelError("not a model folder, so it is not overwritten; choose another folder with -o", self.output)
        require_writable(self.output)
        if self.output.exists():
            require_writable(self.output / REPORT)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other trainings for this folder out; refuse to train if another one is at work."""
        import filelock

        if find_place().rank:  # one of several processes of a training: the first holds the lock
            yield
            return
        lock = filelock.FileLock(self.output.with_name(f".{self.output.name}.lock"), blocking=False)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise ModelError(
                "another training for this folder is at work; wait until it ends, or choose another folder with -o",
                self.output,
            ) from None
        except NotImplementedError:  # a file system without locks
            yield
            return
        try:
            yield
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def save(
        self,
        model: CHMCNNClassifier | CoherentEnsemble,
        parts: Parts,
        evaluation: Evaluation | None,
        call: Invocation,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write the model with its report and other files, all at once."""
        from chmcnn.estimator import save_model
        from chmcnn.report.training_page import Origin, list_facts, page

        rows = {"training": parts.train, "validation": parts.valid, "test": parts.test}
        counts = {part: len(table) for part, table in rows.items() if table is not None}
        if parts.streamed_rows:
            counts["training"] = parts.streamed_rows
        facts = {
            "rows": ", ".join(f"{count:,} {part}" for part, count in counts.items()),
            "features": f"{len(parts.train.feature_names):,}",
            "classes": f"{int(model.evaluated_.sum()):,} evaluated",
            "hierarchy": repr(model.hierarchy_),
            **_describe_training(model),
            **({"notice": model.notice_} if model.notice_ else {}),
        }
        shown = f"first {len(parts.train):,} rows" if parts.streamed_rows else "training rows"
        origin = Origin(title=f"chmcnn: {parts.title}", facts=facts, command=call.command, rows=shown)
        report = page(model, parts.train, evaluation, origin)
        class_facts = list_facts(model, parts.train, evaluation, origin).to_json()
        extra = {REPORT: report.encode(), **(files or {})}
        save_model(model, self.output, force=self.force, class_facts=class_facts, extra_files=extra)

    def result(self, model: CHMCNNClassifier | CoherentEnsemble, evaluation: Evaluation | None) -> dict[str, JSONValue]:
        """Return the result of a training, for machines."""
        result: dict[str, JSONValue] = {"model": str(self.output), "report": str(self.output / REPORT)}
        weights = getattr(model, "weights_", None)
        result |= {"best epoch": model.best_epoch_} if weights is None else {"weights": weights}
        result["validation AU(PRC)"] = model.best_score_
        if any(epoch.sampled for epoch in model.history_):
            result["validation AU(PRC) is of a sample of rows"] = model.history_[0].sampled
        return result | ({"test": evaluation.facts()} if evaluation else {})

    def print(self, model: CHMCNNClassifier | CoherentEnsemble, evaluation: Evaluation | None) -> None:
        """Print the result of a training."""
        if evaluation:
            print_evaluation(evaluation)
        if hasattr(model, "weights_"):
            typer.echo(f"Members and weights: {_list_members(model)}")
        typer.echo(f"Model:  {self.output}\nReport: {self.output / REPORT}")


def hold_output(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command check and hold the folder of its model before it does anything else."""

    @functools.wraps(command)
    def call(*, output: ModelOutput, **options: JSONValue) -> None:
        output.check()
        with output.hold():
            command(output=output, **options)

    return call


def _describe_training(model: CHMCNNClassifier | CoherentEnsemble) -> dict[str, str]:
    """Return how a network was trained, or the members of an ensemble."""
    seconds = sum(epoch.seconds for epoch in model.history_)
    if not hasattr(model, "weights_"):
        return {"trained": f"{seconds:.1f} s, preset {model.preset}", "best epoch": str(model.best_epoch_)}
    return {"trained": f"preset {model.preset}", "members and weights": _list_members(model)}


def _list_members(model: CoherentEnsemble) -> str:
    return ", ".join(f"{name} {weight:.1f}" for name, weight in model.weights_.items())


def evaluate_test_rows(model: CHMCNNClassifier | CoherentEnsemble, parts: Parts, call: Invocation) -> Evaluation | None:
    """Evaluate a model on the test rows; None if there are none, or none has a class that is evaluated."""
    from chmcnn.evaluation import evaluate
    from chmcnn.metrics import information_content

    if parts.test is None or not model.evaluated_[parts.test.Y.indices].any():
        return None
    content = None if parts.streamed_rows else information_content(parts.train.Y, model.hierarchy_)
    title = f"test part of {parts.title}"
    return evaluate(model, parts.test.X, parts.test.Y, title, information=content, progress=not call.quiet)


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
