"""Errors as answers: the message names what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from fastapi import Request, Response


async def tell(_request: Request, error: Exception) -> Response:
    """Answer with the message of an error of ours, or with the option that is wrong."""
    status = 404 if isinstance(error, HierarchyError) else 422
    return JSONResponse({"detail": _describe(error)}, status_code=status)


def _describe(error: Exception) -> str:
    if not isinstance(error, RequestValidationError):
        return str(error)
    problems = [
        f"{problem['loc'][-1]} is {str(problem.get('input'))[:40]!r}: {problem['msg']}" for problem in error.errors()
    ]
    return "; ".join(problems) + "."
