"""`chmcnn explain`: why classes were predicted."""

from __future__ import annotations

from typing import Annotated

import typer

from chmcnn.cli import _data
from chmcnn.cli._options import DataDir, Delimiter, Device, IdColumn, Json
from chmcnn.cli.evaluate import Model


def explain(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Annotated[str, typer.Argument(help="A table with the columns of the training, or a data set's name.")],
    *,
    row: Annotated[list[int] | None, typer.Option(min=0, help="Which row, from 0; may be given again.")] = None,
    json: Json = False,
    id_column: IdColumn = None,
    delimiter: Delimiter = None,
    data_dir: DataDir = None,
    device: Device = "auto",
) -> None:
    """Show the predicted part of the hierarchy of some rows, with scores and who decided each class.

    [bold]Examples[/bold]

    chmcnn explain model/ new.csv

    chmcnn explain model/ digits --row 3 --row 5
    """
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.errors import ChmcnnError

    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(id_column=id_column, delimiter=delimiter)
    features = _data.features_for(loaded, data, data_dir, reading)
    rows = row or [0]
    if max(rows) >= features.shape[0]:
        raise ChmcnnError(f"There is no row {max(rows)}: {data} has {features.shape[0]:,}, counted from 0.")
    chosen = features.iloc[rows] if hasattr(features, "iloc") else features[rows]
    found = loaded.explain(chosen)
    if json:
        from chmcnn._json import dumps

        content = {
            number: [reason._asdict() for reason in each.reasons] for number, each in zip(rows, found, strict=True)
        }
        typer.echo(dumps(content))
        return
    for number, each in zip(rows, found, strict=True):
        typer.echo(f"row {number}\n{each}\n")
