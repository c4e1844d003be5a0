"""Groups of options: a command takes an object, and each field of its class is an option.

A field may be ``Annotated[type, typer.Option(...)]``.

>>> @dataclass(frozen=True)
... class Output(OptionGroup):
...     folder: str = "model"
...     force: bool = False
>>> @expand_groups
... def train(data: str, *, output: Output) -> None:
...     print(data, output)
>>> inspect.signature(train)
<Signature (data: str, *, folder: str = 'model', force: bool = False)>
>>> train(data="digits", folder="mine", force=True)
digits Output(folder='mine', force=True)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter
from typing import Annotated, get_args, get_origin, get_type_hints

from chmcnn._typing import JSONValue


@dataclass(frozen=True)
class OptionGroup:
    """Base class of the groups. A subclass is a frozen dataclass in which every field has a default."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return one parameter of a command for each option."""
        hints = get_type_hints(cls, include_extras=True)
        return [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            for field in fields(cls)
        ]

    def check_beside(self, options: Mapping[str, JSONValue]) -> None:
        """Refuse values that cannot be used together with the other options and arguments of a command, by name."""


class Omit:
    """Fields of a group that are not options of one command: ``Annotated[Output, Omit("force")]``."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a group by the options of that group; collect their values on a call."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type[OptionGroup], list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not (inspect.isclass(group) and issubclass(group, OptionGroup)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        options = {option.name: option for option in group.parameters()}
        for name in (name for extra in extras if isinstance(extra, Omit) for name in extra.names):
            del options[name]
        groups[parameter.name] = (group, list(options))
        parameters += options.values()

    @functools.wraps(command)
    def call(**values: JSONValue) -> None:
        given = dict(values)
        collected = {
            name: group(**{option: values.pop(option) for option in options})
            for name, (group, options) in groups.items()
        }
        for group in collected.values():
            group.check_beside(given)
        command(**values, **collected)

    # typer reads both
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def flag(name: str) -> str:
    """Return an option as it is typed.

    >>> flag("batch_size")
    '--batch-size'
    """
    return f"--{name.replace('_', '-')}"
