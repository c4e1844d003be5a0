"""The report of a training: one HTML page that needs nothing else; and what all such pages share."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from chmcnn import __version__
from chmcnn.report import overview, training

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.datasets.dataset import Table
    from chmcnn.evaluation import Evaluation, OfClass

_SHOWN = 10


def page(
    model: CHMCNNClassifier, table: Table, evaluation: Evaluation | None, *, title: str, facts: dict[str, Any]
) -> str:
    """The page: data, hierarchy, learning curve, and, of rows that were held out, what the model does."""
    drawn = {
        "overview": inline(overview.draw(overview.overview(title, table, model.evaluated_))),
        "history": inline(training.draw_history(model.history_)),
    }
    classes: list[tuple[str, OfClass]] = []
    if evaluation:
        drawn |= {"curve": inline(training.draw_curve(evaluation)), "levels": inline(training.draw_levels(evaluation))}
        classes = list(evaluation.by_class.items())
    shown = min(_SHOWN, max(len(classes) // 2, 1))
    return render(
        "training.html",
        title=title,
        facts=facts,
        drawn=drawn,
        evaluation=evaluation,
        best=classes[:shown],
        worst=classes[len(classes) - shown :][::-1],
    )


def render(template: str, **values: Any) -> str:  # noqa: ANN401 -- whatever the template shows
    """Fill in one of the templates of this package."""
    import jinja2

    loader = jinja2.PackageLoader("chmcnn.report")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.get_template(template).render(**values, version=__version__)


def inline(figure: Figure) -> str:
    """A figure as an address that holds the whole picture."""
    from base64 import b64encode

    return f"data:image/png;base64,{b64encode(png(figure)).decode()}"


def png(figure: Figure) -> bytes:
    """A figure as the content of a PNG file."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=110)
    return target.getvalue()
