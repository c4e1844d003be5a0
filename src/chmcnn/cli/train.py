"""`chmcnn train`: a model and its report from a data set or a table."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from chmcnn.cli import _data, _output
from chmcnn.cli._groups import expand_groups
from chmcnn.cli._options import ComputeOptions, Data, Invocation
from chmcnn.cli._settings import TrainingOptions


@expand_groups
def train(
    data: Data,
    *,
    output: _output.ModelOutput,
    hold_out: _data.HoldOutOptions,
    training: TrainingOptions,
    table: _data.TableOptions,
    compute: ComputeOptions,
    call: Invocation,
) -> None:
    """Train a model, test it on rows that it has not seen, and write it with a report.

    The training saves its state beside the model folder: after an interrupt, the same command resumes it.

    [bold]Examples[/bold]

    chmcnn train digits -o model/

    chmcnn train cellcycle_FUN -o model/ --preset paper

    chmcnn train my.csv --hierarchy edges.csv -o model/ --id-column name

    chmcnn train products.csv --labels category --path-separator ">" --text title

    chmcnn train my.csv --config settings.json --dropout 0.5

    chmcnn train genes.csv --hierarchy go.obo --annotations goa.gaf.gz --evidence EXPERIMENTAL --min-rows 10
    """
    from chmcnn.classifier import CHMCNNClassifier

    output.check()
    settings = training.settings()
    if _data.is_file(data):
        parts = hold_out.split(Path(data), table, compute.seed, call.notify)
        _data.notify_text(parts.train, table, call)
    else:
        training.refuse_validation_share(data)
        parts = _data.Parts.of(_data.load(data, call, hold_out, table, seed=compute.seed))
    hierarchy = parts.train.hierarchy
    unseen = [name for name, seen in zip(hierarchy, parts.train.Y.sum(axis=0), strict=True) if not seen]
    if unseen:
        call.notify(f"No training row has {_shorten(unseen)}: the model cannot learn it.")
    state = output.output.with_name(f".{output.output.name}.training")
    model = CHMCNNClassifier(
        hierarchy,
        **settings,
        path_separator=table.path_separator,
        evaluated=parts.evaluated,
        device=compute.device,
        random_state=compute.seed,
        checkpoint=state,
        verbose=not call.quiet,
    )
    try:
        model.fit(
            parts.train.X,
            parts.train.Y,
            validation_data=None if parts.valid is None else (parts.valid.X, parts.valid.Y),
        )
    finally:
        with suppress(OSError):
            state.rmdir()  # of a training that failed before it saved a state; otherwise it is not empty, and stays
    evaluation = _output.evaluate_test_rows(model, parts, call)
    output.save(model, parts, evaluation, call)
    shutil.rmtree(state, ignore_errors=True)
    if not call.print_json(output.result(model, evaluation)):
        output.print(evaluation)


def _shorten(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" or any of {len(names) - 3:,} other classes" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more
