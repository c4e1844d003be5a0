"""`chmcnn predict`: scores or labels for new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data
from chmcnn.cli._options import DataDir, Delimiter, Device, Force, IdColumn
from chmcnn.cli.evaluate import Model

if TYPE_CHECKING:
    import pandas as pd

_ENDINGS = (".csv", ".tsv", ".parquet", ".json")


def predict(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Annotated[str, typer.Argument(help="A table with the columns of the training, or a data set's name.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV, TSV, Parquet or JSON; printed as CSV without it.")
    ] = None,
    force: Force = False,
    labels: Annotated[bool, typer.Option("--labels", help="Label sets in place of scores.")] = False,
    most_specific: Annotated[bool, typer.Option("--most-specific", help="With --labels: no ancestors.")] = False,
    id_column: IdColumn = None,
    delimiter: Delimiter = None,
    data_dir: DataDir = None,
    device: Device = "auto",
) -> None:
    """Predict new rows: one column of scores for each class, never incoherent, or the label sets.

    Columns of the table that the model was not trained with are passed over.

    [bold]Examples[/bold]

    chmcnn predict model/ new.csv -o scores.csv

    chmcnn predict model/ new.csv --labels --most-specific
    """
    from chmcnn import _files
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.errors import ChmcnnError

    if output is not None:
        _files.refuse_existing(output, force=force)
        if output.suffix.lower() not in _ENDINGS:
            raise ChmcnnError(f"{output} ends in {output.suffix!r}; expected one of {', '.join(_ENDINGS)}.")
    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(id_column=id_column, delimiter=delimiter)
    features = _data.features_for(loaded, data, data_dir, reading)
    frame = _frame(loaded, features, labels=labels, most_specific=most_specific)
    if output is None:
        frame.to_csv(sys.stdout)
        return
    with _files.atomic(output) as temporary:
        _write(frame, temporary)
    typer.echo(f"{len(frame):,} rows: {output}", err=True)


def _frame(loaded, features, *, labels: bool, most_specific: bool) -> pd.DataFrame:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- a model and what it takes
    import pandas as pd

    index = features.index if isinstance(features, pd.DataFrame) else pd.RangeIndex(features.shape[0])
    index = index.rename("row" if index.name is None else index.name)
    if not labels:
        return pd.DataFrame(loaded.predict_proba(features), index=index, columns=list(loaded.hierarchy_.classes))
    sets = loaded.predict_labels(features, most_specific=most_specific)
    return pd.DataFrame({"labels": [";".join(sorted(names)) for names in sets]}, index=index)


def _write(frame: pd.DataFrame, path: Path) -> None:
    kind = path.suffix.lower()
    if kind == ".parquet":
        frame.to_parquet(path)
    elif kind == ".json":
        frame.to_json(path, orient="index", indent=1)
    else:
        frame.to_csv(path, sep="," if kind == ".csv" else "\t")
