"""Measure the benchmark's files, and write the catalogue of `chmcnn.datasets`: ``python -m benchmarks.catalogue``."""

import json
from pathlib import Path

from benchmarks.shapes import data_folder
from chmcnn._io.files import atomic
from chmcnn.datasets import arff
from chmcnn.datasets.catalogue import ROOTS
from chmcnn.datasets.download import blob_id

TARGET = Path(__file__).parent.parent / "src" / "chmcnn" / "datasets" / "catalogue.json"
REPOSITORY = "https://github.com/EGiunchiglia/C-HMCNN"
COMMIT = "e887855ab4b3b8f22e4fafc80a0a33c1d1ac0041"
NAMES = ("cellcycle", "derisi", "eisen", "expr", "gasch1", "gasch2", "seq", "spo")
OTHERS = {
    "diatoms": ("Diatoms_train", "Diatoms_test"),
    "enron": ("Enron_corr_trainvalid", "Enron_corr_test"),
    "imclef07a": ("ImCLEF07A_Train", "ImCLEF07A_Test"),
    "imclef07d": ("ImCLEF07D_Train", "ImCLEF07D_Test"),
}
UNAVAILABLE = {  # blob ids in the authors' repository of files that could not be measured
    "datasets_FUN/expr_FUN/expr_FUN.train.arff": "ca9cf9c613b7b0c170b3fc265997ef512faf934c",
    "datasets_GO/expr_GO/expr_GO.train.arff": "0ffe98f15cd017ba7f57f1dd53e041a6427e6e09",
}


def paths() -> dict[str, dict[str, str]]:
    """Return the files of each data set by part, relative to the data folder."""
    yeast = {
        f"{name}_{kind}": {
            part: f"datasets_{kind}/{name}_{kind}/{name}_{kind}.{part}.arff" for part in ("train", "valid", "test")
        }
        for kind in ("FUN", "GO")
        for name in NAMES
    }
    others = {
        name: {part: f"others/{file}.arff" for part, file in zip(("train", "test"), files, strict=True)}
        for name, files in OTHERS.items()
    }
    return yeast | others


def measure(path: str) -> tuple[dict[str, object], dict[str, int]]:
    """Return the entry of a file, and the sizes of its data set."""
    location: dict[str, object] = {"path": f"HMC_data/{path}"}
    file = data_folder() / path
    if path in UNAVAILABLE and not file.exists():
        return location | {"blob": UNAVAILABLE[path], "bytes": None, "rows": None}, {}
    table = arff.read(file)
    size = {
        "features": table.features.shape[1],
        "classes": len(table.hierarchy),
        "evaluated": len(set(table.hierarchy) - ROOTS),
        "edges": len(table.hierarchy.edges),
        "depth": table.hierarchy.depth,
    }
    content = file.read_bytes()
    return location | {"blob": blob_id(content), "bytes": len(content), "rows": len(table.labels)}, size


def entry(files: dict[str, str]) -> dict[str, object]:
    """Return the entry of a data set."""
    measured = {part: measure(path) for part, path in files.items()}
    sizes = [size for _, size in measured.values() if size]
    if any(size != sizes[0] for size in sizes):
        raise SystemExit(f"The parts of a data set differ: {measured}")
    return sizes[0] | {"files": {part: file for part, (file, _) in measured.items()}}


def main() -> None:
    """Write the catalogue."""
    content = {
        "written by": "python -m benchmarks.catalogue",
        "repository": REPOSITORY,
        "commit": COMMIT,
        "datasets": {name: entry(files) for name, files in paths().items()},
    }
    with atomic(TARGET) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"{len(paths())} data sets: {TARGET}")


if __name__ == "__main__":
    main()
