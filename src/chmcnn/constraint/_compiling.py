"""How the loops are compiled. Needs numba."""

from collections.abc import Callable, Iterable
from typing import Any

import numba


def compiled(*, fastmath: Iterable[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a loop, without the global lock; division by zero gives infinity, as in numpy.

    A check of each division, numba's default, would keep the processor from computing several classes at once.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}

    def compile_loop(loop: Callable[..., Any]) -> Callable[..., Any]:
        try:
            compiled_loop: Callable[..., Any] = numba.njit(cache=True, **options)(loop)
        except RuntimeError:  # no folder for compiled code: compile in every process
            compiled_loop = numba.njit(**options)(loop)
        return compiled_loop

    return compile_loop
