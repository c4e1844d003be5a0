"""The search for the best settings of `chmcnn.CHMCNNClassifier`, on validation rows alone, in steps that are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from chmcnn.errors import ChmcnnError, FileError
from chmcnn.search._space import APPENDIX, Space
from chmcnn.search._trials import Parts, Task, go
from chmcnn.settings import check_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from optuna.trial import FrozenTrial

    from chmcnn.datasets.dataset import Dataset, Table
    from chmcnn.search._study import Study

__all__ = ["APPENDIX", "Found", "Plan", "Progress", "search"]

TRIALS = 50
"""How many settings are tried, where it is not said."""
_STATES = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running", "WAITING": "running"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search.

    Parameters
    ----------
    space
        For each setting a list of values, or a range: ``{"low": 1e-5, "high": 1e-2, "log": True}``, with ``"step"`` to
        have only some numbers of it. Settings are parameters of the estimator; None among values leaves one to the
        preset. By default the space of the paper's appendix.
    sampler
        ``"tpe"`` learns from what it has tried; ``"grid"`` tries all combinations, in an order drawn by the seed.
    trials
        How many settings to try in all; by default 50, or the whole grid.
    settings
        Settings that all trials have.
    seed
        Of all trainings, of validation rows where the data has none of its own, and of the sampler.
    prune
        Whether to stop a training early, from epoch 20 on, whose best score is below the median that finished trials
        had at the same epoch. This saves time, and is unfair to settings that learn slowly, such as small learning
        rates and large batches. By default with ``"tpe"`` alone: a grid tries all to the end.

    Notes
    -----
    The search of the paper's appendix, on one data set, is ``Plan(sampler="grid", settings={"preset": "paper"})``. The
    paper's rule, to take what is best on most of the FunCat data sets, is not here.

    Examples
    --------
    >>> Plan(sampler="grid").total
    576
    >>> Plan({"dropout": [0.5, 1.5]})
    Traceback (most recent call last):
    chmcnn.errors.FileError: dropout is 1.5; expected a number from 0 to below 1.
    """

    space: Mapping[str, Any] = field(default_factory=lambda: APPENDIX)
    sampler: Literal["tpe", "grid"] = "tpe"
    trials: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    prune: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is."""
        if self.sampler not in ("tpe", "grid"):
            raise ChmcnnError(f"sampler is {self.sampler!r}; expected 'tpe' or 'grid'.")
        if self.trials is not None and self.trials < 1:
            raise ChmcnnError(f"trials is {self.trials}; expected 1 or more.")
        check_settings(self.settings, None)
        space = Space.of(self.space)
        for name in space.axes:
            if name in self.settings:
                raise ChmcnnError(f"{name} is searched, and is given for all trials too; leave it out of one of them.")
        if self.sampler == "grid":
            space.grid(self.seed)

    @property
    def total(self) -> int:
        """How many settings are tried in all."""
        if self.sampler == "tpe":
            return self.trials or TRIALS
        points = len(Space.of(self.space).grid(self.seed))
        return min(self.trials or points, points)

    @property
    def pruning(self) -> bool:
        """Whether trainings are stopped early."""
        return self.sampler == "tpe" if self.prune is None else self.prune


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search has found so far."""

    title: str
    total: int
    trials: (
        pd.DataFrame
    )  # number, state, auprc, epochs_run, seconds, each searched setting, and the reason of a failure
    searched: tuple[str, ...]  # names of the settings
    best: Mapping[str, Any]  # what `chmcnn train --config` takes; empty if no trial is finished
    importances: Mapping[str, float]  # of each setting for the score, 1 in all; empty for fewer than 2 finished trials

    @property
    def ranking(self) -> pd.DataFrame:
        """Finished trials, the best first."""
        finished = self.trials[self.trials["state"] == "finished"]
        return finished.sort_values("auprc", ascending=False, kind="stable")

    def facts(self) -> dict[str, Any]:
        """What a machine reads."""
        best = self.ranking.head(1)["auprc"].tolist()
        counts = self.trials["state"].value_counts()
        return {
            "title": self.title,
            "trials": {"total": self.total, **{str(state): int(counts[state]) for state in counts.index}},
            "validation AU(PRC)": best[0] if best else None,
            "best": dict(self.best),
            "importances": dict(self.importances),
        }


class Progress(NamedTuple):
    """How far a search is."""

    done: int
    total: int
    best: float  # NaN where no trial is finished


def search(  # noqa: PLR0913 -- all by name, each with a default
    data: Dataset | Table,
    plan: Plan,
    folder: Path,
    *,
    title: str = "",
    jobs: int = 1,
    storage: str | None = None,
    device: str = "auto",
    progress: Callable[[Progress], object] | None = None,
) -> Found:
    """Try settings until there are as many trials as the plan has, and tell which is best on validation rows.

    A search that was interrupted goes on, and several processes may be at one. With several ``jobs`` processes are
    started: a script calls this below ``if __name__ == "__main__":``.

    Parameters
    ----------
    data
        A data set, whose test rows are not looked at; or a table without the rows to test on, of which a share is drawn
        to validate on, as the estimator does.
    plan
        The space, and how to search it.
    folder
        Holds the trials in ``study.db``, and the best setting so far in ``best.json``.
    title
        What the data is called.
    jobs
        How many processes to work in; each has its share of the cores. 1 is this process itself, and 0 tries nothing,
        and tells what was found so far.
    storage
        In place of ``study.db``, what several machines share: the URL of a database that Optuna can use, such as
        ``postgresql://...``, whose driver is to be installed, or a file on a shared disk. Processes with different
        folders do not wait for each other, and may now and then try the same point.
    device
        Where to train.
    progress
        Called from time to time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=100, features=5, classes=10, depth=3)
    >>> plan = Plan({"learning_rate": [1e-6, 1e-2]}, "grid", settings={"epochs": 3, "widths": [20]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = search(data, plan, Path(folder, "search"))
    >>> found.best
    {'epochs': 3, 'widths': [20], 'learning_rate': 0.01}
    """
    task = Task(Parts.of(data), plan, folder, title or getattr(data, "name", "table"), storage, device)
    prepare(folder)
    told = progress or (lambda _: None)
    with task.study() as study:
        try:
            go(task, study, jobs, lambda: told(_progress(study)))
        finally:
            study.write_best()
        return _found(study, task.title)


def prepare(folder: Path) -> None:
    """See that Optuna is there, and that the folder can be one of a search."""
    try:
        import optuna  # noqa: F401 -- is it there?
    except ImportError:
        raise ChmcnnError('The search needs optuna: pip install "chmcnn[search]".') from None
    from chmcnn.search._study import is_one, unwritable

    if folder.is_dir() and any(folder.iterdir()) and not is_one(folder):
        raise FileError("it is no search, and is not written into; name another folder with -o", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None


def _progress(study: Study) -> Progress:
    best = study.best()
    done = sum(trial.state.is_finished() for trial in study.trials())
    return Progress(done, study.total, math.nan if best is None or best.value is None else best.value)


def _found(study: Study, title: str) -> Found:
    from optuna.importance import get_param_importances

    trials, best = study.trials(), study.best()
    searched = tuple(study.space.axes)
    columns = ["number", "state", "auprc", "epochs_run", "seconds", *searched, "reason"]
    frame = pd.DataFrame([_row(trial, searched) for trial in trials], columns=columns)
    several = (frame["state"] == "finished").sum() > 1
    shares = get_param_importances(study.study) if several else {}
    return Found(
        title,
        study.total,
        frame,
        searched,
        {} if best is None else best.user_attrs["settings"],
        dict(
            sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        ),  # Optuna leaves open which of equals is first
    )


def _row(trial: FrozenTrial, searched: tuple[str, ...]) -> dict[str, Any]:
    from chmcnn.search._study import BEGUN_AT_MOST

    given, state = trial.user_attrs, _STATES[trial.state.name]
    killed = f"its process was killed {BEGUN_AT_MOST} times; was there enough memory?"
    return {
        "number": trial.number,
        "state": state,
        "auprc": trial.value if state == "finished" else math.nan,
        "epochs_run": trial.last_step or 0,
        "seconds": math.nan if trial.duration is None else trial.duration.total_seconds(),
        **{name: given.get("settings", {}).get(name) for name in searched},
        "reason": given.get("reason", killed if state == "failed" else ""),
    }
