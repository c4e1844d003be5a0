"""The page of a training: one HTML file that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.report import overview, training
from chmcnn.report.page import inline, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.datasets.dataset import Table
    from chmcnn.evaluation import ClassMetrics, Evaluation

_SHOWN = 10


def page(
    model: CHMCNNClassifier, table: Table, evaluation: Evaluation | None, *, title: str, facts: Mapping[str, str]
) -> str:
    """Return the page: data, hierarchy, learning curve and, if rows were held out, the evaluation."""
    pictures = {
        "overview": inline(overview.draw(overview.overview(title, table, model.evaluated_))),
        "history": inline(training.draw_history(model.history_)),
    }
    classes: list[tuple[str, ClassMetrics]] = []
    if evaluation:
        pictures["curve"] = inline(training.draw_curve(evaluation))
        pictures["levels"] = inline(training.draw_levels(evaluation))
        classes = list(evaluation.by_class.items())
    shown = min(_SHOWN, max(len(classes) // 2, 1))
    return render(
        "training.html",
        title=title,
        facts=facts,
        pictures=pictures,
        evaluation=evaluation,
        best=classes[:shown],
        worst=classes[len(classes) - shown :][::-1],
    )
