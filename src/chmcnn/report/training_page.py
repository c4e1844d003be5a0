"""The page of a model: one HTML file that needs nothing else, and stays readable with many classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chmcnn import comparison
from chmcnn.estimator import NeuralClassifier
from chmcnn.report import explorer, overview, reliability, training
from chmcnn.report.page import inline, render
from chmcnn.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn._typing import JSONValue
    from chmcnn.datasets.dataset import Table
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.evaluation import ClassMetrics, Evaluation

_SHOWN = 10
_ANSWERS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a page comes from, and the facts at its top."""

    title: str
    facts: Mapping[str, str]
    command: str
    rows: str = "training rows"  # which rows the sizes of the classes are counted in


def list_facts(
    model: HierarchicalClassifier, table: Table, evaluation: Evaluation | None, origin: Origin
) -> explorer.ClassFacts:
    """Return what is known about each class, for the page and for a model folder."""
    return explorer.create_facts(model.hierarchy_, overview.count_rows(table.Y), origin.rows, evaluation)


def page(model: HierarchicalClassifier, table: Table, evaluation: Evaluation | None, origin: Origin) -> str:
    """Return the page: data, hierarchy, learning curve, how it was made and, if rows were held out, the evaluation."""
    hierarchy, sizes = model.hierarchy_, overview.count_rows(table.Y)
    named = len(hierarchy) <= overview.NAMED_AT_MOST
    history = getattr(model, "history_", ())  # of a network
    pictures = {"history": inline(training.draw_history(history))} if history else {}
    if named:
        pictures["overview"] = inline(overview.draw(overview.overview(origin.title, table, model.evaluated_)))
    else:
        pictures["sizes"] = inline(overview.draw_sizes(sizes[model.evaluated_], origin.rows))
    classes: list[tuple[str, ClassMetrics]] = []
    if evaluation:
        pictures["curve"] = inline(training.draw_curve(evaluation))
        pictures["levels"] = inline(training.draw_levels(evaluation))
        classes = list(evaluation.by_class.items())
        if evaluation.trust:
            pictures["reliability"] = inline(reliability.draw_reliability(evaluation.trust))
    style, script = render("_report.css") + explorer.read_style(), explorer.read_script()
    shown = min(_SHOWN, max(len(classes) // 2, 1))
    return render(
        "training.html",
        origin=origin,
        pictures=pictures,
        evaluation=evaluation,
        titles=hierarchy.titles,
        best=classes[:shown],
        worst=classes[len(classes) - shown :][::-1],
        answers=_ANSWERS,
        explorer=explorer.create_data(model, list_facts(model, table, evaluation, origin), evaluation, origin.title),
        script=script,
        style=style,
        policy=explorer.create_policy(script, style),
        seed=model.seed_,
        settings=list_settings(model),
        versions=comparison.versions(),
    )


def list_settings(model: HierarchicalClassifier) -> dict[str, str]:
    """Return the settings that the model was trained with: its parameters, or else the values of its preset."""
    values = _list_network_settings(model) if isinstance(model, NeuralClassifier) else _list_parameters(model)
    return {name: "none" if value is None else str(value) for name, value in values.items()}


def _list_network_settings(model: NeuralClassifier) -> dict[str, JSONValue]:
    columns = None if model.network is not None or model.streamed_ else math.prod(model.feature_shape_)
    resolved = model.resolve_settings(columns, model.n_samples_fit_, sparse=model.sparse_network_)
    return {name: resolved.get(name, getattr(model, name)) for name in SETTINGS}


def _list_parameters(model: HierarchicalClassifier) -> dict[str, JSONValue]:
    """Return the parameters that are short enough to show."""
    hidden = {"hierarchy", "evaluated", "random_state", "verbose"}
    return {name: value for name, value in model.get_params(deep=False).items() if name not in hidden}
