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
    from chmcnn.evaluation import Evaluation


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write as well: all measures as .json, those of each class as .csv."
        ),
    ] = None


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

    chmcnn evaluate model/ test.csv -o classes.csv

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
    if not call.print_json(result.facts()):
        _output.print_evaluation(result)


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
