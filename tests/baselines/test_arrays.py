from typing import Any

import numpy as np
import pytest
from scipy import sparse

from chmcnn import ModelError
from chmcnn.baselines._arrays import csr_arrays, read_array, read_csr, read_matrix, read_positions

MATRIX = sparse.csr_array(np.array([[0, 1, 2], [0, 0, 0], [3, 0, 0]], dtype=np.float32))


def test_a_sparse_matrix_comes_back() -> None:
    arrays = csr_arrays("x", MATRIX)
    assert np.array_equal(read_csr(arrays, "x", (3, 3)).toarray(), MATRIX.toarray())
    assert np.array_equal(sparse.csr_array(read_matrix(arrays, "x", (3, 3))).toarray(), MATRIX.toarray())
    ones = csr_arrays("x", MATRIX, values=False)
    assert np.array_equal(read_csr(ones, "x", (None, 3), values=False).toarray(), MATRIX.toarray() > 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x.indices": np.array([1, 2, 3], dtype=np.int32)}, "x.indices has positions from 1 to 3; expected 0 to 2"),
        ({"x.indices": np.array([1, 2, -1], dtype=np.int32)}, "x.indices has positions from -1 to 2"),
        ({"x.indices": np.array([2, 1, 0], dtype=np.int32)}, "x.indices are not sorted and unique in each row"),
        ({"x.indptr": np.array([0, 3, 2, 3])}, "x.indptr does not increase from 0 to 3"),
        ({"x.indptr": np.array([0, 2, 2, 9])}, "x.indptr does not increase from 0 to 3"),
        ({"x.indptr": np.array([0, 2, 3])}, r"x.indptr has type int64 and shape \(3,\); expected int64 and \(4,\)"),
        ({"x.data": np.array([1, 2, np.nan], dtype=np.float32)}, "x.data has numbers that are not finite"),
        ({"x.data": np.array([1.0, 2, 3])}, r"x.data has type float64 and shape \(3,\); expected float32"),
    ],
)
def test_a_changed_sparse_matrix_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_csr(csr_arrays("x", MATRIX) | change, "x", (3, 3))


def test_arrays_that_are_not_there_are_named() -> None:
    with pytest.raises(ModelError, match="there is no weights"):
        read_array({}, "weights", np.float32)
    assert len(read_positions({"none": np.array([], dtype=np.int32)}, "none", 0)) == 0
