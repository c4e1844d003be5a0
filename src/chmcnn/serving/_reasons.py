"""Why classes are predicted: what a program needs to draw the predicted part of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic.config import JsonDict

    from chmcnn.estimator import Explanation, HierarchicalClassifier

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


def list_reasons(
    model: HierarchicalClassifier, names: Sequence[str], explanations: Sequence[Explanation], top: int | None
) -> Explanations:
    """Return the reasons of all rows, or of each row those of the classes with the highest scores."""
    thresholds, hierarchy = model.thresholds_, model.hierarchy_
    rows = []
    for name, explanation in zip(names, explanations, strict=True):
        reasons = explanation.facts()
        if top is not None and len(reasons) > top:  # a parent comes before a child with an equal score
            best = sorted(range(len(reasons)), key=lambda at: -reasons[at]["score"])[:top]
            reasons = [reasons[at] for at in sorted(best)]
        for reason in reasons:
            reason["parents"] = list(hierarchy.parents(reason["name"]))
            reason["threshold"] = float(thresholds[hierarchy.index(reason["name"])])
        rows.append(Reasons(name=name, reasons=reasons))
    return Explanations(rows=rows)
