"""Strict JSON: NaN and infinite numbers become null."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue


def dumps(content: JSONValue) -> str:
    """Return JSON text; numpy numbers and tuples are accepted too.

    >>> dumps(float("nan")), dumps((1.5,))[0]
    ('null', '[')
    """
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: JSONValue) -> JSONValue:
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
