"""`chmcnn evaluate`: the field's measures of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _model, _output, _table
from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import Invocation, LoadingOptions, Model, Threshold
from chmcnn.cli._spreadsheets import Spreadsheet, check_spreadsheet, guard_formulas
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.evaluation import Evaluation


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write as well: all measures as .json, those of each class as .csv."
        ),
    ] = None
    report: Annotated[
        Path | None, typer.Option(help="HTML page to write as well: measures, classes and example predictions.")
    ] = None

    spreadsheet: Spreadsheet = False

    def list_files(self) -> list[Path]:
        """Return the files that are written."""
        return [path for path in (self.output, self.report) if path is not None]

    def check(self, *suffixes: str) -> None:
        """Refuse files that must not be overwritten, or of an unknown kind, before any work is done for them."""
        super().check(*suffixes)
        if self.report is not None:
            _output.FileOutput(self.report, force=self.force).check(".html")
        if self.spreadsheet:
            check_spreadsheet(self.output)


@dataclass(frozen=True)
class MeasureOptions(OptionGroup):
    """What to measure beside the usual, and at which threshold."""

    threshold: Threshold = None
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Further measure, such as precision@5, or module:function of your own (repeatable)."),
    ] = None
    information: Annotated[
        Path | None,
        typer.Option(help="File of class and information accretion on each line, for Smin and the weighted Fmax."),
    ] = None
    known: Annotated[
        Path | None,
        typer.Option(help="File of row id and class on each line: known before, so that Fmax and Smin leave it out."),
    ] = None


@expand_groups
def evaluate(
    model: Model,
    data: Annotated[str, typer.Argument(help="Data set, whose test part is used, or a table with labels.")],
    *,
    output: _Output,
    measures: MeasureOptions,
    table: Annotated[_table.TableOptions, Omit("path_separator", "text", "min_rows")],
    loading: LoadingOptions,
    call: Invocation,
) -> None:
    """Evaluate a model on labelled rows, and print the measures.

    [bold]Examples[/bold]

    chmcnn evaluate model/ digits

    chmcnn evaluate model/ test.csv --json

    chmcnn evaluate model/ test.csv -o classes.csv --report report.html

    chmcnn evaluate model/ genes.csv --hierarchy go.obo --annotations goa.gaf.gz

    chmcnn evaluate model/ test.csv --threshold hierarchical_f --metric precision@5 --metric my_measures:gain

    chmcnn evaluate model/ proteins.csv --id-column protein --information IA.tsv --known known.tsv
    """
    from chmcnn import evaluation
    from chmcnn.datasets import read_information
    from chmcnn.metrics import find_measures

    output.check(".json", ".csv")
    wanted, accretion, known = find_measures(measures.metric or ()), measures.information, measures.known
    classifier = _model.load_model(model, loading, measures.threshold)
    X, Y = _model.read_labelled(classifier, data, table, call)
    result = evaluation.evaluate(
        classifier,
        X,
        Y,
        data,
        information=None if accretion is None else read_information(accretion, classifier.hierarchy_),
        known=None if known is None else _read_known(known, X, classifier),
        measures=wanted,
        progress=not call.quiet,
    )
    if output.output is not None:
        _output.write(output.output, _format(result, output))
        call.notify(f"Figures: {output.output}")
    if output.report is not None:
        _output.write(output.report, _create_page(classifier, X, Y, result, call))
        call.notify(f"Report: {output.report}")
    if not call.print_json(result.facts()):
        _output.print_evaluation(result)


def _create_page(model: HierarchicalClassifier, X: Features, Y: csr_array, result: Evaluation, call: Invocation) -> str:
    from chmcnn.datasets import Table
    from chmcnn.report.training_page import Origin, page

    facts = {
        "rows": f"{Y.shape[0]:,}",
        "features": f"{model.n_features_in_:,}",
        "classes": f"{result.classes:,} evaluated",
        "hierarchy": repr(model.hierarchy_),
    }
    if hasattr(model, "best_epoch_"):  # a network
        facts["best epoch"] = str(model.best_epoch_)
    origin = Origin(title=f"chmcnn: {result.title}", facts=facts, command=call.command, rows="test rows")
    return page(model, Table(X, Y, model.hierarchy_), result, origin)


def _read_known(path: Path, X: Features, model: HierarchicalClassifier) -> LabelsLike:
    """Read what was known before, by the ids of the rows."""
    from chmcnn.datasets import read_known

    index = getattr(X, "index", None)
    if index is None or index.name is None:
        raise ChmcnnError("--known finds rows by their ids: name their column with --id-column.")
    return read_known(path, [str(name) for name in index], model.hierarchy_)


def _format(result: Evaluation, output: _Output) -> str:
    if output.output is not None and output.output.suffix.lower() == ".json":
        from chmcnn._io.strict_json import dumps

        return dumps(result.facts())
    import pandas as pd

    rows = [
        {"class": name, **({"title": result.titles.get(name, "")} if result.titles else {}), **asdict(figures)}
        for name, figures in result.by_class.items()
    ]
    frame = pd.DataFrame(rows)
    return (guard_formulas(frame) if output.spreadsheet else frame).to_csv(index=False)
