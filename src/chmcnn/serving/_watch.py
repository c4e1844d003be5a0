"""What each request goes through: time is measured, answers get their headers, and strangers are sent away."""

from __future__ import annotations

import hmac
import re
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from chmcnn.serving._page import PAGE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from chmcnn.serving._measured import Measured

OPEN_PATHS = PAGE | {"/healthz"}
"""Paths that need no token."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""How programs on the same machine call it."""
_POLICY = b"content-security-policy"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),  # JSON is not read as a page
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),  # rows and answers are nobody else's
]
_NOTHING = (_POLICY, b"default-src 'none'; frame-ancestors 'none'")


class Watch:
    """Counts requests and their time, and adds headers to all answers, also to errors of ours that nobody foresaw."""

    def __init__(self, app: ASGIApp, measured: Measured) -> None:
        self._app, self._measured = app, measured

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _add_headers(message["headers"])}
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception:
            if not status:
                await _FAILURE(scope, receive, watch)
            raise  # the server's log says what happened
        finally:
            path = getattr(scope.get("route"), "path", "other")  # not what clients make up
            self._measured.count(path, status, time.perf_counter() - start)


_FAILURE = JSONResponse({"detail": "The service failed; its log says why."}, status_code=500)


def _add_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return headers with those of all answers, as a new list; a page has a policy of its own."""
    own = list(headers)
    policy = [] if any(name == _POLICY for name, _ in own) else [_NOTHING]
    return [*own, *policy, *_HEADERS]


class Guard:
    """Sends requests away that have no valid token, or call this machine by a name that it does not have.

    A page from elsewhere can let its own name mean this machine, and a browser then takes the service for a part of
    that page. It cannot hide the name.
    """

    def __init__(self, app: ASGIApp, token: str | None, hosts: Collection[str]) -> None:
        self._app, self._token, self._hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        refusal = self._find_refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> ASGIApp | None:
        if not self._hosts and self._token is None:
            return None
        headers = Headers(scope=scope)
        host = re.sub(r":\d*$", "", headers.get("host", ""))
        if self._hosts and host.lower() not in self._hosts:
            told = f"The header Host is {host[:40]!r}; expected {' or '.join(sorted(self._hosts))}."
            return JSONResponse({"detail": told}, status_code=421)
        path = scope["path"].removeprefix(scope.get("root_path", ""))  # without the place where it is mounted
        if self._token is None or path in OPEN_PATHS or _is_allowed(headers, self._token):
            return None
        return JSONResponse(
            {"detail": "The header Authorization has no valid token; expected: Bearer TOKEN."},
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )


def _is_allowed(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
