"""Evaluation of a trained model on labelled rows."""

from chmcnn.evaluation._evaluate import Answer, ClassMetrics, Evaluation, Example, LevelMetrics, ScoredClass, evaluate
from chmcnn.evaluation._profiles import RECALLS, ClassProfiles, Frequent

__all__ = [
    "RECALLS",
    "Answer",
    "ClassMetrics",
    "ClassProfiles",
    "Evaluation",
    "Example",
    "Frequent",
    "LevelMetrics",
    "ScoredClass",
    "evaluate",
]
