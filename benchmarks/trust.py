"""Calibration, and answers with a limited risk, on data sets of the paper: trained by default, measured on test rows.

``python -m benchmarks.trust`` trains one model for each data set, with its validation rows, and reads its test rows.
Each method of calibration is also judged on validation rows alone, learnt on one half and measured on the other, in
turns. Results are stored as they come; repeat the command to go on.
"""

import sys
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.measure import RESULTS, run_apart
from benchmarks.shapes import data_folder
from chmcnn import CHMCNNClassifier, datasets, metrics
from chmcnn._typing import ScoresLike
from chmcnn.datasets.dataset import Dataset
from chmcnn.estimator import CalibrationMethod, Limit, RiskOf, learn_calibration, measure_risks
from chmcnn.training import Rows

FOLDER = RESULTS / "trust"
DATASETS = ("enron", "cellcycle_FUN", "eisen_FUN", "gasch1_FUN", "spo_FUN")
RISKS = (0.05, 0.1, 0.2)
SPLITS, HALVES = 20, 5
METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)
KINDS: tuple[RiskOf, ...] = get_args(RiskOf)


class Recording(CHMCNNClassifier):
    """Keeps the scores of the validation rows, by the model that was not trained on them."""

    validation_scores_: NDArray[np.float32]

    def _learn_held_out(self, valid: Rows | None, scores: ScoresLike | None) -> None:
        super()._learn_held_out(valid, scores)
        blocks: Any = scores() if callable(scores) else scores
        self.validation_scores_ = np.concatenate(list(blocks))


def measure(name: str) -> dict[str, Any]:
    """Train, calibrate and measure on one data set."""
    torch.set_num_threads(1)
    data = datasets.load(name, data_dir=data_folder())
    model = Recording(data.hierarchy, evaluated=data.evaluated, random_state=0)
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    valid, test = model.validation_scores_, model.predict_proba(data.test.X)
    return {
        "data set": name,
        "validation rows": len(valid),
        "test rows": len(test),
        "calibration": [_measure_plain(data, valid, test), *(_calibrate(data, way, valid, test) for way in METHODS)],
        "risks": [_limit(data, model, test, Limit(risk, of)) for of in KINDS for risk in RISKS],
    }


def _measure_plain(data: Dataset, valid: NDArray[np.float32], test: NDArray[np.float32]) -> dict[str, Any]:
    halves = [valid[second] for _, second in _halve(len(valid))]
    return {"method": None, **_measure(data, test), "validation error": _average_errors(data, halves)}


def _calibrate(
    data: Dataset, method: CalibrationMethod, valid: NDArray[np.float32], test: NDArray[np.float32]
) -> dict[str, Any]:
    truth = data.valid.Y
    halves = [
        _apply(truth[first], valid[first], method, data.evaluated, valid[second])
        for first, second in _halve(len(valid))
    ]
    calibrated = _apply(truth, valid, method, data.evaluated, test)
    return {"method": method, **_measure(data, calibrated), "validation error": _average_errors(data, halves)}


def _apply(
    Y: sparse.csr_array,
    scores: NDArray[np.float32],
    method: CalibrationMethod,
    evaluated: NDArray[np.bool_],
    new: NDArray[np.float32],
) -> NDArray[np.float32]:
    return learn_calibration(Y, scores, method, evaluated).apply(torch.from_numpy(new)).numpy()


def _halve(rows: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return random halves, each of which comes first once."""
    drawn = [np.array_split(np.random.default_rng(seed).permutation(rows), 2) for seed in range(HALVES)]
    return [pair for first, second in drawn for pair in ((first, second), (second, first))]


def _average_errors(data: Dataset, halves: list[NDArray[np.float32]]) -> float:
    places = [second for _, second in _halve(data.valid.Y.shape[0])]
    errors = [
        metrics.calibration_error(data.valid.Y[rows], scores, classes=data.evaluated)
        for rows, scores in zip(places, halves, strict=True)
    ]
    return float(np.mean(errors))


def _measure(data: Dataset, scores: NDArray[np.float32]) -> dict[str, Any]:
    options: dict[str, Any] = {"classes": data.evaluated}
    levels = metrics.by_level(metrics.calibration_error, data.test.Y, scores, data.hierarchy, **options)
    return {
        "test error": metrics.calibration_error(data.test.Y, scores, **options),
        "test error of levels": float(np.mean(list(levels.values()))),
        "AU(PRC)": metrics.auprc(data.test.Y, scores, **options),
        "violations": len(data.hierarchy.violations(scores)),
    }


def _limit(data: Dataset, model: Recording, test: NDArray[np.float32], limit: Limit) -> dict[str, Any]:
    """Return the risk on test rows: by the validation rows of the training, and by one random half for the other."""
    truth, found = data.test.Y, []
    for seed in range(SPLITS):
        first, second = np.array_split(np.random.default_rng(seed).permutation(len(test)), 2)
        curves = measure_risks(truth[first], test[first], data.hierarchy, data.evaluated)
        found.append(_risk_at(curves.find_threshold(limit), truth[second], test[second], data, limit.of))
    threshold = float(model.find_risk_thresholds(limit)[0])
    return {
        "of": limit.of,
        "asked": limit.risk,
        "by validation rows": _risk_at(threshold, truth, test, data, limit.of),
        "splits": found,
        "classes": float((test[:, data.evaluated] >= threshold).sum(axis=1).mean()),
    }


def _risk_at(threshold: float, Y: sparse.csr_array, scores: NDArray[np.float32], data: Dataset, of: RiskOf) -> float:
    curves = measure_risks(Y, scores, data.hierarchy, data.evaluated, thresholds=np.array([threshold]))
    return float(curves.risks[of][0])


def main() -> None:
    """Measure on all data sets, or on those that are named."""
    for name in sys.argv[1:] or DATASETS:
        run_apart(FOLDER / f"{name}.json", measure, name)


if __name__ == "__main__":
    main()
