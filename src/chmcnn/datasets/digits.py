"""The data set in the package: handwritten digits, and a small DAG of the shapes in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn.datasets.catalogue import EMBEDDED as NAME
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from chmcnn.datasets.dataset import Dataset

_CHILDREN = {
    "loop": ("loop above", "loop below", "0"),
    "loop above": ("8", "9"),
    "loop below": ("6", "8"),
    "line": ("line across", "line upright"),
    "line across": ("2", "4", "5", "7"),
    "line upright": ("1", "4"),
    "curve": ("curve open to the left", "curve open to the right"),
    "curve open to the left": ("2", "3", "5", "9"),
    "curve open to the right": ("5", "6"),
}
_TRAIN, _VALID = 1000, 297


def load() -> Dataset:
    """Load 1,797 digits of 8 x 8 pixels; the ancestors of a digit are the shapes in it.

    The images come with scikit-learn (the test part of UCI's optical recognition of handwritten digits). They are in
    the order of their writers, so the parts, split in that order, have few writers in common.

    >>> load().hierarchy.ancestors("8")
    ('loop', 'loop above', 'loop below')
    """
    import pandas as pd
    from sklearn.datasets import load_digits

    from chmcnn.datasets.dataset import Dataset, Table

    pictures, digits = load_digits(return_X_y=True)
    pixels = pd.DataFrame(pictures, columns=[f"pixel {row},{column}" for row in range(8) for column in range(8)])
    labels = [{str(digit)} for digit in digits]
    hierarchy = Hierarchy.from_edges((above, below) for above, names in _CHILDREN.items() for below in names)
    table = Table(pixels, labels, hierarchy, source=NAME)
    train, valid, test = np.split(np.arange(len(table)), [_TRAIN, _TRAIN + _VALID])
    return Dataset(NAME, table.take(train), table.take(valid), table.take(test))
