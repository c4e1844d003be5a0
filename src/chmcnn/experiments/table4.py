"""The paper's Table 4: how long inference takes, with our layer, with the paper's dense formula, and with neither."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from chmcnn._workers import limit_threads
from chmcnn.comparison import versions
from chmcnn.constraint import is_compiled
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.experiments import _by_dataset, published
from chmcnn.experiments._memory import peak_bytes
from chmcnn.experiments._processor import processor
from chmcnn.nn import MLP, MaxConstraint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from chmcnn.hierarchy import Hierarchy

PLAIN, OURS, DENSE = "plain", "ours", "dense"
LAYER, INFERENCE = "layer", "inference"
BATCHES = (4, 64, 256, 1024)
"""The paper's batch, and those of a user who predicts many rows."""
LARGEST_TENSOR = 2 << 30
"""Bytes of a (rows, classes, classes) tensor of the dense formula; for more of them, it is computed piece by piece."""
LARGEST_PASS = 16 << 30
"""Bytes of all pieces of a batch; for more of them, the dense formula is left out: it would take minutes."""

_CALLS, _SECONDS = 200, 0.25
"""Most calls of a system, and the seconds of them that are enough."""
_FEW, _LONGEST = 7, 1.8
"""Fewest calls of a system, and the seconds after which even fewer are enough."""
_SHORT = 0.05
"""Seconds of a call for which it matters whether its data are in the caches."""

Call = tuple["Callable[[Tensor], Tensor]", Tensor]


@dataclass(frozen=True, slots=True)
class Timing:
    """One system on batches of one size."""

    batch: int
    what: str  # LAYER: the constraint on given scores. INFERENCE: the network, the sigmoid and the constraint
    system: str
    milliseconds: float  # median of the processor time
    calls: int
    peak_bytes: int | None  # most that tensors held during one inference; None where it was not measured
    pieces: int = 1  # of the batch, one after the other


@dataclass(frozen=True, slots=True)
class Inference:
    """All that was measured of a data set's network and hierarchy."""

    dataset: str
    features: int
    classes: int
    edges: int
    hidden: int  # units of each of two layers, as in the paper
    parameters: int
    layer_bytes: Mapping[str, int]  # what the constraint holds: ours, and the dense mask
    same: bool  # whether both give the same values
    timings: tuple[Timing, ...]
    threads: int
    compiled: bool  # whether our layer is the compiled loop, and not torch alone
    processor: str
    versions: Mapping[str, str]
    command: str = ""

    def timing(self, batch: int, what: str, system: str) -> Timing | None:
        """Look one up; None for a dense formula that was left out."""
        wanted = (batch, what, system)
        return next((each for each in self.timings if (each.batch, each.what, each.system) == wanted), None)

    def ratio(self, batch: int, what: str) -> float:
        """How many times longer the dense formula takes than our layer; NaN where it was left out."""
        dense, ours = (self.timing(batch, what, system) for system in (DENSE, OURS))
        return dense.milliseconds / ours.milliseconds if dense and ours else math.nan


@dataclass(frozen=True, slots=True)
class Table4:
    """What was measured, by data set."""

    inferences: Mapping[str, Inference]


def run(
    folder: Path,
    *,
    datasets: Sequence[str],
    data_dir: Path | None = None,
    command: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, str]:
    """Measure inference for each data set on one thread, and keep the result in a file of its own.

    The hierarchy and the number of features are those of the data set's files, any one of which is enough; weights and
    rows are random, which makes no difference for the time.

    Parameters
    ----------
    folder
        Where results are kept; what is there is not measured again.
    datasets
        Names of the benchmark's data sets.
    data_dir
        Where their files are, as for `chmcnn.datasets.load`.
    command
        What the user typed, for the record.
    progress
        Called after each data set with how many are done, and of how many.

    Returns
    -------
    Data sets without a result, because no file of them could be had, with the reason.
    """

    def measure(name: str) -> dict[str, Any]:
        _, table = next(_by_dataset.at_hand(name, data_dir))
        features = len(Preprocessor().fit(table.X).get_feature_names_out())
        return asdict(_on_one_thread(name, features, table.hierarchy, command))

    return _by_dataset.run_each(folder, datasets, measure, progress)


def collect(folder: Path) -> Table4 | None:
    """Read what is in the folder; None where nothing is."""

    def inference(kept: dict[str, Any]) -> Inference:
        return Inference(**kept | {"timings": tuple(Timing(**timing) for timing in kept["timings"])})

    found = _by_dataset.read_each(folder, inference)
    return Table4(found) if found else None


def subclass_mask(hierarchy: Hierarchy) -> Tensor:
    """The paper's M: (classes, classes), 1 where the column's class is the row's class or a descendant of it."""
    mask = torch.eye(len(hierarchy), dtype=torch.float64)
    edges, _ = hierarchy.bottom_up()
    for parent, child in edges.tolist():
        mask[parent] = torch.maximum(mask[parent], mask[child])
    return mask


def dense_max_constraint(h: Tensor, mask: Tensor, pieces: int = 1) -> Tensor:
    """The paper's formula, MCM = max(M * H, dim=1), for probabilities (rows, classes): here only to compare with.

    In double precision, as the authors have it; each piece of the rows is a (rows, classes, classes) tensor.
    """
    return torch.cat([(mask * rows.double().unsqueeze(1)).max(dim=2).values for rows in h.tensor_split(pieces)])


def pieces(batch: int, classes: int) -> int:
    """How many pieces the dense formula needs for a batch; 0 where it is left out.

    >>> pieces(4, 4126), pieces(64, 4126), pieces(1024, 4126), pieces(1024, 500)
    (1, 5, 0, 1)
    """
    size = batch * classes**2 * 8
    return 0 if size > LARGEST_PASS else math.ceil(batch / max(1, LARGEST_TENSOR // (classes**2 * 8)))


def _on_one_thread(name: str, features: int, hierarchy: Hierarchy, command: str) -> Inference:
    with limit_threads(1), torch.inference_mode():
        return _measured(name, features, hierarchy, command)


def _measured(name: str, features: int, hierarchy: Hierarchy, command: str) -> Inference:
    hidden = int(published.inference()["hidden units"].to_dict()[name])
    network = MLP(features, len(hierarchy), widths=(hidden, hidden)).eval()
    constraint, mask = MaxConstraint(hierarchy), subclass_mask(hierarchy)
    scores = network(torch.randn(4, features)).sigmoid()
    return Inference(
        dataset=name,
        features=features,
        classes=len(hierarchy),
        edges=len(hierarchy.edges),
        hidden=hidden,
        parameters=sum(weights.numel() for weights in network.parameters()),
        layer_bytes={
            OURS: sum(tensor.nbytes for tensor in constraint.hierarchy.tensors),
            DENSE: mask.nbytes,
        },
        same=torch.equal(constraint(scores).double(), dense_max_constraint(scores, mask)),
        timings=tuple(
            timing
            for batch in BATCHES
            for timing in _timed(batch, torch.randn(batch, features), network, constraint, mask)
        ),
        threads=torch.get_num_threads(),
        compiled=is_compiled(),
        processor=processor(),
        versions=versions(),
        command=command,
    )


def _timed(batch: int, x: Tensor, network: MLP, constraint: MaxConstraint, mask: Tensor) -> list[Timing]:
    """Time and memory of all systems on one batch."""
    parts = pieces(batch, len(mask))

    def plain(rows: Tensor) -> Tensor:
        return torch.sigmoid(network(rows))

    def dense(scores: Tensor) -> Tensor:
        return dense_max_constraint(scores, mask, min(parts, len(scores)))

    scores = plain(x)
    calls: dict[tuple[str, str], Call] = {
        (INFERENCE, PLAIN): (plain, x),
        (INFERENCE, OURS): (lambda rows: constraint(plain(rows)), x),
        (LAYER, OURS): (constraint, scores),
    }
    if parts:
        calls |= {(INFERENCE, DENSE): (lambda rows: dense(plain(rows)), x), (LAYER, DENSE): (dense, scores)}
    took = _seconds(calls)
    return [
        Timing(
            batch,
            what,
            system,
            milliseconds=1e3 * statistics.median(took[what, system]),
            calls=len(took[what, system]),
            peak_bytes=_peak(*call) if what == INFERENCE and (system != DENSE or parts == 1) else None,
            pieces=parts if system == DENSE else 1,
        )
        for (what, system), call in calls.items()
    ]


def _seconds(calls: Mapping[tuple[str, str], Call]) -> dict[tuple[str, str], list[float]]:
    """Times of each call, in turns call by call: what slows the machine for a while meets all systems.

    They are processor times of the one thread: those of a clock on the wall, but for what others do on a busy machine.
    """
    took: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    order, shuffle = list(calls), np.random.default_rng(0).shuffle
    for call, rows in calls.values():
        call(rows[:4])  # what is done the first time only
    for _ in range(_CALLS):
        shuffle(order)  # in a fixed order, one would always come after the system that empties the caches
        for key in order:
            if sum(took[key]) < (_SECONDS if len(took[key]) >= _FEW else _LONGEST):
                took[key].append(_timed_call(*calls[key], warm=bool(took[key]) and took[key][-1] < _SHORT))
    return took


def _timed_call(call: Callable[[Tensor], Tensor], rows: Tensor, *, warm: bool) -> float:
    """Seconds of one call; a warm one is the second of two, which finds its own data in the caches."""
    if warm:
        call(rows)
    start = time.thread_time()
    call(rows)
    return time.thread_time() - start


def _peak(call: Callable[[Tensor], Tensor], rows: Tensor) -> int:
    return peak_bytes(lambda: call(rows))
