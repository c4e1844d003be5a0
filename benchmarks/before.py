"""The default network of now and of an earlier commit: ``python -m benchmarks.before REVISION``.

Each trains on training rows, stops by validation rows and trains on all of them again, with one thread. Test rows are
not used. The earlier commit must have the same dependencies.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.markdown import table

ROOT = Path(__file__).parent.parent
NAMES = ("cellcycle_FUN", "derisi_FUN", "seq_FUN", "spo_FUN", "enron", "eisen_GO", "derisi_GO")


def main(revision: str) -> None:
    """Measure both on each data set in turns, and write the results to results/before.json."""
    from benchmarks.measure import save  # not at the top: it imports the present version

    with tempfile.TemporaryDirectory() as folder:
        archive = _git("archive", revision, "src")
        with tarfile.open(fileobj=BytesIO(archive)) as content:
            content.extractall(folder, filter="data")
        sources = {"before": Path(folder), "now": ROOT}
        rows = [{"dataset": name, **{when: measure(name, place) for when, place in sources.items()}} for name in NAMES]
    described = _git("log", "-1", "--format=%h, %as", revision).decode().strip()
    print(save("before", f"python -m benchmarks.before {revision}", [{"revision": described, **row} for row in rows]))


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607


def measure(name: str, place: Path) -> dict[str, Any]:
    """Return what a training takes and reaches, in a process of its own with the source of a version."""
    environment = os.environ | {"PYTHONPATH": str(place / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__)), "train", name]
    environment["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    done = subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603 -- this file
    found: dict[str, Any] = json.loads(done.stdout)
    print(name, place, found, flush=True)
    return found


def train(name: str) -> None:
    """Train, and print what it took and reached."""
    from benchmarks.shapes import data_folder
    from chmcnn import CHMCNNClassifier, datasets

    data = datasets.load(name, data_dir=data_folder())
    start = time.process_time()
    model = CHMCNNClassifier(data.hierarchy, evaluated=data.evaluated, random_state=0)
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "epochs": len(model.history_), "validation AU(PRC)": model.best_score_}))


def report() -> str:
    """Return a table of processor times and scores, before and now."""
    from benchmarks.measure import load

    found = load("before")
    cells = []
    for row in found["rows"]:
        before, now = row["before"], row["now"]
        scores = [f"{each['validation AU(PRC)']:.3f}" for each in (before, now)]
        cells.append([row["dataset"], *scores, f"{now['seconds'] / before['seconds']:.2f}"])
    totals = [sum(row[when]["seconds"] for row in found["rows"]) for when in ("before", "now")]
    cells.append(["all", "", "", f"{totals[1] / totals[0]:.2f}"])
    note = (
        f"AU(PRC) on validation rows, and processor time of the whole training, now relative to commit "
        f"{found['rows'][0]['revision']}; one seed. Run by `{found['command']}`."
    )
    return f"{table(['data set', 'before', 'now', 'time'], cells)}\n{note}\n"


if __name__ == "__main__":
    train(sys.argv[2]) if sys.argv[1] == "train" else main(sys.argv[1])
