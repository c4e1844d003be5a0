"""Timing of several calls in one run, in turns, so that a busy machine slows all of them equally; files of results."""

import json
import multiprocessing
import platform
import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numba
import torch

import chmcnn
from chmcnn._io.files import atomic

RESULTS = Path(__file__).parent / "results"


def median_seconds(calls: dict[str, Callable[[], object]], *, rounds: int, warm_up: int = 5) -> dict[str, float]:
    """Median time of each call, all called once in every round."""
    return {name: statistics.median(times) for name, times in seconds(calls, rounds=rounds, warm_up=warm_up).items()}


def seconds(
    calls: dict[str, Callable[[], object]],
    *,
    rounds: int,
    warm_up: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Times of each call, all called once in every round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(warm_up + rounds):
        for name, call in calls.items():
            start = clock()
            call()
            if turn >= warm_up:
                times[name].append(clock() - start)
    return times


def seconds_in_pairs(
    calls: dict[str, Callable[[], object]], reference: str, *, rounds: int, clock: Callable[[], float]
) -> dict[str, tuple[float, float]]:
    """Median time of each call, and relative to the reference: the median over the pairs of a round.

    Each call has the reference alone for company: a call that follows one with more memory finds its own no longer in
    the cache, which for few rows is up to a third of its time.
    """
    results = {}
    for name, call in calls.items():
        pair = seconds({reference: calls[reference], name: call}, rounds=rounds, clock=clock)
        ratios = (own / other for own, other in zip(pair[name], pair[reference], strict=True))
        results[name] = statistics.median(pair[name]), statistics.median(ratios)
    return results


def describe_machine() -> dict[str, Any]:
    """Return the machine and the versions."""
    return {
        "processor": platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numba": numba.__version__,
        "chmcnn": chmcnn.__version__,
    }


def peak_mib() -> float:
    """Return the peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def run_apart(path: Path, compute: Callable[..., dict[str, Any]], *arguments: object) -> None:
    """Compute in a process of its own, whose memory is its own, and write the result, unless its file exists."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        result = process.submit(compute, *arguments).result()
    write(path, {"machine": describe_machine(), **result})
    print(json.dumps(result), flush=True)


def run_once(path: Path, compute: Callable[[], dict[str, Any]], benchmark: str) -> None:
    """Compute and write the result, unless its file exists; print it."""
    if not path.exists():
        write(path, {"written by": f"python -m benchmarks.{benchmark}", **compute()})
    print(path.read_text(encoding="utf-8"), flush=True)


def save(name: str, command: str, rows: list[dict[str, Any]]) -> Path:
    """Write the results of one benchmark, with the machine and the versions."""
    content = {"command": command, "machine": describe_machine(), "rows": rows}
    path = RESULTS / f"{name}.json"
    write(path, content)
    return path


def load(name: str) -> dict[str, Any]:
    """Return the results of one benchmark."""
    content: dict[str, Any] = read(RESULTS / f"{name}.json")
    return content


def load_all(folder: Path, pattern: str = "*.json") -> list[Any]:
    """Return the results of a benchmark that writes a file for each run, by the names of the files."""
    return [read(path) for path in sorted(folder.glob(pattern))]


def read(path: Path) -> Any:  # noqa: ANN401 -- whatever the benchmark wrote
    """Return the content of a file of results."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, content: object) -> None:
    """Write a file of results."""
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
