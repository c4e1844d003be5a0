"""A small data set and search, for the tests of this folder."""

from pathlib import Path
from typing import Any

from chmcnn import search
from chmcnn.datasets.synthetic import learnable
from chmcnn.search import SearchPlan, SearchResult

DATA = learnable(rows=120, features=6, classes=8, depth=2, noise=0.3)
FIXED = {"epochs": 2, "widths": [16]}
SPACE: dict[str, Any] = {"learning_rate": [1e-5, 1e-2], "class_weight": [None, "balanced"]}


def run_search(folder: Path, plan: SearchPlan, **options: Any) -> SearchResult:
    return search.search(options.pop("data", DATA), plan, folder / "search", **options)
