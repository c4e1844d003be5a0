"""What each request goes through: the token is checked, time is measured, and headers are added."""

from __future__ import annotations

import hmac
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from chmcnn.serving._measured import Measured

OPEN = "/healthz"
"""The path that needs no token."""


class Watch:
    """What each request goes through: the token is checked, and time is measured."""

    def __init__(self, app: ASGIApp, measured: Measured, token: str | None) -> None:
        self._app, self._measured, self._token = app, measured, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-content-type-options", b"nosniff"))
            await send(message)

        try:
            await self._choose(scope)(scope, receive, watch)
        finally:
            path = getattr(scope.get("route"), "path", "other")  # not what clients make up
            self._measured.count(path, status, time.perf_counter() - start)

    def _choose(self, scope: Scope) -> ASGIApp:
        """Return the application, or the answer to a request without a valid token."""
        if self._token is None or scope["path"] == OPEN or _is_allowed(Headers(scope=scope), self._token):
            return self._app
        return JSONResponse(
            {"detail": "The header Authorization has no valid token; expected: Bearer TOKEN."},
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )


def _is_allowed(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
