"""Trainings beside busy processes: how long threads of OpenMP look for work before they sleep.

python -m benchmarks.waiting
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.markdown import table

SPINS = {"as libgomp has it": {}, "1,000 times, as `chmcnn` sets it": {"GOMP_SPINCOUNT": "1000"}}
LOADS = (False, True)
ROUNDS = 5


def main() -> None:
    """Measure both in turns, alone and beside busy processes, and write the results to results/waiting.json."""
    from benchmarks.measure import save  # not at the top: it imports torch

    rows = []
    for busy in LOADS:
        with keep_busy(busy * (os.cpu_count() or 1)):
            times = [{name: measure(environment) for name, environment in SPINS.items()} for _ in range(ROUNDS)]
        rows += [{"busy": busy, "waiting": name, "seconds": [each[name] for each in times]} for name in SPINS]
    print(save("waiting", "python -m benchmarks.waiting", rows))


@contextmanager
def keep_busy(processes: int) -> Iterator[None]:
    """Let processes work during a block, each in a session of its own, as those of other users."""
    command = ["nice", "-n", "19", sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(processes)]  # noqa: S603 -- our own
    try:
        yield
    finally:
        for process in busy:
            process.kill()


def measure(environment: dict[str, str]) -> float:
    """Return the seconds of a training in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    command = [sys.executable, "-m", "benchmarks.waiting", "train"]
    done = subprocess.run(  # noqa: S603 -- this module itself
        command, env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def train() -> None:
    """Print the seconds of a training with all threads of torch."""
    from chmcnn import CHMCNNClassifier, datasets

    data = datasets.load("digits")
    start = time.perf_counter()
    CHMCNNClassifier(data.hierarchy, random_state=0, epochs=20, refit=False).fit(data.train.X, data.train.Y)
    print(time.perf_counter() - start)


def report() -> str:
    """Return a table of the medians relative to the first."""
    from benchmarks.measure import load

    found = load("waiting")
    medians = {(row["busy"], row["waiting"]): statistics.median(row["seconds"]) for row in found["rows"]}
    reference = medians[LOADS[0], next(iter(SPINS))]
    cells = [[name, *(f"{medians[busy, name] / reference:.2f}" for busy in LOADS)] for name in SPINS]
    machine = found["machine"]
    note = (
        f"Time of 20 epochs on digits relative to the first cell, {reference:.1f} s: medians of {ROUNDS} processes. "
        f"Busy processes have the lowest priority. Measured by `{found['command']}` on {machine['threads']} threads of "
        f"{machine['processor']}, torch {machine['torch']}."
    )
    return f"{table(['a thread looks for work', 'alone', 'beside as many busy processes as cores'], cells)}\n{note}\n"


if __name__ == "__main__":
    train() if sys.argv[1:] == ["train"] else main()
