from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity
from tests.baselines.members import DATA, SPARSE_X, refused, saved

from chmcnn.baselines import Neighbours, neighbours
from chmcnn.training import Rows


@pytest.mark.parametrize("X", [DATA.train.X, sparse.csr_array(DATA.train.X)], ids=["dense", "sparse"])
def test_scores_are_the_weighted_mean_labels_of_the_nearest_rows(X: np.ndarray | sparse.csr_array) -> None:
    model = Neighbours(DATA.hierarchy, n_neighbours=3, power=2, smoothing=0.1, validation=0, preprocess=False)
    scores = model.fit(X, DATA.train.Y).uncorrected_proba(X[:20])
    labels = DATA.train.Y.toarray()
    for similar, found in zip(cosine_similarity(X[:20], X), scores, strict=True):
        near = np.argsort(-similar)[:3]
        weights = np.maximum(similar[near], 0) ** 2
        expected = (weights @ labels[near] + 0.1 * labels.mean(axis=0)) / (weights.sum() + 0.1)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(DATA.hierarchy.violations(scores)) == 0


def test_columns_that_most_rows_have_are_computed_with_as_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    words = sparse.random_array((len(DATA.train.X), 30), density=0.1, rng=random)
    X = sparse.hstack([sparse.csr_array(random.normal(size=(len(DATA.train.X), 4))), words], format="csr")
    model = Neighbours(DATA.hierarchy, preprocess=False, random_state=0).fit(X, DATA.train.Y)
    parts = model.model_._parts
    assert parts is not None
    assert parts.full.tolist() == [0, 1, 2, 3]
    scores = model.predict_proba(X)
    monkeypatch.setattr(neighbours, "_FULL", 2)
    sparsely = Neighbours(DATA.hierarchy, preprocess=False, random_state=0).fit(X, DATA.train.Y)
    assert sparsely.model_._parts is None
    np.testing.assert_allclose(sparsely.predict_proba(X), scores, atol=1e-5)


def test_similarities_are_computed_once_for_all_settings() -> None:
    found = neighbours.NearestRows.find
    with mock.patch.object(neighbours.NearestRows, "find", autospec=True, side_effect=found) as find:
        Neighbours(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert find.call_count == 2  # to choose, and with what was chosen


def test_a_row_without_entries_has_the_frequencies_of_the_classes() -> None:
    model = Neighbours(DATA.hierarchy, random_state=0).fit(SPARSE_X, DATA.train.Y)
    scores = model.predict_proba(sparse.csr_array((2, 6)))
    np.testing.assert_allclose(scores[1], DATA.train.Y.toarray().mean(axis=0), atol=1e-6)


def test_settings_are_chosen_on_validation_rows_unless_they_are_given(tmp_path: Path) -> None:
    chosen = Neighbours(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    for number in (5, 15, 30, 60):
        for power in (1, 2, 4):
            other = Neighbours(DATA.hierarchy, n_neighbours=number, power=power, random_state=0)
            assert other.fit(DATA.train.X, DATA.train.Y).best_score_ <= chosen.best_score_ + 1e-9
            assert (other.n_neighbours_, other.power_) == (number, power)
    loaded = saved(chosen, tmp_path / "model")
    assert isinstance(loaded, Neighbours)
    assert (loaded.n_neighbours_, loaded.power_) == (chosen.n_neighbours_, chosen.power_)


def test_settings_are_chosen_on_some_rows_if_there_are_very_many_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_CELLS_OF_CHOICE", 5 * len(DATA.hierarchy))
    model = Neighbours(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert model.n_neighbours_ in neighbours.NUMBERS
    assert len(model._draw(Rows(SPARSE_X, DATA.train.Y), 5)) == 5


def test_changed_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    Neighbours(DATA.hierarchy, random_state=0).fit(SPARSE_X, DATA.train.Y).save(folder)
    assert "labels.indices has positions" in refused(folder, lambda arrays: arrays["labels.indices"].fill(-1))
    assert "directions.indices" in refused(folder, lambda arrays: arrays["directions.indices"].fill(1 << 20))

    def empty(arrays: dict[str, np.ndarray]) -> None:
        arrays["labels.indptr"], arrays["labels.indices"] = np.zeros(1, np.int64), np.zeros(0, np.int32)

    assert "labels have no rows" in refused(folder, empty)
