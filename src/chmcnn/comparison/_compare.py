"""A comparison: a plan, the runs it takes, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chmcnn._wording import nearest
from chmcnn.baselines import SYSTEMS, system
from chmcnn.comparison._grid import Execution, iterate_results
from chmcnn.comparison._runs import PlannedRun, RunSpec
from chmcnn.comparison._splits import Source
from chmcnn.comparison._summary import Comparison, summarise
from chmcnn.errors import ChmcnnError, FileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chmcnn.significance import Missing

__all__ = ["Comparison", "Plan", "Source", "compare"]

RUNS = "runs"
"""Name of the folder of results inside the folder of a comparison."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compare.

    Parameters
    ----------
    systems
        Names of systems; the others are tested against the first.
    seeds
        Number of runs of each system, with the seeds 0, 1 and so on.
    folds
        Number of folds, in place of seeds: over all rows of a table, or the training and validation rows of a data set.
    options
        Parameters of the estimators by system.
    missing
        How average ranks treat a missing result: see `chmcnn.significance.ranks`.

    Examples
    --------
    >>> plan = Plan(("C-HMCNN", "h+"), folds=5, options={"h+": {"epochs": 20}})
    >>> len(list(plan.specify("mine")))
    10
    """

    systems: tuple[str, ...]
    seeds: int = 3
    folds: int | None = None
    options: Mapping[str, Mapping[str, Any]] | None = None
    missing: Missing = "last"

    def __post_init__(self) -> None:
        """Raise an error for a plan that cannot be run."""
        if not self.systems:
            raise ChmcnnError(f"systems is empty; choose from {', '.join(SYSTEMS)}.")
        for number, name in enumerate(self.systems):
            system(name)
            if name in self.systems[:number]:
                raise ChmcnnError(f"System {name!r} is listed twice; list it once.")
        if self.seeds < 1:
            raise ChmcnnError(f"seeds is {self.seeds}; expected 1 or more.")
        if self.folds is not None and self.folds < 2:
            raise ChmcnnError(f"folds is {self.folds}; expected 2 or more.")
        for name, options in (self.options or {}).items():
            if name not in self.systems:
                raise ChmcnnError(
                    f"Options are set for {name!r}, which is not among the systems: {', '.join(self.systems)}."
                )
            _refuse_unknown_options(name, options)

    def specify(self, dataset: str) -> Iterator[RunSpec]:
        """Yield the runs on one data set: all systems with the first seed or fold, then with the next."""
        for number in range(self.folds or self.seeds):
            part = {"seed": number} if self.folds is None else {"fold": number, "folds": self.folds}
            for name in self.systems:
                yield RunSpec(dataset, name, dict((self.options or {}).get(name, {})), **part)


def compare(sources: Sequence[Source], plan: Plan, folder: Path, execution: Execution | None = None) -> Comparison:
    """Execute all runs that are not finished yet, and summarise the results.

    This starts processes: a script calls it below ``if __name__ == "__main__":``.

    Parameters
    ----------
    sources
        The data sets.
    plan
        Systems, seeds or folds, options.
    folder
        Folder of the results, one file each; an interrupted comparison resumes from them.
    execution
        Number of processes or an executor, the command to record, and a function to report progress to.
    """
    _refuse_duplicates([source.name for source in sources])
    loaded = [source.load() for source in sources]
    _refuse_small(loaded, plan)
    # A worker loads a benchmark data set itself; if it has no validation rows, the seed draws them.
    planned = [
        PlannedRun(spec, source if plan.folds is None else in_memory, digest)
        for source, in_memory in zip(sources, loaded, strict=True)
        for digest in [in_memory.digest()]
        for spec in plan.specify(source.name)
    ]
    planned.sort(key=lambda item: item.spec.fold or item.spec.seed)
    runs = dict(iterate_results(planned, folder / RUNS, execution))
    return summarise(
        [runs[item.spec.path(folder / RUNS)] for item in planned],
        systems=plan.systems,
        sizes={source.name: source.sizes(folds=plan.folds is not None) for source in loaded},
        drawn={source.name: plan.folds is not None or not source.has_test_rows for source in sources},
        missing=plan.missing,
    )


def _refuse_duplicates(names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ChmcnnError(f"Two data sets are called {name!r}; rename one of them, or list it once.")


def _refuse_small(loaded: list[Source], plan: Plan) -> None:
    """Draw all folds or parts once: this raises an error if one has nothing to test on."""
    for source in loaded:
        for number in range(plan.folds or plan.seeds):
            if plan.folds:
                source.fold(number, plan.folds)
            else:
                source.split(number)


def _refuse_unknown_options(name: str, options: Mapping[str, Any]) -> None:
    allowed = tuple(set(system(name)().get_params()) - {"hierarchy", "evaluated", "random_state"})
    for option in options:
        if option not in allowed:
            near = nearest(option, allowed)
            hint = f" Did you mean {near!r}?" if near else ""
            raise ChmcnnError(f"{name} has no option {option!r}.{hint} Its options: {', '.join(sorted(allowed))}.")


def prepare(folder: Path) -> None:
    """Create the folder of a comparison; refuse one of something else, or one that is not writable."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUNS).is_dir():
        raise FileError("not the folder of a comparison, so nothing is written to it; choose another folder", folder)
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder is not writable: {error.strerror}; choose another one", folder) from None
