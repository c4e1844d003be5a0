"""How the loops are compiled. Needs numba."""

from collections.abc import Callable, Iterable
from typing import Any

import numba

_OPTIONS = {"error_model": "numpy"}
"""Division by zero gives infinity. A check of each division would keep the processor from doing several at once."""


def compiled(*, fastmath: Iterable[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a loop, without the global lock."""
    return lambda loop: _cached(numba.njit, loop, nogil=True, fastmath=set(fastmath))


def compile_for_c(loop: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """Compile a function of addresses and numbers, which no types have to be looked up for. It needs no global lock."""
    function = _cached(numba.cfunc, loop, signature)
    called: Callable[..., Any] = function.ctypes
    called.owner = function  # type: ignore[attr-defined]  # the machine code lives as long as its owner
    return called


def _cached(compiler: Callable[..., Any], loop: Callable[..., Any], *arguments: object, **options: object) -> Any:  # noqa: ANN401
    try:
        return compiler(*arguments, cache=True, **_OPTIONS, **options)(loop)
    except RuntimeError:  # no folder for compiled code: compile in every process
        return compiler(*arguments, **_OPTIONS, **options)(loop)
