"""A service under load: ``python -m benchmarks.serving [MODEL]``, or ``... memory [REQUESTS]``.

A service runs in a process of its own; clients here send one row at a time (see `benchmarks.serving_load`). Beside
it: the same rows by `predict_proba` in a loop, one at a time and in batches. All of them take turns, so that a busy
machine slows all of them; ratios are to the loop of the same model. MODEL is a part of a model's name, to measure it
alone. ``memory`` sends many requests, and writes what is in memory after each part of them.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load, save
from benchmarks.serving_load import Sent, Server, answering_alike, create_request, create_requests, send, serving
from chmcnn import CHMCNNClassifier, datasets
from chmcnn.ensemble import BestEnsemble
from chmcnn.estimator import HierarchicalClassifier

CLIENTS = (1, 8, 64)
REQUESTS = 1500
ROUNDS = 3
BATCH = 64
LOOP = 2.0
"""Seconds of a loop in each round."""
MANY = 100_000
PARTS = 10
NONE = "none"
LOOP_BY_ROW = "a loop, row by row"


def main(words: list[str]) -> None:
    """Measure, and write results/serving.json or results/serving_memory.json."""
    if words[:1] == ["memory"]:
        measure_memory(int(words[1]) if words[1:] else MANY)
        return
    replace_rows(NONE, [measure_clients(REQUESTS)])
    for name in MODELS:
        if not words or words[0] in name:
            replace_rows(name, measure_model(name, REQUESTS))


def replace_rows(name: str, rows: list[dict[str, Any]]) -> None:
    """Write what was measured of a model; others stay as they are."""
    measured = {each: [row for row in load_rows() if row["model"] == each] for each in (NONE, *MODELS)} | {name: rows}
    print(save("serving", "python -m benchmarks.serving", [row for each in measured.values() for row in each]))


def load_rows() -> list[dict[str, Any]]:
    """Return what was measured before."""
    rows: list[dict[str, Any]] = load("serving")["rows"] if (RESULTS / "serving.json").exists() else []
    return rows


def _train_digits() -> tuple[HierarchicalClassifier, pd.DataFrame]:
    data = datasets.load("digits")
    return CHMCNNClassifier(data.hierarchy, epochs=15, random_state=0).fit(data.train.X, data.train.Y), data.test.X


def _train_network() -> tuple[HierarchicalClassifier, pd.DataFrame]:
    data = datasets.load("cellcycle_GO")
    model = CHMCNNClassifier(data.hierarchy, widths=(1000, 1000), epochs=2, refit=False, random_state=0)
    return model.fit(data.train.X, data.train.Y), data.test.X


def _train_ensemble() -> tuple[HierarchicalClassifier, pd.DataFrame]:
    data = datasets.load("cellcycle_GO")
    model = BestEnsemble(data.hierarchy, network_settings={"epochs": 2}, random_state=0)
    return model.fit(data.train.X, data.train.Y), data.test.X


MODELS: dict[str, Callable[[], tuple[HierarchicalClassifier, pd.DataFrame]]] = {
    "digits, 19 classes": _train_digits,
    "cellcycle_GO, 4,126 classes, two layers of 1,000": _train_network,
    "cellcycle_GO, 4,126 classes, the preset best": _train_ensemble,
}


@contextmanager
def saved(name: str) -> Iterator[tuple[HierarchicalClassifier, pd.DataFrame, Path]]:
    """Train a model, with rows for it, and write it to a folder. How good it is makes no difference to its speed."""
    model, X = MODELS[name]()
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        yield model, X, Path(folder, "model")


def measure_model(name: str, number: int) -> list[dict[str, Any]]:
    """Measure loops and services of a model in turns."""
    with saved(name) as (model, X, folder), ExitStack() as stack:
        one = stack.enter_context(serving(folder))
        two = stack.enter_context(serving(folder, "--workers", "2"))
        bodies = create_requests(X)
        ways: dict[tuple[str, int], Callable[[], _Measured]] = {
            (LOOP_BY_ROW, 0): lambda: measure_loop(model, X, 1),
            ("a loop, in batches", 0): lambda: measure_loop(model, X, BATCH),
        }
        for clients in CLIENTS:
            ways["the service", clients] = lambda at=clients: measure_service(one, bodies, at, number)  # type: ignore[misc]
        ways["the service, 2 workers", CLIENTS[-1]] = lambda: measure_service(two, bodies, CLIENTS[-1], number)
        for server in (one, two):
            send(server.port, bodies, CLIENTS[-1], 500)  # what libraries do at first use
        measured: dict[tuple[str, int], list[_Measured]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way, measure in ways.items():
                measured[way].append(measure())
                print(name, *way, measured[way][-1].describe(), flush=True)
    return [
        {"model": name, "way": way, "clients": clients} | _join(each).describe()
        for (way, clients), each in measured.items()
    ]


class _Measured:
    """Calls of some rows each, and what they took; only rows that were answered count."""

    def __init__(self, sent: Sent, calls: int, processor: float, size: int = 1) -> None:
        self.sent, self.calls, self.processor, self.size = sent, calls, processor, size

    def describe(self) -> dict[str, float]:
        """Return the figures."""
        answered = len(self.sent.times)
        rows = answered * self.size
        return {
            "calls": self.calls,
            "lost": self.calls - answered,
            "rows a second": rows / self.sent.seconds,
            "processor microseconds": self.processor / rows * 1e6,
            "p50 ms": float(np.quantile(self.sent.times, 0.5)) * 1e3,
            "p99 ms": float(np.quantile(self.sent.times, 0.99)) * 1e3,
        }


def _join(several: list[_Measured]) -> _Measured:
    """Return all rounds as one."""
    times = [each for one in several for each in one.sent.times]
    sent = Sent(times, sum(one.sent.seconds for one in several))
    calls, processor = sum(one.calls for one in several), sum(one.processor for one in several)
    return _Measured(sent, calls, processor, several[0].size)


def measure_loop(model: HierarchicalClassifier, X: pd.DataFrame, size: int) -> _Measured:
    """Call a model with some rows at a time."""
    parts = [X.iloc[start : start + size] for start in range(0, len(X) - size + 1, size)]
    model.predict_proba(parts[0])
    times: list[float] = []
    begin, processor = time.perf_counter(), time.process_time()
    while (start := time.perf_counter()) - begin < LOOP:
        model.predict_proba(parts[len(times) % len(parts)])
        times.append(time.perf_counter() - start)
    sent = Sent(times, time.perf_counter() - begin)
    return _Measured(sent, len(times), time.process_time() - processor, size)


def measure_service(server: Server, bodies: list[bytes], clients: int, number: int) -> _Measured:
    """Send requests from several clients; fewer from one, which waits for each."""
    number = number if clients > 1 else number // 8
    before = server.measure_processor()
    sent = send(server.port, bodies, clients, number)
    return _Measured(sent, number, server.measure_processor() - before)


def measure_clients(number: int) -> dict[str, Any]:
    """Measure what the clients can do, with a server that does nothing."""
    with answering_alike() as server:
        bodies = [create_request(dict.fromkeys(map(str, range(64)), 0.5))]
        begin = time.process_time()
        sent = send(server.port, bodies, CLIENTS[-1], number * ROUNDS)
        processor = time.process_time() - begin
    figures = _Measured(sent, number * ROUNDS, processor).describe()
    return {"model": NONE, "way": "the clients alone: a server that does nothing", "clients": CLIENTS[-1]} | figures


def measure_memory(number: int) -> None:
    """Send many requests, and write what is in memory after each part."""
    rows: list[dict[str, Any]] = []
    name = next(iter(MODELS))
    with saved(name) as (_, X, folder), serving(folder) as server:
        bodies = create_requests(X)
        send(server.port, bodies, CLIENTS[-1], 1000)
        rows.append({"requests": 0, "lost": 0, "MiB": server.measure_memory()})
        for _ in range(PARTS):
            answered = len(send(server.port, bodies, CLIENTS[-1], number // PARTS).times)
            before = rows[-1]
            rows.append(
                {
                    "requests": before["requests"] + number // PARTS,
                    "lost": before["lost"] + number // PARTS - answered,
                    "MiB": server.measure_memory(),
                }
            )
            print(rows[-1], save("serving_memory", "python -m benchmarks.serving memory", rows), flush=True)


def report() -> str:
    """Return the table of speed."""
    content = load("serving")
    loops = {row["model"]: row for row in content["rows"] if row["way"] == LOOP_BY_ROW}
    cells = []
    for row in content["rows"]:
        loop = loops.get(row["model"])
        clients = "" if not row["clients"] else f", {row['clients']} client{'s' if row['clients'] > 1 else ''}"
        cells.append(
            [
                row["model"],
                f"{row['way']}{clients}",
                f"{row['calls']:,}",
                f"{row['lost']}",
                f"{row['rows a second']:,.0f}",
                f"**{row['rows a second'] / loop['rows a second']:.2f} x**" if loop else "",
                f"{row['processor microseconds']:,.0f} µs",
                f"{loop['processor microseconds'] / row['processor microseconds']:.2f} x" if loop else "",
                f"{row['p50 ms']:.1f} ms",
                f"{row['p99 ms']:.1f} ms",
            ]
        )
    header = ["model", "way", "calls", "lost", "rows a second", "to the loop by row"]
    header += ["processor time of a row", "rows for the same time", "p50", "p99"]
    said = (
        f"Measured by `{content['command']}`, in turns, clients and service on the same two cores. "
        "Processor time is that of the service or of the loop; for the clients alone, it is theirs."
    )
    return f"{table(header, cells)}\n{said}\n"


def report_memory() -> str:
    """Return the table of memory."""
    content = load("serving_memory")
    cells = [[f"{row['requests']:,}", f"{row['lost']}", f"{row['MiB']:.1f} MiB"] for row in content["rows"]]
    return f"{table(['requests', 'lost', 'in memory'], cells)}\nMeasured by `{content['command']}`.\n"


if __name__ == "__main__":
    main(sys.argv[1:])
