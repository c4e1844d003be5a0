"""The field's measures. Labels and scores are matrices (rows, classes); ``classes`` selects columns."""

from chmcnn.metrics.at_k import precision_at_k, r_precision, recall_at_k
from chmcnn.metrics.bootstrap import Interval, bootstrap
from chmcnn.metrics.cafa import Best, fmax, information_content, smin
from chmcnn.metrics.calibration import calibration_error
from chmcnn.metrics.coherence import ViolationCount, violations
from chmcnn.metrics.groups import by_class, by_level
from chmcnn.metrics.leaves import leaf_accuracy, mistake_severity
from chmcnn.metrics.measures import MEASURE_NAMES, MEASURES, Measure, Outcome, find_measure, find_measures, list_stored
from chmcnn.metrics.ranking import Curve, auprc, cmap, precision_recall_curve
from chmcnn.metrics.sets import PrecisionRecallF, exact_match, hamming, hierarchical, jaccard

__all__ = [
    "MEASURES",
    "MEASURE_NAMES",
    "Best",
    "Curve",
    "Interval",
    "Measure",
    "Outcome",
    "PrecisionRecallF",
    "ViolationCount",
    "auprc",
    "bootstrap",
    "by_class",
    "by_level",
    "calibration_error",
    "cmap",
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
    "mistake_severity",
    "precision_at_k",
    "precision_recall_curve",
    "r_precision",
    "recall_at_k",
    "smin",
    "violations",
]
