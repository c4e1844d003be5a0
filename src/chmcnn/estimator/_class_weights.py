"""Weights of the classes in the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from chmcnn.estimator._learned import LearnedClasses


def balance(labels: csr_array | None, evaluated: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Weigh classes by the square root of their rarity; the classes that count have a mean weight of 1."""
    if labels is None:
        raise ChmcnnError("class_weight='balanced' needs labels in memory; use weights by class name.")
    rarity = np.sqrt(labels.shape[0] / np.maximum(labels.sum(axis=0), 1))
    weights: NDArray[np.float32] = (rarity / rarity[evaluated].mean()).astype(np.float32)
    return weights


def weigh_classes(
    class_weight: Mapping[str, float] | Literal["balanced"] | None,
    learned: LearnedClasses,
    labels: csr_array | None,
) -> NDArray[np.float32] | None:
    """Return the weight of each class that the network has an output for; None where all weigh the same."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return balance(labels, learned.evaluated)
    weights = np.ones(len(learned.mask), dtype=np.float32)
    for name, weight in class_weight.items():
        weights[learned.all_classes.index(name)] = weight
    return weights[learned.mask]
