"""Several systems on several data sets, with several seeds or folds: run in parallel, kept, and summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chmcnn._wording import nearest
from chmcnn.baselines import SYSTEMS, system
from chmcnn.comparison._grid import Task, results
from chmcnn.comparison._runs import Cell
from chmcnn.comparison._splits import Source
from chmcnn.comparison._summary import Comparison, summarise
from chmcnn.errors import ChmcnnError, FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from chmcnn.comparison._runs import Run
    from chmcnn.significance import Missing

__all__ = ["Comparison", "Plan", "Source", "compare"]

RUNS = "runs"
"""The folder of results inside the folder of a comparison."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compare.

    Parameters
    ----------
    systems
        Names of systems; the first is the one that the others are tested against.
    seeds
        How often to run each, with seeds from 0 on.
    folds
        In place of seeds: so many folds, over all rows of a table, or the training and validation rows of a data set.
    options
        Parameters of the estimators by system.

    Examples
    --------
    >>> plan = Plan(("C-HMCNN", "h+"), folds=5, options={"h+": {"epochs": 20}})
    >>> len(list(plan.cells("mine")))
    10
    """

    systems: tuple[str, ...]
    seeds: int = 3
    folds: int | None = None
    options: Mapping[str, Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is."""
        if not self.systems:
            raise ChmcnnError(f"No system is named. Systems: {', '.join(SYSTEMS)}.")
        for number, name in enumerate(self.systems):
            system(name)
            if name in self.systems[:number]:
                raise ChmcnnError(f"System {name!r} is named twice; name it once.")
        if self.seeds < 1:
            raise ChmcnnError(f"seeds is {self.seeds}; expected 1 or more.")
        if self.folds is not None and self.folds < 2:
            raise ChmcnnError(f"folds is {self.folds}; expected 2 or more.")
        for name, given in (self.options or {}).items():
            if name not in self.systems:
                raise ChmcnnError(f"There are options for {name!r}, which is not compared: {', '.join(self.systems)}.")
            _refuse_unknown(name, given)

    def cells(self, dataset: str) -> Iterator[Cell]:
        """What is run on one data set, all systems with the first seed or fold first."""
        for number in range(self.folds or self.seeds):
            where = {"seed": number} if self.folds is None else {"fold": number, "folds": self.folds}
            for name in self.systems:
                yield Cell(dataset, name, dict((self.options or {}).get(name, {})), **where)


def compare(  # noqa: PLR0913 -- all by name, each with a default
    sources: Sequence[Source],
    plan: Plan,
    folder: Path,
    *,
    jobs: int | None = None,
    missing: Missing = "last",
    command: str = "",
    progress: Callable[[Run, bool], object] | None = None,
) -> Comparison:
    """Run all cells that are not finished yet, and sum up.

    Processes are started: a script calls this below ``if __name__ == "__main__":``.

    Parameters
    ----------
    sources
        The data sets.
    plan
        Systems, seeds or folds, options.
    folder
        Results are kept below it, one file each; a comparison that was interrupted goes on from them.
    jobs
        How many processes run at once; each has its share of the cores. By default one for each core.
    missing
        What becomes of a missing result in average ranks: see `chmcnn.significance.ranks`.
    command
        What the user typed, for the record.
    progress
        Called with each result, and whether it was computed just now.
    """
    loaded = [source.loaded() for source in _different(sources)]
    described = {source.name: source.described() for source in loaded}
    _refuse_small(loaded, plan)
    # Rows of a benchmark's set need not be sent about, and where it has no validation rows the seed draws them.
    tasks = [
        Task(cell, source if plan.folds is None else at_hand, described[source.name][0])
        for source, at_hand in zip(sources, loaded, strict=True)
        for cell in plan.cells(source.name)
    ]
    tasks.sort(key=lambda task: task.cell.fold or task.cell.seed)
    found = dict(results(tasks, folder / RUNS, jobs=jobs, command=command, progress=progress))
    return summarise(
        [found[task.cell.path(folder / RUNS)] for task in tasks],
        systems=plan.systems,
        sizes={name: sizes for name, (_, sizes) in described.items()},
        drawn={source.name: plan.folds is not None or not source.has_test_rows for source in sources},
        missing=missing,
    )


def _different(sources: Sequence[Source]) -> Sequence[Source]:
    names = [source.name for source in sources]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ChmcnnError(f"Two data sets are called {name!r}; rename one of them, or name it once.")
    return sources


def _refuse_small(loaded: list[Source], plan: Plan) -> None:
    """Draw all folds or parts once, for those that would have nothing to test on."""
    for source in loaded:
        for number in range(plan.folds or plan.seeds):
            if plan.folds:
                source.fold(number, plan.folds)
            else:
                source.split(number)


def _refuse_unknown(name: str, given: Mapping[str, Any]) -> None:
    known = tuple(set(system(name)().get_params()) - {"hierarchy", "evaluated", "random_state"})
    for option in given:
        if option not in known:
            near = nearest(option, known)
            hint = f" Did you mean {near!r}?" if near else ""
            raise ChmcnnError(f"{name} has no option {option!r}.{hint} Its options: {', '.join(sorted(known))}.")


def prepare(folder: Path) -> None:
    """Make the folder of a comparison, or see that it is one and can be written to."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUNS).is_dir():
        raise FileError("it is no comparison, and is not written into; name another folder with -o", folder)
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the folder cannot be written to: {error.strerror}; name another one with -o", folder
        ) from None
