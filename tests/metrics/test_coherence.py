import numpy as np
import pytest

from chmcnn import Hierarchy, ScoreError
from chmcnn.metrics import bootstrap, violations

PETS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])  # animal, cat, dog, pet
SCORES = np.array([[0.9, 0.1, 0.5, 0.6], [0.2, 0.1, 0.5, 0.4], [0.2, 0.3, 0.1, 0.1]])


def test_pairs_of_a_row_and_an_edge_are_counted() -> None:
    assert violations(SCORES, PETS) == (3, 2 / 3, 3 / 9)
    assert violations(SCORES[:1], PETS) == (0, 0, 0)


def test_edges_to_classes_that_do_not_count_are_left_out() -> None:
    assert violations(SCORES, PETS, classes=[2]) == (2, 1 / 3, 2 / 6)
    assert violations(SCORES, PETS, classes=[False, True, False, True]).number == 1
    assert violations(SCORES, PETS, classes=[0, 3]) == (0, 0, 0)
    assert violations(SCORES, PETS, classes=PETS.depths > 0) == violations(SCORES, PETS)


def test_without_rows_or_edges_there_is_none() -> None:
    assert violations(SCORES[:0], PETS) == (0, 0, 0)
    assert violations([[1.0]], Hierarchy(["a"], [])) == (0, 0, 0)


def test_the_bootstrap_takes_them() -> None:
    intervals = bootstrap(lambda _, scores: violations(scores, PETS), SCORES > 0.5, SCORES, repeats=100)
    assert intervals.number == (3, 0, 6)


def test_bad_input_is_told() -> None:
    with pytest.raises(ScoreError, match=r"Scores have shape \(1, 2\), but the hierarchy has 4 classes"):
        violations([[0.1, 0.2]], PETS)
    with pytest.raises(ScoreError, match="The score in row 0, column 2 is nan; expected a number"):
        violations([[0.1, 0.2, np.nan, 0.3]], PETS, classes=[2])
