"""The hierarchies of the benchmarks: the real ones if their files are available, otherwise generated ones."""

import os
from pathlib import Path

from chmcnn import Hierarchy
from chmcnn.datasets.arff import read_hierarchy
from chmcnn.datasets.synthetic import random_hierarchy

_SHAPES = {
    "FunCat": ("datasets_FUN/cellcycle_FUN/cellcycle_FUN.valid.arff", {"classes": 500, "edges": 499, "depth": 6}),
    "GO": ("datasets_GO/cellcycle_GO/cellcycle_GO.valid.arff", {"classes": 4126, "edges": 5827, "depth": 14}),
}


def data_folder() -> Path:
    """Folder of the benchmark files, which may not exist."""
    return Path(os.environ.get("CHMCNN_DATA", Path(__file__).parent.parent.parent / "shared" / "HMC_data"))


def load(name: str) -> tuple[Hierarchy, str]:
    """Return a hierarchy, and "real" or "generated"."""
    file, size = _SHAPES[name]
    path = data_folder() / file
    if path.exists():
        return read_hierarchy(path), "real"
    return random_hierarchy(size["classes"], edges=size["edges"], depth=size["depth"]), "generated"
