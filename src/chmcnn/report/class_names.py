"""The titles of classes in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.hierarchy import Hierarchy


def find_titles(hierarchy: Hierarchy) -> Mapping[str, str]:
    """Return the titles by class; a class may have none."""
    titles: Mapping[str, str] = getattr(hierarchy, "titles", {})
    return titles
