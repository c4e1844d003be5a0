"""Errors about the content of a request, which name the value and its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastapi import HTTPException

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue

SHOWN = 40
"""Characters of a wrong value in a message."""


def wrong(problem: str) -> HTTPException:
    """Return the error about content that cannot be used."""
    return HTTPException(422, f"{problem}.")


def show(value: JSONValue) -> str:
    """Return a value as JSON, cut if it is long."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
