"""What a training needs for each pair of a row and a class: ``python -m benchmarks.scale_memory``, some minutes.

The problems differ in their training rows only: network, optimizer, batch and validation rows are the same, because
every class has a row in each of them. So what a training adds to the memory of the process, with the features and the
labels, differs from one problem to the next by the price of the pairs. Each training is a process of its own, on Linux,
where the peak can be counted from the moment at which the data are ready; what a process has before, its libraries most
of all, varies more than what is measured, and does not count.
"""

import ctypes
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.large_problems import DEPTH, EDGES
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, read, run_apart
from benchmarks.scale import warm_up
from benchmarks.scale_report import by_size, describe_machine
from chmcnn import CHMCNNClassifier
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.hierarchy import Hierarchy

FOLDER = RESULTS / "scale_memory"
ROWS = (10_000, 20_000)
CLASSES = 40_000
COLUMNS = 16
WIDTHS = (16,)
"""A small network: what is measured does not depend on it."""
VALIDATION = 200
"""Rows to validate on."""
DRAWN = 4
"""Classes of a row, before their ancestors are added."""
MIB = 2**20


def measure(rows: int) -> dict[str, Any]:
    """Train an epoch with validation, and return the peak of the process."""
    warm_up()
    hierarchy = random_hierarchy(CLASSES, edges=round(EDGES * CLASSES), depth=DEPTH)
    y = draw_labels(rows, hierarchy)
    x = np.random.default_rng(0).standard_normal((rows, COLUMNS), dtype=np.float32)
    held_out = x[:VALIDATION].copy(), y[:VALIDATION].copy()
    clear_peak()
    before = read_peak()
    model = CHMCNNClassifier(hierarchy, widths=WIDTHS, epochs=1, refit=False, random_state=0)
    model.fit(x, y, validation_data=held_out)
    return {
        "rows": rows,
        "classes": CLASSES,
        "labels": y.nnz,
        "data bytes": x.nbytes + y.data.nbytes + y.indices.nbytes + y.indptr.nbytes,
        "weights": sum(weights.numel() for weights in model.network_.parameters()),
        "before bytes": before,
        "peak bytes": read_peak(),
    }


def draw_labels(rows: int, hierarchy: Hierarchy) -> sparse.csr_array:
    """Give each row some classes in turn, so that every class has a row, and their ancestors."""
    columns = np.random.default_rng(0).permutation(len(hierarchy))[np.arange(rows * DRAWN) % len(hierarchy)]
    offsets = np.arange(0, rows * DRAWN + 1, DRAWN)
    marks = sparse.csr_array((np.ones(len(columns), dtype=np.bool_), columns, offsets), shape=(rows, len(hierarchy)))
    return hierarchy.close(marks)


def clear_peak() -> None:
    """Let the peak of this process begin here, after what is not needed has gone back to the system."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def read_peak() -> int:
    """Return the highest memory of this process, in bytes, since its peak was cleared."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def report() -> str:
    """Return the peaks, and the bytes that each pair adds."""
    results = [read(path) for path in sorted(FOLDER.glob("*.json"), key=by_size)]
    if len(results) < 2:
        return "Not measured yet: `python -m benchmarks.scale_memory` takes some minutes.\n"
    cells = [[*_describe(results[0]), ""]]
    cells += [[*_describe(row), f"{bytes_per_pair(less, row):.3f}"] for less, row in itertools.pairwise(results)]
    header = [
        "rows",
        "classes",
        "labels",
        "data",
        "with the training",
        "peak of the process",
        "bytes for each further pair",
    ]
    command = f"Measured by `python -m benchmarks.scale_memory`{describe_machine(results[0])}"
    return f"{table(header, cells)}\n{command}; each problem in a process of its own.\n"


def bytes_per_pair(less: dict[str, Any], more: dict[str, Any]) -> float:
    """Return what a training on more rows needs beyond another, for each pair of a row and a class."""
    pairs, needed = ([count(row) for row in (less, more)] for count in (_count_pairs, _count_bytes))
    return float((needed[1] - needed[0]) / (pairs[1] - pairs[0]))


def _count_pairs(row: dict[str, Any]) -> int:
    return int(row["rows"] * row["classes"])


def _count_bytes(row: dict[str, Any]) -> int:
    """Return the data, and what the training adds."""
    return int(row["data bytes"] + row["peak bytes"] - row["before bytes"])


def _describe(row: dict[str, Any]) -> list[str]:
    sizes = (f"{size / MIB:,.0f} MiB" for size in (row["data bytes"], _count_bytes(row), row["peak bytes"]))
    return [f"{row['rows']:,}", f"{row['classes']:,}", f"{row['labels']:,}", *sizes]


def main() -> None:
    """Measure what has no result file yet."""
    for rows in ROWS:
        run_apart(FOLDER / f"{rows}x{CLASSES}.json", measure, rows)


if __name__ == "__main__":
    main()
