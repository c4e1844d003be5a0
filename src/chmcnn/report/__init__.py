"""Pictures and HTML pages of models, comparisons and searches: they draw values that other packages compute."""

from pathlib import Path

from chmcnn.errors import ChmcnnError


def refuse_format(path: Path) -> None:
    """Refuse a picture format that cannot be drawn, before any work is done for it."""
    from matplotlib.backend_bases import FigureCanvasBase

    if path.suffix.lstrip(".").lower() not in FigureCanvasBase.filetypes:
        formats = ", ".join(f".{suffix}" for suffix in sorted(FigureCanvasBase.filetypes))
        raise ChmcnnError(f"{path} ends in {path.suffix!r}; expected a picture format, one of {formats}.")
