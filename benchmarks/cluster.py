"""Comparisons on a cluster of this machine: their time beside that of processes, and what is lost when workers die.

python -m benchmarks.cluster          # the time
python -m benchmarks.cluster kills    # workers are killed at random
"""

import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machines import Machines
from benchmarks.markdown import table
from benchmarks.measure import load, save
from chmcnn._workers import InlineExecutor
from chmcnn.cluster import ClusterExecutor
from chmcnn.comparison import Comparison, Execution, Plan, Source, compare
from chmcnn.datasets.synthetic import learnable
from chmcnn.search import SearchPlan, SearchResult, search

ROUNDS = 2
EPOCHS = 20
KILLS = 2
SEED = 0
SPACE = {"learning_rate": [1e-4, 1e-3, 1e-2], "dropout": [0.1, 0.5]}


def main() -> None:
    """Measure in turns, or kill workers, and write the results."""
    if sys.argv[1:] == ["kills"]:
        print(save("cluster_kills", "python -m benchmarks.cluster kills", count_losses()))
    else:
        print(save("cluster", "python -m benchmarks.cluster", measure()))


def measure() -> list[dict[str, Any]]:
    """Return the seconds of the same comparison on a cluster of two workers and in two processes, in turns."""
    options = {"C-HMCNN": {"epochs": EPOCHS, "patience": EPOCHS}, "h+": {"epochs": EPOCHS, "patience": EPOCHS}}
    plan = Plan(("C-HMCNN", "h+"), seeds=2, options=options)
    data = learnable(rows=600, features=20, classes=60, depth=4)
    rows: list[dict[str, Any]] = []
    with open_machines(2) as (machines, place), ClusterExecutor(machines.address) as executor:
        ways = {"cluster": Execution(executor=executor), "processes": Execution(2)}
        for number in range(ROUNDS + 1):  # in the first, workers and processes import torch
            seconds = {}
            for way, execution in ways.items():
                start = time.perf_counter()
                compare([Source("generated", data)], plan, place / f"{way}{number}", execution)
                seconds[way] = time.perf_counter() - start
            print(number, seconds, flush=True)
            rows += [{"round": number, **seconds}] if number else []
    return rows


def count_losses() -> list[dict[str, Any]]:
    """Return, for a comparison and a search during which workers are killed, how many results are lost or differ."""
    settings = {"epochs": 3, "widths": [16]}
    plan = Plan(("C-HMCNN", "h+"), seeds=4, options={"C-HMCNN": settings, "h+": settings})
    data = learnable(rows=200, features=8, classes=20, depth=3)
    space = SearchPlan(SPACE, "grid", settings=settings)

    def compare_all(folder: Path, executor: Executor, told: Callable[..., object]) -> dict[str, float]:
        execution = Execution(executor=executor, progress=told)
        return _score_runs(compare([Source("generated", data)], plan, folder, execution), folder)

    def search_all(folder: Path, executor: Executor, told: Callable[..., object]) -> dict[str, float]:
        return _score_trials(search(data, space, folder, executor=executor, progress=told))

    rows = []
    with open_machines(3) as (machines, place), ClusterExecutor(machines.address) as executor:
        for name, task in {"compare": compare_all, "search": search_all}.items():
            expected = task(place / name / "here", InlineExecutor(), lambda *_, **__: None)
            killer = Killer(machines)
            found = task(place / name / "cluster", executor, killer)
            row = {
                "task": name,
                "results": len(expected),
                "workers_killed": killer.killed,
                "lost": len(expected.keys() - found.keys()),
                "doubled_or_unknown": len(found.keys() - expected.keys()),
                "differing": sum(not abs(found.get(key, math.nan) - expected[key]) < 1e-6 for key in expected),
            }
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def _score_runs(result: Comparison, folder: Path) -> dict[str, float]:
    """Return the score of each run by its file; a file that no run has counts under its own name."""
    known = {f"{row['system']}-seed{row['seed']}": row["auprc"] for row in result.runs.to_dict("records")}
    files = [path.stem.removeprefix("generated-").rpartition("-")[0] for path in (folder / "runs").glob("[!.]*.json")]
    repeated = {f"{name} again": -1.0 for name in files if files.count(name) > 1 or name not in known}
    return known | repeated


def _score_trials(result: SearchResult) -> dict[str, float]:
    """Return the score of each trial by its settings; a setting that was tried twice counts under another name."""
    scores: dict[str, float] = {}
    for row in result.trials.to_dict("records"):
        key = json.dumps([row[name] for name in result.searched])
        scores[f"{key} again" if key in scores else key] = row["auprc"]
    return scores


@contextmanager
def open_machines(workers: int) -> Iterator[tuple[Machines, Path]]:
    """Yield a cluster of workers that are not started again, and a folder for results."""
    with tempfile.TemporaryDirectory() as folder, Machines(Path(folder, "machines")) as machines:
        for _ in range(workers):
            machines.add_worker("--no-nanny")
        yield machines, Path(folder)


class Killer:
    """Kills a random worker, now and then when a result comes, while the others execute; a new one joins for each."""

    def __init__(self, machines: Machines) -> None:
        self._machines, self._chance, self.killed = machines, random.Random(SEED), 0  # noqa: S311 -- when to kill

    def __call__(self, *_: object, **__: object) -> None:
        """Take note of a result, or of a second without one."""
        if self.killed < KILLS and self._chance.random() < 0.5:
            victim = self._chance.choice([process for process in self._machines.workers if process.poll() is None])
            victim.kill()
            victim.wait()
            self.killed += 1
            self._machines.add_worker("--no-nanny")


def report_time() -> str:
    """Return the times as a table."""
    content = load("cluster")
    cells = [
        [
            str(row["round"]),
            f"{row['processes']:.1f} s",
            f"{row['cluster']:.1f} s",
            f"{row['cluster'] / row['processes']:.2f} x",
        ]
        for row in content["rows"]
    ]
    shown = table(["round", "`--jobs 2`", "cluster of 2 workers", "ratio"], cells)
    note = "the same comparison, in turns"
    return f"{shown}\nMeasured by `{content['command']}`: {note}.\n"


def report_losses() -> str:
    """Return the counts as a table."""
    content = load("cluster_kills")
    names = ("results", "workers_killed", "lost", "doubled_or_unknown", "differing")
    cells = [[f"`{row['task']}`", *(str(row[name]) for name in names)] for row in content["rows"]]
    shown = table(["command", "results", "workers killed", "lost", "done twice", "other than in one process"], cells)
    return f"{shown}\nCounted by `{content['command']}`: three workers, each replaced by a new one when it is killed.\n"


if __name__ == "__main__":
    main()
