"""Scores of several members at once."""

import numpy as np
import pytest
import torch

from chmcnn import Hierarchy
from chmcnn.ensemble._checks import Checks
from chmcnn.ensemble._scores import average, iterate_blocks, iterate_together, measure_disagreement
from chmcnn.errors import ChmcnnError

TREE = Hierarchy.from_edges([("a", "b")])
MATRIX = np.linspace(0, 1, 14, dtype=np.float32).reshape(7, 2)


def test_members_may_have_scores_in_any_form() -> None:
    forms = [
        MATRIX,
        torch.tensor(MATRIX),
        [MATRIX[:3], torch.tensor(MATRIX[3:])],
        lambda: iter([MATRIX[:5], MATRIX[5:]]),
    ]
    blocks = list(iterate_together([iterate_blocks(form) for form in forms]))
    assert [block.shape for block in blocks] == [(4, 3, 2), (4, 2, 2), (4, 2, 2)]
    for member in np.concatenate(blocks, axis=1):
        assert np.array_equal(member, MATRIX)


def test_the_disagreement_is_the_weighted_standard_deviation() -> None:
    members, weights = [MATRIX, 1 - MATRIX, MATRIX**2], [0.5, 0.3, 0.2]
    mean = np.average(members, axis=0, weights=weights)
    expected = np.sqrt(np.average((np.array(members) - mean) ** 2, axis=0, weights=weights))
    assert average(members, weights) == pytest.approx(mean)
    assert measure_disagreement(members, weights) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([[0.9, 0.2], [0.1, 0.4]], r"'mine' contradicts the hierarchy: 1 violation .* 'b' has 0.4, its parent 'a' 0.1"),
        ([[0.9], [0.1]], r"'mine' returns scores of shape \(2, 1\); expected \(rows, 2\)"),
        ([[0.9, np.nan], [0.1, 0]], "'mine' returns scores that are not probabilities"),
        ([[1.5, 0.5], [0.1, 0]], "'mine' returns scores that are not probabilities"),
        ([[0.5, 0.5]], "'mine' returns scores of 1 rows; expected 2"),
    ],
)
def test_wrong_scores_are_refused_with_the_name_of_the_member(scores: list[list[float]], reason: str) -> None:
    checks = Checks(TREE, None)
    with pytest.raises(ChmcnnError, match=reason):
        list(checks.iterate([np.array(scores, dtype=np.float32)], "mine", 2))
