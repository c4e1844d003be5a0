import numpy as np
import pytest
from hiclass import metrics as hiclass
from sklearn.metrics import accuracy_score, hamming_loss, jaccard_score

from chmcnn import Hierarchy, ScoreError
from chmcnn.metrics import exact_match, hamming, hierarchical, jaccard

PATHS = [[str(a), f"{a}/{b}", f"{a}/{b}/{c}"] for a in range(3) for b in range(3) for c in range(2)]
TREE = Hierarchy.from_paths([path[-1] for path in PATHS])


def two_paths(seed: int) -> tuple[list[list[str]], list[list[str]]]:
    random = np.random.default_rng(seed)
    return [PATHS[at] for at in random.integers(0, 18, 60)], [PATHS[at] for at in random.integers(0, 18, 60)]


@pytest.mark.filterwarnings("ignore:F-score is ill-defined")
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_hierarchical_measures_are_hiclass_on_trees(average: str) -> None:
    true, predicted = two_paths(3)
    ours = hierarchical(TREE.encode(true), TREE.encode(predicted), average=average)
    arrays = np.array(true), np.array(predicted)
    assert ours.precision == pytest.approx(hiclass.precision(*arrays, average=average))
    assert ours.recall == pytest.approx(hiclass.recall(*arrays, average=average))
    assert ours.f == pytest.approx(hiclass.f1(*arrays, average=average))


def test_measures_of_sets_are_scikit_learns() -> None:
    random = np.random.default_rng(1)
    truth, predicted = random.random((2, 50, 6)) < 0.4
    assert exact_match(truth, predicted) == accuracy_score(truth, predicted)
    assert hamming(truth, predicted) == pytest.approx(hamming_loss(truth, predicted))
    assert jaccard(truth, predicted) == pytest.approx(
        jaccard_score(truth, predicted, average="samples", zero_division=1.0)
    )
    assert jaccard(truth, predicted, average="micro") == pytest.approx(jaccard_score(truth, predicted, average="micro"))


def test_empty_rows_and_empty_predictions() -> None:
    truth, nothing = np.array([[1, 0], [0, 0]]), np.zeros((2, 2))
    assert hierarchical(truth, nothing) == (0, 0, 0)
    assert hierarchical(truth, nothing, average="macro") == (0.5, 0.5, 0.5)
    assert jaccard(truth, nothing) == 0.5
    assert jaccard(nothing, nothing, average="micro") == 0


def test_only_the_classes_that_count() -> None:
    truth, predicted = np.array([[1, 1, 0]]), np.array([[1, 0, 1]])
    assert hierarchical(truth, predicted, classes=[1, 2]) == (0, 0, 0)
    assert exact_match(truth, predicted, classes=[0]) == 1


def test_bad_input_is_told() -> None:
    for measure in (hierarchical, jaccard):
        with pytest.raises(ScoreError, match="average is 'mean'; expected 'micro' or 'macro'"):
            measure([[1]], [[1]], average="mean")
