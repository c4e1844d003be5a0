"""Which validation rows are scored after each epoch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests.training.test_loop import SETTINGS, rows, run

from chmcnn import ChmcnnError
from chmcnn.metrics import auprc
from chmcnn.training import Rows
from chmcnn.training._validation import Validation


def test_a_sample_is_scored_instead_of_all_rows() -> None:
    whole = Validation(rows("valid"))
    drawn = whole.draw(20, seed=1)
    assert (whole.sampled, drawn.sampled, drawn.draw(20, seed=1).sampled) == (0, 20, 20)
    network = torch.nn.Linear(10, 20)
    assert drawn.sample is not None
    with torch.no_grad():
        assert drawn.score(network) == auprc(drawn.sample.y, torch.sigmoid(network(drawn.sample.x)))
    assert drawn.score(network) != whole.score(network)


def test_a_sample_as_large_as_all_rows_is_all_of_them() -> None:
    assert Validation(rows("valid")).draw(60, seed=1).sample is None


def test_a_training_with_a_sample_says_so_and_refits_on_all_rows() -> None:
    whole, sampled = run(settings=replace(SETTINGS, refit=True)), run(settings=replace(SETTINGS, validation_sample=20))
    assert {epoch.sampled for epoch in whole.history} == {0}
    assert {(epoch.phase, epoch.sampled) for epoch in sampled.history} == {("train", 20), ("refit", 0)}
    assert whole.history[0].loss == sampled.history[0].loss
    assert whole.history[0].score != sampled.history[0].score


def test_a_sample_without_any_label_is_refused() -> None:
    labels = csr_array(np.eye(1000, 3, dtype=bool))
    with pytest.raises(ChmcnnError, match="No validation row of the sample of 2 has any of the classes that count"):
        Validation(Rows(torch.zeros(1000, 2), labels)).draw(2, seed=0).check()
