"""Constructors with ``**options``, which they pass on: the names of all their parameters."""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import Any


def complete_signature(kind: type[Any]) -> None:
    """Name the parameters that a constructor passes on: scikit-learn, ``help`` and editors read them there."""
    constructor: Any = vars(kind)["__init__"]
    found = list_parameters(kind)
    self_, *own = inspect.signature(constructor).parameters.values()
    first = [each for each in own if each.kind is not Parameter.VAR_KEYWORD]
    if len(first) < len(own):
        names = {each.name for each in first}
        passed_on = [each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in found.items() if name not in names]
        constructor.__signature__ = inspect.Signature([self_, *first, *passed_on])


def list_parameters(kind: type[Any]) -> dict[str, Parameter]:
    """Return the parameters of the constructors of a class: one with ``**options`` passes these on to the next."""
    found: dict[str, Parameter] = {}
    for each in kind.__mro__:
        if "__init__" not in vars(each):
            continue
        parameters = [*inspect.signature(vars(each)["__init__"]).parameters.values()][1:]
        named = [parameter for parameter in parameters if parameter.kind is not Parameter.VAR_KEYWORD]
        found = {parameter.name: parameter for parameter in named} | found
        if len(named) == len(parameters):
            break
    return found
