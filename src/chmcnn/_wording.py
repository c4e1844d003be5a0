"""Words of messages: counts, the nearest name, and errors about class names and shapes."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")
CONTROL = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that control a terminal, or the direction of text, as a part of a pattern."""
_CONTROL = re.compile(f"(?!\n)[{CONTROL}]")
SEPARATORS = ",;|@ "
"""Separators that several names in one text may have between them."""
_COMPARED_AT_MOST = 20_000
"""Maximum number of names to compare with an unknown one: more would delay the error."""


def index_names(names: Sequence[str]) -> dict[str, int]:
    """Return the position of each name; raise an error unless all are different and not empty."""
    if not names:
        raise HierarchyError("The hierarchy is empty; expected at least one class.")
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise HierarchyError(
                f"Class {position} is {name!r}, of type {type(name).__name__}; expected a string: use str(...)."
            )
        if not name.strip():
            raise HierarchyError(f"Class {position} has the empty name {name!r}.")
        if not name.isascii() and _SURROGATE.search(name):
            raise HierarchyError(f"Class {position} is {name!r}, with half of a character, which no file can have.")
    positions = {name: position for position, name in enumerate(names)}
    if len(positions) < len(names):
        first, name = next((position, name) for position, name in enumerate(names) if positions[name] != position)
        raise HierarchyError(f"Class {name!r} appears twice, at positions {first} and {positions[name]}.")
    return positions


def sort_names(names: Iterable[str]) -> list[str]:
    """Return the different names, sorted; values that are not strings stay, for `index_names` to refuse."""
    unique = set(names)
    try:
        return sorted(unique)
    except TypeError:
        return sorted(unique, key=lambda name: (isinstance(name, str), str(name)))


def describe_unknown(name: object, names: Sequence[str]) -> str:
    """Return the message about an unknown class, with the nearest name."""
    message = f"Unknown class {name!r}."
    if not isinstance(name, str):
        return f"{message} It is of type {type(name).__name__}, but names are strings."
    near = nearest(name, names)
    return f"{message} Did you mean {near!r}?" if near else message


def split_known(name: str, separator: str, known: Container[str]) -> list[str]:
    """Return the parts of a name that is several known ones; none if it is not.

    >>> split_known("dog; cat", ";", {"dog", "cat"}), split_known("dog; cow", ";", {"dog", "cat"})
    (['dog', 'cat'], [])
    """
    parts = [part.strip() for part in name.split(separator)]
    return parts if len(parts) > 1 and all(part in known for part in parts) else []


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the name most similar to ``name``, or None if none is similar. Another number is another class.

    >>> nearest("sports", ["sport", "food"]), nearest("http://example.org/topics#food", ["sport", "food"])
    ('sport', 'food')
    >>> nearest("GO:0008150", ["GO:0008151"])
    """
    last = re.split("[/#]", name)[-1]  # of a path or an IRI
    if last in names:
        return last
    candidates = names
    if len(candidates) > _COMPARED_AT_MOST:
        candidates = [other for other in names if other[:1].lower() == name[:1].lower()][:_COMPARED_AT_MOST]
    lowered = {other.lower(): other for other in candidates}
    matches = difflib.get_close_matches(name.lower(), lowered, n=1)
    if not matches or _differ_in_digits(matches[0], name.lower()):
        return None
    return lowered[matches[0]]


def _differ_in_digits(first: str, second: str) -> bool:
    return first != second and re.sub(r"\d", "0", first) == re.sub(r"\d", "0", second)


def make_printable(text: str) -> str:
    r"""Return text in which characters that control a terminal are written as escapes; it keeps its lines.

    >>> print(make_printable("a\x1b[31m name\nfrom \u202eright to left"))
    a\x1b[31m name
    from \u202eright to left
    """
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def escape_in_json(text: str) -> str:
    r"""Return the same JSON, with characters that control a terminal written as JSON writes them.

    >>> print(escape_in_json('["\u202ename"]'))
    ["\u202ename"]
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escape_markup(text: str) -> str:
    """Return text that rich prints as it is, whatever names are in it."""
    from rich.markup import escape

    return escape(make_printable(text))


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "class"), count(2, "class"), count(1_000, "edge")
    ('1 class', '2 classes', '1,000 edges')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def wrong_shape(what: str, shape: tuple[int, ...], classes: int) -> str:
    """Return the message about a matrix whose shape does not fit the hierarchy."""
    return (
        f"{what} have shape {tuple(shape)}, but the hierarchy has {count(classes, 'class')}; "
        f"expected (rows, {classes}), one column for each of hierarchy.classes."
    )
