"""Classes without a row: the default network has no output for them, and their score is 0."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.estimator.models import DATA, QUICK
from tests.strategies import hierarchies
from torch.utils.data import TensorDataset

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn.baselines import DHN, FPlus, GPlus
from chmcnn.constraint import max_constraint
from chmcnn.estimator import NeuralClassifier
from chmcnn.estimator._learned import LearnedClasses
from chmcnn.nn import MLP

LEAF = int(DATA.hierarchy.depths.argmax())
UNSEEN = np.arange(len(DATA.hierarchy)) == LEAF
X, Y = DATA.train.X.astype(np.float32), DATA.train.Y.toarray()
KEPT = ~Y[:, LEAF]
ALL = len(DATA.hierarchy)


def fit(kind: type[NeuralClassifier] = CHMCNNClassifier, **options: Any) -> NeuralClassifier:
    """Train on rows without one of the classes."""
    return kind(DATA.hierarchy, **{**QUICK, **options}).fit(X[KEPT], Y[KEPT])


@pytest.mark.parametrize("kind", [CHMCNNClassifier, DHN, FPlus, GPlus])
def test_a_class_without_a_row_has_no_output_and_the_score_0(kind: type[NeuralClassifier]) -> None:
    model = fit(kind)
    scores = model.predict_proba(X)
    assert np.array_equal(model.learned_.mask, ~UNSEEN)
    assert model.outputs(X).shape[1] == (ALL - 1) * (2 if kind is DHN else 1)
    assert np.array_equal((scores == 0).all(axis=0), UNSEEN)
    assert len(DATA.hierarchy.violations(scores)) == 0
    assert np.array_equal(model.correct(torch.from_numpy(model.uncorrected_proba(X))).numpy(), scores)
    assert np.array_equal(np.concatenate(list(model.iterate_proba(X))), scores)
    assert all(thresholds.shape == (ALL,) for thresholds in model.tuned_thresholds_.values())


@pytest.mark.parametrize("kind", [CHMCNNClassifier, DHN])
def test_files_know_which_classes_the_network_has(kind: type[NeuralClassifier], tmp_path: Path) -> None:
    model = fit(kind)
    model.save(tmp_path / "model")
    assert np.array_equal(kind.load(tmp_path / "model").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("options", [{"preset": "paper", "epochs": 1}, {"network": MLP}])
def test_the_paper_and_a_network_of_ones_own_have_outputs_for_all_classes(options: dict[str, Any]) -> None:
    assert fit(**options).outputs(X).shape[1] == ALL


def test_the_paper_starts_as_a_plain_network_does() -> None:
    paper: dict[str, Any] = {"preset": "paper", "epochs": 1}
    own = fit(**paper, network=lambda columns, classes: MLP(columns, classes, widths=(16,)))
    assert np.array_equal(fit(**paper).predict_proba(X), own.predict_proba(X))


def test_a_stream_and_partial_fit_have_outputs_for_all_classes() -> None:
    stream = TensorDataset(torch.from_numpy(X[KEPT]), torch.from_numpy(Y[KEPT]))
    streamed = CHMCNNClassifier(DATA.hierarchy, **QUICK, validation=0).fit(stream)
    partial = CHMCNNClassifier(DATA.hierarchy, **QUICK).partial_fit(X[KEPT], Y[KEPT])
    assert streamed.learned_.is_all
    assert partial.learned_.is_all


@pytest.mark.parametrize(
    ("kind", "features", "options"),
    [(CHMCNNClassifier, X, {}), (DHN, X, {}), (CHMCNNClassifier, sparse.csr_array(X), {"widths": ()})],
)
def test_partial_fit_after_fit_learns_further_classes_and_keeps_what_it_knows(
    kind: type[NeuralClassifier], features: Any, options: dict[str, Any]
) -> None:
    model = kind(DATA.hierarchy, **{**QUICK, **options, "learning_rate": 1e-30}).fit(features[KEPT], Y[KEPT])
    before = model.predict_proba(features)
    after = model.partial_fit(features, Y).predict_proba(features)
    assert model.learned_.is_all
    assert (after[:, UNSEEN] > 0).all()
    np.testing.assert_allclose(after[:, ~UNSEEN], before[:, ~UNSEEN], atol=0.02)


def test_validation_rows_count_as_rows() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    assert model.fit(X[KEPT], Y[KEPT], validation_data=(X, Y)).learned_.is_all


@pytest.mark.parametrize("class_weight", ["balanced", {DATA.hierarchy.classes[LEAF]: 3.0}])
def test_weights_may_name_a_class_without_a_row(class_weight: Any) -> None:
    assert fit(class_weight=class_weight).predict_proba(X).shape == Y.shape
    with pytest.raises(ChmcnnError, match="Unknown class 'none'"):
        fit(class_weight={"none": 2.0})


def test_the_scores_start_near_the_frequencies_of_the_classes() -> None:
    scores = fit(learning_rate=1e-30, validation=0).predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(scores, Y[KEPT].mean(axis=0), atol=0.1)


def test_g_plus_starts_near_the_frequencies_of_rows_without_children() -> None:
    raw = fit(GPlus, learning_rate=1e-30, validation=0).uncorrected_proba(X).mean(axis=0)
    specific = np.array(
        [[name in row for name in DATA.hierarchy] for row in DATA.hierarchy.decode(Y, most_specific=True)]
    )
    np.testing.assert_allclose(raw, specific[KEPT].mean(axis=0), atol=0.1)


@settings(max_examples=50)
@given(hierarchies(), st.data())
def test_the_constraint_commutes_with_scores_of_0_for_other_classes(hierarchy: Any, data: Any) -> None:
    some = data.draw(st.lists(st.booleans(), min_size=len(hierarchy), max_size=len(hierarchy)))
    mask = hierarchy.close(np.array([some]))[0]
    mask[hierarchy.depths == 0] = True
    learned = LearnedClasses(hierarchy, np.ones(len(hierarchy), dtype=np.bool_), mask)
    scores = torch.rand(3, int(mask.sum()))
    after = learned.widen(max_constraint(scores, learned.hierarchy))
    assert torch.equal(after, max_constraint(learned.widen(scores), hierarchy))
    assert len(hierarchy.violations(after)) == 0


@pytest.mark.parametrize("part", ["by_frequency", "scales_features"])
def test_stored_settings_tell_what_the_network_is_like_so_that_older_results_are_refused(part: str) -> None:
    default, paper = (CHMCNNClassifier(DATA.hierarchy, preset=preset) for preset in ("default", "paper"))
    assert default.resolve_settings(8, 100)[part]
    assert part not in paper.resolve_settings(8, 100)
    assert part not in CHMCNNClassifier(DATA.hierarchy, network=MLP).resolve_settings(None, 100)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (10, 0.2)),
        ({"patience": 3}, (3, 0.0)),  # exactly that
        ({"patience": 3, "patience_growth": 0.5}, (3, 0.5)),
        ({"preset": "paper"}, (20, 0.0)),
    ],
)
def test_a_patience_of_the_user_does_not_grow(options: dict[str, Any], expected: tuple[int, float]) -> None:
    settings = CHMCNNClassifier(DATA.hierarchy, **options).resolve_settings(8, 100)
    assert (settings["patience"], settings["patience_growth"]) == expected
