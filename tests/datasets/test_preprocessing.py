from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import shapes
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimator.texts import TABLE as SHOP
from tests.estimator.texts import TEXTS

from chmcnn import FeatureError, datasets
from chmcnn.datasets import Preprocessor

TABLE = pd.DataFrame(
    {
        "size": [1.0, np.nan, 3.0, 8.0],
        "kind": pd.Categorical(["a", None, "b", "a"], categories=["a", "b", "never"]),
        "word": ["x", "y", None, "y"],
        "flag": [True, False, True, True],
        "never": [np.nan] * 4,
        "same": [7] * 4,
    }
)


@parametrize_with_checks([Preprocessor(), Preprocessor(standardise=False)])  # type: ignore[untyped-decorator]
def test_it_is_a_scikit_learn_transformer(estimator: Preprocessor, check: Callable[[Preprocessor], None]) -> None:
    check(estimator)


def test_each_kind_of_column() -> None:
    found = Preprocessor(standardise=False).fit(TABLE)
    names = found.get_feature_names_out().tolist()
    assert names == ["size", "kind=a", "kind=b", "kind=never", "word=x", "word=y", "flag", "never", "same"]
    assert_allclose(
        found.transform(TABLE),
        [
            [1, 1, 0, 0, 1, 0, 1, 0, 7],
            [4, 0, 0, 0, 0, 1, 0, 0, 7],
            [3, 0, 1, 0, 0, 0, 1, 0, 7],
            [8, 1, 0, 0, 0, 1, 1, 0, 7],
        ],
    )


def test_it_does_what_scikit_learns_own_transformers_do() -> None:
    random = np.random.default_rng(0)
    numbers = random.normal(3, 2, (200, 3))
    numbers[random.random(numbers.shape) < 0.2] = np.nan
    table = pd.DataFrame(numbers, columns=list("abc")).assign(kind=random.choice(["x", "y", "z"], 200))
    theirs = make_pipeline(
        make_column_transformer((SimpleImputer(), list("abc")), (OneHotEncoder(sparse_output=False), ["kind"])),
        StandardScaler(),
    )
    assert_allclose(Preprocessor().fit_transform(table), theirs.fit_transform(table), atol=1e-12)


def test_only_the_data_of_fit_decides() -> None:
    train, test = TABLE.iloc[:2], TABLE.iloc[2:]
    found = Preprocessor().fit(train)
    assert found.means_[0] == 1.0
    assert found.transform(test)[0, 0] == 2.0  # 3 is 2 above the mean of 1; a column that never changes is not scaled


def test_sparse_stays_sparse() -> None:
    dense = np.array([[0, 2.0, 0], [0, 0, np.nan], [4, 0, 3.0]])
    matrix = sparse.csr_array(dense)
    found = Preprocessor().fit(matrix)
    result = found.transform(matrix)
    assert isinstance(result, sparse.csr_array)
    theirs = make_pipeline(SimpleImputer(), MaxAbsScaler()).fit_transform(matrix)
    lengths = np.linalg.norm(theirs.toarray(), axis=1)
    assert_allclose(result.toarray(), theirs.toarray() / lengths.mean())
    assert np.isnan(matrix.toarray()).sum() == 1, "the user's matrix is not changed"
    assert result.nnz == matrix.nnz


def test_values_up_to_1_of_a_sparse_matrix_keep_their_proportions() -> None:
    matrix = sparse.csr_array(np.array([[0.6, 0.8, 0], [0, 0.1, 1.0], [0, 0, 0]]))
    result = Preprocessor().fit_transform(matrix)
    assert_allclose(result.toarray() / matrix.toarray().max(), matrix.toarray() * result.toarray()[1, 2])


def test_the_users_array_is_not_changed() -> None:
    array = np.array([[1.0, np.nan], [3.0, 4.0]])
    Preprocessor().fit_transform(array)
    assert np.isnan(array[0, 1])


def test_numbers_among_objects_are_numbers() -> None:
    table = pd.DataFrame({"a": pd.Series([1.5, 2, None], dtype=object)})
    assert Preprocessor(standardise=False).fit_transform(table).tolist() == [[1.5], [2.0], [1.75]]


def test_an_unseen_category_is_all_zeros() -> None:
    found = Preprocessor(standardise=False).fit(TABLE[["word"]])
    assert_allclose(found.transform(pd.DataFrame({"word": ["new", "x"]})), [[0, 0], [1, 0]])


def test_decimals_and_dates_of_python_are_numbers_and_dates() -> None:
    prices, days = ["1.5", "2.5", "4"], ["2026-01-01", "2026-01-02", "2026-02-01"]
    frame = pd.DataFrame({"price": [*map(Decimal, prices), None], "day": [*map(date.fromisoformat, days), None]})
    plain = pd.DataFrame({"price": [*map(float, prices), np.nan], "day": pd.to_datetime(pd.Series([*days, None]))})
    expected = Preprocessor().fit_transform(plain)
    assert np.array_equal(Preprocessor().fit_transform(frame), expected)
    assert np.array_equal(Preprocessor().fit(plain).transform(frame), expected)
    without_end = pd.DataFrame({"day": [date(1, 1, 1), date(9999, 12, 31)]})
    assert np.isfinite(Preprocessor().fit_transform(without_end)).all()


def test_dates_as_texts_are_told() -> None:
    with pytest.warns(UserWarning, match=r"such as '2026-01-01': .* by pandas\.to_datetime"):
        Preprocessor().fit(pd.DataFrame({"day": ["2026-01-01", "2026-01-02", None]}))


@pytest.mark.parametrize("cell", [[1.0, 2.0], {"a": 1}, np.zeros(2)])
def test_cells_with_several_values_are_refused(cell: Any) -> None:
    with pytest.raises(FeatureError, match=r"Column 'x' has .*; make one column for each of its values"):
        Preprocessor().fit(pd.DataFrame({"x": [cell, cell]}))


def test_a_column_of_names_has_a_warning_unless_it_is_declared_as_categories() -> None:
    table = pd.DataFrame({"sku": [f"a{row}" for row in range(120)], "size": [row / 2 for row in range(120)]})
    with pytest.warns(UserWarning, match="Column 'sku' has 120 different texts in 120 rows, such as 'a0': names of"):
        Preprocessor().fit(table)
    assert Preprocessor().fit(table.astype({"sku": "category"})).transform(table).shape == (120, 121)
    assert Preprocessor().fit(table.drop(columns="sku")).transform(table.drop(columns="sku")).shape == (120, 1)


def test_bad_columns_are_told() -> None:
    found = Preprocessor().fit(TABLE[["size"]])
    with pytest.raises(FeatureError, match="Column 'size' had numbers in fit, but now has type"):
        found.transform(pd.DataFrame({"size": ["large"]}))
    with pytest.raises(FeatureError, match="Column 'size' has an infinite number in row 1"):
        found.transform(pd.DataFrame({"size": [1.0, np.inf]}))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        found.transform(pd.DataFrame({"other": [1.0]}))
    words = Preprocessor().fit(TABLE[["word"]])
    with pytest.raises(FeatureError, match="Column 'word' had categories in fit, but now has type float64"):
        words.transform(pd.DataFrame({"word": [1.0]}))
    with pytest.raises(FeatureError, match="X is sparse, but was dense in fit"):
        Preprocessor().fit(np.eye(2)).transform(sparse.csr_array(np.eye(2)))
    with pytest.raises(FeatureError, match="Column 'age' has type timedelta64"):
        Preprocessor().fit(pd.DataFrame({"age": pd.to_timedelta(["1 day"])}))
    with pytest.raises(FeatureError, match="two categories with the same text"):
        Preprocessor().fit(pd.DataFrame({"a": pd.Categorical([1, "1"])}))
    with pytest.raises(FeatureError, match="The values of 'a' are too large: their mean overflows"):
        Preprocessor().fit(pd.DataFrame({"a": [1e308, 1e308, 1e308]}))
    with pytest.raises(FeatureError, match="The values of 'b' are too large: their variance overflows; scale them"):
        Preprocessor().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1e300, 1.0]}))
    for other in (TABLE.assign(more=1), TABLE[TABLE.columns[::-1]]):
        with pytest.raises(FeatureError, match=r"Pass X\[list\(model.feature_names_in_\)\]"):
            Preprocessor().fit(TABLE).transform(other)
    with pytest.raises(FeatureError, match="of categories in fit; pass a DataFrame"):
        Preprocessor().fit(TABLE[["word"]]).transform(np.zeros((1, 1)))
    with pytest.raises(ValueError, match="0 sample"):
        found.transform(TABLE[["size"]].iloc[:0])


@pytest.mark.skipif(not shapes.data_folder().is_dir(), reason="the files of the benchmark are not there")
@pytest.mark.parametrize(
    ("name", "columns"), [("seq_FUN", 529), ("seq_GO", 529), ("spo_FUN", 86), ("spo_GO", 86), ("cellcycle_GO", 77)]
)
def test_the_benchmarks_have_the_number_of_columns_that_is_known(name: str, columns: int) -> None:
    data = datasets.load(name, data_dir=shapes.data_folder())
    found = Preprocessor().fit(data.train.X)
    for table in data.parts.values():
        result = found.transform(table.X)
        assert result.shape == (len(table), columns)
        assert np.isfinite(result).all()
    assert len(found.get_feature_names_out()) == columns
    assert_allclose(found.transform(data.train.X).mean(axis=0), 0, atol=1e-9)


@pytest.mark.skipif(not shapes.data_folder().is_dir(), reason="the files of the benchmark are not there")
@pytest.mark.parametrize("kind", ["FUN", "GO"])
def test_expr_has_its_columns_without_its_train_file(kind: str) -> None:
    from chmcnn.datasets.arff import read

    features = read(shapes.data_folder() / f"datasets_{kind}/expr_{kind}/expr_{kind}.valid.arff").features
    assert Preprocessor().fit_transform(features).shape == (849, 561)


def test_text_beside_numbers_dates_and_categories() -> None:
    found = Preprocessor().fit(SHOP)
    matrix = found.transform(SHOP)
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.dtype == np.float32
    names = found.get_feature_names_out().tolist()
    assert names[:6] == ["price", "day: days", "day: month", "day: weekday", "shop=north", "shop=south"]
    assert set(names[6:]) >= {"title: racket", "title: oven", "title: oven butter"}
    assert len(names) == matrix.shape[1] == len(found.means_) == len(found.scales_) == len(found.sources_)
    dense = matrix.toarray()
    assert_allclose(dense[:, :4].mean(axis=0), 0, atol=1e-6)
    assert_allclose(dense[:, :4].std(axis=0), 0.5, atol=1e-6)
    assert_allclose((dense[:, :4] ** 2).sum(axis=1).mean(), 1, atol=1e-6)  # as long as words are
    assert set(dense[:, 4:6].ravel()) == {0.0, 1.0}
    assert_allclose(np.linalg.norm(dense[:, 6:], axis=1), 1, atol=1e-6)
    assert found.list_kinds() == {"price": "numbers", "title": "text", "day": "dates", "shop": "categories"}
    plain = Preprocessor(standardise=False).fit_transform(SHOP).toarray()
    assert_allclose((plain - found.shifts_) / found.scales_, dense, atol=1e-5)


def test_numbers_beside_text_are_as_long_as_words_however_many_there_are() -> None:
    drawn = np.random.default_rng(0).normal(3, 20, (len(SHOP), 50))
    numbers = pd.DataFrame(drawn, SHOP.index).add_prefix("x").assign(same=7.0, none=np.nan)
    matrix = Preprocessor().fit_transform(numbers.assign(title=SHOP["title"])).toarray()
    assert_allclose((matrix[:, :52] ** 2).sum(axis=1).mean(), 1, rtol=1e-5)  # constant columns take nothing away
    assert_allclose(matrix[:, :50].std(axis=0), 50**-0.5, rtol=1e-5)
    assert_allclose(Preprocessor().fit_transform(numbers)[:, :50].std(axis=0), 1)


def test_a_list_of_texts_is_one_column() -> None:
    found = Preprocessor().fit(TEXTS)
    expected = found.transform(TEXTS).toarray()
    for same in (np.array(TEXTS), pd.Series(TEXTS), tuple(TEXTS)):
        assert np.array_equal(found.transform(same).toarray(), expected)
    assert not found.transform([None, "", "unknown"]).toarray().any()
    named = Preprocessor().fit(SHOP[["title"]])
    assert np.array_equal(named.transform(TEXTS).toarray(), expected)
    assert len(found.get_feature_names_out()) == expected.shape[1]
    with pytest.raises(FeatureError, match="X had columns of text in fit; pass a list of texts"):
        found.transform(np.zeros((2, 1)))
    with pytest.raises(FeatureError, match="X is a list of texts, but in fit it had the columns 'price', 'title'"):
        Preprocessor().fit(SHOP[["price", "title"]]).transform(TEXTS)
    with pytest.raises(FeatureError, match="X is a list of texts, but in fit it had the columns 3 numbers"):
        Preprocessor().fit(np.eye(3)).transform(TEXTS)


def test_bad_texts_are_told() -> None:
    found = Preprocessor().fit(SHOP)
    assert found.transform(SHOP.assign(title=None)).shape == (80, len(found.means_))
    assert found.transform(SHOP.assign(title=np.nan)).shape == (80, len(found.means_))
    with pytest.raises(FeatureError, match="Column 'title' had text in fit, but now has type int64; convert it to"):
        found.transform(SHOP.assign(title=range(80)))
    with pytest.raises(FeatureError, match="Column 'title' has text, but row 0 has 7, of type int; use str"):
        found.transform(SHOP.assign(title=pd.Series([7, *TEXTS[1:]], index=SHOP.index, dtype=object)))
    with pytest.raises(FeatureError, match="Feature names seen at fit time, yet now missing:\n- title"):
        found.transform(SHOP.drop(columns="title"))
    for empty in ("", " ", "?!"):
        with pytest.raises(FeatureError, match="The text in column 'title' has no word in any training row; drop"):
            Preprocessor().fit(SHOP.assign(title=pd.array([empty] * 80, dtype="string")))
    with pytest.raises(FeatureError, match="X has a value in 'price' beyond the range of single precision"):
        Preprocessor(standardise=False).fit_transform(SHOP.assign(price=1e300))


def test_huge_numbers_are_left_to_whoever_uses_them_without_a_warning() -> None:
    small = Preprocessor().fit(np.array([[1e-3], [2e-3]]))
    assert np.isinf(small.transform(np.array([[1e308]]))).all()


def test_dates_become_days_months_and_weekdays() -> None:
    days = pd.to_datetime(["1970-01-02T12:00", "", "2026-11-16"], format="ISO8601")
    found = Preprocessor(standardise=False).fit(pd.DataFrame({"day": days}))
    assert_allclose(found.transform(pd.DataFrame({"day": days}))[[0, 2]], [[1.5, 1.0, 4.0], [20773.0, 11.0, 0.0]])
    with_zone = pd.DataFrame({"day": pd.to_datetime(["1970-01-02T14:00+02:00"])})
    assert_allclose(found.transform(with_zone), [[1.5, 1, 4]])
    assert np.isfinite(found.transform(pd.DataFrame({"day": [None, None]}))).all()
    with pytest.raises(FeatureError, match="Column 'day' had dates in fit, but now has type"):
        found.transform(pd.DataFrame({"day": ["2026-11-16"]}))
