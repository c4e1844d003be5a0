"""What all HTML pages share: filling in a template, and pictures inside the page."""

from __future__ import annotations

import io
import os
import time
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure


def render(template: str, *, package: str = "chmcnn.report", **values: object) -> str:
    """Fill in a template of a package; it may include those of `chmcnn.report`, and show the version and the date."""
    from chmcnn import __version__

    return _find_templates(package).get_template(template).render(**values, version=__version__, date=format_date())


@cache
def _find_templates(package: str) -> jinja2.Environment:
    """Return the templates of a package, which keep what they are compiled to for the next page."""
    import jinja2

    loader = jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in dict.fromkeys((package, "chmcnn.report"))])
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)


def format_date() -> str:
    """Return the time in UTC; ``SOURCE_DATE_EPOCH`` replaces it, for pages that are the same in every run."""
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def inline(figure: Figure) -> str:
    """Return a figure as a data URL that holds the whole picture."""
    return f"data:image/png;base64,{b64encode(png(figure)).decode()}"


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=110)
    return target.getvalue()
