"""The explorer as the page of a service: it has no data, and asks the other routes for what is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Response

from chmcnn.report.explorer import read_page, read_script, read_style

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastapi import FastAPI

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "/": (read_page, "text/html"),
    "/explorer.js": (read_script, "text/javascript"),
    "/explorer.css": (read_style, "text/css"),
}
PAGE = frozenset(_FILES)
"""Paths that need no token: what they answer is the same for every model."""


def add_page(app: FastAPI) -> None:
    """Add the page, its script and its style to a service."""
    for path, (read, kind) in _FILES.items():
        app.add_api_route(path, _answer(read().encode(), kind), include_in_schema=False)


def _answer(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return Response(content, media_type=kind, headers={"Content-Security-Policy": _POLICY})

    return answer
