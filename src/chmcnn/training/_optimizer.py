"""The optimizer of a training: Adam, and for layers with sparse gradients a step for each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chmcnn.nn import SparseMLP

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.training._settings import Settings

_SPARSE_RATE = 100.0
"""Learning rate of rows with sparse gradients, relative to that of Adam; chosen as `chmcnn.estimator.PRESETS`."""
_LEAST = 1e-10
"""Least mean square of the gradients that a step is divided by."""


def create_optimizer(network: nn.Module, settings: Settings, device: torch.device | str) -> torch.optim.Optimizer:
    """Return Adam, or for a network with sparse gradients `SparseAdamW`."""
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    fused = torch.device(device).type in {"cpu", "cuda"}
    kind = SparseAdamW if any(map(has_sparse_gradients, network.modules())) else torch.optim.Adam
    return kind(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=fused)


def has_sparse_gradients(module: nn.Module) -> bool:
    """Return whether a module has a parameter with sparse gradients."""
    return isinstance(module, SparseMLP) or (isinstance(module, nn.Embedding | nn.EmbeddingBag) and module.sparse)


class SparseAdamW(torch.optim.AdamW):
    """AdamW, which updates a parameter with sparse gradients only where a batch has gradients, by row-wise Adagrad.

    A row of such a parameter belongs to one feature, such as a word. Adagrad divides its step by the root of the sum
    of its squared gradients: a rare feature takes larger steps. It has one sum for each row, where
    `torch.optim.SparseAdam` has two moments for each weight. These rows have no weight decay: a rare feature would
    lose its weights between the rows that have it.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update all parameters."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.grad.is_sparse:
                    self._step_rows(parameter, parameter.grad, _SPARSE_RATE * group["lr"])
                    parameter.grad = None  # so that AdamW leaves it alone
        loss: float | None = super().step(closure)
        return loss

    def _step_rows(self, parameter: Tensor, gradient: Tensor, rate: float) -> None:
        rows, values = _get_rows(gradient)
        state = self.state[parameter]
        if not state:
            state["sum"] = parameter.new_zeros(len(parameter))
            state["step"] = torch.zeros(())  # AdamW expects it in the state of every parameter that it loads
        sums = state["sum"]
        sums[rows] += torch.linalg.vector_norm(values, dim=1).square_() / values.shape[1]
        parameter.index_add_(0, rows, values.mul_((-rate / sums[rows].clamp_min(_LEAST).sqrt())[:, None]))


def _get_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows of a sparse gradient, each once, and their values; autograd forgets that they are unique."""
    rows = gradient._indices()[0]  # noqa: SLF001 -- torch has no public way to read them before they are coalesced
    if not (rows.diff() > 0).all():
        gradient = gradient.coalesce()
    return gradient._indices()[0], gradient._values()  # noqa: SLF001 -- as above
