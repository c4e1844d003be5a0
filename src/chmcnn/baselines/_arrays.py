"""Arrays of model files, checked before they are used: a file may come from a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse

from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray
    from torch import Tensor

    Arrays = Mapping[str, NDArray[Any]]
    Matrix = NDArray[np.float32] | sparse.csr_array


def to_tensors(arrays: Arrays) -> dict[str, Tensor]:
    """Return arrays as tensors."""
    return {name: torch.from_numpy(np.asarray(array, order="C")) for name, array in arrays.items()}


def to_arrays(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[np.generic]]:
    """Return tensors as arrays."""
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def read_array(arrays: Arrays, name: str, dtype: DTypeLike, shape: tuple[int | None, ...] = (None,)) -> NDArray[Any]:
    """Return an array of a type and a shape, in which None is any length; numbers are finite.

    >>> read_array({"ages": np.array([1.0, 2.0])}, "ages", np.float64, (3,))
    Traceback (most recent call last):
    chmcnn.errors.ModelError: ages has type float64 and shape (2,); expected float64 and (3,).
    """
    if name not in arrays:
        raise ModelError(f"there is no {name}")
    array = arrays[name]
    same = array.ndim == len(shape) and all(
        length in (None, size) for size, length in zip(array.shape, shape, strict=True)
    )
    if array.dtype != dtype or not same:
        lengths = str(shape).replace("None", "any")
        raise ModelError(
            f"{name} has type {array.dtype} and shape {array.shape}; expected {np.dtype(dtype)} and {lengths}"
        )
    if not np.isfinite(array).all():
        raise ModelError(f"{name} has numbers that are not finite")
    return array


def read_positions(arrays: Arrays, name: str, below: int, shape: tuple[int | None, ...] = (None,)) -> NDArray[np.int32]:
    """Return positions from 0 to below a number."""
    positions: NDArray[np.int32] = read_array(arrays, name, np.int32, shape)
    if positions.size and not 0 <= positions.min() <= positions.max() < below:
        raise ModelError(f"{name} has positions from {positions.min()} to {positions.max()}; expected 0 to {below - 1}")
    return positions


def matrix_arrays(name: str, matrix: Matrix) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a matrix, dense or sparse."""
    return {name: matrix} if isinstance(matrix, np.ndarray) else csr_arrays(name, matrix)


def read_matrix(arrays: Arrays, name: str, shape: tuple[int, int]) -> Matrix:
    """Return a matrix in single precision, dense or sparse as it was stored."""
    return read_array(arrays, name, np.float32, shape) if name in arrays else read_csr(arrays, name, shape)


def csr_arrays(name: str, matrix: sparse.csr_array, *, values: bool = True) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a sparse matrix; those of a 0/1 matrix need no values."""
    arrays: dict[str, NDArray[np.generic]] = {
        f"{name}.indptr": matrix.indptr.astype(np.int64),
        f"{name}.indices": matrix.indices.astype(np.int32),
    }
    return arrays | ({f"{name}.data": matrix.data} if values else {})


def read_csr(arrays: Arrays, name: str, shape: tuple[int | None, int], *, values: bool = True) -> sparse.csr_array:
    """Return a sparse matrix in single precision; None is any number of rows."""
    rows, columns = shape
    ends = read_array(arrays, f"{name}.indptr", np.int64, (None if rows is None else rows + 1,))
    indices = read_positions(arrays, f"{name}.indices", columns)
    if not len(ends) or ends[0] != 0 or ends[-1] != len(indices) or (np.diff(ends) < 0).any():
        raise ModelError(f"{name}.indptr does not increase from 0 to {len(indices)}")
    data = (
        read_array(arrays, f"{name}.data", np.float32, indices.shape)
        if values
        else np.ones(len(indices), dtype=np.float32)
    )
    matrix = sparse.csr_array((data, indices, ends), shape=(len(ends) - 1, columns))
    if not matrix.has_canonical_format:
        raise ModelError(f"{name}.indices are not sorted and unique in each row")
    return matrix
