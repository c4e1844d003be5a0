"""Why classes are predicted: what a program needs to draw the predicted part of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from sklearn.utils import _safe_indexing

from chmcnn.serving._columns import concatenate
from chmcnn.serving._limits import refuse_long_answer

if TYPE_CHECKING:
    from pydantic.config import JsonDict

    from chmcnn.estimator import Explanation, HierarchicalClassifier
    from chmcnn.serving._limits import Limits
    from chmcnn.serving._rows import Rows

_EXAMPLE: JsonDict = {
    "name": "n1",
    "reasons": [
        {"name": "animal", "score": 0.9, "delegate": "dog", "parents": [], "threshold": 0.5},
        {"name": "dog", "score": 0.9, "delegate": "dog", "parents": ["animal"], "threshold": 0.4},
    ],
}


class Reasons(BaseModel):
    """The predicted classes of a row, parents first, each with its score, its delegate, its parents and threshold."""

    model_config = ConfigDict(json_schema_extra={"example": _EXAMPLE})
    name: str = Field(description="Id of the row, or its number from 0.")
    reasons: list[dict[str, Any]]


class Explanations(BaseModel):
    """Why classes were predicted, for all rows of a request."""

    rows: list[Reasons]


def explain_rows(
    model: HierarchicalClassifier, rows: Rows, threshold: float | None, top: int | None, limits: Limits
) -> bytes:
    """Return `Explanations` as JSON: the reasons of all classes, or of each row of those with the highest scores.

    Some rows are explained at a time, so that an answer which becomes too long is given up early.
    """
    features, count = concatenate([rows.features]), len(rows.names)
    step = max(1, limits.classes // len(model.hierarchy_))
    found: list[list[dict[str, Any]]] = []
    for start in range(0, count, step):
        part = _safe_indexing(features, list(range(start, min(start + step, count))))
        found += (_list_reasons(model, each, top) for each in model.explain(part, threshold=threshold))
        refuse_long_answer(sum(map(len, found)), limits)
    names = zip(rows.names, found, strict=True)
    return to_json({"rows": [{"name": name, "reasons": reasons} for name, reasons in names]})


def _list_reasons(model: HierarchicalClassifier, explanation: Explanation, top: int | None) -> list[dict[str, Any]]:
    reasons = explanation.facts()
    if top is not None and len(reasons) > top:  # a parent comes before a child with an equal score
        best = sorted(range(len(reasons)), key=lambda at: -reasons[at]["score"])[:top]
        reasons = [reasons[at] for at in sorted(best)]
    for reason in reasons:
        reason["parents"] = list(model.hierarchy_.parents(reason["name"]))
        reason["threshold"] = float(model.thresholds_[model.hierarchy_.index(reason["name"])])
    return reasons
