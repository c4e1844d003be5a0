"""Labels on the way from fit to the loss."""

from typing import Any

import numpy as np
import pytest

from chmcnn import CHMCNNClassifier
from chmcnn.datasets.synthetic import learnable
from chmcnn.hierarchy import _matrices

DATA = learnable(rows=60, features=4, classes=6)


def test_labels_are_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    close = _matrices.close

    def count(hierarchy: Any, labels: Any) -> Any:
        sizes.append(np.shape(labels)[0])
        return close(hierarchy, labels)

    monkeypatch.setattr(_matrices, "close", count)
    model = CHMCNNClassifier(DATA.hierarchy, epochs=2, widths=(4,), random_state=0)
    model.fit(DATA.train.X, DATA.train.Y)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert sizes == [len(DATA.train.Y), len(DATA.train.Y), len(DATA.valid.Y)]
