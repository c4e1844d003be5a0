"""What a setting of a training may be, by the name that the estimator has for it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from chmcnn.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class Kind(NamedTuple):
    """What a setting may be, in words, and as a test."""

    expected: str
    fits: Callable[[Any], bool]


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(least: int) -> Kind:
    return Kind(
        f"a whole number, {least} or more", lambda value: isinstance(value, int) and _number(value) and value >= least
    )


def _one_of(*names: str) -> Kind:
    return Kind(" or ".join(map(repr, names)), lambda value: value in names)


_SHARE = Kind("a number from 0 to below 1", lambda value: _number(value) and 0 <= value < 1)
_YES_OR_NO = Kind("true or false", lambda value: isinstance(value, bool))
KINDS = {
    "preset": _one_of("default", "paper"),
    "widths": Kind(
        "a list of whole numbers above 0, such as [500, 500]",
        lambda value: isinstance(value, list) and all(map(_whole(1).fits, value)) and bool(value),
    ),
    "dropout": _SHARE,
    "epochs": _whole(1),
    "batch_size": _whole(1),
    "learning_rate": Kind("a number above 0", lambda value: _number(value) and value > 0),
    "weight_decay": Kind("a number, 0 or more", lambda value: _number(value) and value >= 0),
    "patience": _whole(0),
    "refit": _YES_OR_NO,
    "schedule": _one_of("constant", "cosine"),
    "averaging": Kind("a number, 0 or more", lambda value: _number(value) and value >= 0),
    "precision": _one_of("float32", "bfloat16"),
    "class_weight": Kind(
        "'balanced', or an object with weights by class name, each 0 or more",
        lambda value: (
            value == "balanced"
            or (isinstance(value, dict) and all(_number(weight) and weight >= 0 for weight in value.values()))
        ),
    ),
    "validation": _SHARE,
    "threshold": Kind(
        "'tune', or a number from 0 to 1", lambda value: value == "tune" or (_number(value) and 0 <= value <= 1)
    ),
    "preprocess": _YES_OR_NO,
}


def read(path: Path) -> dict[str, Any]:
    """Read an object of settings, whatever they are."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise FileError(f"the file is not JSON: {error.msg}", path, error.lineno, error.colno) from None
    except UnicodeDecodeError:
        raise FileError("the file is not text in UTF-8", path) from None
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path) from None
    if not isinstance(content, dict):
        raise FileError('expected an object of settings, such as {"epochs": 50}', path)
    return content


def checked(settings: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    """Refuse what is not known or does not fit, and leave out what is None."""
    for name, value in settings.items():
        if name not in KINDS:
            raise FileError(f"unknown key {name!r}; the known ones are {', '.join(KINDS)}", path)
        if value is not None and not KINDS[name].fits(value):
            raise FileError(f"{name} is {value!r}; expected {KINDS[name].expected}", path)
    return {name: value for name, value in settings.items() if value is not None}
