"""The paper's formulas, literally: an n x n mask, and the classes stacked n times. The oracle of every fast path."""

import torch
from torch import Tensor

from chmcnn import Hierarchy


def subclass_mask(hierarchy: Hierarchy) -> Tensor:
    """M: (classes, classes), 1 where the class of the column is a subclass of the class of the row, or that itself."""
    mask = torch.eye(len(hierarchy), dtype=torch.float64)
    edges, _ = hierarchy.bottom_up()
    for parent, child in edges.tolist():
        mask[parent] = torch.maximum(mask[parent], mask[child])
    return mask


def max_constraint(h: Tensor, mask: Tensor) -> Tensor:
    """MCM = max(M * H, dim=1), for probabilities (rows, classes)."""
    return (mask * h.unsqueeze(1)).max(dim=2).values


def mc_loss(h: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """BCELoss(((1 - y) * MCM) + (y * max(M * y * H, dim=1)), y), of each row and class."""
    decisive = (1 - y) * max_constraint(h, mask) + y * max_constraint(y * h, mask)
    return torch.nn.functional.binary_cross_entropy(decisive, y, reduction="none")
