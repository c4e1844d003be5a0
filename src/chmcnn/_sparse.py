"""Sparse matrices of the user: entries outside of a matrix, which scipy does not notice, would end the process."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chmcnn.errors import ChmcnnError


def refuse_damaged(matrix: Any, what: str, error: type[ChmcnnError]) -> None:  # noqa: ANN401 -- scipy has no type hints
    """Raise an error for a sparse matrix whose entries are not all inside of it, where scipy does not check it."""
    if getattr(matrix, "format", None) not in ("csr", "csc", "bsr"):
        return
    try:
        copy.copy(matrix).check_format(full_check=True)  # a shallow copy: the check changes the matrix
    except ValueError as problem:
        raise error(
            f"{what} is a sparse matrix that is damaged: {problem}. Create it from rows, columns and values, as "
            "scipy.sparse.coo_array does, which checks them."
        ) from None
