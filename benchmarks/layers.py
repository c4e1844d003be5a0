"""The map of the packages in CONTRIBUTING.md, drawn from the contract in pyproject.toml and the packages' docstrings.

python -m benchmarks.report draws it with all other figures.
"""

import ast
import tomllib
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

ROOT = Path(__file__).parent.parent
_BLUE, _GREY = "#3b6fa0", "#555555"
_WIDTH = 130  # of the figure, in characters


def layers() -> list[list[str]]:
    """Return the packages of each layer, the top layer first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [layer.split(" | ") for layer in settings["tool"]["importlinter"]["contracts"][0]["layers"]]


def summary(package: str) -> str:
    """Return the first line of a package's docstring."""
    path = ROOT / "src" / "chmcnn" / package
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".").replace("`", "")


def draw() -> Figure:
    """Draw the layers, each with its packages; a package imports only from layers below its own."""
    stacked = layers()
    rows = sum(map(len, stacked))
    figure = Figure(figsize=(10, 0.3 * rows + 0.2), layout="constrained")
    axis = figure.add_subplot()
    axis.set(xlim=(0, _WIDTH), ylim=(rows, 0))
    axis.axis("off")
    top = 0
    for packages in stacked:
        _draw_layer(axis, packages, top)
        top += len(packages)
    return figure


def _draw_layer(axis: Axes, packages: list[str], top: int) -> None:
    height = len(packages) - 0.16
    axis.add_patch(_box(0, top + 0.08, 15, height, _BLUE))
    axis.add_patch(_box(15.5, top + 0.08, _WIDTH - 15.5, height, "#eef2f6"))
    for number, package in enumerate(packages):
        y = top + number + 0.5
        axis.text(1, y, package, va="center", color="white", fontsize=9, fontweight="bold")
        axis.text(16.5, y, summary(package), va="center", color=_GREY, fontsize=8, parse_math=False)


def _box(x: float, y: float, width: float, height: float, colour: str) -> Rectangle:
    return Rectangle((x, y), width, height, facecolor=colour, edgecolor="none")
