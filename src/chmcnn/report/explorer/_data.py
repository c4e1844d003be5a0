"""All that a report's explorer shows, compressed: the hierarchy, the facts about its classes, and examples."""

from __future__ import annotations

import gzip
from base64 import b64encode
from typing import TYPE_CHECKING

from chmcnn.report.explorer._facts import dump

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.evaluation import Evaluation, Example
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.report.explorer._facts import ClassFacts


def create_data(model: HierarchicalClassifier, facts: ClassFacts, evaluation: Evaluation | None, title: str) -> str:
    """Return the data as compressed JSON in base64, the same text for the same data."""
    hierarchy = model.hierarchy_
    thresholds = model.thresholds_.tolist()  # exact, as scores are: they are compared
    data = {
        "title": title,
        "names": hierarchy.classes,
        "titles": {hierarchy.index(name): title for name, title in hierarchy.titles.items()},
        "edges": hierarchy.edges.ravel().tolist(),  # parent, child, parent, ...
        "depths": hierarchy.depths.tolist(),
        "thresholds": thresholds[0] if len(set(thresholds)) == 1 else thresholds,
        "facts": facts.to_dict(),
        "examples": [_describe(example, hierarchy) for example in (evaluation.examples if evaluation else ())],
    }
    return b64encode(gzip.compress(dump(data), mtime=0)).decode()


def _describe(example: Example, hierarchy: Hierarchy) -> dict[str, JSONValue]:
    """Return a row: for each class its position, its score, the position of its delegate, and whether it is true."""
    scored = [
        (hierarchy.index(each.name), each.score, hierarchy.index(each.delegate), int(each.is_true))
        for each in example.scored
    ]
    return {"name": example.row, "f": round(example.f, 3), "classes": scored}
