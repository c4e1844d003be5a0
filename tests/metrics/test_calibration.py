import numpy as np
import pytest

from chmcnn import ScoreError
from chmcnn.metrics import calibration_error


def test_honest_probabilities_have_a_small_calibration_error() -> None:
    random = np.random.default_rng(0)
    probabilities = random.random((5000, 4))
    truth = random.random(probabilities.shape) < probabilities
    assert calibration_error(truth, probabilities) < 0.015
    assert calibration_error(truth, probabilities**3) > 0.1
    assert calibration_error([[1], [1]], [[1.0], [1.0]]) == 0
    with pytest.raises(ScoreError, match=r"The score in row 0, column 0 is 3\.0; expected probabilities"):
        calibration_error([[1]], [[3.0]])
    with pytest.raises(ScoreError, match="bins is 0"):
        calibration_error([[1]], [[0.3]], bins=0)
