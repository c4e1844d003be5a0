"""Pictures of results: drawing only, of values that are computed elsewhere."""

from pathlib import Path

from matplotlib.backend_bases import FigureCanvasBase

from chmcnn.errors import ChmcnnError


def refuse_format(path: Path) -> None:
    """Refuse a kind of picture that cannot be drawn, before any work is done for it."""
    if path.suffix.lstrip(".").lower() not in FigureCanvasBase.filetypes:
        known = ", ".join(f".{suffix}" for suffix in sorted(FigureCanvasBase.filetypes))
        raise ChmcnnError(f"{path} ends in {path.suffix!r}; expected the ending of a picture, one of {known}.")
