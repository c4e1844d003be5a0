"""A hierarchy as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from chmcnn._io import strict_json
from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FORMAT = "chmcnn-hierarchy"
_VERSION = 1


def dump(classes: Sequence[str], edges: Sequence[Sequence[int]], titles: Mapping[str, str] | None) -> str:
    """Return the text; titles are optional, also for older versions, which ignore them."""
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "classes": classes, "edges": edges}
    if titles:
        content["titles"] = dict(titles)
    return json.dumps(content, ensure_ascii=False)


def parse(text: str) -> tuple[list[str], list[list[int]], dict[str, str] | None]:
    """Return classes, edges and titles, as they are in the text."""
    try:
        content = strict_json.loads(text)
    except (TypeError, ValueError) as error:
        raise HierarchyError(f"The text of the hierarchy is not valid JSON: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise HierarchyError(f'The JSON is not a hierarchy; expected an object with "format": "{_FORMAT}".')
    if content.get("version") != _VERSION:
        raise HierarchyError(
            f"The hierarchy has version {content.get('version')!r}, but this chmcnn reads version {_VERSION}. "
            "Use the chmcnn that wrote it, or a newer one."
        )
    if not all(isinstance(content.get(key), list) for key in ("classes", "edges")):
        raise HierarchyError('The JSON is not a hierarchy; expected the lists "classes" and "edges".')
    return content["classes"], content["edges"], content.get("titles")
