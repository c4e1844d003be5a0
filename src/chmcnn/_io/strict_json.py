"""JSON: written without NaN and infinite numbers, and read from a file of any origin."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue

_LONG_INTEGER = re.compile(r"\d{19}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def dumps(content: JSONValue) -> str:
    """Return JSON text; numpy numbers and tuples are accepted too. NaN and infinite numbers become null.

    >>> dumps(float("nan")), dumps((1.5,))[0]
    ('null', '[')
    """
    try:
        return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ChmcnnError("What is to be written as JSON is nested too deeply.") from None


def loads(text: str | bytes) -> JSONValue:
    """Return the content of JSON text of any origin; a `ValueError` says what is wrong with it.

    >>> loads("[1, 2.5]")
    [1, 2.5]
    >>> loads("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    decoded = text.decode() if isinstance(text, bytes) else text
    options: dict[str, Any] = {"parse_int": _parse_integer} if _LONG_INTEGER.search(decoded) else {}  # it takes time
    try:
        content = json.loads(decoded, **options)
        if _SURROGATE.search(decoded):
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError as error:
        raise ValueError(f"it has {error.object[error.start]!r}, half of a character") from None
    return content


def _parse_integer(digits: str) -> int:
    if len(digits) > 30 or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"the integer {digits[:20]}... has {len(digits.lstrip('-'))} digits, which is too large")
    return int(digits)


def _plain(value: JSONValue) -> JSONValue:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    import numpy as np

    if isinstance(value, np.generic):
        return _plain(value.item())
    raise ChmcnnError(f"{value!r} cannot be written as JSON; use plain numbers and text.")
