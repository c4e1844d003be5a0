"""The max-constraint layer (MCM) and the max-constraint loss (MCLoss) as pure functions of tensors.

``scores`` and ``logits`` are floating-point tensors of shape (..., classes), in the column order of the hierarchy; the
dimensions before the last one are rows of any shape. Cost and memory grow with classes and edges, never with pairs of
classes.

Values are checked unless ``validate=False``: on an accelerator that saves the wait for the result of each check, and a
function that is vmapped needs it. Under `torch.compile` and in exported models values are not checked.
"""

from chmcnn.constraint._functions import Reduction, check_options, delegates, max_constraint, mc_loss, min_constraint
from chmcnn.constraint._plan import Plan, is_compiled

__all__ = [
    "Plan",
    "Reduction",
    "check_options",
    "delegates",
    "is_compiled",
    "max_constraint",
    "mc_loss",
    "min_constraint",
]
