"""Scores of rare classes, raised by as much as validation rows gain."""

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.ensemble.members import DATA, fitted

from chmcnn import CoherentEnsemble, ModelError
from chmcnn.ensemble._rarity import Rarity, multiply_odds
from chmcnn.ensemble._weights import Cells

ROWS, CLASSES = 400, 20
COUNTS = np.geomspace(4, 200, CLASSES).round().astype(np.int64)


def draw_cells(shrunk: float) -> Cells:
    """One member whose odds are those of the truth, times a power of the frequencies."""
    random = np.random.default_rng(0)
    frequencies = COUNTS / ROWS
    odds = frequencies / (1 - frequencies) * np.exp(2 * random.normal(size=(ROWS, CLASSES)))
    truth = random.random(odds.shape) < odds / (1 + odds)
    said = odds * (frequencies / (1 - frequencies)) ** shrunk
    scores = (said / (1 + said)).astype(np.float32)
    places = np.tile(np.arange(CLASSES, dtype=np.int32), ROWS)
    return Cells(sparse.csr_array(truth.reshape(1, -1)), scores.reshape(1, -1), places)


@pytest.mark.parametrize("shrunk", [0.2, 0.4])
def test_rare_classes_that_are_ranked_too_low_are_raised(shrunk: float) -> None:
    cells = draw_cells(shrunk)
    rarity, before = Rarity.choose(cells, [1.0], COUNTS, ROWS), cells.average([1.0])
    assert rarity.power == pytest.approx(shrunk, abs=0.1)
    after = rarity.apply(before, cells.classes)
    assert cells.measure_scores(after) > cells.measure_scores(before) + 0.001
    assert (np.diff(rarity.factors) < 0).all()  # the rarer a class, the more
    assert after.sum() == pytest.approx(before.sum(), rel=1e-4)


def test_nothing_is_changed_where_nothing_is_gained() -> None:
    cells = draw_cells(-0.2)
    rarity, scores = Rarity.choose(cells, [1.0], COUNTS, ROWS), cells.average([1.0])
    assert rarity.power == 0
    assert rarity.apply(scores, cells.classes) is scores


def test_certain_scores_stay_certain_and_others_keep_their_order_but_for_rounding() -> None:
    scores = np.linspace(0, 1, 101, dtype=np.float32)
    for factor in (1e-6, 0.3, 1.0, 7.0, 1e6):
        raised = multiply_odds(scores, np.full(101, factor, dtype=np.float32))
        assert (raised[0], raised[-1]) == (0, 1)
        assert (np.diff(raised) >= -1e-6).all()


def test_classes_that_no_row_has_or_all_have_do_no_harm() -> None:
    cells = draw_cells(0.3)
    counts = COUNTS.copy()
    counts[0], counts[-1] = 0, ROWS
    assert np.isfinite(Rarity.choose(cells, [1.0], counts, ROWS).factors).all()


def test_the_scores_of_an_ensemble_are_coherent_and_those_of_the_mean_without_it() -> None:
    lifted, plain = fitted(), fitted(lift_rare=False)
    assert lifted.rarity_.power > 0
    assert plain.rarity_.power == 0
    assert lifted.best_score_ > plain.best_score_
    mean = sum(plain.weights_[name] * scores for name, scores in plain.member_scores(DATA.test.X).items())
    expected = multiply_odds(np.asarray(mean), lifted.rarity_.factors)
    found = lifted.predict_proba(DATA.test.X)
    assert len(DATA.hierarchy.violations(found)) == 0
    assert (found >= expected - 1e-6).all()  # higher only where the maximum over descendants is
    assert found == pytest.approx(lifted.correct(torch.from_numpy(expected)).numpy(), abs=1e-6)
    assert plain.predict_proba(DATA.test.X) == pytest.approx(mean, abs=1e-6)


def test_few_validation_rows_leave_the_mean_as_it_is() -> None:
    model = CoherentEnsemble(DATA.hierarchy, preset="fast", random_state=0).fit(DATA.train.X[:50], DATA.train.Y[:50])
    assert model.rarity_.power == 0


def test_model_files_have_it_and_those_of_earlier_versions_need_not() -> None:
    model = fitted()
    tensors = {"rarity": torch.from_numpy(model.rarity_.factors)}
    again = Rarity.read(model.rarity_.power, tensors, len(DATA.hierarchy))
    assert np.array_equal(again.factors, model.rarity_.factors)
    assert Rarity.read(0.0, {}, 3).power == 0
    for wrong in (torch.ones(4), torch.zeros(3), torch.tensor([1, torch.nan, 1]), torch.full((3,), 3e38)):
        with pytest.raises(ModelError, match="not one number above 0 for each of 3 classes"):
            Rarity.read(0.1, {"rarity": wrong}, 3)
