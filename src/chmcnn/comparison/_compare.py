"""A comparison: a plan, the runs it takes, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chmcnn._io.files import explain_unwritable, require_writable
from chmcnn._wording import nearest
from chmcnn.comparison._checks import refuse_small, refuse_undefined, refuse_unsendable
from chmcnn.comparison._grid import Execution, iterate_results
from chmcnn.comparison._runs import PlannedRun, RunSpec
from chmcnn.comparison._splits import Source
from chmcnn.comparison._summary import Comparison, summarise
from chmcnn.comparison._systems import System, find_system
from chmcnn.ensemble import SYSTEMS
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.metrics import Measure, find_measures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        Names of systems, or classes of your own, also as ``"module:Class"``; the others are tested against the first. A
        class of your own is a subclass of `chmcnn.estimator.HierarchicalClassifier`, or any class with ``fit`` and
        ``predict_proba``, whose scores are made coherent by the maximum. Its attribute ``name`` is its name in tables.
    seeds
        Number of runs of each system, with the seeds 0, 1 and so on.
    folds
        Number of folds, in place of seeds: over all rows of a table, or the training and validation rows of a data set.
    options
        Parameters of the estimators by system; for ``"best"`` also settings of its network.
    missing
        How average ranks treat a missing result: see `chmcnn.significance.ranks`.
    metrics
        Measures: names of `chmcnn.metrics.MEASURES`, functions of your own, also as ``"module:function"``; see
        `chmcnn.metrics.find_measure`. Ranks and tests use the first.

    Examples
    --------
    >>> plan = Plan(("C-HMCNN", "h+"), folds=5, options={"h+": {"epochs": 20}})
    >>> len(list(plan.specify("mine")))
    10
    """

    systems: tuple[str | type[Any], ...]
    seeds: int = 3
    folds: int | None = None
    options: Mapping[str, Mapping[str, Any]] | None = None
    missing: Missing = "last"
    metrics: tuple[str | Callable[..., float], ...] = ("auprc",)

    def __post_init__(self) -> None:
        """Raise an error for a plan that cannot be run."""
        if not self.systems:
            raise ChmcnnError(f"systems is empty; choose from {', '.join(SYSTEMS)}.")
        if isinstance(self.systems, str):
            raise ChmcnnError(f"systems is {self.systems!r}; expected several, such as ({self.systems!r},).")
        systems = self.find_systems()
        for number, system in enumerate(systems):
            if system.name in (other.name for other in systems[:number]):
                raise ChmcnnError(
                    f"System {system.name!r} is listed twice; list it once, or give one of two classes another "
                    "name = '...'."
                )
        if not self.metrics:
            raise ChmcnnError("metrics is empty; expected at least one measure, such as 'auprc'.")
        self.find_measures()
        if self.seeds < 1:
            raise ChmcnnError(f"seeds is {self.seeds}; expected 1 or more.")
        if self.folds is not None and self.folds < 2:
            raise ChmcnnError(f"folds is {self.folds}; expected 2 or more.")
        by_name = {system.name: system for system in systems}
        for name, options in (self.options or {}).items():
            if name not in by_name:
                raise ChmcnnError(
                    f"Options are set for {name!r}, which is not among the systems: {', '.join(by_name)}."
                )
            _refuse_unknown_options(by_name[name], options)
            by_name[name].gather_options(options)

    def find_systems(self) -> tuple[System, ...]:
        """Return the systems with their names."""
        return tuple(map(find_system, self.systems))

    def find_measures(self) -> tuple[Measure, ...]:
        """Return the measures with their names."""
        return find_measures(self.metrics)

    def specify(self, dataset: str) -> Iterator[RunSpec]:
        """Yield the runs on one data set: all systems with the first seed or fold, then with the next."""
        systems = self.find_systems()
        for number in range(self.folds or self.seeds):
            part = {"seed": number} if self.folds is None else {"fold": number, "folds": self.folds}
            for system in systems:
                options = system.gather_options((self.options or {}).get(system.name, {}))
                yield RunSpec(dataset, system.name, options, **part, own=system.path, own_version=system.version)


def compare(
    sources: Sequence[Source], plan: Plan, folder: str | Path, execution: Execution | None = None
) -> Comparison:
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
        Number of runs at once, an executor, the command to record, and a function to report progress to.
    """
    folder = Path(folder)
    if isinstance(sources, Source) or not all(isinstance(source, Source) for source in sources):
        raise ChmcnnError("sources has something that is no Source; expected a list, such as [Source('digits')].")
    _refuse_duplicates([source.name for source in sources])
    systems, measures = plan.find_systems(), plan.find_measures()
    refuse_unsendable(systems, measures, execution.executor if execution else None)
    loaded = [source.load() for source in sources]
    refuse_small(loaded, plan.seeds, plan.folds)
    refuse_undefined(measures, loaded, plan.folds)
    names = tuple(measure.path or measure.name for measure in measures)
    # A worker loads a benchmark data set itself; if it has no validation rows, the seed draws them.
    planned = [
        PlannedRun(spec, source if plan.folds is None else in_memory, digest, names)
        for source, in_memory in zip(sources, loaded, strict=True)
        for digest in [in_memory.digest(folds=plan.folds is not None)]
        for spec in plan.specify(source.name)
    ]
    planned.sort(key=lambda item: item.spec.fold or item.spec.seed)
    runs = dict(iterate_results(planned, folder / RUNS, execution))
    return summarise(
        [runs[item.spec.path(folder / RUNS)] for item in planned],
        systems=[system.name for system in systems],
        sizes={source.name: source.sizes(folds=plan.folds is not None) for source in loaded},
        drawn={source.name: plan.folds is not None or not source.has_test_rows for source in sources},
        missing=plan.missing,
        measures=measures,
    )


def _refuse_duplicates(names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ChmcnnError(f"Two data sets are called {name!r}; rename one of them, or list it once.")


def _refuse_unknown_options(system: System, options: Mapping[str, Any]) -> None:
    allowed = system.list_options()
    for option in options:
        if option not in allowed:
            near = nearest(option, allowed)
            hint = f" Did you mean {near!r}?" if near else ""
            names = ", ".join(sorted(allowed)) or "none"
            raise ChmcnnError(f"{system.name} has no option {option!r}.{hint} Its options: {names}.")


def prepare(folder: Path) -> None:
    """Create the folder of a comparison; refuse one of something else, or one that is not writable."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUNS).is_dir():
        raise FileError("not the folder of a comparison, so nothing is written to it; choose another folder", folder)
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_unwritable(folder, error) from None
    require_writable(folder / RUNS / "run.json")
