"""`chmcnn predict`: scores, ranked classes or labels for new rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _cluster, _model, _output, _predictions, _table
from chmcnn.cli._answers import AnswerOptions, Format
from chmcnn.cli._groups import expand_groups
from chmcnn.cli._options import Cluster, Invocation, LoadingOptions, Model, RowsOrFiles
from chmcnn.cli._row_groups import Request, predict_groups
from chmcnn.cli._spreadsheets import check_spreadsheet
from chmcnn.errors import ChmcnnError


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="CSV, TSV, Parquet or JSON file to write, or a folder for one file of each row group of Parquet "
            "files. Default: print CSV.",
        ),
    ] = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, for many files."""
        return self.output is not None and (self.output.is_dir() or not self.output.suffix)

    def refuse_several(self, data: list[str], cluster: str | None) -> None:
        """Refuse what needs a folder."""
        if len(data) > 1:
            named = ", ".join(data[:2]) + ", ..." * (len(data) > 2)
            raise ChmcnnError(
                f"There are {len(data)} tables, {named}; name a folder, such as -o scores/, to predict several Parquet "
                "files."
            )
        if cluster is not None:
            raise ChmcnnError(
                "--cluster predicts the row groups of Parquet files, one file for each; name a folder, such as "
                "-o scores/."
            )

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
def predict(  # noqa: PLR0913 -- the groups of its options
    model: Model,
    data: RowsOrFiles,
    *,
    answers: AnswerOptions,
    output: _Output,
    cluster: Cluster = None,
    table: _table.FeatureTable,
    loading: LoadingOptions,
    call: Invocation,
) -> None:
    """Predict new rows: coherent scores of all classes, the best classes of each row, or label sets.

    Columns that the model was not trained on are ignored.

    For tables that do not fit into memory, name a folder: it gets one file for each row group of the Parquet files.
    After an interrupt, the same command resumes.

    [bold]Examples[/bold]

    chmcnn predict model/ new.csv -o scores.csv

    chmcnn predict model/ new.csv --top 10 --min-score 0.05 -o best.csv

    chmcnn predict model/ genes.csv --within GO:0008152 --format cafa -o predictions.tsv

    chmcnn predict model/ new.csv --most-specific --threshold 0.3

    chmcnn predict model/ new.csv --risk 0.1

    chmcnn predict model/ new.csv --risk 0.05 --back-off --most-specific

    chmcnn predict model/ new.csv --labels --json

    chmcnn predict model/ big/*.parquet --top 10 -o scores/ --cluster tcp://scheduler:8786
    """
    from chmcnn._io import files
    from chmcnn._wording import count

    form = answers.resolve()
    if output.output is not None and output.is_folder:
        request = Request(answers, table, loading)
        with _cluster.connect(cluster, call) as executor:
            predict_groups(model, data, request, output.output, executor, call, force=output.force)
        return
    output.refuse_several(data, cluster)
    output.check_form(form, json=call.json)
    if answers.spreadsheet:
        check_spreadsheet(output.output)
    classifier = _model.load_model(model, loading, answers.threshold)
    answers.find_branch(classifier.hierarchy_)
    features = _model.read_features(classifier, data[0], table, call)
    _model.notify_unseen(classifier, features, call)
    if told := answers.describe_risk(classifier):
        call.notify(told)
    if output.output is None:
        _predictions.write(classifier, features, answers, _output.find_output(), ".json" if call.json else ".csv")
        return
    with files.atomic(output.output) as temporary:
        lines = _predictions.write(classifier, features, answers, temporary, output.output.suffix.lower())
    what = count(features.shape[0], "row") + (f", {count(lines, 'line')}" if lines is not None else "")
    call.notify(f"{what}: {output.output}")
