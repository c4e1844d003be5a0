"""`chmcnn explain`: why classes were predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chmcnn.cli import _model, _output, _table
from chmcnn.cli._answers import row_ids
from chmcnn.cli._groups import OptionGroup, expand_groups
from chmcnn.cli._options import Invocation, LoadingOptions, Model, Rows, Threshold
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file to write, instead of printing.")] = (
        None
    )


@dataclass(frozen=True)
class _Explained(OptionGroup):
    """What is explained: some rows, and the classes that reach a threshold."""

    row: Annotated[
        list[str] | None, typer.Option(help="Id of a row, or its number from 0 (repeatable). Default: the first row.")
    ] = None
    threshold: Threshold = None


@expand_groups
def explain(
    model: Model,
    data: Rows,
    *,
    explained: _Explained,
    output: _Output,
    table: _table.FeatureTable,
    loading: LoadingOptions,
    call: Invocation,
) -> None:
    """Show the predicted part of the hierarchy for some rows, with scores and the delegate of each class.

    [bold]Examples[/bold]

    chmcnn explain model/ new.csv

    chmcnn explain model/ digits --row 3 --row 5 -o reasons.json

    chmcnn explain model/ genes.csv --id-column gene --row YAL001C
    """
    from chmcnn._io.strict_json import dumps
    from chmcnn._wording import count, make_printable

    output.check(".json")
    classifier = _model.load_model(model, loading, explained.threshold)
    features = _model.read_features(classifier, data, table, call)
    rows = explained.row or ["0"]
    positions = [_find_row(name, row_ids(features), data) for name in rows]
    selected = features.iloc[positions] if hasattr(features, "iloc") else features[positions]
    explanations = dict(zip(rows, classifier.explain(selected), strict=True))
    facts = {name: explanation.facts() for name, explanation in explanations.items()}
    if output.output is not None:
        _output.write(output.output, dumps(facts))
        call.notify(f"Explanations of {count(len(explanations), 'row')}: {output.output}")
    elif not call.print_json(facts):
        for name, explanation in explanations.items():
            typer.echo(make_printable(f"row {name}\n{explanation}\n"))


def _find_row(name: str, ids: pd.Index[Any], data: str) -> int:
    """Return the position of a row by its id or, if no row has it, by its number."""
    import numpy as np
    import pandas as pd

    from chmcnn._wording import count, nearest

    known = ids.astype(str)
    found = np.flatnonzero(known == name)
    if len(found):
        return int(found[0])
    if name.isdecimal() and int(name) < len(ids):
        return int(name)
    if name.isdecimal():
        other = "" if isinstance(ids, pd.RangeIndex) else f" No row has the id {name!r}."
        raise ChmcnnError(f"--row is {name}, but {data} has {count(len(ids), 'row')}, counted from 0.{other}")
    near = nearest(name, known.tolist())
    hint = f" Did you mean {near!r}?" if near else ""
    raise ChmcnnError(f"--row is {name!r}, but no row of {data} has this id.{hint}")
