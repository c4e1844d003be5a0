"""Trainings, predictions, comparisons and searches that are disturbed at random, and what is lost by it.

python -m benchmarks.soak --minutes 10       # repeat it to go on: the counts are added up

Each task starts in an empty folder. Up to six attempts at it are disturbed: the process group is killed, no file may
grow beyond a random size, as on a full disk, or the clock and the times of all files jump. Then the same command runs
undisturbed, and its result is compared with that of a task that was never disturbed. Attempts are copies of a process
that has imported torch: starting it anew would take most of the time.
"""

import argparse
import gc
import hashlib
import io
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load, save
from chmcnn import ChmcnnError, load_model
from chmcnn._io import results
from chmcnn._workers import InlineExecutor
from chmcnn.cli import main as run_command
from chmcnn.comparison import Execution, Plan, Source, compare
from chmcnn.datasets.synthetic import learnable
from chmcnn.search import SearchPlan, search

_HANGS = 300
"""Seconds after which an attempt hangs."""
_DAY = 86_400
COUNTS = ("tasks", "killed", "full", "clock", "resumed", "lost", "different", "unclear", "hangs")
_DATA = learnable(rows=120, features=6, classes=12, depth=3)
_SETTINGS = {"epochs": 6, "widths": [16]}
_PLAN = Plan(("C-HMCNN", "Linear", "Neighbours"), seeds=2, options={"C-HMCNN": _SETTINGS})
_SPACE = SearchPlan({"learning_rate": [1e-3, 1e-2], "dropout": [0.1, 0.5]}, "grid", settings=_SETTINGS)


class Task(NamedTuple):
    """What is done in a folder, and what it leaves there: complete parts by name, each with its content."""

    run: Callable[[Path], object]
    read: Callable[[Path], dict[str, str]]
    state: str  # what an unfinished one leaves, from which it resumes


def _call(*arguments: str | Path) -> None:
    sys.argv = ["chmcnn", *map(str, arguments)]
    run_command()


def _train(folder: Path) -> None:
    place = folder.parent
    given = ("--hierarchy", place / "hierarchy.json", "--config", place / "settings.json")
    _call("train", place / "rows.csv", *given, "-o", folder / "model", "--quiet")


def _read_model(folder: Path) -> dict[str, str]:
    """Return the digest of the scores of the model, if there is one."""
    if not (folder / "model").exists():
        return {}
    scores = load_model(folder / "model").predict_proba(pd.read_csv(folder.parent / "new.csv"))
    return {"model": hashlib.sha256(scores.tobytes()).hexdigest()}


def _predict(folder: Path) -> None:
    _call(
        "predict",
        folder.parent / "undisturbed train" / "model",
        folder.parent / "new.csv",
        "-o",
        folder / "scores.csv",
        "--force",
        "--quiet",
    )


def _read_scores(folder: Path) -> dict[str, str]:
    path = folder / "scores.csv"
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()} if path.exists() else {}


def _compare(folder: Path) -> None:
    compare([Source("generated", _DATA)], _PLAN, folder / "comparison", Execution(executor=InlineExecutor()))


def _read_runs(folder: Path) -> dict[str, str]:
    """Return the score of each run that is complete."""
    paths = (folder / "comparison" / "runs").glob("[!.]*.json")
    return {path.name: str(results.read(path)["figures"]["auprc"]) for path in paths}


def _search(folder: Path) -> None:
    found = search(_DATA, _SPACE, folder / "search")
    scores = {
        json.dumps([row[name] for name in found.searched]): row["auprc"] for row in found.trials.to_dict("records")
    }
    results.write(folder / "trials.json", scores)


def _read_trials(folder: Path) -> dict[str, str]:
    """Return the score of each trial, once all are complete."""
    path = folder / "trials.json"
    return {name: str(score) for name, score in results.read(path).items()} if path.exists() else {}


TASKS = {
    "train": Task(_train, _read_model, ".model.training"),
    "predict": Task(_predict, _read_scores, "scores.csv"),
    "compare": Task(_compare, _read_runs, "comparison/runs"),
    "search": Task(_search, _read_trials, "search/study.db"),
}


def main() -> None:
    """Disturb tasks in turns until the time is over, and write the counts after each."""
    parser = argparse.ArgumentParser(description="Disturbed trainings, predictions, comparisons and searches.")
    parser.add_argument("--minutes", type=float, default=5, help="when to stop")
    parser.add_argument("--task", action="append", choices=TASKS, help="a task (repeatable); by default all, in turns")
    options = parser.parse_args()
    rows = _read_rows()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _prepare(place)
        undisturbed = {task: _run_undisturbed(TASKS[task], place / f"undisturbed {task}") for task in TASKS}
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            for task in options.task or TASKS:
                number = rows[task]["tasks"]
                found = soak(TASKS[task], place / task, _draw(task, number), undisturbed[task])
                rows[task] = {"task": task, **{key: rows[task][key] + found[key] for key in COUNTS}}
                save("soak", "python -m benchmarks.soak", list(rows.values()))
                print(rows[task], flush=True)
    raise SystemExit(any(rows[task][key] for task in rows for key in ("lost", "different", "unclear", "hangs")))


def _draw(task: str, number: int) -> Random:
    return Random(f"{task} {number}")  # noqa: S311 -- when and how to disturb


def _read_rows() -> dict[str, dict[str, Any]]:
    known = load("soak")["rows"] if (RESULTS / "soak.json").exists() else []
    return {task: {"task": task, **dict.fromkeys(COUNTS, 0)} for task in TASKS} | {row["task"]: row for row in known}


def _prepare(place: Path) -> None:
    """Write the files that trainings and predictions read."""
    frame = pd.DataFrame(_DATA.train.X, columns=[f"x{number}" for number in range(_DATA.train.X.shape[1])])
    frame.to_csv(place / "new.csv", index=False)
    names = _DATA.hierarchy.decode(_DATA.train.Y)
    frame.assign(labels=[";".join(sorted(each)) for each in names]).to_csv(place / "rows.csv", index=False)
    (place / "hierarchy.json").write_text(_DATA.hierarchy.to_json(), encoding="utf-8")
    (place / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")


class Undisturbed(NamedTuple):
    """What a task leaves if nothing disturbs it, and how long it takes."""

    parts: dict[str, str]
    seconds: float
    largest: int  # bytes of a file


def _run_undisturbed(task: Task, folder: Path) -> Undisturbed:
    """Run a task here, so that all is imported, and then in a copy of this process, as disturbed ones."""
    first = folder.with_name(f"{folder.name}, first")
    first.mkdir()
    with suppress(SystemExit), redirect_stdout(io.StringIO()):
        task.run(first)
    gc.freeze()
    folder.mkdir()
    start = time.monotonic()
    ended = _attempt(task.run, folder)
    if ended.code or ended.signal:
        raise RuntimeError(ended.said)
    seconds = time.monotonic() - start
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Undisturbed(task.read(folder), seconds, max(sizes))


class Ended(NamedTuple):
    """How an attempt ended: by a signal, with an exit code, and with what it said."""

    signal: int
    code: int
    said: str
    hung: bool

    @property
    def problem(self) -> str:
        """What is unclear about its end: anything but a result, a clear error, or a signal of ours."""
        if (
            self.hung
            or self.signal == signal.SIGKILL
            or (self.code == self.signal == 0 and "Traceback" not in self.said)
        ):
            return ""
        return (
            ""
            if self.code == 2 and self.said.startswith("chmcnn: ")
            else self.said or f"exit code {self.code}, signal {self.signal}"
        )


def soak(task: Task, folder: Path, random: Random, undisturbed: Undisturbed) -> Counter[str]:
    """Disturb a task up to six times, let it end, and count what came of it."""
    counts: Counter[str] = Counter(tasks=1)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    before: dict[str, str] = {}
    for _ in range(random.randint(1, 6)):
        way = random.choice(["kill", "kill", "kill", "full", "clock"])
        ended = _disturb(task, folder, way, random, undisturbed)
        counts["killed"] += ended.signal == signal.SIGKILL and not ended.hung
        counts["full"] += way == "full" and ended.code != 0
        counts["clock"] += way == "clock"
        _count_problems(counts, ended)
        before = _count_lost(counts, task, folder, before)
        if before.keys() >= undisturbed.parts.keys():  # it was complete before it could be disturbed
            break
    else:
        counts["resumed"] += (folder / task.state).exists()
        ended = _attempt(task.run, folder)
        _count_problems(counts, ended)
        before = _count_lost(counts, task, folder, before)
        if ended.code or ended.signal:
            print(ended.said, flush=True)
    counts["lost"] += len(undisturbed.parts.keys() - before.keys())
    counts["different"] += sum(undisturbed.parts.get(name) != content for name, content in before.items())
    return counts


def _count_problems(counts: Counter[str], ended: Ended) -> None:
    counts["hangs"] += ended.hung
    if ended.problem:
        counts["unclear"] += 1
        print(ended.problem, flush=True)


def _count_lost(counts: Counter[str], task: Task, folder: Path, before: dict[str, str]) -> dict[str, str]:
    """Return the complete parts; count those that cannot be read any more, are gone, or have changed."""
    try:
        now = task.read(folder)
    except Exception:  # noqa: BLE001 -- whatever is wrong with it, it is lost
        print(traceback.format_exc(), flush=True)
        counts["lost"] += 1
        return {}
    counts["lost"] += sum(now.get(name) != content for name, content in before.items())
    return now


def _disturb(task: Task, folder: Path, way: str, random: Random, undisturbed: Undisturbed) -> Ended:
    if way == "kill":
        return _attempt(task.run, folder, kill_after=random.uniform(0, undisturbed.seconds))
    if way == "full":
        most = random.randint(0, undisturbed.largest)
        return _attempt(task.run, folder, prepare=lambda: _limit_files(most))
    shift = random.choice([-1, 1]) * random.uniform(0, 1000 * _DAY)
    for path in folder.rglob("*"):
        os.utime(path, times=(time.time() - shift, time.time() - shift))
    kill_after = random.uniform(0, undisturbed.seconds)
    return _attempt(task.run, folder, kill_after=kill_after, prepare=lambda: _shift_clock(shift))


def _limit_files(most: int) -> None:
    """Let every write beyond a size fail, instead of ending the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def _shift_clock(seconds: float) -> None:
    now = time.time
    time.time = lambda: now() + seconds


def _attempt(
    run: Callable[[Path], object],
    folder: Path,
    kill_after: float = math.inf,
    prepare: Callable[[], object] = lambda: None,
) -> Ended:
    """Do a task in a copy of this process, which may be killed with all that it started."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        _do(run, folder, sender, prepare)
    os.close(sender)
    with suppress(PermissionError, ProcessLookupError):  # whoever is first
        os.setpgid(child, child)
    end, hangs = time.monotonic() + kill_after, time.monotonic() + _HANGS
    hung = False
    while not (waited := os.waitpid(child, os.WNOHANG))[0]:
        hung = time.monotonic() > hangs
        if hung or time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            waited = os.waitpid(child, 0)
            break
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(waited[1])
    with os.fdopen(receiver, encoding="utf-8", errors="replace") as said:
        return Ended(max(-code, 0), max(code, 0), said.read(), hung)


def _do(run: Callable[[Path], object], folder: Path, said: int, prepare: Callable[[], object]) -> None:
    """Do a task in a process group of its own, and end this process; errors of the library end as those of commands."""
    code = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = os.fdopen(1, "w")
        os.dup2(said, 2)
        sys.stderr = os.fdopen(2, "w")
        prepare()
        run(folder)
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except (ChmcnnError, OSError) as error:  # as commands do
        print(f"chmcnn: {error}", file=sys.stderr)
        code = 2
    except BaseException:  # noqa: BLE001 -- whatever it is, it is told
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def report() -> str:
    """Return the counts as a table."""
    content = load("soak")
    names = {"killed": "killed", "full": "full disk", "clock": "clock changed", "unclear": "unclear errors"}
    cells = [[f"`{row['task']}`", *(f"{row[key]:,}" for key in COUNTS)] for row in content["rows"]]
    header = ["task", *(names.get(key, key) for key in COUNTS)]
    return f"{table(header, cells)}\nCounted by `{content['command']}`.\n"


if __name__ == "__main__":
    main()
