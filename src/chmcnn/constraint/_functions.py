"""The pure functions of tensors: `max_constraint`, `min_constraint`, `delegates`, `mc_loss`.

See `chmcnn.constraint`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from chmcnn._wording import wrong_shape
from chmcnn.constraint import _delegates
from chmcnn.constraint._fused import fused_loss
from chmcnn.constraint._indexed import IndexedHierarchy, index_hierarchy
from chmcnn.errors import ChmcnnError, LabelError, ScoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.hierarchy import Hierarchy

Reduction = Literal["mean", "sum", "none"]
_REDUCTIONS = get_args(Reduction)
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def max_constraint(scores: Tensor, hierarchy: Hierarchy | IndexedHierarchy, *, validate: bool = True) -> Tensor:
    """Give each class the highest score among itself and its descendants: the paper's MCM.

    The result is coherent: no class scores above any of its ancestors. Scores are probabilities or logits; the result
    is of the same kind. The gradient of a class goes to its delegate: see `delegates`.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> max_constraint(torch.tensor([[0.1, 0.3]]), hierarchy)
    tensor([[0.3000, 0.3000]])
    """
    indexed = _check_scores("Scores", scores, hierarchy)
    if torch.compiler.is_exporting():
        return _delegates.highest_scores_by_level(scores, indexed)
    if not torch.compiler.is_compiling() and torch.is_inference_mode_enabled():  # no gradient: values are enough
        result = _delegates.highest_scores(scores, indexed)
        if result and (result[1] or not validate):
            return result[0]
    return scores.gather(-1, delegates(scores, indexed, validate=validate))


def min_constraint(scores: Tensor, hierarchy: Hierarchy) -> Tensor:
    """Give each class the lowest score among itself and its ancestors: the other way to make scores coherent.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> min_constraint(torch.tensor([[0.1, 0.3]]), hierarchy)
    tensor([[0.1000, 0.1000]])
    """
    return -max_constraint(-scores, hierarchy.reversed)


def delegates(scores: Tensor, hierarchy: Hierarchy | IndexedHierarchy, *, validate: bool = True) -> Tensor:
    """Return the position of the delegate of each class, as int64, in the shape of the scores.

    A class that scores at least as high as all its descendants is its own delegate. Otherwise it delegates, in the
    sense of the paper, to the highest of them. Ties go to the least deep class, then to the first.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> delegates(torch.tensor([[0.1, 0.3], [0.3, 0.1]]), hierarchy)
    tensor([[1, 1],
            [0, 1]])
    """
    indexed = _check_scores("Scores", scores, hierarchy)
    index, is_valid = _delegates.find_delegates(scores, None, indexed)
    if _checks_values(validate=validate) and not is_valid:
        _check_values("Scores", scores, lambda values: ~torch.isnan(values), indexed)
    return index


def mc_loss(  # noqa: PLR0913 -- the usual options of a loss, as keywords
    logits: Tensor,
    y: Tensor,
    hierarchy: Hierarchy | IndexedHierarchy,
    *,
    weight: Tensor | None = None,
    mask: Tensor | None = None,
    reduction: Reduction = "mean",
    close_labels: bool = False,
    validate: bool = True,
) -> Tensor:
    """Binary cross-entropy that teaches a network when to delegate: the paper's MCLoss, on logits, in one pass.

    The loss of a class uses the highest logit among itself and the descendants with the same label: a positive class is
    never credited for a negative descendant.

    Parameters
    ----------
    logits
        Output of the network, before the sigmoid and the constraint: (..., classes).
    y
        Labels 0 and 1, or booleans, of the same shape, with the ancestors of every class.
    weight
        Factor for the loss of each class: (classes,).
    mask
        Which classes count: (classes,) booleans. ``torch.tensor(hierarchy.depths > 0)`` excludes the roots.
    reduction
        The mean over rows and the classes that count, the sum, or "none" for the loss of each row and class.
    close_labels
        Add missing ancestors to the labels instead of raising an error.
    validate
        Whether to check the values of logits and labels.

    Returns
    -------
    Tensor
        The loss; float32 if the logits are in half precision.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> h = torch.tensor([0.1, 0.3])  # probabilities of animal and dog
    >>> loss = mc_loss(torch.logit(h), torch.tensor([1, 0]), hierarchy, reduction="sum")  # an animal, but not a dog
    >>> torch.exp(-loss)  # 0.1 for animal, 0.7 for not dog
    tensor(0.0700)
    """
    indexed = _check_scores("Logits", logits, hierarchy)
    _check_label_tensor(y, logits)
    check_options(indexed, weight, mask, reduction)
    checks_values = _checks_values(validate=validate)
    if close_labels:
        if checks_values:
            _check_labels(y, indexed)
        y = max_constraint(y.float(), indexed, validate=False)
    differentiable = partial(
        _loss_by_delegates,
        y=y,
        hierarchy=indexed,
        weight=weight,
        mask=mask,
        reduction=reduction,
        validate=checks_values,
    )
    if reduction != "none" and not torch.compiler.is_compiling():
        fused = fused_loss(
            logits, y, indexed, weight=weight, mask=mask, mean=reduction == "mean", differentiable=differentiable
        )
        if fused is not None:
            return fused
    return differentiable(logits)


def _loss_by_delegates(
    logits: Tensor,
    *,
    y: Tensor,
    hierarchy: IndexedHierarchy,
    weight: Tensor | None,
    mask: Tensor | None,
    reduction: Reduction,
    validate: bool,
) -> Tensor:
    """Compute the loss in operators of torch, for any device, precision and derivative."""
    index, is_valid = _delegates.find_delegates(logits, y, hierarchy)
    if validate and not is_valid:
        _check_values("Logits", logits, torch.isfinite, hierarchy)
        _check_labels(y, hierarchy)
        _check_ancestors(y, index, hierarchy)
    delegated = logits.gather(-1, index)
    if delegated.dtype in {torch.float16, torch.bfloat16}:
        delegated = delegated.float()
    if mask is not None and not validate:
        delegated = delegated.where(mask, 0)  # an infinite loss of an excluded class must not count either
    scale = _loss_scale(weight, mask, delegated.dtype, mean=reduction == "mean")
    return F.binary_cross_entropy_with_logits(delegated, y.to(delegated.dtype), weight=scale, reduction=reduction)


def check_options(hierarchy: IndexedHierarchy, weight: Tensor | None, mask: Tensor | None, reduction: str) -> None:
    """Check the options of the loss that do not change from call to call."""
    if reduction not in _REDUCTIONS:
        raise ChmcnnError(f"reduction is {reduction!r}; expected one of {', '.join(map(repr, _REDUCTIONS))}.")
    expected = hierarchy.base_keys.shape
    for name, value in (("weight", weight), ("mask", mask)):
        if value is None:
            continue
        if not isinstance(value, Tensor):
            raise ChmcnnError(f"{name} is of type {type(value).__name__}; expected a torch.Tensor.")
        if value.shape != expected:
            raise ChmcnnError(f"{name} has shape {tuple(value.shape)}; expected {tuple(expected)}, one per class.")
    if mask is not None and mask.dtype != torch.bool:
        raise ChmcnnError(f"mask is of type {mask.dtype}; expected torch.bool, True for the classes that count.")


def _check_scores(what: str, scores: Tensor, hierarchy: Hierarchy | IndexedHierarchy) -> IndexedHierarchy:
    """Check everything except the values of the scores, and return the hierarchy on their device."""
    if not isinstance(scores, Tensor) or scores.dtype not in _DTYPES or scores.layout != torch.strided:
        kind = f"{scores.dtype}, {scores.layout}" if isinstance(scores, Tensor) else type(scores).__name__
        dtypes = ", ".join(map(str, _DTYPES))
        raise ScoreError(f"{what} are of type {kind}; expected a dense torch.Tensor of one of {dtypes}.")
    indexed = hierarchy if isinstance(hierarchy, IndexedHierarchy) else index_hierarchy(hierarchy, scores.device)
    if scores.device != indexed.device:
        raise ScoreError(f"{what} are on {scores.device}, but the module is on {indexed.device}: use .to(...).")
    if scores.dim() == 0 or scores.shape[-1] != len(indexed.classes):
        raise ScoreError(wrong_shape(what, scores.shape, len(indexed.classes)))
    return indexed


def _check_label_tensor(y: Tensor, logits: Tensor) -> None:
    """Check everything except the values of the labels."""
    if not isinstance(y, Tensor) or y.layout != torch.strided:
        kind = y.layout if isinstance(y, Tensor) else type(y).__name__
        raise LabelError(f"Labels are of type {kind}; expected a dense torch.Tensor: use torch.as_tensor(...).")
    if y.shape != logits.shape or y.device != logits.device:
        of_labels, of_logits = ((tuple(tensor.shape), str(tensor.device)) for tensor in (y, logits))
        raise LabelError(f"Labels have shape and device {of_labels}, logits {of_logits}; expected the same.")


def _checks_values(*, validate: bool) -> bool:
    """Whether values are checked; under torch.compile they never are."""
    return validate and not torch.compiler.is_compiling()


def _check_values(
    what: str, scores: Tensor, is_allowed: Callable[[Tensor], Tensor], hierarchy: IndexedHierarchy
) -> None:
    """Raise an error for NaN and, where not allowed, infinite scores."""
    if torch.isfinite(scores.detach().sum()):
        return  # the common case, in one pass
    wrong = (~is_allowed(scores)).reshape(-1, scores.shape[-1]).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        value = scores.reshape(-1, scores.shape[-1])[row, column].item()
        raise ScoreError(
            f"{what} have the value {value} in row {row}, class {hierarchy.classes[column]!r}. "
            "Check the input for missing or huge values, or lower the learning rate."
        )


def _check_labels(y: Tensor, hierarchy: IndexedHierarchy) -> None:
    if y.dtype == torch.bool or torch.equal(y.bool().to(y.dtype), y):
        return
    row, column = ((y != 0) & (y != 1)).reshape(-1, y.shape[-1]).nonzero()[0].tolist()
    value = y.reshape(-1, y.shape[-1])[row, column].item()
    name = hierarchy.classes[column]
    raise LabelError(f"Labels have the value {value} in row {row}, class {name!r}; expected 0 and 1.")


def _check_ancestors(y: Tensor, index: Tensor, hierarchy: IndexedHierarchy) -> None:
    """Raise an error for labels without all ancestors: only then has a delegate another label than its class."""
    delegated = y.gather(-1, index)
    if not torch.equal(delegated, y):
        row, column = (delegated != y).reshape(-1, y.shape[-1]).nonzero()[0].tolist()
        descendant = hierarchy.classes[int(index.reshape(-1, y.shape[-1])[row, column])]
        raise LabelError(
            f"Labels in row {row} have class {descendant!r}, but not its ancestor {hierarchy.classes[column]!r}. "
            "Add all ancestors with hierarchy.encode, hierarchy.close or close_labels=True."
        )


def _loss_scale(weight: Tensor | None, mask: Tensor | None, dtype: torch.dtype, *, mean: bool) -> Tensor | None:
    """Return the factor for the loss of each class; a mean over the classes that count makes it larger."""
    scale = None if weight is None else weight.to(dtype)
    if mask is not None:
        scale = mask.to(dtype) if scale is None else mask * scale
        scale = scale * len(mask) / mask.sum() if mean else scale
    return scale
