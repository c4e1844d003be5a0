"""What is learnt from some rows at a time is what a `Preprocessor` learns from all of them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from tests.estimator.texts import TABLE

from chmcnn import FeatureError
from chmcnn.datasets import Preprocessor
from chmcnn.datasets.columns import Texts
from chmcnn.datasets.one_pass import OnePass, SparsePasses

SHOP = TABLE.astype({"title": "string", "shop": "category"})


def learn_sparse(matrix: sparse.csr_array, *, standardise: bool) -> Preprocessor:
    passes = SparsePasses(matrix.shape[1])
    for add in (passes.add, passes.add_lengths):
        for start in range(0, matrix.shape[0], 7):
            add(matrix[start : start + 7])
    return passes.create(standardise=standardise)


@pytest.mark.parametrize("standardise", [True, False])
def test_text_beside_numbers_dates_and_categories(standardise: bool) -> None:
    one_pass = OnePass()
    for start in range(0, 80, 9):
        one_pass.add(SHOP.iloc[start : start + 9])
    found, expected = one_pass.create(standardise=standardise), Preprocessor(standardise=standardise).fit(SHOP)
    assert found.list_kinds() == expected.list_kinds()
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    assert_allclose(found.means_, expected.means_)
    assert_allclose(found.scales_, expected.scales_)
    assert_allclose(found.transform(SHOP).toarray(), expected.transform(SHOP).toarray(), rtol=1e-6)
    mine, theirs = (each.columns_[1] for each in (found, expected))
    assert isinstance(mine, Texts)
    assert isinstance(theirs, Texts)
    assert_array_equal(mine.encoder.idf, theirs.encoder.idf)


def test_text_without_a_word_is_told() -> None:
    one_pass = OnePass()
    one_pass.add(SHOP.assign(title="?!").astype({"title": "string"}))
    with pytest.raises(FeatureError, match="The text in column 'title' has no word in any training row; drop"):
        one_pass.create(standardise=True)


def test_text_whose_words_never_repeat_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.datasets.one_pass.COUNTED_TERMS", 6)
    one_pass = OnePass()
    one_pass.add(pd.DataFrame({"code": pd.Series([f"a{row} b{row} c{row}" for row in range(300)], dtype="string")}))
    with pytest.raises(FeatureError, match="column 'code' has names or codes, which hardly ever repeat; drop"):
        one_pass.create(standardise=True)


@pytest.mark.parametrize("standardise", [True, False])
def test_sparse_features_with_large_and_missing_values(standardise: bool) -> None:
    random = np.random.default_rng(0)
    matrix = sparse.csr_array(sparse.random_array((40, 9), density=0.3, rng=random))
    matrix.data *= np.where(random.random(matrix.nnz) < 0.5, 5, -0.5)
    matrix.data[::11] = np.nan
    matrix = sparse.hstack([matrix, sparse.csr_array((40, 1))], format="csr")  # a feature that no row has
    found, expected = (
        learn_sparse(matrix, standardise=standardise),
        Preprocessor(standardise=standardise).fit(matrix),
    )
    assert (found.sparse_, found.n_features_in_) == (True, 10)
    assert_allclose(found.means_, expected.means_)
    assert_allclose(found.scales_, expected.scales_)
    assert_allclose(found.transform(matrix).toarray(), expected.transform(matrix).toarray())


def test_sparse_features_without_entries_are_not_scaled() -> None:
    assert_array_equal(learn_sparse(sparse.csr_array((20, 2)), standardise=True).scales_, [1, 1])


def test_sparse_features_that_overflow_are_told() -> None:
    huge = sparse.csr_array(np.full((8, 2), [0.0, 1e308]))
    with pytest.raises(FeatureError, match="The values of 'x1' are too large: their mean overflows"):
        learn_sparse(huge, standardise=True)
