"""Loss and gradient in one pass over the rows, where a compiled loop can compute them."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from chmcnn.constraint import _delegates
from chmcnn.constraint._threads import all_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch.autograd.function import FunctionCtx

    from chmcnn.constraint._indexed import IndexedHierarchy

_LARGEST = float(np.finfo(np.float32).max)

if _delegates.is_compiled():
    loss_and_gradient = import_module("chmcnn.constraint._loss_kernel").loss_and_gradient


def fused_loss(
    logits: Tensor,
    y: Tensor,
    hierarchy: IndexedHierarchy,
    *,
    weight: Tensor | None,
    mask: Tensor | None,
    mean: bool,
    differentiable: Callable[[Tensor], Tensor],
) -> tuple[Tensor, bool] | None:
    """Return the mean or the sum of the loss, and whether logits and labels are valid.

    None where the compiled loop is not available: without numba, in other precisions than float32, on an accelerator,
    while a model is traced, if no class counts, for derivatives of another kind, and for a placeholder of a tensor, as
    inside torch.func.
    ``differentiable`` computes the same loss from the logits; second derivatives go through it.
    """
    if not _is_available(logits):
        return None
    try:
        rows = np.ascontiguousarray(logits.detach().numpy()).reshape(-1, logits.shape[-1])
        labels, are_labels = _to_array(y)
        weights, counted = _combine(weight, mask, rows.shape[1])
    except RuntimeError:  # a tensor has no memory of its own, or needs a gradient
        return None
    if not counted:
        return None
    labels = labels.reshape(rows.shape)
    factor = np.float32(1 / (len(rows) * counted) if mean else 1)
    losses, gradient = np.empty(len(rows)), torch.empty(logits.shape, dtype=logits.dtype)
    bits, indices, out = rows.view(np.int32), hierarchy.narrow, gradient.numpy().reshape(rows.shape)

    def compute(part: slice) -> bool:
        parts = losses[part], out[part]
        return bool(loss_and_gradient(bits[part], labels[part], weights, factor, indices, *parts))

    is_valid = all_blocks(compute, *rows.shape)
    loss: Tensor = _KnownGradient.apply(logits, float(losses.sum()), gradient, differentiable)  # type: ignore[no-untyped-call]
    return loss, is_valid and are_labels


def _is_available(logits: Tensor) -> bool:
    return (
        _delegates.is_compiled()
        and logits.device.type == "cpu"
        and logits.dtype == torch.float32
        and logits.numel() > 0
        and not _delegates.is_tracing()
        and forward_ad.unpack_dual(logits).tangent is None
    )


def _to_array(y: Tensor) -> tuple[NDArray[np.uint8] | NDArray[np.float32], bool]:
    """Return labels in one of the types that the loop is compiled for, and whether they have the same values."""
    if y.dtype == torch.float32:
        return np.ascontiguousarray(y.numpy()), True
    labels = y.bool()
    is_same = y.dtype == torch.bool or torch.equal(labels.to(y.dtype), y)
    return np.ascontiguousarray(labels.numpy()).view(np.uint8), is_same


def _combine(weight: Tensor | None, mask: Tensor | None, classes: int) -> tuple[NDArray[np.float32], int]:
    """Return the weight of each class, 0 for those that do not count, and how many count."""
    weights = np.ones(classes, np.float32) if weight is None else weight.float().contiguous().numpy()
    if mask is None:
        return weights, classes
    return weights * mask.numpy(), int(np.count_nonzero(mask.numpy()))


class _KnownGradient(torch.autograd.Function):
    """A loss that was computed together with its gradient."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        logits: Tensor,
        loss: float,
        gradient: Tensor,
        differentiable: Callable[[Tensor], Tensor],
    ) -> Tensor:
        ctx.save_for_backward(logits, gradient)
        ctx.differentiable = differentiable  # type: ignore[attr-defined]
        return torch.from_numpy(np.array(math.inf if loss > _LARGEST else loss, np.float32))

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (scale,), (logits, gradient) = gradients, ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():  # a second derivative is wanted
            loss = ctx.differentiable(logits)  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(loss, logits, scale, create_graph=True)
        elif scale.item() != 1:
            gradient = gradient * scale
        return gradient, None, None, None
