"""What a training writes and prints: the folder of its model, with a report, and its result."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chmcnn._workers import find_place
from chmcnn.cli._groups import OptionGroup
from chmcnn.cli._options import Invocation
from chmcnn.cli._output import print_evaluation
from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from chmcnn import CHMCNNClassifier, CoherentEnsemble
    from chmcnn._typing import JSONValue
    from chmcnn.cli._data import Parts
    from chmcnn.evaluation import Evaluation

REPORT = "report.html"
_SUGGESTED: Final = "hierarchical_f"
_FAR = 0.1
"""How far a threshold is at least from a better one that is suggested."""
ModelFolder = Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")]


@dataclass(frozen=True)
class ModelOutput(OptionGroup):
    """The folder of the model that a command trains."""

    output: ModelFolder = Path("model")
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing model. An interrupted training goes on.")
    ] = False
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew where an interrupted training has left its state.")
    ] = False

    def check(self) -> None:
        """Refuse a folder that must not be overwritten or cannot be written, before any work is done for it."""
        from chmcnn._io.files import is_empty_folder, require_writable

        exists = self.output.exists() and not is_empty_folder(self.output)
        if exists and not (self.output / "model.json").is_file():
            raise ModelError("not a model folder, so it is not overwritten; choose another folder with -o", self.output)
        if exists and not self.force:
            raise ModelError(
                "already exists; choose another folder with -o, or use --force to overwrite it", self.output
            )
        require_writable(self.output)
        if self.output.exists():
            require_writable(self.output / REPORT)

    def find_state(self, *, is_first: bool) -> Path:
        """Return the folder of the state of the training; delete it if the training is to begin anew."""
        state = self.output.with_name(f".{self.output.name}.training")
        if self.restart and is_first:
            shutil.rmtree(state, ignore_errors=True)
        return state

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other trainings for this folder out; refuse to train if another one is at work."""
        import filelock

        if find_place().rank:  # one of several processes of a training: the first holds the lock
            yield
            return
        lock = filelock.FileLock(self.output.with_name(f".{self.output.name}.lock"), blocking=False)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise ModelError(
                "another training for this folder is at work; wait until it ends, or choose another folder with -o",
                self.output,
            ) from None
        except NotImplementedError:  # a file system without locks
            yield
            return
        try:
            yield
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def save(
        self,
        model: CHMCNNClassifier | CoherentEnsemble,
        parts: Parts,
        evaluation: Evaluation | None,
        call: Invocation,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write the model with its report and other files, all at once."""
        from chmcnn.estimator import save_model
        from chmcnn.report.training_page import Origin, list_facts, page

        rows = {"training": parts.train, "validation": parts.valid, "test": parts.test}
        counts = {part: len(table) for part, table in rows.items() if table is not None}
        if parts.streamed_rows:
            counts["training"] = parts.streamed_rows
        facts = {
            "rows": ", ".join(f"{count:,} {part}" for part, count in counts.items()),
            "features": f"{len(parts.train.feature_names):,}",
            "classes": f"{int(model.evaluated_.sum()):,} evaluated",
            "hierarchy": repr(model.hierarchy_),
            **_describe_training(model),
            **({"notice": model.notice_} if model.notice_ else {}),
        }
        shown = f"first {len(parts.train):,} rows" if parts.streamed_rows else "training rows"
        origin = Origin(title=f"chmcnn: {parts.title}", facts=facts, command=call.command, rows=shown)
        report = page(model, parts.train, evaluation, origin)
        class_facts = list_facts(model, parts.train, evaluation, origin).to_json()
        extra = {REPORT: report.encode(), **(files or {})}
        save_model(model, self.output, force=self.force, class_facts=class_facts, extra_files=extra)

    def result(self, model: CHMCNNClassifier | CoherentEnsemble, evaluation: Evaluation | None) -> dict[str, JSONValue]:
        """Return the result of a training, for machines."""
        result: dict[str, JSONValue] = {"model": str(self.output), "report": str(self.output / REPORT)}
        weights = getattr(model, "weights_", None)
        result |= (
            {"best epoch": model.best_epoch_}
            if weights is None
            else {"weights": weights, "rarity": model.rarity_.power}
        )
        result["validation AU(PRC)"] = model.best_score_
        if any(epoch.sampled for epoch in model.history_):
            result["validation AU(PRC) is of a sample of rows"] = model.history_[0].sampled
        return result | ({"test": evaluation.facts()} if evaluation else {})

    def print(self, model: CHMCNNClassifier | CoherentEnsemble, evaluation: Evaluation | None) -> None:
        """Print the result of a training."""
        if evaluation:
            print_evaluation(evaluation)
        if hint := _suggest_threshold(model):
            typer.echo(hint)
        if hasattr(model, "weights_"):
            typer.echo(f"Members and weights: {_list_members(model)}")
        typer.echo(f"Model:  {self.output}\nReport: {self.output / REPORT}")


def hold_output(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command check and hold the folder of its model before it does anything else."""

    @functools.wraps(command)
    def call(*, output: ModelOutput, **options: JSONValue) -> None:
        output.check()
        with output.hold():
            command(output=output, **options)

    return call


def _describe_training(model: CHMCNNClassifier | CoherentEnsemble) -> dict[str, str]:
    """Return how a network was trained, or the members of an ensemble."""
    seconds = sum(epoch.seconds for epoch in model.history_)
    if not hasattr(model, "weights_"):
        return {"trained": f"{seconds:.1f} s, preset {model.preset}", "best epoch": str(model.best_epoch_)}
    return {"trained": f"preset {model.preset}", "members and weights": _list_members(model)}


def _suggest_threshold(model: CHMCNNClassifier | CoherentEnsemble) -> str:
    """Return which threshold validation rows prefer, if it is far from that of the model; nothing otherwise."""
    if isinstance(model.threshold, str) or _SUGGESTED not in model.tuned_thresholds_:
        return ""
    better = float(model.create_answering(threshold=_SUGGESTED).thresholds[0])
    if abs(better - model.threshold) < _FAR:
        return ""
    return (
        f"Label sets have the classes with a score of {model.threshold:g} or more. {better:.3g} has the best "
        f"hierarchical F on validation rows: use --threshold {_SUGGESTED} to predict and to evaluate."
    )


def _list_members(model: CoherentEnsemble) -> str:
    weights = ", ".join(f"{name} {round(weight, 2)}" for name, weight in model.weights_.items())
    return f"{weights}; rare classes raised, power {model.rarity_.power:g}" if model.rarity_.power else weights


def evaluate_test_rows(model: CHMCNNClassifier | CoherentEnsemble, parts: Parts, call: Invocation) -> Evaluation | None:
    """Evaluate a model on the test rows; None if there are none, or none has a class that is evaluated."""
    from chmcnn.evaluation import evaluate
    from chmcnn.metrics import information_content

    if parts.test is None or not model.evaluated_[parts.test.Y.indices].any():
        return None
    content = None if parts.streamed_rows else information_content(parts.train.Y, model.hierarchy_)
    title = parts.test_title or f"test part of {parts.title}"
    return evaluate(model, parts.test.X, parts.test.Y, title, information=content, progress=not call.quiet)
