"""What a request may ask for, and the body of a request within these limits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import HTTPException
from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request, and of all that wait.

    Parameters
    ----------
    rows
        Rows of a request.
    body_bytes
        Size of its body.
    seconds
        Time until its body has arrived, and from then on until the answer is there.
    classes
        Classes of an answer, over all of its rows.
    waiting
        Rows of all requests that wait; with more, a request is sent away until some are done.
    """

    rows: int = 1000
    body_bytes: int = 10 << 20
    seconds: float = 30.0
    classes: int = 200_000
    waiting: int = 20_000


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the body of a request; stop as soon as it is too large or too slow."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > limits.body_bytes:
        raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.body_bytes:
                    raise _too_large(limits)
                parts.append(part)
    except TimeoutError:
        raise HTTPException(408, f"The body did not arrive within {limits.seconds:g} seconds.") from None
    except ClientDisconnect:  # nobody reads the answer
        raise HTTPException(400, "The client went away before its body had arrived.") from None
    return b"".join(parts)


def refuse_long_answer(classes: int, limits: Limits) -> None:
    """Refuse to write an answer that has too many classes."""
    if classes > limits.classes:
        raise HTTPException(
            413,
            f"The answer would have more than {limits.classes:,} classes; send fewer rows at a time, or ask for fewer "
            "classes with top, min_score or threshold.",
        )


def _too_large(limits: Limits) -> HTTPException:
    return HTTPException(413, f"The body is larger than {limits.body_bytes:,} bytes; send fewer rows at a time.")
