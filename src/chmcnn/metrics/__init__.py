"""The field's measures.

Labels are a 0/1 matrix (rows, classes), dense or sparse. Scores, or predicted labels, are a matrix as well, or come in
blocks of rows: any iterable of matrices, or a function without arguments that returns one, such as ``lambda:
model.iterate_proba(X)``. Measures that read scores several times need a matrix, a list of blocks or a function. Blocks
change no result, and memory grows with the labels. ``classes`` selects columns.
"""

from chmcnn.metrics._points import Points
from chmcnn.metrics._sweep import Sweep, sweep
from chmcnn.metrics.at_k import precision_at_k, r_precision, recall_at_k
from chmcnn.metrics.bootstrap import Interval, bootstrap
from chmcnn.metrics.cafa import Best, fmax, information_content, smin
from chmcnn.metrics.calibration import Reliability, calibration_error, count_by_score, reliability
from chmcnn.metrics.coherence import ViolationCount, violations
from chmcnn.metrics.groups import by_class, by_level
from chmcnn.metrics.leaves import leaf_accuracy, mistake_severity
from chmcnn.metrics.measures import (
    CELLS_IN_MEMORY,
    MEASURE_NAMES,
    MEASURES,
    Measure,
    Outcome,
    find_measure,
    find_measures,
    list_stored,
)
from chmcnn.metrics.ranking import (
    Curve,
    auprc,
    average_precision,
    cmap,
    divided_auprc,
    points_by_class,
    precision_recall_curve,
)
from chmcnn.metrics.risks import AnswerRisks, answer_risks, back_off_error, missed_share, wrong_share
from chmcnn.metrics.sets import PrecisionRecallF, exact_match, hamming, hierarchical, jaccard

__all__ = [
    "CELLS_IN_MEMORY",
    "MEASURES",
    "MEASURE_NAMES",
    "AnswerRisks",
    "Best",
    "Curve",
    "Interval",
    "Measure",
    "Outcome",
    "Points",
    "PrecisionRecallF",
    "Reliability",
    "Sweep",
    "ViolationCount",
    "answer_risks",
    "auprc",
    "average_precision",
    "back_off_error",
    "bootstrap",
    "by_class",
    "by_level",
    "calibration_error",
    "cmap",
    "count_by_score",
    "divided_auprc",
    "exact_match",
    "find_measure",
    "find_measures",
    "fmax",
    "hamming",
    "hierarchical",
    "information_content",
    "jaccard",
    "leaf_accuracy",
    "list_stored",
    "missed_share",
    "mistake_severity",
    "points_by_class",
    "precision_at_k",
    "precision_recall_curve",
    "r_precision",
    "recall_at_k",
    "reliability",
    "smin",
    "sweep",
    "violations",
    "wrong_share",
]
