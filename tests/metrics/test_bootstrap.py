import os
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from chmcnn import Hierarchy, ScoreError
from chmcnn.metrics import (
    auprc,
    bootstrap,
    by_level,
    exact_match,
    hierarchical,
    precision_recall_curve,
)

TREE = Hierarchy.from_paths(["a/b", "c/d"])


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for seed in range(100):
        right = random.random((80, 1)) < 0.7
        interval = bootstrap(exact_match, np.ones((80, 1)), right, repeats=60, confidence=0.9, seed=seed)
        covered += interval.low <= 0.7 <= interval.high
        assert interval.low <= interval.value <= interval.high
    assert 80 <= covered <= 98


def test_the_seed_decides() -> None:
    truth = np.random.default_rng(0).random((30, 4)) < 0.5
    scores = np.random.default_rng(1).random((30, 4))
    first, again, other = (bootstrap(auprc, truth, scores, repeats=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    with pytest.raises(ScoreError, match="repeats is 0"):
        bootstrap(auprc, truth, scores, repeats=0)


def test_every_number_of_a_result_has_its_interval() -> None:
    random = np.random.default_rng(0)
    truth, predicted = TREE.close(random.random((2, 60, 4)).reshape(120, 4) < 0.4).reshape(2, 60, 4)
    truth[:, 3] = False

    def each(Y: Any, scores: Any) -> dict[str, Any]:
        return {
            "exact match": exact_match(Y, scores),
            "levels": by_level(hierarchical, Y, scores, TREE),
            "classes": auprc(Y, scores, average=None),
        }

    found = bootstrap(each, truth, predicted, repeats=30)
    assert found["exact match"] == bootstrap(exact_match, truth, predicted, repeats=30)
    assert list(found["levels"]) == [0, 1]
    alone = bootstrap(partial(hierarchical, classes=[1, 3]), truth, predicted, repeats=30)
    assert found["levels"][1] == alone
    assert alone.recall.low < alone.recall.value < alone.recall.high
    assert [interval.value for interval in found["classes"][:3]] == auprc(truth, predicted, average=None)[:3].tolist()
    assert all(interval.low < interval.value < interval.high for interval in found["classes"][1:3])
    assert np.isnan(found["classes"][3]).all()


def test_draws_without_a_row_of_a_class_do_not_count_for_it() -> None:
    truth, scores = np.array([[1], [0], [0], [0]]), np.array([[0.9], [0.1], [0.2], [0.3]])
    assert bootstrap(auprc, truth, scores, repeats=50) == (1, 1, 1)


def test_labels_and_scores_come_in_every_form() -> None:
    truth, scores = np.eye(4, dtype=bool)[[0, 1, 2, 3, 0, 1]], np.random.default_rng(0).random((6, 4), dtype=np.float32)
    expected = bootstrap(auprc, truth, scores, repeats=20)
    assert bootstrap(auprc, sparse.csr_array(truth), torch.tensor(scores), repeats=20) == expected
    assert bootstrap(auprc, truth.tolist(), pd.DataFrame(scores), repeats=20) == expected
    half = torch.tensor(scores).bfloat16()
    assert bootstrap(auprc, truth, half, repeats=20) == bootstrap(auprc, truth, half.float(), repeats=20)


def test_a_bar_is_shown_on_standard_error_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    truth, scores = np.eye(2), np.eye(2)
    with mock.patch.dict(os.environ, {"FORCE_COLOR": "1", "TERM": "xterm"}):
        shown, silent = (bootstrap(exact_match, truth, scores, repeats=5, progress=each) for each in (True, False))
    printed = capsys.readouterr()
    assert shown == silent
    assert printed.out == ""
    assert printed.err.count("Bootstrap") >= 1
    assert "100%" in printed.err


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ScoreError, match="The measure returns a Curve; expected a number, or numbers in a dict"):
        bootstrap(precision_recall_curve, np.eye(2), np.eye(2))
