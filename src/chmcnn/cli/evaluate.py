"""`chmcnn evaluate`: the field's measures of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    DataDir,
    Delimiter,
    Device,
    IdColumn,
    Json,
    Labels,
    Quiet,
    Separator,
)

if TYPE_CHECKING:
    from chmcnn.evaluation import Evaluation

Model = Annotated[Path, typer.Argument(help="The folder of a model.")]


def evaluate(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Annotated[str, typer.Argument(help="A data set, whose test part is used, or a table with labels.")],
    *,
    json: Json = False,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Measure a model on rows whose labels are known.

    [bold]Examples[/bold]

    chmcnn evaluate model/ digits

    chmcnn evaluate model/ test.csv --json
    """
    from chmcnn import evaluation
    from chmcnn.classifier import CHMCNNClassifier

    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(
        None, labels, class_column, separator, id_column=id_column, categorical=categorical, delimiter=delimiter
    )
    labelled = _data.labelled_for(loaded, data, data_dir, reading)
    found = evaluation.evaluate(loaded, *labelled, data, progress=not quiet)
    if json:
        from chmcnn._json import dumps

        typer.echo(dumps(found.facts()))
    else:
        print_evaluation(found)


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
