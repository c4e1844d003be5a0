"""One run: a system is trained and tested on a data set with one seed or fold, and the result is stored in a file.

A finished run is never repeated, and no two processes execute the same one at once.
"""

from __future__ import annotations

import platform
import re
import traceback
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import filelock
import numpy as np
import pandas as pd
import torch

from chmcnn import metrics
from chmcnn._io import results, user_code
from chmcnn._io.files import explain_unwritable
from chmcnn._version import __version__
from chmcnn._workers import limit_threads
from chmcnn.comparison._figures import NUMBERS, Figures, check_kinds, measure_system, to_plain
from chmcnn.comparison._systems import System
from chmcnn.ensemble import CoherentEnsemble
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.estimator import NeuralClassifier
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from chmcnn.comparison._splits import Source
    from chmcnn.metrics import Measure


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What is run: a system with its options on a data set, with a seed or on one of several folds."""

    dataset: str
    system: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seed: int = 0
    fold: int | None = None
    folds: int | None = None
    own: str | None = None  # module:Class of a system of the user
    own_version: str | None = None  # changes when that class changes

    def path(self, folder: Path) -> Path:
        """Return the file of its result; other options, or another version of the user's class, give another file."""
        part = f"seed{self.seed}" if self.fold is None else f"fold{self.fold}of{self.folds}"
        name = re.sub(r"[^\w.+-]", "_", f"{self.dataset}-{self.system}-{part}")
        content = {name: value for name, value in asdict(self).items() if not (name in _OWN and value is None)}
        return folder / f"{name}-{results.checksum(content)[:8]}.json"

    def get_system(self) -> System:
        """Return the system."""
        return System(self.system, self.own, self.own_version)


_OWN = ("own", "own_version")
_LIMITS = ("epochs", "patience", "patience_growth")
"""Settings that say when a training ends, and nothing else."""


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run: its figures, or the reason why there are none."""

    spec: RunSpec
    data: str  # the digest of the data
    figures: Figures | None
    reason: str = ""
    trace: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    command: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the content of its file, in which the specification is called ``cell``."""
        content = asdict(self)
        return {"cell": content.pop("spec")} | content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Run:
        """Restore what `to_json` returned."""
        fields = dict(content)
        spec, figures = RunSpec(**fields.pop("cell")), fields.pop("figures")
        restored = cls(**fields, spec=spec, figures=Figures(**figures) if figures else None)
        check_kinds(spec, _SPEC)
        check_kinds(restored, {"data": str, "reason": str, "trace": str, "versions": dict, "command": str})
        if not all(isinstance(version, str) for version in restored.versions.values()):
            raise TypeError("versions")
        if restored.figures:
            restored.figures.check()
        return restored


_SPEC = {
    "dataset": str,
    "system": str,
    "options": dict,
    "seed": int,
    "fold": int | None,
    "folds": int | None,
    "own": str | None,
    "own_version": str | None,
}


class PlannedRun(NamedTuple):
    """A run with its data, their digest, and the measures that its result must have beside the usual ones."""

    spec: RunSpec
    source: Source
    digest: str
    measures: tuple[str, ...] = ()  # names or module:function, which other processes can import


def run(
    planned: PlannedRun, folder: Path, *, threads: int | None = None, command: str = "", wait: bool = True
) -> Run | None:
    """Return the result of a run; execute it if it is not finished.

    Parameters
    ----------
    planned
        What to run.
    folder
        Folder of the result files.
    threads
        Number of threads that torch and numpy may use.
    command
        What the user typed; it is stored with the result.
    wait
        Whether to wait for another process that executes the same run. Otherwise None is returned.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from chmcnn.comparison import Source
    >>> from chmcnn.datasets.synthetic import learnable
    >>> mine = Source("mine", learnable(rows=100, features=5, classes=10, edges=12, depth=3))
    >>> planned = PlannedRun(RunSpec("mine", "C-HMCNN", {"epochs": 2}), mine, mine.digest())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run(planned, Path(folder))
    ...     again = run(planned, Path(folder))           # read, not executed
    ...     table = collect(Path(folder))
    >>> first == again, first.figures.violations_after, table["system"].tolist()
    (True, 0, ['C-HMCNN'])
    """
    lock = claim(planned, folder, wait=wait)
    if lock is None:
        return None
    with lock:
        return find_finished(planned, folder) or store(execute(planned, threads, command), folder)


def claim(planned: PlannedRun, folder: Path, *, wait: bool = False) -> filelock.BaseFileLock | None:
    """Return a lock that keeps other processes from executing a run; None if another one has it."""
    lock = filelock.FileLock(_create_lock_path(planned.spec.path(folder)))
    try:
        lock.acquire(blocking=wait)
    except filelock.Timeout:
        return None
    return lock


def find_finished(planned: PlannedRun, folder: Path) -> Run | None:
    """Return the result of a run if it is finished and has all measures. Refuse a result of other data of that name."""
    path = planned.spec.path(folder)
    if not path.is_file():
        return None
    result = read(path)
    if result.data != planned.digest:
        raise FileError(
            f"a result of other data that are also called {planned.spec.dataset!r}; choose another folder, or delete "
            "the file",
            path,
        )
    _refuse_other_settings(result, path)
    wanted = metrics.find_measures(planned.measures)
    return result if result.figures and all(result.figures.has(measure) for measure in wanted) else None


def store(result: Run, folder: Path) -> Run:
    """Write a result, with the measures of an earlier one of the same run: no later comparison has to run it again."""
    path = result.spec.path(folder)
    before = read(path) if path.is_file() else None
    if before and before.figures and result.figures and before.versions == result.versions:
        measures = {**(before.figures.measures or {}), **(result.figures.measures or {})}
        result = replace(result, figures=replace(result.figures, measures=measures))
    results.write(path, result.to_json())
    return result


def _refuse_other_settings(result: Run, path: Path) -> None:
    """Refuse a result of a preset that has changed since."""
    figures = result.figures
    if figures is None:
        return
    model = result.spec.get_system().create(result.spec.options)
    if not isinstance(model, NeuralClassifier | CoherentEnsemble):
        return
    before = figures.settings
    if not before:
        if isinstance(model, CoherentEnsemble) and model.resolve_settings(None, None, sparse=False):
            raise FileError("a result of an earlier version, without its settings; delete it to run it again", path)
        return
    try:
        resolved = model.resolve_settings(before["columns"], before["rows"], sparse=before.get("sparse", False))
        now = to_plain(resolved or {})
        before = {**asdict(Settings()), **before}  # what it does not name is newer, and was as it is by default
        ignored = _LIMITS if _ends_alike(before, now, figures.best_epoch or 0) else ()
    except results.UNEXPECTED:
        raise results.not_a_result(path) from None
    changed = [name for name in now if name not in ignored and before.get(name) != now[name]]
    changes = [f"{name} {before.get(name)!r}, now {now[name]!r}" for name in changed]
    if changes:
        raise FileError(
            f"a result of settings that have changed since ({'; '.join(changes)}); delete it to run it again", path
        )


def _ends_alike(before: Mapping[str, Any], now: Mapping[str, Any], best_epoch: int) -> bool:
    """Return whether a training stopped by its patience, and would by other limits after the same epoch."""
    first, second = (Settings(**{name: settings[name] for name in _LIMITS}) for settings in (before, now))
    patiences = {first.patience_after(epoch) - second.patience_after(epoch) for epoch in range(1, best_epoch + 1)}
    return patiences == {0.0} and best_epoch + first.patience_after(best_epoch) <= min(first.epochs, second.epochs)


def read(path: Path) -> Run:
    """Read a result; refuse a file that was changed since it was written, or has the name of another one."""
    result = results.load(path, Run.from_json)
    expected = result.spec.path(path.parent)
    if expected != path:
        raise FileError(f"a copy of {expected.name}, which would count twice; delete it", path)
    return result


def collect(folder: Path) -> pd.DataFrame:
    """Return all results of a folder, one row each: specification, figures, and the reason if there are none."""
    return to_frame([read(path) for path in sorted(folder.glob("[!.]*.json"))])


def to_frame(runs: list[Run], measures: Sequence[Measure] = ()) -> pd.DataFrame:
    """Return results as a table, one row each, with a column for each measure."""
    rows = [
        asdict(result.spec)
        | {name: getattr(result.figures, name, None) for name in NUMBERS}
        | {measure.name: result.figures and result.figures.get(measure) for measure in measures}
        | {"reason": result.reason, "data": result.data, "command": result.command}
        for result in runs
    ]
    names = [measure.name for measure in measures if measure.name not in NUMBERS]
    return pd.DataFrame(rows, columns=[*RunSpec.__slots__, *NUMBERS, *names, "reason", "data", "command"])


def execute_if_here(planned: PlannedRun, threads: int | None, command: str) -> Run | None:
    """Execute a run on any machine; return None if it needs files of the benchmark that this machine does not have."""
    source = planned.source.find()
    return None if source is None else execute(planned._replace(source=source), threads, command)


def execute(planned: PlannedRun, threads: int | None, command: str) -> Run:
    """Train and test; an error is a result too, so that the other runs go on."""
    spec, source, digest, measures = planned
    split = source.split(spec.seed) if spec.folds is None else source.fold(spec.fold or 0, spec.folds)
    figures, reason, trace = None, "", ""
    with limit_threads(threads):
        try:
            figures = measure_system(spec, split, measures)
        except ChmcnnError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 -- hours of other results are not lost for it
            reason, trace = user_code.describe_error(error), traceback.format_exc()
    return Run(spec, digest, figures, reason, trace, versions(), command)


def versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    return {
        "chmcnn": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _create_lock_path(path: Path) -> Path:
    folder = path.parent / ".locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_unwritable(path.parent, error) from None
    return folder / f"{path.stem}.lock"
