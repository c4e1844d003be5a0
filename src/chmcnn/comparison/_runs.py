"""One system on one data set with one seed or fold: trained, tested, and kept in one file that tells if it was changed.

A finished cell is never run again, and never by two processes at once.
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
from typing import TYPE_CHECKING, Any

import filelock
import numpy as np
import pandas as pd
import torch

from chmcnn import __version__, metrics
from chmcnn._io import results, strict_json
from chmcnn._workers.threads import limited
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
class Cell:
    """What is run: a system with its options, on a data set, with a seed, and on one fold where there are folds."""

    dataset: str
    system: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seed: int = 0
    fold: int | None = None
    folds: int | None = None

    def path(self, folder: Path) -> Path:
        """Where its result is kept; other options give another file."""
        part = f"seed{self.seed}" if self.fold is None else f"fold{self.fold}of{self.folds}"
        name = re.sub(r"[^\w.+-]", "_", f"{self.dataset}-{self.system}-{part}")
        return folder / f"{name}-{results.checksum(asdict(self))[:8]}.json"


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a cell; None is not known, or not a matter of that system."""

    auprc: float  # on the test rows
    validation_auprc: float | None
    best_epoch: int | None
    violations_before: int  # pairs of a row and an edge, before scores are made coherent
    violations_before_share: float
    violations_after: int
    fit_seconds: float
    predict_seconds: float
    parameters: int | None
    memory: float | None  # MiB by which training and predicting raised the peak of the process
    threads: int
    settings: Mapping[str, Any] | None = field(default=None, hash=False)  # of a network: those of its preset, too


NUMBERS = tuple(name for name in Figures.__slots__ if name != "settings")


@dataclass(frozen=True, slots=True)
class Run:
    """The content of a file: a cell, the digest of its data, and its figures, or the reason why there are none."""

    cell: Cell
    data: str
    figures: Figures | None
    reason: str = ""
    trace: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    command: str = ""


def run(  # noqa: PLR0913 -- all by name, each with a default
    cell: Cell,
    source: Source,
    folder: Path,
    *,
    data: str | None = None,
    threads: int | None = None,
    command: str = "",
    wait: bool = True,
) -> Run | None:
    """Run a cell and keep its result, unless that is there already.

    Parameters
    ----------
    cell, source
        What to run, and the data that it names.
    folder
        Where results are kept.
    data
        The digest of the data, if it is known; otherwise it is computed.
    threads
        How many threads torch and numpy may use.
    command
        What the user typed, for the record.
    wait
        Whether to wait for another process that is at the same cell. Otherwise None is returned.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from chmcnn.comparison._splits import Source
    >>> from chmcnn.datasets.synthetic import learnable
    >>> mine = Source("mine", learnable(rows=100, features=5, classes=10, edges=12, depth=3))
    >>> cell = Cell("mine", "C-HMCNN", {"epochs": 2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run(cell, mine, Path(folder))
    ...     again = run(cell, mine, Path(folder))           # read, not run
    ...     table = collect(Path(folder))
    >>> first == again, first.figures.violations_after, table["system"].tolist()
    (True, 0, ['C-HMCNN'])
    """
    path, data = cell.path(folder), data or source.described()[0]
    lock = filelock.FileLock(_lock_of(path))
    try:
        held = lock.acquire(blocking=wait)
    except filelock.Timeout:
        return None
    with held:
        known = finished(cell, folder, data)
        if known is None:
            known = _ran(cell, source, data, threads, command)
            results.write(path, asdict(known))
    return known


def finished(cell: Cell, folder: Path, data: str) -> Run | None:
    """The result of a cell, if it is there. One of other data under the same name is refused."""
    path = cell.path(folder)
    if not path.is_file():
        return None
    found = read(path)
    if found.data != data:
        raise FileError(
            f"it is a result of other data, called {cell.dataset!r} too; name another folder, or remove the file", path
        )
    _refuse_other_settings(found, path)
    return found if found.figures else None


def _refuse_other_settings(found: Run, path: Path) -> None:
    """A preset may be another one by now."""
    before = found.figures and found.figures.settings
    if not before:
        return
    now = _plain(system(found.cell.system)(**found.cell.options).chosen(before["columns"], before["rows"]))
    other = [f"{name} {before.get(name)!r}, now {now[name]!r}" for name in now if before.get(name) != now[name]]
    if other:
        raise FileError(
            f"it was run with settings that are others by now ({'; '.join(other)}); remove it to run it again", path
        )


def read(path: Path) -> Run:
    """Read a result, and refuse one that was changed since it was written."""
    return results.made(path, _run)


def _run(content: dict[str, Any]) -> Run:
    figures = Figures(**content["figures"]) if content["figures"] else None
    return Run(**content | {"cell": Cell(**content["cell"]), "figures": figures})


def collect(folder: Path) -> pd.DataFrame:
    """All results of a folder, one row each: the cell, its figures, and the reason where there are none."""
    found = {path: read(path) for path in sorted(folder.glob("[!.]*.json"))}
    for path, run in found.items():
        if run.cell.path(folder) != path:
            raise FileError(f"it is a copy of {run.cell.path(folder).name}, and counts twice; remove it", path)
    return frame(list(found.values()))


def frame(found: list[Run]) -> pd.DataFrame:
    """Results as a table, one row each."""
    rows = [
        asdict(each.cell)
        | {name: getattr(each.figures, name, None) for name in NUMBERS}
        | {"reason": each.reason, "data": each.data, "command": each.command}
        for each in found
    ]
    return pd.DataFrame(rows, columns=[*Cell.__slots__, *NUMBERS, "reason", "data", "command"])


def _ran(cell: Cell, source: Source, data: str, threads: int | None, command: str) -> Run:
    """Run it; what a system cannot do is a result too, and not kept from the others."""
    parts = source.split(cell.seed) if cell.folds is None else source.fold(cell.fold or 0, cell.folds)
    figures, reason, trace = None, "", ""
    with limited(threads):
        try:
            figures = _measured(cell, parts)
        except ChmcnnError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 -- hours of other results are not lost for it
            reason, trace = f"{type(error).__name__}: {error}", traceback.format_exc()
    return Run(cell, data, figures, reason, trace, versions(), command)


def _measured(cell: Cell, parts: Split) -> Figures:
    model = system(cell.system)(
        hierarchy=parts.train.hierarchy, evaluated=parts.evaluated, random_state=cell.seed, **cell.options
    )
    _warm_up()
    peak, start = _peak(), time.perf_counter()
    model.fit(
        parts.train.X,
        parts.train.Y,
        validation_data=None if parts.valid is None else (parts.valid.X, parts.valid.Y),
    )
    fitted = time.perf_counter()
    raw = torch.from_numpy(model.uncorrected_proba(parts.test.X))
    scores = model.correct(raw).numpy()
    predicted, after = time.perf_counter(), _peak()
    parents, children = model.hierarchy_.edges[model.evaluated_[model.hierarchy_.edges].all(axis=1)].T
    contradictions = (raw[:, children] > raw[:, parents]).numpy()  # of what was taught: some systems do not teach roots
    best = getattr(model, "best_score_", None)
    return Figures(
        auprc=metrics.auprc(parts.test.Y, scores, classes=model.evaluated_),
        validation_auprc=best if best is not None and np.isfinite(best) else None,
        best_epoch=getattr(model, "best_epoch_", None),
        violations_before=int(contradictions.sum()),
        violations_before_share=float(contradictions.sum() / max(contradictions.size, 1)),
        violations_after=metrics.violations(scores, model.hierarchy_).number,
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        parameters=_parameters(model),
        memory=None if peak is None or after is None else after - peak,
        threads=torch.get_num_threads(),
        settings=_settings(model),
    )


def _settings(model: HierarchicalClassifier) -> dict[str, Any] | None:
    """All that a network was trained with; None of what is none."""
    if not isinstance(model, NeuralClassifier):
        return None
    return _plain(model.resolve_settings(math.prod(model.feature_shape_), model.n_samples_fit_))


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As they come from a file."""
    plain: dict[str, Any] = json.loads(strict_json.dumps(settings))
    return plain


def _warm_up() -> None:
    """Train something small: what libraries load the first time is not the system's cost."""
    tree = Hierarchy.from_edges([("a", "b")])
    CHMCNNClassifier(tree, epochs=1, widths=(4,), random_state=0).fit(np.eye(8), [{"b"}, {"a"}] * 4)


def _parameters(model: HierarchicalClassifier) -> int | None:
    """How many numbers its networks have; None for a system without one."""
    held = [each for name, value in vars(model).items() if name.endswith("_") for each in _flat(value)]
    networks = [each for each in held if isinstance(each, torch.nn.Module)]
    return sum(weights.numel() for network in networks for weights in network.parameters()) if networks else None


def _flat(value: Any) -> list[Any]:  # noqa: ANN401 -- whatever an estimator keeps
    return list(value) if isinstance(value, list | tuple) else [value]


def _peak() -> float | None:
    """The most memory that the process has held so far, in MiB; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def versions() -> dict[str, str]:
    """What results depend on."""
    return {
        "chmcnn": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _lock_of(path: Path) -> Path:
    folder = path.parent / ".locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder cannot be written to: {error.strerror}; name another one", path.parent) from None
    return folder / f"{path.stem}.lock"
