"""Evaluation of a trained model on labelled rows."""

from chmcnn.evaluation._evaluate import evaluate
from chmcnn.evaluation._evaluation import ClassMetrics, Evaluation, LevelMetrics
from chmcnn.evaluation._examples import Answer, Example, ScoredClass
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
