"""The committed results of calibration and limited risks show what is claimed."""

import numpy as np
import pytest
from benchmarks.measure import load_all
from benchmarks.trust import FOLDER

RESULTS = {result["data set"]: result for result in load_all(FOLDER)}


@pytest.mark.parametrize("name", ["cellcycle_FUN", "eisen_FUN", "gasch1_FUN", "spo_FUN"])
def test_scores_mean_probabilities_on_tables_with_calibration_and_nearly_without(name: str) -> None:
    errors = {way["method"]: way["test error"] for way in RESULTS[name]["calibration"]}
    assert errors["isotonic"] < 0.002
    assert errors[None] < 0.003


@pytest.mark.parametrize("name", RESULTS)
def test_risks_of_missed_classes_and_wrong_paths_are_within_a_hundredth_of_what_was_asked(name: str) -> None:
    for risk in RESULTS[name]["risks"]:
        if risk["of"] != "wrong":  # which has no such guarantee
            assert np.mean(risk["splits"]) == pytest.approx(risk["asked"], abs=0.01)
    assert sum(way["violations"] for way in RESULTS[name]["calibration"]) == 0
