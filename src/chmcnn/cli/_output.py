"""What commands leave behind: files, JSON, tables and notices."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from chmcnn.errors import ChmcnnError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.cli._data import Job
    from chmcnn.evaluation import Evaluation

REPORT = "report.html"


def refuse_file(output: Path | None, endings: tuple[str, ...], *, force: bool) -> None:
    """Refuse a file that must not be written over, or of an unknown kind, before any work is done for it."""
    from chmcnn._io.files import refuse_existing

    if output is None:
        return
    refuse_existing(output, force=force)
    if output.suffix.lower() not in endings:
        raise ChmcnnError(f"{output} ends in {output.suffix!r}; expected one of {', '.join(endings)}.")


def refuse_folder(output: Path, *, force: bool) -> None:
    """Refuse a folder that must not be written over, before any work is done for it."""
    if output.exists() and not force:
        raise ModelError("it exists already; name another folder with -o, or use --force to write over it", output)
    if output.exists() and not (output / "model.json").is_file():
        raise ModelError("it is no model, and is not written over; name another folder with -o", output)


def notice(text: str, *, quiet: bool) -> None:
    """Tell something that is no result: on standard error, or not at all."""
    if not quiet:
        typer.echo(text, err=True)


def print_json(content: Any) -> None:  # noqa: ANN401 -- what JSON can hold
    """Print JSON."""
    from chmcnn._io.strict_json import dumps

    typer.echo(dumps(content))


def write(path: Path, text: str) -> None:
    """Write a file, all at once."""
    from chmcnn._io.files import atomic

    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def print_evaluation(found: Evaluation) -> None:
    """Print a table of measures."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(f"{found.title}: {found.rows:,} rows, {found.classes:,} classes"), show_header=False)
    value, low, high = found.auprc
    table.add_row("[bold]AU(PRC)[/bold]", f"[bold]{value:.3f}[/bold] ({low:.3f} to {high:.3f})")
    for name, figure in found.figures.items():
        table.add_row(name, f"{int(figure):,}" if name == "violations" else f"{figure:.3f}")
    for name, field in (("AU(PRC)", "auprc"), ("hierarchical F", "f")):
        levels = ", ".join(f"{level}: {getattr(each, field):.2f}" for level, each in found.levels.items())
        table.add_row(f"{name} by level", levels)
    Console().print(table)


def tested(model: CHMCNNClassifier, job: Job, *, quiet: bool) -> Evaluation | None:
    """Measure the model on the test rows, if they have any class that counts."""
    from chmcnn.evaluation import evaluate
    from chmcnn.metrics import information_content

    if job.test is None or not job.test.Y[:, model.evaluated_].any():
        return None
    content, title = information_content(job.train.Y, model.hierarchy_), f"test part of {job.title}"
    return evaluate(model, job.test.X, job.test.Y, title, information=content, progress=not quiet)


def command() -> str:
    """What the user typed, for the record: of whole paths only the name, and without the password of a database."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return re.sub(r"(://[^:/@\s]+:)[^@\s]+@", r"\1***@", shlex.join(["chmcnn", *words]))


def save(  # noqa: PLR0913 -- what the folder is made of
    model: CHMCNNClassifier,
    job: Job,
    evaluation: Evaluation | None,
    output: Path,
    *,
    force: bool,
    further: Mapping[str, bytes] | None = None,
) -> None:
    """Write the model with its report and further files, all at once."""
    from chmcnn.estimator import _model_files
    from chmcnn.report.training_page import page

    facts = {
        "rows": f"{len(job.train):,} to train on"
        + (f", {len(job.valid):,} to stop by" if job.valid is not None else "")
        + (f", {len(job.test):,} to test on" if job.test is not None else ""),
        "features": f"{len(job.train.feature_names):,}",
        "classes": f"{int(model.evaluated_.sum()):,} that count",
        "hierarchy": repr(model.hierarchy_),
        "trained": f"{sum(epoch.seconds for epoch in model.history_):.1f} s, preset {model.preset}",
        "best epoch": str(model.best_epoch_),
    }
    report = page(model, job.train, evaluation, title=f"chmcnn: {job.title}", facts=facts)
    _model_files.save(model, output, force=force, further={REPORT: report.encode(), **(further or {})})


def outcome(model: CHMCNNClassifier, evaluation: Evaluation | None, output: Path) -> dict[str, Any]:
    """What came of a training, for machines."""
    found: dict[str, Any] = {"model": str(output), "report": str(output / REPORT)}
    found |= {"best epoch": model.best_epoch_, "validation AU(PRC)": model.best_score_}
    return found | ({"test": evaluation.facts()} if evaluation else {})


def show(evaluation: Evaluation | None, output: Path) -> None:
    """Print what came of a training."""
    if evaluation:
        print_evaluation(evaluation)
    typer.echo(f"Model:  {output}\nReport: {output / REPORT}")
