"""`chmcnn train`: a model and its report from a data set or a table."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _data, _output, _settings
from chmcnn.cli._options import (
    Averaging,
    Balanced,
    BatchSize,
    Categorical,
    ClassColumn,
    Config,
    DataDir,
    Delimiter,
    Device,
    Dropout,
    Epochs,
    Force,
    Hierarchy,
    IdColumn,
    Json,
    Labels,
    LearningRate,
    ModelFolder,
    PathSeparator,
    Patience,
    Precision,
    Preset,
    Quiet,
    Refit,
    Schedule,
    Seed,
    Separator,
    TuneThresholds,
    ValidationShare,
    WeightDecay,
    Width,
)
from chmcnn.errors import DatasetError


def train(  # noqa: PLR0913 -- one for each option
    data: Annotated[str, typer.Argument(help="A data set, or a table of your own: CSV, TSV, Parquet or ARFF.")],
    *,
    output: ModelFolder = Path("model"),
    force: Force = False,
    json: Json = False,
    data_dir: DataDir = None,
    test: Annotated[Path | None, typer.Option(help="A table to test on; otherwise a share of the rows.")] = None,
    test_share: Annotated[float | None, typer.Option(min=0, max=0.9, help="Share of the rows to test on: 0.2.")] = None,
    config: Config = None,
    preset: Preset = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    learning_rate: LearningRate = None,
    weight_decay: WeightDecay = None,
    schedule: Schedule = None,
    averaging: Averaging = None,
    precision: Precision = None,
    validation_share: ValidationShare = None,
    patience: Patience = None,
    refit: Refit = None,
    tune_thresholds: TuneThresholds = None,
    balanced: Balanced = None,
    width: Width = None,
    dropout: Dropout = None,
    hierarchy: Hierarchy = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    path_separator: PathSeparator = "/",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
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

    chmcnn train my.csv --config settings.json --dropout 0.5
    """
    from chmcnn.classifier import CHMCNNClassifier

    _output.refuse_folder(output, force=force)
    settings = _settings.merged(
        config,
        preset=preset,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        schedule=schedule,
        averaging=averaging,
        precision=precision,
        validation_share=validation_share,
        patience=patience,
        refit=refit,
        tune_thresholds=tune_thresholds,
        balanced=balanced,
        width=width,
        dropout=dropout,
    )
    reading = _data.Reading(
        hierarchy, labels, class_column, separator, path_separator, id_column, categorical, delimiter
    )
    if _data.is_file(data):
        if test is not None and test_share is not None:
            raise DatasetError("--test and --test-share both say what to test on: give one of them.")
        job = _data.own_job(Path(data), reading, test, 0.2 if test_share is None else test_share, seed)
    else:
        parts = {"test": test, "test-share": test_share, "validation-share": validation_share}
        for option, given in parts.items():
            if given is not None:
                raise DatasetError(f"{data} is no file of your own; it takes no --{option}.")
        job = _data.known_job(_data.known(data, data_dir, reading, seed=seed, quiet=quiet))
    if job.never_seen():
        _output.notice(f"No training row has {_shortened(job.never_seen())}: it cannot be learnt.", quiet=quiet)
    state = output.with_name(f".{output.name}.training")
    model = CHMCNNClassifier(
        job.train.hierarchy,
        **settings,
        evaluated=job.evaluated,
        device=device,
        random_state=seed,
        checkpoint=state,
        verbose=not quiet,
    )
    try:
        model.fit(job.train.X, job.train.Y, validation_data=None if job.valid is None else (job.valid.X, job.valid.Y))
    finally:
        with suppress(OSError):
            state.rmdir()  # of a training that failed before it left a state; otherwise it is not empty, and stays
    evaluation = _output.tested(model, job, quiet=quiet)
    _output.save(model, job, evaluation, output, force=force)
    shutil.rmtree(state, ignore_errors=True)
    if json:
        _output.print_json(_output.outcome(model, evaluation, output))
    else:
        _output.show(evaluation, output)


def _shortened(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" or any of {len(names) - 3:,} other classes" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more
