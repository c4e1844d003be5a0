"""`chmcnn explain`: why classes were predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation, Model, Rows


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write, instead of printing.")] = (
        None
    )


@expand_groups
def explain(
    model: Model,
    data: Rows,
    *,
    row: Annotated[list[int] | None, typer.Option(min=0, help="Number of a row, from 0 (repeatable).")] = None,
    output: _Output,
    table: _data.FeatureTable,
    compute: Annotated[ComputeOptions, Omit("seed")],
    call: Invocation,
) -> None:
    """Show the predicted part of the hierarchy for some rows, with scores and the delegate of each class.

    [bold]Examples[/bold]

    chmcnn explain model/ new.csv

    chmcnn explain model/ digits --row 3 --row 5 -o reasons.json
    """
    from chmcnn._io.strict_json import dumps
    from chmcnn._wording import count
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.errors import ChmcnnError

    output.check(".json")
    classifier = CHMCNNClassifier.load(model, device=compute.device)
    features = _data.read_features(classifier, data, table, call)
    rows = row or [0]
    if max(rows) >= features.shape[0]:
        raise ChmcnnError(f"--row is {max(rows)}, but {data} has {count(features.shape[0], 'row')}, counted from 0.")
    selected = features.iloc[rows] if hasattr(features, "iloc") else features[rows]
    explanations = dict(zip(rows, classifier.explain(selected), strict=True))
    facts = {number: explanation.facts() for number, explanation in explanations.items()}
    if output.output is not None:
        _output.write(output.output, dumps(facts))
        call.notify(f"Explanations of {count(len(explanations), 'row')}: {output.output}")
    elif not call.print_json(facts):
        for number, explanation in explanations.items():
            typer.echo(f"row {number}\n{explanation}\n")
