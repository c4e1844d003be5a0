"""The max-constraint layer (MCM) and the max-constraint loss (MCLoss) as pure functions of tensors.

``scores`` and ``logits`` are floating-point tensors of shape (..., classes), in the column order of the hierarchy; the
dimensions before the last one are rows of any shape. Cost and memory grow with classes and edges, never with pairs of
classes.

Values are checked unless ``validate=False``. That setting avoids waiting for each check on an accelerator, and
functions inside ``torch.func.vmap`` need it. Under `torch.compile` and in exported models values are not checked.
"""

from chmcnn.constraint._delegates import is_compiled
from chmcnn.constraint._functions import Reduction, check_options, delegates, max_constraint, mc_loss, min_constraint
from chmcnn.constraint._indexed import IndexedHierarchy
from chmcnn.constraint._steps import to_sparse_tensor

__all__ = [
    "IndexedHierarchy",
    "Reduction",
    "check_options",
    "delegates",
    "is_compiled",
    "max_constraint",
    "mc_loss",
    "min_constraint",
    "to_sparse_tensor",
]
