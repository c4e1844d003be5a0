"""Measure the time and memory of inference with our layer, with the paper's dense formula, and with neither."""

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

    from chmcnn.experiments.context import Context
    from chmcnn.hierarchy import Hierarchy

PLAIN, OURS, DENSE = "plain", "ours", "dense"
LAYER, INFERENCE = "layer", "inference"
BATCHES = (4, 64, 256, 1024)
"""The paper's batch size, and larger ones for many rows."""
LARGEST_TENSOR = 2 << 30
"""Bytes of a (rows, classes, classes) tensor of the dense formula; a larger one is computed in pieces."""
LARGEST_PASS = 16 << 30
"""Bytes of all pieces of a batch; the dense formula is skipped for more, because it would take minutes."""

_CALLS, _SECONDS = 200, 0.25
"""Maximum number of calls of a system, and the total seconds after which there are enough."""
_FEW, _LONGEST = 7, 1.8
"""Minimum number of calls of a system, and the total seconds after which even fewer are enough."""
_SHORT = 0.05
"""Calls of fewer seconds depend on whether their data are in the caches."""

Call = tuple["Callable[[Tensor], Tensor]", Tensor]


@dataclass(frozen=True, slots=True)
class Timing:
    """One system on batches of one size."""

    batch: int
    what: str  # LAYER: the constraint on given scores. INFERENCE: the network, the sigmoid and the constraint
    system: str
    milliseconds: float  # median of the processor time
    calls: int
    peak_bytes: int | None  # of the tensors of one inference; None if not measured
    pieces: int = 1  # of the batch, computed one after the other


@dataclass(frozen=True, slots=True)
class Inference:
    """The measurements of one data set."""

    dataset: str
    features: int
    classes: int
    edges: int
    hidden: int  # units of each of two layers, as in the paper
    parameters: int
    layer_bytes: Mapping[str, int]  # memory of the constraint: ours, and the dense mask
    same: bool  # whether both return the same values
    timings: tuple[Timing, ...]
    threads: int
    compiled: bool  # whether our layer is the compiled loop, and not torch alone
    processor: str
    versions: Mapping[str, str]
    command: str = ""

    def timing(self, batch: int, what: str, system: str) -> Timing | None:
        """Return one timing; None for a dense formula that was skipped."""
        key = (batch, what, system)
        return next((timing for timing in self.timings if (timing.batch, timing.what, timing.system) == key), None)

    def ratio(self, batch: int, what: str) -> float:
        """Return the time of the dense formula divided by that of our layer; NaN if it was skipped."""
        dense, ours = (self.timing(batch, what, system) for system in (DENSE, OURS))
        return dense.milliseconds / ours.milliseconds if dense and ours else math.nan


@dataclass(frozen=True, slots=True)
class Table4:
    """The measurements of all data sets."""

    inferences: Mapping[str, Inference]


def run(context: Context, *, datasets: Sequence[str]) -> dict[str, str]:
    """Measure inference for each data set on one thread, and store the result, one file per data set.

    The hierarchy and the number of features come from any file of the data set. Weights and rows are random, which does
    not change the time.

    Returns
    -------
    Data sets without a result, because none of their files is available, with the reason.
    """

    def measure(name: str) -> dict[str, Any]:
        _, table = next(_by_dataset.read_parts(name, context.data_dir))
        features = len(Preprocessor().fit(table.X).get_feature_names_out())
        with limit_threads(1), torch.inference_mode():
            return asdict(_measure(name, features, table.hierarchy, context.command))

    results = collect(context.folder)
    if results and results.inferences.keys() >= set(datasets):
        context.notify(
            f"Nothing to measure: {context.folder} has all times already, perhaps those of another machine; "
            "delete it to measure on this one."
        )
    return _by_dataset.run(context, datasets, measure)


def collect(folder: Path) -> Table4 | None:
    """Read the results in a folder; return None if there are none."""

    def make(result: dict[str, Any]) -> Inference:
        return Inference(**result | {"timings": tuple(Timing(**timing) for timing in result["timings"])})

    inferences = _by_dataset.collect(folder, make)
    return Table4(inferences) if inferences else None


def subclass_mask(hierarchy: Hierarchy) -> Tensor:
    """Return the paper's M: (classes, classes), 1 where the column's class is the row's class or its descendant."""
    mask = torch.eye(len(hierarchy), dtype=torch.float64)
    edges, _ = hierarchy.bottom_up()
    for parent, child in edges.tolist():
        mask[parent] = torch.maximum(mask[parent], mask[child])
    return mask


def dense_max_constraint(h: Tensor, mask: Tensor, pieces: int = 1) -> Tensor:
    """Compute the paper's formula, MCM = max(M * H, dim=1), for probabilities (rows, classes), as a reference.

    It uses double precision, as the authors do; each piece of the rows is a (rows, classes, classes) tensor.
    """
    return torch.cat([(mask * rows.double().unsqueeze(1)).max(dim=2).values for rows in h.tensor_split(pieces)])


def pieces(batch: int, classes: int) -> int:
    """Return the number of pieces of the dense formula for a batch; 0 if it is skipped.

    >>> pieces(4, 4126), pieces(64, 4126), pieces(1024, 4126), pieces(1024, 500)
    (1, 5, 0, 1)
    """
    size = batch * classes**2 * 8
    return 0 if size > LARGEST_PASS else math.ceil(batch / max(1, LARGEST_TENSOR // (classes**2 * 8)))


def _measure(name: str, features: int, hierarchy: Hierarchy, command: str) -> Inference:
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
            for timing in _time_batch(batch, torch.randn(batch, features), network, constraint, mask)
        ),
        threads=torch.get_num_threads(),
        compiled=is_compiled(),
        processor=processor(),
        versions=versions(),
        command=command,
    )


def _time_batch(batch: int, x: Tensor, network: MLP, constraint: MaxConstraint, mask: Tensor) -> list[Timing]:
    """Measure time and memory of all systems on one batch."""
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
    seconds = _time_calls(calls)
    return [
        Timing(
            batch,
            what,
            system,
            milliseconds=1e3 * statistics.median(seconds[what, system]),
            calls=len(seconds[what, system]),
            peak_bytes=_peak(*call) if what == INFERENCE and (system != DENSE or parts == 1) else None,
            pieces=parts if system == DENSE else 1,
        )
        for (what, system), call in calls.items()
    ]


def _time_calls(calls: Mapping[tuple[str, str], Call]) -> dict[tuple[str, str], list[float]]:
    """Time the calls in turns, so that a busy machine slows all systems equally.

    The times are processor times of the one thread, which exclude the work of other processes.
    """
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    order, shuffle = list(calls), np.random.default_rng(0).shuffle
    for call, rows in calls.values():
        call(rows[:4])  # one-time work
    for _ in range(_CALLS):
        shuffle(order)  # in a fixed order, one call would always follow the system that clears the caches
        for key in order:
            past = seconds[key]
            if sum(past) < (_SECONDS if len(past) >= _FEW else _LONGEST):
                past.append(_time_call(*calls[key], warm=bool(past) and past[-1] < _SHORT))
    return seconds


def _time_call(call: Callable[[Tensor], Tensor], rows: Tensor, *, warm: bool) -> float:
    """Return the seconds of one call; a warm one follows another call, which puts its data into the caches."""
    if warm:
        call(rows)
    start = time.thread_time()
    call(rows)
    return time.thread_time() - start


def _peak(call: Callable[[Tensor], Tensor], rows: Tensor) -> int:
    return peak_bytes(lambda: call(rows))
