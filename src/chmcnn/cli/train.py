"""`chmcnn train`: a model and its report from a data set or a table."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn._workers import find_place
from chmcnn.cli import _data, _model_output, _stream, _table
from chmcnn.cli._groups import expand_groups
from chmcnn.cli._options import ComputeOptions, DataOrFiles, Invocation
from chmcnn.cli._settings import TrainingOptions
from chmcnn.errors import ChmcnnError
from chmcnn.settings import ENSEMBLES

if TYPE_CHECKING:
    from chmcnn import CHMCNNClassifier, CoherentEnsemble, Hierarchy
    from chmcnn._typing import JSONValue
    from chmcnn.datasets import Table


@expand_groups
@_model_output.hold_output
def train(  # noqa: PLR0913 -- a group of options each
    data: DataOrFiles,
    *,
    output: _model_output.ModelOutput,
    hold_out: _data.HoldOutOptions,
    training: TrainingOptions,
    table: _table.TableOptions,
    stream: _stream.StreamOptions,
    compute: ComputeOptions,
    call: Invocation,
) -> None:
    """Train a model, test it on rows that it has not seen, and write it with a report.

    The training saves its state beside the model folder: after an interrupt, the same command resumes it. An ensemble
    resumes its network; its other members, which take far less time, are trained again.

    Under [bold]torchrun[/bold], several processes train one network together; the first one writes and prints.

    [bold]Examples[/bold]

    chmcnn train digits -o model/

    chmcnn train cellcycle_FUN -o model/ --preset best

    chmcnn train my.csv --hierarchy edges.csv -o model/ --id-column name

    chmcnn train products.csv --labels category --path-separator ">" --text title

    chmcnn train my.csv --config settings.json --dropout 0.5

    chmcnn train genes.csv --hierarchy go.obo --annotations goa.gaf.gz --evidence EXPERIMENTAL --min-rows 10

    chmcnn train big/*.parquet --stream --hierarchy edges.csv --test test.parquet

    torchrun --nproc-per-node 2 -m chmcnn train big/*.parquet --stream --hierarchy edges.csv
    """
    is_first = find_place().rank == 0
    call = replace(call, quiet=call.quiet or not is_first)
    stream.check(data)
    settings, name = training.settings(), data[0]
    if stream.stream and settings.get("preset") in ENSEMBLES:
        raise ChmcnnError(f"--preset {settings['preset']} needs all rows in memory, but --stream reads some at a time.")
    rows = stream.open(data, table) if stream.stream else None
    if rows is not None:
        parts = _stream.describe(rows, hold_out, table)
    elif _data.is_file(name):
        parts = hold_out.split(Path(name), table, compute.seed, call.notify)
    else:
        training.refuse_validation_share(name)
        parts = _data.Parts.of(_data.load(name, call, hold_out, table, seed=compute.seed))
    _notify(parts.train, table, call, is_streamed=rows is not None, is_file=rows is not None or _data.is_file(name))
    hierarchy = parts.train.hierarchy
    state = output.find_state(is_first=is_first)
    if not output.restart:
        _refuse_other_state(state, settings.get("preset"))
    model = _create_model(
        hierarchy,
        settings,
        path_separator=table.path_separator,
        evaluated=parts.evaluated,
        device=compute.device,
        random_state=compute.seed,
        checkpoint=state,
        verbose=not call.quiet,
    )
    try:
        model.fit(
            parts.train.X if rows is None else rows,
            parts.train.Y if rows is None else None,
            validation_data=None if parts.valid is None else (parts.valid.X, parts.valid.Y),
        )
    finally:
        if is_first:
            with suppress(OSError):
                state.rmdir()  # of a training that failed before it saved a state; otherwise it is not empty, and stays
    if not is_first:
        return
    evaluation = _model_output.evaluate_test_rows(model, parts, call)
    output.save(model, parts, evaluation, call)
    shutil.rmtree(state, ignore_errors=True)
    if not call.print_json(output.result(model, evaluation)):
        output.print(model, evaluation)


def _create_model(
    hierarchy: Hierarchy, settings: dict[str, JSONValue], **given: JSONValue
) -> CHMCNNClassifier | CoherentEnsemble:
    """Return a network, or an ensemble, to whose network all settings go that an ensemble does not have."""
    from chmcnn import CHMCNNClassifier, CoherentEnsemble
    from chmcnn.ensemble import gather_network_settings

    if settings.get("preset") not in ENSEMBLES:
        return CHMCNNClassifier(hierarchy, **settings, **given)
    return CoherentEnsemble(hierarchy, **gather_network_settings(settings), **given)


def _refuse_other_state(folder: Path, preset: JSONValue) -> None:
    """Refuse to train in the place of an interrupted training with another preset: its state would be lost."""
    own = {"best": folder / "network", "fast": None}.get(str(preset), folder)
    if any(path.parent != own for path in folder.rglob("checkpoint.safetensors")):
        raise ChmcnnError(
            f"{folder} has the state of an interrupted training with another preset. Repeat that command to resume it, "
            "choose another folder with -o, or use --restart to begin anew."
        )


def _notify(train: Table, table: _table.TableOptions, call: Invocation, *, is_streamed: bool, is_file: bool) -> None:
    """Say what is remarkable in the training rows, of which a stream has only the first here."""
    if is_file:
        _data.notify_text(train, table, call)
    if is_streamed:
        return
    _notify_unseen(train, call)
    if is_file:
        _notify_constant(train, call)
        _notify_numbered(train, call)


def _notify_unseen(table: Table, call: Invocation) -> None:
    unseen = [name for name, seen in zip(table.hierarchy, table.Y.sum(axis=0), strict=True) if not seen]
    if unseen:
        them = "it" if len(unseen) == 1 else "them"
        call.notify(f"No training row has {_shorten(unseen, 'or any of', 'classes')}: the model cannot learn {them}.")


def _notify_constant(table: Table, call: Invocation) -> None:
    columns = table.X.items() if hasattr(table.X, "items") else ()
    constant = [str(name) for name, cells in columns if cells.nunique(dropna=False) == 1]
    if constant:
        named = _shorten(constant, "and", "columns")
        call.notify(f"Columns with the same value, or none, in every training row say nothing: {named}.")


def _notify_numbered(table: Table, call: Invocation) -> None:
    if not hasattr(table.X, "select_dtypes") or len(table.X) < 3:
        return
    columns = table.X.select_dtypes("number")
    spans = columns.max() - columns.min()
    for name in columns.columns[spans == len(columns) - 1]:
        if (columns[name].sort_values().diff().iloc[1:] == 1).all():
            call.notify(
                f"{name!r} numbers the rows, and is a feature now: if it has their names, name it with --id-column."
            )


def _shorten(names: list[str], joined_by: str, what: str) -> str:
    """Return the first names, and how many more there are."""
    more = f" {joined_by} {len(names) - 3:,} other {what}" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more
