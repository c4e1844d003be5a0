"""Loss and gradient together, on the CPU: by a compiled loop, or level by level without numba."""

from __future__ import annotations

import math
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.autograd import forward_ad

from chmcnn.constraint import _delegates
from chmcnn.constraint._loss_by_level import loss_by_level
from chmcnn.constraint._threads import sum_over_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.autograd.function import FunctionCtx

    from chmcnn.constraint._indexed import IndexedHierarchy

_LARGEST = torch.finfo(torch.float32).max

if _delegates.is_compiled():
    compiled_loss = import_module("chmcnn.constraint._loss_kernel").loss_and_gradient


def fused_loss(
    logits: Tensor,
    y: Tensor,
    hierarchy: IndexedHierarchy,
    *,
    weight: Tensor | None,
    mask: Tensor | None,
    mean: bool,
    differentiable: Callable[[Tensor], Tensor],
) -> Tensor | None:
    """Return the mean or the sum of the loss.

    None where neither way is possible: in other precisions than float32, on an accelerator, while a model is traced, if
    no class counts, for derivatives of another kind, for a placeholder of a tensor, as inside torch.func, and if logits
    or labels are not valid.
    ``differentiable`` computes the same loss from the logits; second derivatives go through it.
    """
    if not _is_available(logits) or y.requires_grad or (weight is not None and weight.requires_grad):
        return None
    try:
        values, labels = _in_memory(logits), _to_labels(y)
        weights, counted = _combine(weight, mask, hierarchy)
    except RuntimeError:  # a tensor has no memory of its own
        return None
    if labels is None or not counted:
        return None
    factor = values.shape[-1] / (values.numel() * counted) if mean else 1.0
    compute = _compute_compiled if _delegates.is_compiled() else loss_by_level
    loss, gradient = compute(values, labels, weights, hierarchy, factor)
    if math.isnan(loss):
        return None
    result: Tensor = _KnownGradient.apply(logits, loss, gradient, differentiable)  # type: ignore[no-untyped-call]
    return result


def _is_available(logits: Tensor) -> bool:
    return (
        logits.is_cpu
        and logits.dtype == torch.float32
        and logits.numel() > 0
        and not _delegates.is_tracing()
        and forward_ad.unpack_dual(logits).tangent is None
    )


def _compute_compiled(
    logits: Tensor, labels: Tensor, weights: Tensor, hierarchy: IndexedHierarchy, factor: float
) -> tuple[float, Tensor]:
    """Return the loss of all rows, NaN if logits or labels are not valid, and its gradient, both times ``factor``."""
    classes = logits.shape[-1]
    gradient = torch.empty_like(logits)
    compute = partial(
        compiled_loss(),
        logits.data_ptr(),
        labels.data_ptr(),
        labels.dtype == torch.float32,
        weights.data_ptr(),
        hierarchy.narrow.data_ptr(),
        factor,
        gradient.data_ptr(),
    )
    return sum_over_blocks(compute, logits.numel() // classes, classes), gradient


def _in_memory(tensor: Tensor) -> Tensor:
    """Return the values of a tensor one after the other in memory; RuntimeError if there are none."""
    values = tensor.resolve_neg().contiguous()
    if not values.data_ptr():
        raise RuntimeError("a placeholder has no values")
    return values


def _to_labels(y: Tensor) -> Tensor | None:
    """Return labels in one of the types that the loop reads, None if they would have other values."""
    if y.dtype in {torch.float32, torch.bool}:
        return _in_memory(y)
    labels = y.bool()
    return _in_memory(labels) if torch.equal(labels.to(y.dtype), y) else None


def _combine(weight: Tensor | None, mask: Tensor | None, hierarchy: IndexedHierarchy) -> tuple[Tensor, int]:
    """Return the weight of each class, 0 for those that do not count, and how many count."""
    weights = hierarchy.ones if weight is None else _in_memory(weight.float())
    if mask is None:
        return weights, len(weights)
    return _in_memory(weights * mask), int(mask.count_nonzero())


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
        return torch.scalar_tensor(math.inf if loss > _LARGEST else loss, dtype=torch.float32)

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (scale,), (logits, gradient) = gradients, ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():  # a second derivative is wanted
            loss = ctx.differentiable(logits)  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(loss, logits, scale, create_graph=True)
        elif scale.item() != 1:
            gradient = gradient * scale
        return gradient, None, None, None
