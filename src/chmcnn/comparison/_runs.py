"""One run: a system is trained and tested on a data set with one seed or fold, and the result is stored in a file.

A finished run is never repeated, and no two processes execute the same one at once.
"""

from __future__ import annotations

import json
import math
import platform
import re
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import filelock
import numpy as np
import pandas as pd
import torch

from chmcnn import metrics
from chmcnn._io import results, strict_json
from chmcnn._version import __version__
from chmcnn._workers import limit_threads
from chmcnn.baselines import system
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.estimator import NeuralClassifier
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from chmcnn.comparison._splits import Source, Split
    from chmcnn.estimator import HierarchicalClassifier


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What is run: a system with its options on a data set, with a seed or on one of several folds."""

    dataset: str
    system: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seed: int = 0
    fold: int | None = None
    folds: int | None = None

    def path(self, folder: Path) -> Path:
        """Return the file of its result; other options give another file."""
        part = f"seed{self.seed}" if self.fold is None else f"fold{self.fold}of{self.folds}"
        name = re.sub(r"[^\w.+-]", "_", f"{self.dataset}-{self.system}-{part}")
        return folder / f"{name}-{results.checksum(asdict(self))[:8]}.json"


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a run; None where a figure is unknown, or does not apply to the system."""

    auprc: float  # on the test rows
    validation_auprc: float | None
    best_epoch: int | None
    violations_before: int  # pairs of a row and an edge, before scores are made coherent
    violations_before_share: float
    violations_after: int
    fit_seconds: float
    predict_seconds: float
    parameters: int | None
    memory: float | None  # MiB that training and predicting added to the peak of the process
    threads: int
    settings: Mapping[str, Any] | None = field(default=None, hash=False)  # of a network, with those of its preset


NUMBERS = tuple(name for name in Figures.__slots__ if name != "settings")


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
        return cls(**fields, spec=spec, figures=Figures(**figures) if figures else None)


class PlannedRun(NamedTuple):
    """A run with its data and their digest."""

    spec: RunSpec
    source: Source
    digest: str


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
    path = planned.spec.path(folder)
    lock = filelock.FileLock(_create_lock_path(path))
    try:
        held = lock.acquire(blocking=wait)
    except filelock.Timeout:
        return None
    with held:
        result = find_finished(planned, folder)
        if result is None:
            result = _execute(planned, threads, command)
            results.write(path, result.to_json())
    return result


def find_finished(planned: PlannedRun, folder: Path) -> Run | None:
    """Return the result of a run if it is finished. Refuse a result of other data with the same name."""
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
    return result if result.figures else None


def _refuse_other_settings(result: Run, path: Path) -> None:
    """Refuse a result of a preset that has changed since."""
    before = result.figures and result.figures.settings
    if not before:
        return
    model = system(result.spec.system)(**result.spec.options)
    now = _to_plain(model.resolve_settings(before["columns"], before["rows"], sparse=before.get("sparse", False)))
    changes = [f"{name} {before.get(name)!r}, now {now[name]!r}" for name in now if before.get(name) != now[name]]
    if changes:
        raise FileError(
            f"a result of settings that have changed since ({'; '.join(changes)}); delete it to run it again", path
        )


def read(path: Path) -> Run:
    """Read a result; refuse a file that was changed since it was written."""
    return results.load(path, Run.from_json)


def collect(folder: Path) -> pd.DataFrame:
    """Return all results of a folder, one row each: specification, figures, and the reason if there are none."""
    runs = {path: read(path) for path in sorted(folder.glob("[!.]*.json"))}
    for path, result in runs.items():
        expected = result.spec.path(folder)
        if expected != path:
            raise FileError(f"a copy of {expected.name}, which would count twice; delete it", path)
    return to_frame(list(runs.values()))


def to_frame(runs: list[Run]) -> pd.DataFrame:
    """Return results as a table, one row each."""
    rows = [
        asdict(result.spec)
        | {name: getattr(result.figures, name, None) for name in NUMBERS}
        | {"reason": result.reason, "data": result.data, "command": result.command}
        for result in runs
    ]
    return pd.DataFrame(rows, columns=[*RunSpec.__slots__, *NUMBERS, "reason", "data", "command"])


def _execute(planned: PlannedRun, threads: int | None, command: str) -> Run:
    """Train and test; an error is a result too, so that the other runs go on."""
    spec, source, digest = planned
    split = source.split(spec.seed) if spec.folds is None else source.fold(spec.fold or 0, spec.folds)
    figures, reason, trace = None, "", ""
    with limit_threads(threads):
        try:
            figures = _measure(spec, split)
        except ChmcnnError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 -- hours of other results are not lost for it
            reason, trace = f"{type(error).__name__}: {error}", traceback.format_exc()
    return Run(spec, digest, figures, reason, trace, versions(), command)


def _measure(spec: RunSpec, split: Split) -> Figures:
    model = system(spec.system)(
        hierarchy=split.train.hierarchy, evaluated=split.evaluated, random_state=spec.seed, **spec.options
    )
    _warm_up()
    peak, start = _measure_peak(), time.perf_counter()
    split.fit(model)
    fitted = time.perf_counter()
    raw = torch.from_numpy(model.uncorrected_proba(split.test.X))
    scores = model.correct(raw).numpy()
    predicted, after = time.perf_counter(), _measure_peak()
    parents, children = model.hierarchy_.edges[model.evaluated_[model.hierarchy_.edges].all(axis=1)].T
    violated = (raw[:, children] > raw[:, parents]).numpy()  # only evaluated classes: some systems do not train roots
    best = getattr(model, "best_score_", None)
    return Figures(
        auprc=metrics.auprc(split.test.Y, scores, classes=model.evaluated_),
        validation_auprc=best if best is not None and np.isfinite(best) else None,
        best_epoch=getattr(model, "best_epoch_", None),
        violations_before=int(violated.sum()),
        violations_before_share=float(violated.sum() / max(violated.size, 1)),
        violations_after=metrics.violations(scores, model.hierarchy_).number,
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        parameters=_count_parameters(model),
        memory=None if peak is None or after is None else after - peak,
        threads=torch.get_num_threads(),
        settings=_get_settings(model),
    )


def _get_settings(model: HierarchicalClassifier) -> dict[str, Any] | None:
    """Return all settings of a network; None for other systems."""
    if not isinstance(model, NeuralClassifier):
        return None
    columns = math.prod(model.feature_shape_)
    return _to_plain(model.resolve_settings(columns, model.n_samples_fit_, sparse=model.sparse_network_))


def _to_plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are read from a file."""
    plain: dict[str, Any] = json.loads(strict_json.dumps(settings))
    return plain


def _warm_up() -> None:
    """Train a small network, so that the costs of the system do not include what libraries load at first use."""
    tree = Hierarchy.from_edges([("a", "b")])
    CHMCNNClassifier(tree, epochs=1, widths=(4,), random_state=0).fit(np.eye(8), [{"b"}, {"a"}] * 4)


def _count_parameters(model: HierarchicalClassifier) -> int | None:
    """Return the number of weights of its networks; None for a system without one."""
    values = [value for name, value in vars(model).items() if name.endswith("_")]
    parts = [part for value in values for part in (value if isinstance(value, list | tuple) else [value])]
    networks = [part for part in parts if isinstance(part, torch.nn.Module)]
    return sum(weights.numel() for network in networks for weights in network.parameters()) if networks else None


def _measure_peak() -> float | None:
    """Return the peak memory of this process in MiB; None where the system does not report it."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


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
        raise FileError(f"the folder is not writable: {error.strerror}; choose another one", path.parent) from None
    return folder / f"{path.stem}.lock"
