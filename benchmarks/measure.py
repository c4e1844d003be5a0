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
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(warm_up + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn >= warm_up:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


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


def save(name: str, command: str, rows: list[dict[str, Any]]) -> Path:
    """Write the results of one benchmark, with the machine and the versions."""
    content = {"command": command, "machine": describe_machine(), "rows": rows}
    path = RESULTS / f"{name}.json"
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
