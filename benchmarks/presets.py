"""The presets against the published figures: ``python -m benchmarks.presets``. Each result is a file, and is kept.

``python -m benchmarks.presets choose`` runs the grid on validation data that the default preset was chosen from.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.shapes import data_folder
from chmcnn import CHMCNNClassifier, datasets, metrics
from chmcnn._files import atomic

RESULTS = Path(__file__).parent / "results" / "presets"
DATASETS = ("cellcycle_FUN", "eisen_FUN", "derisi_FUN", "enron")
PUBLISHED = {"cellcycle_FUN": 0.255, "eisen_FUN": 0.306, "derisi_FUN": 0.195, "enron": 0.756}
"""AU(PRC) of C-HMCNN in Table 2 of the paper."""
# Table 4 of the paper, where it differs from the preset
PAPER: dict[str, dict[str, Any]] = {"enron": {"widths": (1000, 1000), "learning_rate": 1e-5}}
BLOCKS = "enron, last rows"
"""The training rows of enron cut in their order: its test rows are of another time than its training rows."""
GRID: list[dict[str, Any]] = [
    {},
    {"learning_rate": 1e-3},
    {"learning_rate": 2e-3},
    {"widths": (300, 300)},
    {"widths": (1000, 1000)},
    {"dropout": 0.6},
]


def fit(name: str, **options: Any) -> tuple[CHMCNNClassifier, datasets.Dataset, float]:  # noqa: ANN401
    """Train on one data set, stopping by its validation rows."""
    data = _in_blocks() if name == BLOCKS else datasets.load(name, data_dir=data_folder())
    model = CHMCNNClassifier(data.hierarchy, evaluated=data.evaluated, random_state=0, **options)
    start = time.perf_counter()
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    return model, data, time.perf_counter() - start


def _in_blocks() -> datasets.Dataset:
    table = datasets.read_table(data_folder() / "others" / "Enron_corr_trainvalid.arff")
    cut = round(0.7 * len(table))
    train, valid = table.take(range(cut)), table.take(range(cut, len(table)))
    return datasets.Dataset(BLOCKS, train, valid, valid)


def check(name: str, preset: str) -> dict[str, Any]:
    """Test AU(PRC) and time of one preset on one data set."""
    options = PAPER.get(name, {}) if preset == "paper" else {}
    model, data, seconds = fit(name, preset=preset, **options)
    scores = model.predict_proba(data.test.X)
    return {
        "dataset": name,
        "preset": preset,
        "options": options,
        "test AU(PRC)": metrics.auprc(data.test.Y, scores, classes=data.evaluated),
        "validation AU(PRC)": model.best_score_,
        "best epoch": model.best_epoch_,
        "seconds": seconds,
        "threads": torch.get_num_threads(),
        "processors": os.cpu_count(),
    }


def choose(number: int) -> dict[str, Any]:
    """Validation AU(PRC) of one point of the grid on each data set."""
    scores = {name: fit(name, **GRID[number], refit=False)[0].best_score_ for name in (*DATASETS, BLOCKS)}
    return {
        "changed from the preset": GRID[number],
        "validation AU(PRC)": scores,
        "mean": sum(scores.values()) / len(scores),
    }


def once(file: Path, work: Any, *arguments: Any) -> None:  # noqa: ANN401
    """Do what has no result yet, and write its result."""
    if not file.exists():
        result = {"written by": "python -m benchmarks.presets", **work(*arguments)}
        with atomic(file) as temporary:
            temporary.write_text(json.dumps(result, indent=1) + "\n")
    print(file.read_text(), flush=True)


def main() -> None:
    """Run what is asked for."""
    if sys.argv[1:] == ["choose"]:
        for number in range(len(GRID)):
            once(RESULTS / f"choice-{number}.json", choose, number)
        return
    for name in sys.argv[1:] or DATASETS:
        for preset in ("default", "paper"):
            once(RESULTS / f"{name}-{preset}.json", check, name, preset)


if __name__ == "__main__":
    main()
