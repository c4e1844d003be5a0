"""JSON as every reader takes it: what is no number is null."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from chmcnn.errors import ChmcnnError


def dumps(content: Any) -> str:  # noqa: ANN401 -- what JSON can hold, and a little more
    """Write as JSON.

    >>> dumps(float("nan")), dumps((1.5,))[0]
    ('null', '[')
    """
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise ChmcnnError(f"{value!r} cannot be written as JSON; use plain numbers and text.")
