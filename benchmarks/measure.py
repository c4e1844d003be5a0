"""Timing of several calls in one run, in turns, so that a busy machine slows all of them equally."""

import json
import platform
import statistics
import time
from collections.abc import Callable
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


def save(name: str, command: str, rows: list[dict[str, Any]]) -> Path:
    """Write the results of one benchmark, with the machine and the versions."""
    content = {
        "command": command,
        "machine": {
            "processor": platform.machine(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numba": numba.__version__,
            "chmcnn": chmcnn.__version__,
        },
        "rows": rows,
    }
    path = RESULTS / f"{name}.json"
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
