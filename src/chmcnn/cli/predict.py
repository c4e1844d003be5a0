"""`chmcnn predict`: scores or labels for new rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation, Model, Rows
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from typing import TextIO

    import pandas as pd

    from chmcnn._typing import Features
    from chmcnn.classifier import CHMCNNClassifier


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, TSV, Parquet or JSON file to write. Default: print CSV."),
    ] = None


@expand_groups
def predict(  # noqa: PLR0913 -- the groups of its options
    model: Model,
    data: Rows,
    *,
    output: _Output,
    labels: Annotated[bool, typer.Option("--labels", help="Label sets instead of scores.")] = False,
    most_specific: Annotated[
        bool, typer.Option("--most-specific", help="Label sets without ancestors; implies --labels.")
    ] = False,
    table: _data.FeatureTable,
    compute: Annotated[ComputeOptions, Omit("seed")],
    call: Invocation,
) -> None:
    """Predict new rows: coherent scores, one column for each class, or label sets.

    Columns that the model was not trained on are ignored.

    [bold]Examples[/bold]

    chmcnn predict model/ new.csv -o scores.csv

    chmcnn predict model/ new.csv --most-specific

    chmcnn predict model/ new.csv --labels --json
    """
    from chmcnn._io import files
    from chmcnn._wording import count
    from chmcnn.classifier import CHMCNNClassifier

    output.check(".csv", ".tsv", ".parquet", ".json")
    if output.output is not None and call.json:
        raise ChmcnnError(f"--json prints the result, but {output.output} is written by its ending; leave out --json.")
    classifier = CHMCNNClassifier.load(model, device=compute.device)
    features = _data.read_features(classifier, data, table, call)
    frame = _predict(classifier, features, labels=labels or most_specific, most_specific=most_specific)
    if output.output is None:
        _write(frame, sys.stdout, ".json" if call.json else ".csv")
        return
    with files.atomic(output.output) as temporary:
        _write(frame, temporary, output.output.suffix.lower())
    call.notify(f"{count(len(frame), 'row')}: {output.output}")


def _predict(classifier: CHMCNNClassifier, features: Features, *, labels: bool, most_specific: bool) -> pd.DataFrame:
    import pandas as pd

    index = features.index if isinstance(features, pd.DataFrame) else pd.RangeIndex(features.shape[0])
    index = index.rename("row" if index.name is None else index.name)
    if not labels:
        return pd.DataFrame(
            classifier.predict_proba(features), index=index, columns=list(classifier.hierarchy_.classes)
        )
    sets = classifier.predict_labels(features, most_specific=most_specific)
    return pd.DataFrame({"labels": [sorted(names) for names in sets]}, index=index)


def _write(frame: pd.DataFrame, target: Path | TextIO, suffix: str) -> None:
    if suffix == ".parquet" and isinstance(target, Path):
        frame.to_parquet(target)
    elif suffix == ".json":
        frame.to_json(target, orient="index", indent=1)
    else:
        if frame.dtypes.iloc[0].kind == "O":  # lists of names, not scores
            frame = frame.assign(labels=frame["labels"].str.join(";"))
        frame.to_csv(target, sep="," if suffix == ".csv" else "\t")
