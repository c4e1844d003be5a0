"""What all members of ensembles have in common."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer
from tests.baselines.members import DATA, SPARSE_X, saved

from chmcnn import ChmcnnError, FeatureError, Hierarchy
from chmcnn.baselines import ExtraTrees, KernelRidge, Linear, Neighbours, _refitted
from chmcnn.training import Rows

every_member = pytest.mark.parametrize("kind", [ExtraTrees, KernelRidge, Linear, Neighbours])


def fitted(kind: Any, X: Any, Y: Any = DATA.train.Y, **options: Any) -> Any:
    quick = {"n_estimators": 5} if kind is ExtraTrees else {}
    return kind(DATA.hierarchy, random_state=0, **quick, **options).fit(X, Y)


@every_member
@pytest.mark.parametrize("X", [DATA.train.X, SPARSE_X], ids=["dense", "sparse"])
def test_a_loaded_member_gives_the_same_scores_to_the_last_bit(kind: Any, X: Any, tmp_path: Path) -> None:
    model = fitted(kind, X, evaluated=DATA.evaluated)
    loaded = saved(model, tmp_path / "model")
    assert type(loaded) is kind
    assert np.array_equal(loaded.uncorrected_proba(X), model.uncorrected_proba(X))
    assert loaded.get_params()["threshold"] == model.threshold
    assert np.array_equal(loaded.predict(X, threshold="tune"), model.predict(X, threshold="tune"))


@every_member
def test_scores_of_blocks_are_those_of_all_rows(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(kind, DATA.train.X)
    whole = model.uncorrected_proba(DATA.test.X)
    monkeypatch.setattr(_refitted, "_CELLS_AT_ONCE", 7 * DATA.train.Y.shape[0])
    np.testing.assert_allclose(model.uncorrected_proba(DATA.test.X), whole, atol=1e-5)
    assert model.uncorrected_proba(DATA.test.X[:1]).shape == (1, len(DATA.hierarchy))


@every_member
def test_validation_scores_are_of_a_model_without_these_rows(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"n_estimators": 5} if kind is ExtraTrees else {}
    model = kind(DATA.hierarchy, random_state=0, **quick)
    seen: list[int] = []
    train = kind._train

    def spy(self: Any, rows: Rows) -> Any:
        seen.append(len(rows))
        return train(self, rows)

    monkeypatch.setattr(kind, "_train", spy)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert seen == [len(DATA.train.X), len(DATA.train.X) + len(DATA.valid.X)]
    assert 0 < model.best_score_ <= 1
    assert set(model.tuned_thresholds_) == {"tune", "hierarchical_f", "fmax"}


@every_member
def test_without_a_refit_the_first_model_stays(kind: Any, tmp_path: Path) -> None:
    quick = {"n_estimators": 5} if kind is ExtraTrees else {}
    model = kind(DATA.hierarchy, random_state=0, refit=False, **quick)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert model.score(DATA.valid.X, DATA.valid.Y) == pytest.approx(model.best_score_, abs=1e-6)
    assert saved(model, tmp_path / "model").refit is False


@every_member
def test_very_many_scores_are_computed_each_time_that_they_are_read(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = fitted(kind, DATA.train.X)
    monkeypatch.setattr("chmcnn.metrics.CELLS_IN_MEMORY", 0)
    again = fitted(kind, DATA.train.X)
    assert again.best_score_ == pytest.approx(kept.best_score_, abs=1e-6)


@every_member
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [{"b"}]),
        ([[1.0], [1.0], [1.0]], [{"b"}, {"a"}, {"c"}]),
        ([[1.0, np.nan], [np.nan, 2.0], [0.0, 1.0]] * 4, [{"b"}, {"c"}, {"a"}] * 4),
        (sparse.csr_array((6, 3)), [{"b"}, {"c"}, {"a"}] * 2),
    ],
    ids=["one row", "constant features", "missing values", "rows without entries"],
)
def test_small_and_empty_tables_are_learned(kind: Any, X: Any, y: Any) -> None:
    tree = Hierarchy.from_edges([("a", "b"), ("a", "c")])
    quick = {"n_estimators": 5} if kind is ExtraTrees else {}
    model = kind(tree, random_state=0, **quick).fit(X, y)
    scores = model.predict_proba(X)
    assert np.isfinite(scores).all()
    assert len(tree.violations(scores)) == 0
    assert kind(Hierarchy(["a"], []), random_state=0, **quick).fit(X, [{"a"}] * len(y)).predict(X).all()


@every_member
def test_missing_numbers_after_a_transformer_are_refused(kind: Any) -> None:
    transformer = FunctionTransformer(np.log)
    with np.errstate(invalid="ignore"), pytest.raises(FeatureError, match="gives missing or infinite numbers"):
        fitted(kind, DATA.train.X, preprocess=transformer)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (ExtraTrees, {"n_estimators": 0}, "n_estimators is 0; expected an integer, 1 or more"),
        (ExtraTrees, {"components": 1.5}, "components is 1.5; expected an integer, 1 or more"),
        (KernelRidge, {"landmarks": True}, "landmarks is True; expected an integer, 1 or more"),
        (Linear, {"C": -1.0}, "C is -1.0; expected a finite number, 1e-06 or more"),
        (Linear, {"most_products": "all"}, "most_products is 'all'; expected a finite number"),
        (Neighbours, {"n_neighbours": 0}, "n_neighbours is 0; expected an integer, 1 or more"),
        (Neighbours, {"smoothing": np.inf}, "smoothing is inf; expected a finite number"),
    ],
)
def test_bad_settings_are_refused(kind: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ChmcnnError, match=message):
        kind(DATA.hierarchy, **options).fit(DATA.train.X, DATA.train.Y)
