"""What two processes under torchrun cost and give, beside one: ``python -m benchmarks.processes``.

Steps: one process with a whole batch, each of two processes with its half and without the other, and both together,
in turns. Memory: a network with many classes, of which each process has all (DDP) or a part (FSDP2). Trainings:
cellcycle_FUN by two processes, and then by one. Without dropout both should be the same up to rounding, which float64
shows, and beside it one process that adds up the rows of each batch in other ways. With the default, each process
draws its own dropout. All processes have one thread. Results that exist are not measured again.
"""

import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor, distributed, nn

from benchmarks import shapes
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load, peak_mib, save
from chmcnn import CHMCNNClassifier, Hierarchy, datasets, metrics
from chmcnn._typing import Features
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.nn import MLP, MCLoss
from chmcnn.training import Matrix, Ranks, Rows, Settings, Training, join, start

CLASSES, WIDTH, FEW_ROUNDS = 100_000, 1000, 5
COMMAND = "python -m benchmarks.processes"
PROCESSES, ROUNDS, WARM_UP = 2, 60, 5
FEATURES = 77
WHOLE, SHARE, TOGETHER = "one process", "half a batch, alone", "two processes"
MEMORY = {"whole": False, "sharded": True}


class Double(CHMCNNClassifier):
    """The same in double precision, where rounding hardly matters."""

    def build_network(self) -> nn.Module:
        """Create a new network, as for each training."""
        return super().build_network().double()

    def _preprocess(self, X: Features) -> Matrix:
        x = super()._preprocess(X)
        return x.double() if isinstance(x, Tensor) else x


TRAININGS: dict[str, Callable[..., CHMCNNClassifier]] = {
    "float64, no dropout": partial(Double, dropout=0.0),
    "float32, no dropout": partial(CHMCNNClassifier, dropout=0.0),
    "float32, dropout": CHMCNNClassifier,
}
PLAIN = "float32, no dropout"
OTHER_ORDER, HALVES = (f"{PLAIN}: one / one, {how}" for how in ("last row of a batch first", "batches in two halves"))


def main() -> None:
    """Start two processes for each part, or be one of them."""
    parts: dict[str, Callable[[Ranks], None]] = {"steps": measure_steps, "trainings": measure_trainings}
    parts |= {f"memory_{way}": partial(measure_memory, sharded=sharded) for way, sharded in MEMORY.items()}
    if len(sys.argv) > 1:
        torch.set_num_threads(1)
        parts[sys.argv[1]](join())
        return
    launcher = [
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(PROCESSES),
        "-m",
        "benchmarks.processes",
    ]
    for part in parts:
        if not (RESULTS / f"processes_{part}.json").exists():
            subprocess.run([sys.executable, "-m", *launcher, part], check=True)  # noqa: S603 -- this module itself


def measure_steps(ranks: Ranks) -> None:
    """Measure steps of the default network."""
    rows = []
    for name in ("FunCat", "GO"):
        hierarchy, origin = shapes.load(name)
        for batch in (64, 256):
            times = _time(_list_steps(hierarchy, batch, ranks))
            medians = {what: statistics.median(each) * 1e3 for what, each in times.items()}
            rows.append({"hierarchy": name, "origin": origin, "batch": batch, "milliseconds": medians})
    if ranks.is_first:
        print(save("processes_steps", COMMAND, rows))


def _list_steps(hierarchy: Hierarchy, batch: int, ranks: Ranks) -> dict[str, Callable[[], object]]:
    settings, loss = Settings(batch_size=batch), MCLoss(hierarchy)
    build = partial(MLP, FEATURES, len(hierarchy))
    x = torch.randn(batch, FEATURES)
    y = torch.from_numpy(hierarchy.close(np.random.default_rng(0).random((batch, len(hierarchy))) < 0.01))
    alone = Training(start(build, settings, "cpu"), None, loss, settings)
    both = Training(start(build, settings, "cpu", ranks=ranks), None, loss, settings, ranks=ranks)
    half = ranks.take(x), ranks.take(y)
    batches = ranks.in_step(repeat(half))

    def step_together() -> None:
        own_x, own_y, _, weight = next(batches)
        both._step(own_x, own_y, weight)  # noqa: SLF001 -- one step is what is measured

    return {
        WHOLE: lambda: alone._step(x, y, 1.0) if ranks.is_first else None,  # noqa: SLF001 -- as above
        SHARE: lambda: alone._step(*half, 1.0),  # noqa: SLF001 -- as above
        TOGETHER: step_together,
    }


def _time(
    calls: dict[str, Callable[[], object]], rounds: int = ROUNDS, warm_up: int = WARM_UP
) -> dict[str, list[float]]:
    """Return the times of each call, all called once in each round, which all processes begin at once."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(warm_up + rounds):
        for name, call in calls.items():
            distributed.barrier()
            begin = time.perf_counter()
            call()
            if turn >= warm_up:
                times[name].append(time.perf_counter() - begin)
    return times


def measure_memory(ranks: Ranks, *, sharded: bool) -> None:
    """Measure the peak memory and the steps of a network with many classes, with all that a training keeps of it."""
    hierarchy = random_hierarchy(CLASSES, edges=CLASSES - 1, depth=6)
    settings, loss = Settings(batch_size=64, sharded=sharded), MCLoss(hierarchy)
    x, y = torch.randn(32, FEATURES), torch.zeros(32, CLASSES, dtype=torch.bool)
    importlib.import_module("torch.distributed.fsdp")  # whose memory is not that of the network
    before = peak_mib()
    state = start(partial(MLP, FEATURES, CLASSES, widths=(WIDTH,)), settings, "cpu", decay=0.9, ranks=ranks)
    training = Training(state, None, loss, settings, ranks=ranks)
    training._step(x, y, 1.0)  # noqa: SLF001 -- one step is what is measured
    state.record_best(0.5)
    times = _time({"step": lambda: training._step(x, y, 1.0)}, FEW_ROUNDS, warm_up=1)["step"]  # noqa: SLF001 -- as above
    row = {"peak MiB": peak_mib() - before, "milliseconds": statistics.median(times) * 1e3}
    row["network MiB"] = (FEATURES + 1) * WIDTH * 4 / 2**20 + (WIDTH + 1) * CLASSES * 4 / 2**20
    if ranks.is_first:
        print(save(f"processes_memory_{'sharded' if sharded else 'whole'}", COMMAND, [row]))


def measure_trainings(ranks: Ranks) -> None:
    """Train together, and then in the first process alone, and compare."""
    data = datasets.load("cellcycle_FUN", data_dir=shapes.data_folder())
    together = {name: _train(data, create) for name, create in TRAININGS.items()}
    distributed.destroy_process_group()
    if not ranks.is_first:
        return
    for name in ("RANK", "WORLD_SIZE"):
        del os.environ[name]
    alone = {name: _train(data, create) for name, create in TRAININGS.items()}
    rows = [_compare(data, name, alone[name], together[name]) for name in TRAININGS]
    controls: dict[str, Any] = {
        OTHER_ORDER: mock.patch.object(Rows, "batches", _flip),
        HALVES: mock.patch.object(Training, "_step", _step_in_halves),
    }
    for name, control in controls.items():
        with control:
            rows.append(_compare(data, name, alone[PLAIN], _train(data, TRAININGS[PLAIN])))
    print(save("processes_trainings", COMMAND, rows))


def _flip(rows: Rows, *arguments: Any, batches: Any = Rows.batches, **options: Any) -> Iterator[tuple[Tensor, Tensor]]:  # noqa: ANN401 -- as they are
    """Yield the same batches with the last row first."""
    return ((x.flip(0), y.flip(0)) for x, y in batches(rows, *arguments, **options))


def _step_in_halves(training: Training, x: Tensor, y: Tensor, _: float) -> Tensor:
    """Compute the gradients of what each of two processes would have, one after the other, and add them up."""
    state, total = training.state, torch.zeros(())
    state.optimizer.zero_grad(set_to_none=True)
    for half in (Ranks(rank, PROCESSES) for rank in range(min(PROCESSES, len(y)))):
        part = training.loss(state.network(half.take(x)), half.take(y)) * (len(half.take(y)) / len(y))
        part.backward()
        total += part.detach()
    state.optimizer.step()
    state.average.update(state.network)
    return total


def _train(data: datasets.Dataset, create: Callable[..., CHMCNNClassifier]) -> CHMCNNClassifier:
    model = create(data.hierarchy, evaluated=data.evaluated, random_state=0)
    return model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))


def _compare(data: datasets.Dataset, name: str, one: CHMCNNClassifier, two: CHMCNNClassifier) -> dict[str, Any]:
    losses = [[epoch.loss for epoch in model.history_] for model in (one, two)]
    common = min(map(len, losses))
    weights = [model.network_.state_dict() for model in (one, two)]
    return {
        "training": name,
        "epochs": [len(each) for each in losses],
        "best epochs": [one.best_epoch_, two.best_epoch_],
        "largest difference of losses": max(
            abs(a - b) / a for a, b in zip(losses[0][:common], losses[1][:common], strict=True)
        ),
        "largest difference of weights": max(
            float((weights[0][key] - weights[1][key]).abs().max()) for key in weights[0]
        ),
        "validation AU(PRC)": [one.best_score_, two.best_score_],
        "test AU(PRC)": [
            metrics.auprc(data.test.Y, model.predict_proba(data.test.X), classes=data.evaluated) for model in (one, two)
        ],
        "seconds": [sum(epoch.seconds for epoch in model.history_) for model in (one, two)],
    }


def steps() -> str:
    """Return the table of steps, for `benchmarks.report`."""
    cells = [
        [
            row["hierarchy"],
            str(row["batch"]),
            *(f"{row['milliseconds'][what]:.1f} ms" for what in (WHOLE, SHARE, TOGETHER)),
            f"{row['milliseconds'][TOGETHER] - row['milliseconds'][SHARE]:.1f} ms",
            f"{row['milliseconds'][TOGETHER] / row['milliseconds'][WHOLE]:.2f} x",
        ]
        for row in load("processes_steps")["rows"]
    ]
    header = ["hierarchy", "batch", WHOLE, SHARE, TOGETHER, "of these DDP", "two / one"]
    note = f"Medians of {ROUNDS} steps in turns, with one thread for each process. Run by `{COMMAND}`."
    return f"{table(header, cells)}\n{note}\n"


def memory() -> str:
    """Return the table of memory, for `benchmarks.report`."""
    found = {way: load(f"processes_memory_{way}")["rows"][0] for way in MEMORY}
    names = {"whole": "each process has all of it (DDP)", "sharded": "divided, `sharded` (FSDP2)"}
    cells = [
        [
            names[way],
            f"{row['peak MiB']:,.0f} MiB",
            f"{row['peak MiB'] / row['network MiB']:.1f} x",
            f"{row['milliseconds']:.0f} ms",
        ]
        for way, row in found.items()
    ]
    note = (
        f"Two processes, a network of {found['whole']['network MiB']:.0f} MiB: {WIDTH} hidden units and {CLASSES:,} "
        f"classes; medians of {FEW_ROUNDS} steps of 64 rows. Run by `{COMMAND}`."
    )
    return f"{table(['network', 'peak memory of a process', 'in networks', 'a step'], cells)}\n{note}\n"


def trainings() -> str:
    """Return the table of trainings, for `benchmarks.report`."""
    cells = [
        [
            row["training"],
            " / ".join(map(str, row["best epochs"])),
            f"{row['largest difference of losses']:.1e}",
            f"{row['largest difference of weights']:.1e}",
            *(" / ".join(f"{value:.5f}" for value in row[f"{part} AU(PRC)"]) for part in ("validation", "test")),
        ]
        for row in load("processes_trainings")["rows"]
    ]
    header = ["training", "best epoch", "losses differ by", "weights differ by", "validation AU(PRC)", "test AU(PRC)"]
    note = "cellcycle_FUN by one process / by two. Losses differ relatively, weights absolutely; the largest of all."
    return f"{table(header, cells)}\n{note} Run by `{COMMAND}`.\n"


if __name__ == "__main__":
    main()
