import numpy as np
import pytest

from chmcnn import LabelError, ScoreError
from chmcnn.metrics import auprc, exact_match


@pytest.mark.parametrize(
    ("truth", "scores", "classes", "told"),
    [
        ([[1, 0]], [[0.5]], None, r"Y has shape \(1, 2\) and the scores \(1, 1\); expected the same"),
        ([{"dog"}], [[0.5]], None, r"Y has shape \(1,\); expected .* hierarchy.encode turns label sets into a matrix"),
        ([[1, 0], [1]], [[0.5]], None, r"must be matrices \(rows, classes\) of numbers"),
        ([["dog"]], [[0.5]], None, "Y has type <U3; expected numbers"),
        ([[1, 0]], [["high", "low"]], None, "The scores have type <U4; expected numbers"),
        ([[1, 0], [1, 2]], [[0.5, 0.1]] * 2, None, "The label in row 1, column 1 is 2; expected only 0 and 1"),
        ([[1, 0, 0.5]], [[0.5, 0.1, 0.1]], [0, 2], "The label in row 0, column 2 is 0.5"),
        (
            [[1, 0, 0]],
            [[0.5, 0.1, np.nan]],
            [False, True, True],
            "The score in row 0, column 2 is nan; expected finite",
        ),
        ([[1, 0]], [[0.5, 0.1]], [0, 2], r"classes\[1\] is 2, but there are 2 classes: positions range from 0 to 1"),
        ([[1, 0]], [[0.5, 0.1]], [True], "expected a mask of the 2 classes"),
        ([[1, 0]], [[0.5, 0.1]], ["dog"], "or their positions: see hierarchy.index"),
        ([[1, 0]], [[0.5, 0.1]], [False, False], "nothing to measure: 1 row and 0 classes"),
    ],
)
def test_bad_input_is_told_with_its_place(truth: object, scores: object, classes: list[int], told: str) -> None:
    with pytest.raises((ScoreError, LabelError), match=told):
        auprc(truth, scores, classes=classes)


def test_scores_in_place_of_predicted_labels_are_told() -> None:
    with pytest.raises(
        LabelError, match=r"predicted label in row 0, column 1 is 0.6; .* Compare scores with a threshold"
    ):
        exact_match([[1, 0]], [[1, 0.6]])


def test_columns_that_do_not_count_may_hold_anything() -> None:
    assert auprc([[1, 7]], [[0.5, np.nan]], classes=[0]) == 1
    assert exact_match([[1, 7]], [[1, 0.3]], classes=[0]) == 1
