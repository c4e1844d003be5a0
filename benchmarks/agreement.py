"""Our thresholds and probabilities beside those of MAPIE and venn-abers, where they compute the same.

``pip install mapie==1.6.0 venn-abers==1.5.4; python -m benchmarks.agreement``, on generated labels and coherent scores.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measure import save
from chmcnn.constraint import max_constraint
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.estimator import Limit, learn_calibration, measure_risks
from chmcnn.hierarchy import Hierarchy

ROWS, CLASSES, PROBLEMS = 300, 40, 5
RISKS = (0.05, 0.1, 0.2, 0.3)
STEPS = np.arange(0, 1, 0.005)
"""Thresholds that MAPIE tries; ours are rounded down to them."""


def main() -> None:
    """Compare on some problems."""
    rows = [_compare(seed) for seed in range(PROBLEMS)]
    print(save("agreement", "python -m benchmarks.agreement", rows))


def _compare(seed: int) -> dict[str, Any]:
    hierarchy = random_hierarchy(CLASSES, edges=60, depth=4, seed=seed)
    random = np.random.default_rng(seed)
    truth = hierarchy.close(random.random((ROWS, CLASSES)) < 0.05)
    truth[~truth.any(axis=1), 0] = True  # MAPIE refuses rows without labels
    truth = hierarchy.close(truth)
    raw = torch.tensor(2 * truth - 2 + random.normal(size=truth.shape), dtype=torch.float32).sigmoid()
    scores = max_constraint(raw, hierarchy).numpy()
    return {
        "versions": {name: version(name) for name in ("mapie", "venn-abers")},
        "thresholds": [_compare_thresholds(truth, scores, hierarchy, risk) for risk in RISKS],
        "largest difference of probabilities": _compare_probabilities(truth, scores),
    }


def _compare_thresholds(
    truth: NDArray[np.bool_], scores: NDArray[np.float32], hierarchy: Hierarchy, risk: float
) -> dict[str, Any]:
    """Return the threshold of ours and of MAPIE for missed classes, and whether MAPIE's answers are closed."""
    from mapie.risk_control import MultiLabelClassificationController

    other = MultiLabelClassificationController(
        lambda given: given, risk="recall", method="crc", target_level=1 - risk, predict_params=STEPS
    ).calibrate(scores, truth.astype(int))
    ours = measure_risks(truth, scores, hierarchy).find_threshold(Limit(risk))
    return {
        "risk": risk,
        "ours": ours,
        "MAPIE": float(other.best_predict_param[0]),
        "violations of MAPIE": len(hierarchy.violations(other.predict(scores)[:, :, 0])),
    }


def _compare_probabilities(truth: NDArray[np.bool_], scores: NDArray[np.float32]) -> float:
    """Return the largest difference between Venn-Abers probabilities, for scores that both packages count apart."""
    from venn_abers import VennAbers

    rounded = (np.round(scores.ravel() * 50) / 50).clip(0.02, 0.98)
    other = VennAbers()
    other.fit(np.column_stack([1 - rounded, rounded]), truth.ravel().astype(int))
    theirs = other.predict_proba(np.column_stack([1 - rounded, rounded]))[0][:, 1]
    ours = learn_calibration(truth.reshape(-1, 1), rounded.reshape(-1, 1), "venn-abers")
    return float(np.abs(ours.apply(torch.from_numpy(rounded)).numpy() - theirs).max())


if __name__ == "__main__":
    main()
