"""The pure functions of tensors: `max_constraint`, `min_constraint`, `delegates`, `mc_loss`.

``scores`` and ``logits`` are floating-point tensors of shape (..., classes), in the column order of the hierarchy; the
dimensions before the last one are rows of any shape. Cost and memory grow with classes and edges, never with pairs of
classes.

Values are checked unless ``validate=False``: on an accelerator that saves the wait for the result of each check, and a
function that is vmapped needs it. Under `torch.compile` and in exported models values are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from chmcnn._wording import wrong_shape
from chmcnn.constraint import _plan
from chmcnn.errors import ChmcnnError, LabelError, ScoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.constraint._plan import Plan
    from chmcnn.hierarchy import Hierarchy

Reduction = Literal["mean", "sum", "none"]
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def max_constraint(scores: Tensor, hierarchy: Hierarchy | Plan, *, validate: bool = True) -> Tensor:
    """Give each class the highest score among itself and its descendants: the paper's MCM.

    The result is coherent: no class scores above any of its ancestors. Scores are probabilities, and so is the result,
    or they are logits, and so is the result. The gradient of a class goes to the one class that `delegates` names.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> max_constraint(torch.tensor([[0.1, 0.3]]), hierarchy)
    tensor([[0.3000, 0.3000]])
    """
    plan = _plan_for("Scores", scores, hierarchy)
    if torch.compiler.is_exporting():
        return _plan.max_by_level(scores, plan)
    if not torch.compiler.is_compiling() and torch.is_inference_mode_enabled():  # no gradient: values are enough
        found = _plan.highest(scores, plan)
        if found and (found[1] or not validate):
            return found[0]
    return scores.gather(-1, delegates(scores, plan, validate=validate))


def min_constraint(scores: Tensor, hierarchy: Hierarchy) -> Tensor:
    """Give each class the lowest score among itself and its ancestors: the other way to make scores coherent.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> min_constraint(torch.tensor([[0.1, 0.3]]), hierarchy)
    tensor([[0.1000, 0.1000]])
    """
    return -max_constraint(-scores, hierarchy.reversed)


def delegates(scores: Tensor, hierarchy: Hierarchy | Plan, *, validate: bool = True) -> Tensor:
    """Name the class that decides each class: its position, as int64, in the shape of the scores.

    A class that scores at least as high as all its descendants decides itself. Otherwise it delegates, in the sense of
    the paper, to the highest of them; of several that are equally high, to one that is least deep, and of those to the
    first.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> delegates(torch.tensor([[0.1, 0.3], [0.3, 0.1]]), hierarchy)
    tensor([[1, 1],
            [0, 1]])
    """
    plan = _plan_for("Scores", scores, hierarchy)
    index, clean = _plan.decide(scores, None, plan)
    if _checking(validate=validate) and not clean:
        _refuse("Scores", scores, lambda values: ~torch.isnan(values), plan)
    return index


def mc_loss(  # noqa: PLR0913 -- the usual options of a loss, all by keyword
    logits: Tensor,
    y: Tensor,
    hierarchy: Hierarchy | Plan,
    *,
    weight: Tensor | None = None,
    mask: Tensor | None = None,
    reduction: Reduction = "mean",
    close_labels: bool = False,
    validate: bool = True,
) -> Tensor:
    """Binary cross-entropy that teaches a network when to delegate: the paper's MCLoss, on logits, in one pass.

    A class is judged by the highest logit among those of itself and its descendants that carry its own label: a class
    that is there is never credited for a descendant that is not.

    Parameters
    ----------
    logits
        What the network gives, before a sigmoid and before the constraint: (..., classes).
    y
        Labels 0 and 1, or booleans, of the same shape, with the ancestors of every class.
    weight
        What the loss of each class is multiplied with: (classes,).
    mask
        Which classes count: (classes,) booleans. ``torch.tensor(hierarchy.depths > 0)`` leaves the roots out.
    reduction
        The mean over rows and the classes that count, the sum, or "none" for the loss of each row and class.
    close_labels
        Add missing ancestors to the labels, instead of refusing labels without them.
    validate
        Whether to check the values of logits and labels.

    Returns
    -------
    Tensor
        The loss; in float32 where the logits are of half precision.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> h = torch.tensor([0.1, 0.3])  # the network takes it for a dog, hardly for an animal
    >>> loss = mc_loss(torch.logit(h), torch.tensor([1, 0]), hierarchy, reduction="sum")  # an animal, and no dog
    >>> torch.exp(-loss)  # 0.1 for the animal, 0.7 for no dog
    tensor(0.0700)
    """
    plan = _plan_for("Logits", logits, hierarchy)
    if not isinstance(y, Tensor) or y.layout != torch.strided:
        kind = y.layout if isinstance(y, Tensor) else type(y).__name__
        raise LabelError(f"Labels are of type {kind}; expected a dense torch.Tensor: use torch.as_tensor(...).")
    if y.shape != logits.shape or y.device != logits.device:
        ours, theirs = ((tuple(tensor.shape), str(tensor.device)) for tensor in (y, logits))
        raise LabelError(f"Labels have shape and device {ours}, logits {theirs}; expected the same.")
    check_options(plan, weight, mask, reduction)
    if close_labels:
        if _checking(validate=validate):
            _refuse_labels(y, plan)
        y = max_constraint(y.float(), plan, validate=False)
    index, clean = _plan.decide(logits, y, plan)
    if _checking(validate=validate) and not clean:
        _refuse("Logits", logits, torch.isfinite, plan)
        _refuse_labels(y, plan)
        _refuse_incoherent(y, index, plan)
    decisive = logits.gather(-1, index)
    if decisive.dtype in {torch.float16, torch.bfloat16}:
        decisive = decisive.float()
    if mask is not None and not _checking(validate=validate):
        decisive = decisive.where(mask, 0)  # not even an infinite loss of a class left out counts
    scale = _scale(weight, mask, decisive.dtype, mean=reduction == "mean")
    return F.binary_cross_entropy_with_logits(decisive, y.to(decisive.dtype), weight=scale, reduction=reduction)


def _plan_for(what: str, scores: Tensor, hierarchy: Hierarchy | Plan) -> Plan:
    """Check what can be told without looking at values, and find the plan."""
    if not isinstance(scores, Tensor) or scores.dtype not in _DTYPES or scores.layout != torch.strided:
        kind = f"{scores.dtype}, {scores.layout}" if isinstance(scores, Tensor) else type(scores).__name__
        known = ", ".join(map(str, _DTYPES))
        raise ScoreError(f"{what} are of type {kind}; expected a dense torch.Tensor of one of {known}.")
    plan = hierarchy if isinstance(hierarchy, _plan.Plan) else _plan.plan_of(hierarchy, scores.device)
    if scores.device != plan.base.device:
        raise ScoreError(f"{what} are on {scores.device}, however the module is on {plan.base.device}: use .to(...).")
    if scores.dim() == 0 or scores.shape[-1] != len(plan.base):
        raise ScoreError(wrong_shape(what, scores.shape, len(plan.base)))
    return plan


def _checking(*, validate: bool) -> bool:
    """Whether values are checked; under torch.compile they never are."""
    return validate and not torch.compiler.is_compiling()


def _refuse(what: str, scores: Tensor, allowed: Callable[[Tensor], Tensor], plan: Plan) -> None:
    """Refuse scores of which any is not allowed, being NaN or infinite."""
    if torch.isfinite(scores.detach().sum()):
        return  # the common case, in one pass
    wrong = (~allowed(scores)).reshape(-1, scores.shape[-1]).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        value = scores.reshape(-1, scores.shape[-1])[row, column].item()
        raise ScoreError(
            f"{what} have the value {value} in row {row}, class {plan.classes[column]!r}. "
            "Look for missing or huge values in the input, or for a learning rate that is too high."
        )


def _refuse_labels(y: Tensor, plan: Plan) -> None:
    if torch.equal(y.bool().to(y.dtype), y):
        return
    row, column = ((y != 0) & (y != 1)).reshape(-1, y.shape[-1]).nonzero()[0].tolist()
    value = y.reshape(-1, y.shape[-1])[row, column].item()
    raise LabelError(f"Labels have the value {value} in row {row}, class {plan.classes[column]!r}; expected 0 and 1.")


def _refuse_incoherent(y: Tensor, index: Tensor, plan: Plan) -> None:
    """Refuse labels without all ancestors: with them, and only then, each class is decided by one of its own label."""
    decided = y.gather(-1, index)
    if not torch.equal(decided, y):
        row, column = (decided != y).reshape(-1, y.shape[-1]).nonzero()[0].tolist()
        below = plan.classes[int(index.reshape(-1, y.shape[-1])[row, column])]
        raise LabelError(
            f"Labels in row {row} have class {below!r}, but not its ancestor {plan.classes[column]!r}. They must have "
            "all ancestors: hierarchy.encode and hierarchy.close add them, and so does close_labels=True."
        )


def check_options(plan: Plan, weight: Tensor | None, mask: Tensor | None, reduction: str) -> None:
    """Check the options of the loss that do not change from call to call."""
    if reduction not in get_args(Reduction):
        raise ChmcnnError(f"reduction is {reduction!r}; expected one of {', '.join(map(repr, get_args(Reduction)))}.")
    expected = plan.base.shape
    for name, value in {"weight": weight, "mask": mask}.items():
        if value is not None and not isinstance(value, Tensor):
            raise ChmcnnError(f"{name} is of type {type(value).__name__}; expected a torch.Tensor.")
        if value is not None and value.shape != expected:
            raise ChmcnnError(f"{name} has shape {tuple(value.shape)}; expected one value a class, {tuple(expected)}.")
    if mask is not None and mask.dtype != torch.bool:
        raise ChmcnnError(f"mask is of type {mask.dtype}; expected torch.bool, true for the classes that count.")


def _scale(weight: Tensor | None, mask: Tensor | None, dtype: torch.dtype, *, mean: bool) -> Tensor | None:
    """What the loss of each class is multiplied with; for a mean over the classes that count, more than its weight."""
    scale = None if weight is None else weight.to(dtype)
    if mask is not None:
        scale = mask.to(dtype) if scale is None else mask * scale
        scale = scale * len(mask) / mask.sum() if mean else scale
    return scale
