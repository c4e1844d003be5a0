"""`chmcnn predict`: scores or labels for new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import DataDir, Delimiter, Device, Force, IdColumn, Json, Model, Quiet, Rows
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    import pandas as pd


def predict(  # noqa: PLR0913 -- one for each option
    model: Model,
    data: Rows,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV, TSV, Parquet or JSON; printed as CSV without it.")
    ] = None,
    force: Force = False,
    json: Json = False,
    labels: Annotated[bool, typer.Option("--labels", help="Label sets in place of scores.")] = False,
    most_specific: Annotated[
        bool, typer.Option("--most-specific", help="Label sets without ancestors; implies --labels.")
    ] = False,
    data_dir: DataDir = None,
    id_column: IdColumn = None,
    delimiter: Delimiter = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Predict new rows: one column of scores for each class, never incoherent, or the label sets.

    Columns of the table that the model was not trained with are passed over.

    [bold]Examples[/bold]

    chmcnn predict model/ new.csv -o scores.csv

    chmcnn predict model/ new.csv --most-specific

    chmcnn predict model/ new.csv --labels --json
    """
    from chmcnn._io import files
    from chmcnn.classifier import CHMCNNClassifier

    _output.refuse_file(output, (".csv", ".tsv", ".parquet", ".json"), force=force)
    if output is not None and json:
        raise ChmcnnError(f"--json is for printing: leave it out, and {output} is written by its ending.")
    loaded = CHMCNNClassifier.load(model, device=device)
    reading = _data.Reading(id_column=id_column, delimiter=delimiter)
    features = _data.features_for(loaded, data, data_dir, reading, quiet=quiet)
    frame = _frame(loaded, features, labels=labels or most_specific, most_specific=most_specific)
    if output is None:
        _write(frame, sys.stdout, ".json" if json else ".csv")
        return
    with files.atomic(output) as temporary:
        _write(frame, temporary, output.suffix.lower())
    _output.notice(f"{len(frame):,} rows: {output}", quiet=quiet)


def _frame(loaded, features, *, labels: bool, most_specific: bool) -> pd.DataFrame:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- a model and what it takes
    import pandas as pd

    index = features.index if isinstance(features, pd.DataFrame) else pd.RangeIndex(features.shape[0])
    index = index.rename("row" if index.name is None else index.name)
    if not labels:
        return pd.DataFrame(loaded.predict_proba(features), index=index, columns=list(loaded.hierarchy_.classes))
    sets = loaded.predict_labels(features, most_specific=most_specific)
    return pd.DataFrame({"labels": [sorted(names) for names in sets]}, index=index)


def _write(frame: pd.DataFrame, target, kind: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- a path, or standard output
    if kind == ".parquet":
        frame.to_parquet(target)
    elif kind == ".json":
        frame.to_json(target, orient="index", indent=1)
    else:
        if frame.dtypes.iloc[0].kind == "O":  # lists of names, not scores
            frame = frame.assign(labels=frame["labels"].str.join(";"))
        frame.to_csv(target, sep="," if kind == ".csv" else "\t")
