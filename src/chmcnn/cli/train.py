"""`chmcnn train`: a model and its report from a data set or a table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from chmcnn.cli import _data
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    DataDir,
    Delimiter,
    Device,
    Force,
    Hierarchy,
    IdColumn,
    Json,
    Labels,
    PathSeparator,
    Quiet,
    Seed,
    Separator,
)
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.datasets import Table
    from chmcnn.evaluation import Evaluation

_HOW = "How to train"


def train(  # noqa: PLR0913 -- one for each option
    data: Annotated[str, typer.Argument(help="A data set, or a table of your own: CSV, TSV, Parquet or ARFF.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the model.")] = Path("model"),
    force: Force = False,
    json: Json = False,
    test: Annotated[Path | None, typer.Option(help="A table to test on; otherwise a share of the rows.")] = None,
    test_share: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the rows to test on.")] = 0.2,
    preset: Annotated[str, typer.Option(help="default or paper.", rich_help_panel=_HOW)] = "default",
    epochs: Annotated[int | None, typer.Option(min=1, help="At most so many.", rich_help_panel=_HOW)] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Rows of a step.", rich_help_panel=_HOW)] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of Adam.", rich_help_panel=_HOW)] = None,
    width: Annotated[int | None, typer.Option(min=1, help="Units of each hidden layer.", rich_help_panel=_HOW)] = None,
    patience: Annotated[
        int | None, typer.Option(min=0, help="Epochs without progress to stop after.", rich_help_panel=_HOW)
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune-thresholds", help="A threshold for each class.", rich_help_panel=_HOW)
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Weigh rare classes more.", rich_help_panel=_HOW)
    ] = False,
    hierarchy: Hierarchy = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    path_separator: PathSeparator = "/",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a model, test it on rows that it has not seen, and write both with a report.

    The state is kept beside the folder of the model while it trains: the same command goes on after an interrupt.

    [bold]Examples[/bold]

    chmcnn train digits -o model/

    chmcnn train cellcycle_FUN -o model/ --preset paper

    chmcnn train my.csv --hierarchy edges.csv -o model/ --id-column name
    """
    from chmcnn.classifier import CHMCNNClassifier

    refuse_folder(output, force=force)
    reading = _data.Reading(
        hierarchy, labels, class_column, separator, path_separator, id_column, categorical, delimiter
    )
    if test is not None and not _data.is_file(data):
        raise DatasetError(f"{data} has a test part of its own; it takes no --test.")
    job = (
        _own(Path(data), reading, test, test_share, seed)
        if _data.is_file(data)
        else _known(data, data_dir, reading, seed)
    )
    state = output.with_name(f".{output.name}.training")
    model = CHMCNNClassifier(
        job.train.hierarchy,
        preset=preset,  # type: ignore[arg-type]  # the classifier checks it
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        widths=None if width is None else (width, width),
        patience=patience,
        threshold="tune" if tune else 0.5,
        class_weight="balanced" if balanced else None,
        evaluated=job.evaluated,
        device=device,
        random_state=seed,
        checkpoint=state,
        verbose=not quiet,
    )
    model.fit(job.train.X, job.train.Y, validation_data=None if job.valid is None else (job.valid.X, job.valid.Y))
    evaluation = finish(model, job, output, force=force, quiet=quiet)
    shutil.rmtree(state, ignore_errors=True)
    show(model, evaluation, output, json=json)


class Job(NamedTuple):
    """What to train on, and to test on."""

    title: str
    train: Table
    valid: Table | None
    test: Table | None
    evaluated: NDArray[np.bool_] | None


def refuse_folder(output: Path, *, force: bool) -> None:
    """Refuse a folder that must not be written over, before any work is done for it."""
    from chmcnn.errors import ModelError

    if output.exists() and not force:
        raise ModelError("it exists already; name another folder with -o, or use --force to write over it", output)
    if output.exists() and not (output / "model.json").is_file():
        raise ModelError("it is no model, and is not written over; name another folder with -o", output)


def _known(name: str, data_dir: Path | None, reading: _data.Reading, seed: int) -> Job:
    data = _data.known(name, data_dir, reading, {}, seed=seed)
    return Job(data.title, data.train, data.valid, data.test, data.evaluated)


def _own(path: Path, reading: _data.Reading, test: Path | None, share: float, seed: int) -> Job:
    from chmcnn.datasets import Dataset, split

    table = reading.table(path)
    if test is not None:
        tested = reading.table(test, table.hierarchy)
        Dataset(path.name, table, tested, tested)  # refuses other columns before the training
        return Job(path.name, table, None, tested, None)
    if share == 0:
        return Job(path.name, table, None, None, None)
    held_in, held_out = split(table, 1 - share, share, seed=seed)
    return Job(path.name, held_in, None, held_out, None)


def finish(model: CHMCNNClassifier, job: Job, output: Path, *, force: bool, quiet: bool) -> Evaluation | None:
    """Test the model, and write it with its report."""
    from chmcnn._files import atomic
    from chmcnn.evaluation import evaluate
    from chmcnn.metrics import information_content
    from chmcnn.report.page import page

    tested = None
    if job.test is not None and job.test.Y[:, model.evaluated_].any():
        content = information_content(job.train.Y, model.hierarchy_)
        title = f"test part of {job.title}"
        tested = evaluate(model, job.test.X, job.test.Y, title, information=content, progress=not quiet)
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
    text = page(model, job.train, tested, title=f"chmcnn: {job.title}", facts=facts)
    model.save(output, force=force)
    with atomic(output / "report.html") as temporary:
        temporary.write_text(text, encoding="utf-8")
    return tested


def show(model: CHMCNNClassifier, evaluation: Evaluation | None, output: Path, *, json: bool) -> None:
    """Print what came of it."""
    if json:
        from chmcnn._json import dumps

        facts: dict[str, Any] = {"model": str(output), "report": str(output / "report.html")}
        facts |= {"best epoch": model.best_epoch_, "validation AU(PRC)": model.best_score_}
        typer.echo(dumps(facts | ({"test": evaluation.facts()} if evaluation else {})))
        return
    if evaluation:
        from chmcnn.cli.evaluate import print_evaluation

        print_evaluation(evaluation)
    typer.echo(f"Model:  {output}\nReport: {output / 'report.html'}")
