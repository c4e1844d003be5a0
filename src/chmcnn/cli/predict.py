"""`chmcnn predict`: scores, ranked classes or labels for new rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _long_form, _output
from chmcnn.cli._answers import AnswerOptions, Format, row_ids
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation, Model, Rows
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from typing import TextIO

    import pandas as pd

    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, TSV, Parquet or JSON file to write. Default: print CSV."),
    ] = None

    def check_form(self, form: Format, *, json: bool) -> None:
        """Refuse a file that cannot be written, or not in this form, before any work is done for it."""
        self.check(*([".tsv", ".txt"] if form is Format.CAFA else [".csv", ".tsv", ".parquet", ".json"]))
        if json and form is Format.CAFA:
            raise ChmcnnError("--json and --format cafa cannot be used together; use --format long for JSON.")
        if json and self.output is not None:
            raise ChmcnnError(
                f"--json prints the result, but {self.output} is written by its ending; leave out --json."
            )


@expand_groups
def predict(
    model: Model,
    data: Rows,
    *,
    answers: AnswerOptions,
    output: _Output,
    table: _data.FeatureTable,
    compute: Annotated[ComputeOptions, Omit("seed")],
    call: Invocation,
) -> None:
    """Predict new rows: coherent scores of all classes, the best classes of each row, or label sets.

    Columns that the model was not trained on are ignored.

    [bold]Examples[/bold]

    chmcnn predict model/ new.csv -o scores.csv

    chmcnn predict model/ new.csv --top 10 --min-score 0.05 -o best.csv

    chmcnn predict model/ genes.csv --within GO:0008152 --format cafa -o predictions.tsv

    chmcnn predict model/ new.csv --most-specific --threshold 0.3

    chmcnn predict model/ new.csv --risk 0.1

    chmcnn predict model/ new.csv --risk 0.05 --back-off --most-specific

    chmcnn predict model/ new.csv --labels --json
    """
    from chmcnn._io import files
    from chmcnn._wording import count

    form = answers.resolve()
    output.check_form(form, json=call.json)
    classifier = _data.load_model(model, compute.device, answers.threshold)
    branch = answers.find_branch(classifier.hierarchy_)
    features = _data.read_features(classifier, data, table, call)
    if form is Format.CAFA:
        _long_form.check_cafa(row_ids(features), branch)
    if output.output is None:
        _write(classifier, features, answers, form, sys.stdout, ".json" if call.json else ".csv")
        return
    with files.atomic(output.output) as temporary:
        lines = _write(classifier, features, answers, form, temporary, output.output.suffix.lower())
    what = count(features.shape[0], "row") + (f", {count(lines, 'line')}" if lines is not None else "")
    call.notify(f"{what}: {output.output}")


def _write(
    classifier: HierarchicalClassifier,
    features: Features,
    answers: AnswerOptions,
    form: Format,
    target: Path | TextIO,
    suffix: str,
) -> int | None:
    """Write predictions; return the number of lines of the long form."""
    if form is Format.LONG:
        return _long_form.write(answers.rank(classifier, features), target, suffix)
    if form is Format.CAFA:
        return _long_form.write_cafa(answers.rank(classifier, features), target)
    _write_frame(_predict(classifier, features, answers, form), target, suffix)
    return None


def _predict(
    classifier: HierarchicalClassifier, features: Features, answers: AnswerOptions, form: Format
) -> pd.DataFrame:
    import pandas as pd

    index, branch = row_ids(features), answers.find_branch(classifier.hierarchy_)
    if form is Format.WIDE:
        scores = classifier.predict_proba(features)
        kept = scores if answers.within is None else scores[:, [classifier.hierarchy_.index(name) for name in branch]]
        return pd.DataFrame(kept, index=index, columns=branch)
    shown = set(branch)
    sets = answers.predict_labels(classifier, features)
    return pd.DataFrame({"labels": [sorted(names & shown) for names in sets]}, index=index)


def _write_frame(frame: pd.DataFrame, target: Path | TextIO, suffix: str) -> None:
    if suffix == ".parquet" and isinstance(target, Path):
        frame.to_parquet(target)
    elif suffix == ".json":
        frame.to_json(target, orient="index", indent=1)
    else:
        if frame.dtypes.iloc[0].kind == "O":  # lists of names, not scores
            frame = frame.assign(labels=frame["labels"].str.join(";"))
        frame.to_csv(target, sep="," if suffix == ".csv" else "\t")
