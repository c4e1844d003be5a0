"""Comparisons: several systems on several data sets, with several seeds or folds, kept in files and summed up."""

from chmcnn.comparison._compare import RUNS, Plan, compare, prepare
from chmcnn.comparison._grid import Task, results
from chmcnn.comparison._runs import Cell, Run, collect, finished, run, versions
from chmcnn.comparison._splits import Source, digest
from chmcnn.comparison._summary import Comparison

__all__ = [
    "RUNS",
    "Cell",
    "Comparison",
    "Plan",
    "Run",
    "Source",
    "Task",
    "collect",
    "compare",
    "digest",
    "finished",
    "prepare",
    "results",
    "run",
    "versions",
]
