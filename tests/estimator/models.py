"""A small data set, and models fitted to it."""

from typing import Any

from chmcnn import CHMCNNClassifier
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=300, features=8, classes=15, depth=3, noise=0.3)
QUICK: dict[str, Any] = {"epochs": 4, "widths": (16,), "random_state": 0}


def fitted(**options: Any) -> CHMCNNClassifier:
    return CHMCNNClassifier(DATA.hierarchy, **{**QUICK, **options}).fit(DATA.train.X, DATA.train.Y)
