"""`chmcnn evaluate`: the field's measures of a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    DataDir,
    Delimiter,
    Device,
    Force,
    IdColumn,
    Json,
    Labels,
    Model,
    Quiet,
    Separator,
)

if TYPE_CHECKING:
    from chmcnn.evaluation import Evaluation


def evaluate(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Annotated[str, typer.Argument(help="A data set, whose test part is used, or a table with labels.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write them too: all as .json, those of each class as .csv.")
    ] = None,
    force: Force = False,
    json: Json = False,
    data_dir: DataDir = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Measure a model on rows whose labels are known, and print the figures.

    [bold]Examples[/bold]

    chmcnn evaluate model/ digits

    chmcnn evaluate model/ test.csv --json

    chmcnn evaluate model/ test.csv -o classes.csv
    """
    from chmcnn import evaluation
    from chmcnn.classifier import CHMCNNClassifier

    _output.refuse_file(output, (".json", ".csv"), force=force)
    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(
        None, labels, class_column, separator, id_column=id_column, categorical=categorical, delimiter=delimiter
    )
    labelled = _data.labelled_for(loaded, data, data_dir, reading, quiet=quiet)
    found = evaluation.evaluate(loaded, *labelled, data, progress=not quiet)
    if output is not None:
        _output.write(output, _content(found, output.suffix.lower()))
        _output.notice(f"Figures: {output}", quiet=quiet)
    if json:
        _output.print_json(found.facts())
    else:
        _output.print_evaluation(found)


def _content(found: Evaluation, kind: str) -> str:
    if kind == ".json":
        from chmcnn._io.strict_json import dumps

        return dumps(found.facts())
    import pandas as pd

    return pd.DataFrame([{"class": name, **asdict(each)} for name, each in found.by_class.items()]).to_csv(index=False)
