"""What `torch.compile` runs as it is, instead of tracing it.

The marker for that imports the whole compiler, so only code that is being compiled imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from chmcnn.constraint._indexed import IndexedHierarchy, look_up_eagerly

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.hierarchy import Hierarchy

look_up: Callable[[Hierarchy, torch.device], IndexedHierarchy] = torch.compiler.disable(look_up_eagerly)
