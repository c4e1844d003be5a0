"""Rows that a report shows, with what the model says of each: from the best to the worst predicted one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn._io.spool import Spool
    from chmcnn._typing import Features
    from chmcnn.estimator import Explanation, HierarchicalClassifier

_EXAMPLES = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
"""Rows that a report shows: their places from the best to the worst predicted one."""
_LOWEST = 0.01
_SCORED = 300
"""Classes of such a row that are kept: the lowest score, and their number."""


class Answer(NamedTuple):
    """What a model says of one class of one row: predicted and true, predicted only, or true only."""

    name: str
    score: float
    verdict: Literal["right", "wrong", "missed"]


class ScoredClass(NamedTuple):
    """A class of one row: its score, the class that decides it, and whether it is true."""

    name: str
    score: float
    delegate: str
    is_true: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One row with its most specific classes that are true or predicted, highest score first."""

    row: str  # its name, or its number from 0
    f: float  # F1 of the row
    answers: list[Answer]
    others: dict[str, int]  # ancestors of these classes: their number by verdict
    scored: list[ScoredClass] = field(default_factory=list)  # true classes and those with high scores, parents first


def choose_examples(
    model: HierarchicalClassifier, X: Features, truth: sparse.csr_array, scores: Spool, f: NDArray[np.float64]
) -> list[Example]:
    """Choose rows from the best to the worst predicted one, most of them from the worst fifth."""
    best_first = np.argsort(-f, kind="stable")[: int((f >= 0).sum())]
    places = np.unique(np.multiply(_EXAMPLES, len(best_first) - 1).round().astype(int))
    chosen = best_first[places].tolist() if len(best_first) else []
    names = _name_rows(X, len(f))
    if not chosen:
        return []
    lowest = min(_LOWEST, float(model.thresholds_.min()))
    explanations = model.explain(_safe_indexing(X.tocsr() if hasattr(X, "tocsr") else X, chosen), threshold=lowest)
    examples = []
    for row, explanation in zip(chosen, explanations, strict=True):
        true, values = truth[[row]].toarray()[0], scores.row(row)
        example = _create_example(model, names[row], float(f[row]), true, values)
        examples.append(replace(example, scored=_list_scored(explanation, true, values)))
    return examples


def _list_scored(explanation: Explanation, truth: NDArray[np.bool_], scores: NDArray[Any]) -> list[ScoredClass]:
    """Return the true classes and those with the highest scores, parents first."""
    hierarchy, true = explanation.hierarchy, set(np.flatnonzero(truth).tolist())
    best = sorted(explanation.reasons, key=lambda reason: -reason.score)[:_SCORED]  # parents before equal children
    found = {hierarchy.index(reason.name): reason for reason in best}
    listed = [ScoredClass(reason.name, reason.score, reason.delegate, at in true) for at, reason in found.items()] + [
        ScoredClass(name, float(scores[at]), name, is_true=True)
        for at in sorted(true - found.keys())
        for name in (hierarchy.classes[at],)
    ]
    return sorted(listed, key=lambda each: int(hierarchy.depths[hierarchy.index(each.name)]))


def _create_example(
    model: HierarchicalClassifier, name: str, f: float, truth: NDArray[np.bool_], scores: NDArray[Any]
) -> Example:
    hierarchy, predicted = model.hierarchy_, scores >= model.thresholds_
    either = (truth | predicted) & model.evaluated_
    parents, children = hierarchy.edges.T
    has_child = np.zeros_like(either)
    has_child[parents[either[children]]] = True
    answers = [
        Answer(
            hierarchy.classes[at],
            float(scores[at]),
            "missed" if not predicted[at] else "right" if truth[at] else "wrong",
        )
        for at in np.flatnonzero(either).tolist()
    ]
    inner = {hierarchy.classes[at] for at in np.flatnonzero(either & has_child).tolist()}
    shown = sorted((each for each in answers if each.name not in inner), key=lambda each: -each.score)
    return Example(name, f, shown, Counter(each.verdict for each in answers if each.name in inner))


def _name_rows(X: Features, rows: int) -> list[str]:
    """Return the names of the rows, or their numbers in the table that they come from, counted from 0."""
    labels = X.index.tolist() if isinstance(X, pd.DataFrame | pd.Series) else range(rows)
    return [str(label) if isinstance(label, str) else f"row {label}" for label in labels]
