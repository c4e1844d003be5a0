"""`chmcnn evaluate`: the field's measures of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation, Model, Threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn._typing import Features
    from chmcnn.classifier import CHMCNNClassifier
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

    def check(self, *suffixes: str) -> None:
        """Refuse files that must not be overwritten, or of an unknown kind, before any work is done for them."""
        super().check(*suffixes)
        if self.report is not None:
            _output.FileOutput(self.report, force=self.force).check(".html")


@expand_groups
def evaluate(
    model: Model,
    data: Annotated[str, typer.Argument(help="Data set, whose test part is used, or a table with labels.")],
    *,
    threshold: Threshold = None,
    output: _Output,
    table: Annotated[_data.TableOptions, Omit("path_separator", "text", "min_rows")],
    compute: Annotated[ComputeOptions, Omit("seed")],
    call: Invocation,
) -> None:
    """Evaluate a model on labelled rows, and print the measures.

    [bold]Examples[/bold]

    chmcnn evaluate model/ digits

    chmcnn evaluate model/ test.csv --json

    chmcnn evaluate model/ test.csv -o classes.csv --report report.html

    chmcnn evaluate model/ genes.csv --hierarchy go.obo --annotations goa.gaf.gz

    chmcnn evaluate model/ test.csv --threshold hierarchical_f
    """
    from chmcnn import evaluation

    output.check(".json", ".csv")
    classifier = _data.load_model(model, compute.device, threshold)
    X, Y = _data.read_labelled(classifier, data, table, call)
    result = evaluation.evaluate(classifier, X, Y, data, progress=not call.quiet)
    if output.output is not None:
        _output.write(output.output, _format(result, output.output.suffix.lower()))
        call.notify(f"Figures: {output.output}")
    if output.report is not None:
        _output.write(output.report, _create_page(classifier, X, Y, result, call))
        call.notify(f"Report: {output.report}")
    if not call.print_json(result.facts()):
        _output.print_evaluation(result)


def _create_page(
    model: CHMCNNClassifier, X: Features, Y: NDArray[np.bool_], result: Evaluation, call: Invocation
) -> str:
    from chmcnn.datasets import Table
    from chmcnn.report.training_page import Origin, page

    facts = {
        "rows": f"{len(Y):,}",
        "features": f"{model.n_features_in_:,}",
        "classes": f"{result.classes:,} evaluated",
        "hierarchy": repr(model.hierarchy_),
        "best epoch": str(model.best_epoch_),
    }
    origin = Origin(title=f"chmcnn: {result.title}", facts=facts, command=call.command, rows="test rows")
    return page(model, Table(X, Y, model.hierarchy_), result, origin)


def _format(result: Evaluation, suffix: str) -> str:
    if suffix == ".json":
        from chmcnn._io.strict_json import dumps

        return dumps(result.facts())
    import pandas as pd

    rows = [
        {"class": name, **({"title": result.titles.get(name, "")} if result.titles else {}), **asdict(figures)}
        for name, figures in result.by_class.items()
    ]
    return pd.DataFrame(rows).to_csv(index=False)
