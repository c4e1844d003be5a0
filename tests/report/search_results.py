"""Results of searches that nobody has run."""

import math

import pandas as pd

from chmcnn.search import SearchResult

STATES = ("finished", "failed", "pruned", "finished", "finished", "running")
SCORES = (0.5, math.nan, math.nan, 0.7, 0.6, math.nan)


def search_result(states: tuple[str, ...] = STATES, importances: bool = True) -> SearchResult:
    rows = [
        {
            "number": number,
            "state": state,
            "auprc": SCORES[number],
            "epochs_run": 9,
            "seconds": 1.5,
            "widths": [100, 50],
            "learning_rate": 0.00012345,
            "class_weight": None,
            "reason": "the loss is <nan>" if state == "failed" else "",
        }
        for number, state in enumerate(states)
    ]
    searched = ("widths", "learning_rate", "class_weight")
    shares = {"learning_rate": 0.75, "widths": 0.25, "class_weight": 0.0} if importances else {}
    best = {"epochs": 9, "widths": [100, 50], "learning_rate": 0.00012345} if "finished" in states else {}
    return SearchResult("my <table>.csv", 8, pd.DataFrame(rows), searched, best, shares)
