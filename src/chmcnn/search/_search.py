"""The search for the best settings of `chmcnn.CHMCNNClassifier`, on validation rows only; each trial is stored."""

from __future__ import annotations

import importlib
import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from chmcnn._io.files import explain_unwritable, require_writable
from chmcnn.comparison import Split
from chmcnn.datasets.dataset import Dataset, Table
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.search._space import APPENDIX, Space
from chmcnn.search._trials import SearchSpec, run_trials
from chmcnn.settings import SEARCHED, check_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from optuna.trial import FrozenTrial

    from chmcnn.search._study import Study

TRIALS = 50
"""Default number of trials."""
_STATES = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running", "WAITING": "running"}


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What to search.

    Parameters
    ----------
    space
        For each setting a list of values, or a range: ``{"low": 1e-5, "high": 1e-2, "log": True}``, with ``"step"`` to
        restrict its numbers. Settings are parameters of the estimator; None uses the value of the preset.
        By default the space of the paper's appendix.
    sampler
        ``"tpe"`` learns from earlier trials; ``"grid"`` tries all combinations, in an order drawn by the seed.
    trials
        Number of trials in all; by default 50, or the whole grid.
    settings
        Settings of all trials.
    seed
        Seed of all trainings, of the sampler, and of the draw of validation rows where the data have none.
    prune
        Whether to stop a training early, from epoch 20 on, whose best score is below the median that finished trials
        had at the same epoch. This saves time, and is unfair to settings that learn slowly, such as small learning
        rates and large batches. By default only with ``"tpe"``: a grid completes all trainings.
    device
        Where to train.

    Notes
    -----
    The search of the paper's appendix, on one data set, is
    ``SearchPlan(sampler="grid", settings={"preset": "paper"})``. The paper's rule, to take what is best on most of the
    FunCat data sets, is not implemented.

    Examples
    --------
    >>> SearchPlan(sampler="grid").total
    576
    >>> SearchPlan({"dropout": [0.5, 1.5]})
    Traceback (most recent call last):
    chmcnn.errors.FileError: dropout is 1.5; expected a number from 0 to below 1.
    """

    space: Mapping[str, Any] = field(default_factory=lambda: APPENDIX)
    sampler: Literal["tpe", "grid"] = "tpe"
    trials: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    prune: bool | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        """Raise an error for a plan that cannot be run."""
        if self.sampler not in ("tpe", "grid"):
            raise ChmcnnError(f"sampler is {self.sampler!r}; expected 'tpe' or 'grid'.")
        if self.trials is not None and self.trials < 1:
            raise ChmcnnError(f"trials is {self.trials}; expected 1 or more.")
        check_settings(self.settings, None, SEARCHED)
        space = Space.of(self.space)
        for name in space.axes:
            if name in self.settings:
                raise ChmcnnError(
                    f"{name} is both in the space and in the settings of all trials; remove it from one of them."
                )
        if self.sampler == "grid":
            space.grid(self.seed)

    @property
    def total(self) -> int:
        """The number of trials in all."""
        if self.sampler == "tpe":
            return self.trials or TRIALS
        points = len(Space.of(self.space).grid(self.seed))
        return min(self.trials or points, points)

    @property
    def pruning(self) -> bool:
        """Whether trainings are stopped early."""
        return self.sampler == "tpe" if self.prune is None else self.prune


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """The trials of a search so far, and the best settings."""

    title: str
    total: int
    trials: pd.DataFrame  # number, state, auprc, epochs_run, seconds, the searched settings, reason of a failure
    searched: tuple[str, ...]  # names of the searched settings
    best: Mapping[str, Any]  # as `chmcnn train --config` reads them; empty if no trial is finished
    importances: Mapping[str, float]  # of each setting, with sum 1; empty for fewer than 2 finished trials

    @property
    def ranking(self) -> pd.DataFrame:
        """Finished trials, the best first."""
        finished = self.trials[self.trials["state"] == "finished"]
        return finished.sort_values("auprc", ascending=False, kind="stable")

    def facts(self) -> dict[str, Any]:
        """Return a summary that can be written as JSON."""
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
    """The progress of a search."""

    done: int  # trials that have ended
    total: int
    best: float  # NaN where no trial is finished


def search(  # noqa: PLR0913 -- most by name, with a default
    data: Dataset | Table,
    plan: SearchPlan,
    folder: str | Path,
    *,
    title: str = "",
    jobs: int | None = None,
    executor: Executor | None = None,
    storage: str | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> SearchResult:
    """Run trials until there are as many as planned, and return which settings are best on validation rows.

    An interrupted search resumes, and several processes may work on one. With several ``jobs`` this starts processes: a
    script calls it below ``if __name__ == "__main__":``.

    Parameters
    ----------
    data
        A data set, whose test rows are not used; or a table without rows to test on, of which a share is drawn to
        validate on, as the estimator does.
    plan
        The space, and how to search it.
    folder
        Holds the trials in ``study.db``, and the best settings so far in ``best.json``.
    title
        Name of the data.
    jobs
        Number of trials at once: in this process by default, or in several processes, which share the cores. 0 runs no
        trial and only returns the result so far.
    executor
        Trains in place of processes of this machine: any `concurrent.futures.Executor`, such as a
        `chmcnn.cluster.ClusterExecutor`; by default as many trials at once as it has workers. It stays open, and its
        workers need no access to the folder or the storage.
    storage
        Shared by several machines, in place of ``study.db``: the URL of a database that Optuna supports, such as
        ``postgresql://...``, whose driver must be installed, or a file on a shared disk. Processes with different
        folders do not wait for each other, and may occasionally try the same point.
    progress
        Called from time to time.

    Examples
    --------
    >>> import tempfile
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=100, features=5, classes=10, depth=3)
    >>> plan = SearchPlan({"learning_rate": [1e-6, 1e-2]}, "grid", settings={"epochs": 3, "widths": [20]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = search(data, plan, f"{folder}/search")
    >>> result.best
    {'epochs': 3, 'widths': [20], 'learning_rate': 0.01}
    """
    folder = Path(folder)
    if not isinstance(data, Dataset | Table):
        raise ChmcnnError(f"data is of type {type(data).__name__}; expected a Dataset, or Table(X, Y, hierarchy).")
    spec = SearchSpec(Split.without_test(data), plan, folder, title or getattr(data, "name", "table"), storage)
    prepare(folder)
    notify = progress or (lambda _: None)
    from chmcnn.search._storage import explain_storage

    with explain_storage("The storage" if storage else f"The database of {folder}"), spec.open_study() as study:
        try:
            run_trials(spec, study, jobs, executor, lambda: notify(_measure_progress(study)))
        finally:
            study.write_best()
        return _summarise(study, spec.title)


def prepare(folder: Path) -> None:
    """Check that Optuna is installed, and create the folder of a search."""
    try:
        importlib.import_module("optuna")
    except ImportError:
        raise ChmcnnError('The search needs optuna: pip install "chmcnn[search]".') from None
    from chmcnn.search._storage import is_search_folder
    from chmcnn.search._study import BEST

    if folder.is_dir() and any(folder.iterdir()) and not is_search_folder(folder):
        raise FileError("not the folder of a search, so nothing is written to it; choose another folder", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_unwritable(folder, error) from None
    require_writable(folder / BEST)


def _measure_progress(study: Study) -> Progress:
    best = study.find_best()
    done = sum(trial.state.is_finished() for trial in study.trials())
    return Progress(done, study.total, math.nan if best is None or best.value is None else best.value)


def _summarise(study: Study, title: str) -> SearchResult:
    from optuna.importance import get_param_importances

    trials, best = study.trials(), study.find_best()
    searched = tuple(study.space.axes)
    columns = ["number", "state", "auprc", "epochs_run", "seconds", *searched, "reason"]
    frame = pd.DataFrame([_to_row(trial, searched) for trial in trials], columns=columns)
    several = (frame["state"] == "finished").sum() > 1
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Target and region quantiles")  # of trials with the same score
        shares = get_param_importances(study.study) if several else {}
    return SearchResult(
        title,
        study.total,
        frame,
        searched,
        {} if best is None else best.user_attrs["settings"],
        dict(sorted(shares.items(), key=lambda item: (-item[1], item[0]))),  # Optuna does not order equal ones
    )


def _to_row(trial: FrozenTrial, searched: tuple[str, ...]) -> dict[str, Any]:
    from chmcnn.search._study import MAX_STARTS

    attributes, state = trial.user_attrs, _STATES[trial.state.name]
    killed = f"the process was killed {MAX_STARTS} times; the memory may have been too small"
    return {
        "number": trial.number,
        "state": state,
        "auprc": trial.value if state == "finished" else math.nan,
        "epochs_run": trial.last_step or 0,
        "seconds": math.nan if trial.duration is None else trial.duration.total_seconds(),
        **{name: attributes.get("settings", {}).get(name) for name in searched},
        "reason": attributes.get("reason", killed if state == "failed" else ""),
    }
