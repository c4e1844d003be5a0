"""Comparisons of several systems on several data sets, with several seeds or folds; each result is stored in a file."""

from chmcnn.comparison._compare import RUNS, Plan, compare, prepare
from chmcnn.comparison._grid import PRELOAD, Execution, Progress, iterate_results
from chmcnn.comparison._runs import PlannedRun, Run, RunSpec, collect, find_finished, run, versions
from chmcnn.comparison._splits import Source, Split, compute_digest
from chmcnn.comparison._summary import Comparison
from chmcnn.comparison._systems import System, find_system

__all__ = [
    "PRELOAD",
    "RUNS",
    "Comparison",
    "Execution",
    "Plan",
    "PlannedRun",
    "Progress",
    "Run",
    "RunSpec",
    "Source",
    "Split",
    "System",
    "collect",
    "compare",
    "compute_digest",
    "find_finished",
    "find_system",
    "iterate_results",
    "prepare",
    "run",
    "versions",
]
