"""Sparse matrices of the user whose entries are not inside of them: scipy reads and writes memory of others then."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from chmcnn import CHMCNNClassifier, Hierarchy, metrics
from chmcnn.datasets import Preprocessor, Table
from chmcnn.errors import ChmcnnError, DatasetError, FeatureError, LabelError, ScoreError

CHAIN = Hierarchy.from_edges([("a", "b"), ("b", "c")])
LABELS = [{"a"}, {"b"}, {"c"}]
USES: list[tuple[Callable[[sparse.sparray], object], type[ChmcnnError]]] = [
    (lambda matrix: Preprocessor().fit(matrix), FeatureError),
    (lambda matrix: CHMCNNClassifier(CHAIN, epochs=1).fit(matrix, LABELS), FeatureError),
    (lambda matrix: CHMCNNClassifier(CHAIN, epochs=1).fit(np.eye(3), matrix), LabelError),
    (CHAIN.close, LabelError),
    (lambda matrix: Table(matrix, LABELS, CHAIN), DatasetError),
    (lambda matrix: metrics.auprc(matrix, np.zeros((3, 3))), ScoreError),
]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(("use", "error"), USES)
def test_entries_outside_of_a_matrix_are_told(
    kind: Callable[..., sparse.sparray], use: Callable[[sparse.sparray], object], error: type[ChmcnnError]
) -> None:
    places = np.array([0, 1, 1 << 20]), np.arange(4)
    matrix = kind((np.ones(3), *places), shape=(3, 3))
    with pytest.raises(error, match=r"is a sparse matrix that is damaged: indices must be < 3\. Create it"):
        use(matrix)


def test_the_check_leaves_the_matrix_as_it_is() -> None:
    places = np.array([2, 0, 0], dtype=np.int64), np.array([0, 2, 3, 3], dtype=np.int64)
    matrix = sparse.csr_array((np.ones(3), *places), shape=(3, 3))
    Preprocessor().fit(matrix)
    assert matrix.indices.tolist() == [2, 0, 0]
