"""`chmcnn explain`: why classes were predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import DataDir, Delimiter, Device, Force, IdColumn, Json, Model, Quiet, Rows


def explain(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Rows,
    *,
    row: Annotated[list[int] | None, typer.Option(min=0, help="Which row, from 0; may be given again.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write .json in place of printing.")] = None,
    force: Force = False,
    json: Json = False,
    data_dir: DataDir = None,
    id_column: IdColumn = None,
    delimiter: Delimiter = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Show the predicted part of the hierarchy of some rows, with scores and delegates.

    [bold]Examples[/bold]

    chmcnn explain model/ new.csv

    chmcnn explain model/ digits --row 3 --row 5 -o reasons.json
    """
    from chmcnn._io.strict_json import dumps
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.errors import ChmcnnError

    _output.refuse_file(output, (".json",), force=force)
    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(id_column=id_column, delimiter=delimiter)
    features = _data.features_for(loaded, data, data_dir, reading, quiet=quiet)
    rows = row or [0]
    if max(rows) >= features.shape[0]:
        raise ChmcnnError(f"There is no row {max(rows)}: {data} has {features.shape[0]:,}, counted from 0.")
    chosen = features.iloc[rows] if hasattr(features, "iloc") else features[rows]
    found = dict(zip(rows, loaded.explain(chosen), strict=True))
    facts = {number: each.facts() for number, each in found.items()}
    if output is not None:
        _output.write(output, dumps(facts))
        _output.notice(f"Explanations of {len(found):,} rows: {output}", quiet=quiet)
    elif json:
        _output.print_json(facts)
    else:
        for number, each in found.items():
            typer.echo(f"row {number}\n{each}\n")
