"""Memory of a training on texts in Parquet files: ``python -m benchmarks.stream_memory``, some minutes.

The same files are read as a whole, and streamed. Each training is a process of its own, on Linux, whose peak is counted
from the moment before it opens the files. The network is small: what is measured does not depend on it. Texts have
words of a Zipf distribution, so that new pairs of words come with every row, and the bound on their number is reached.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, read, run_apart
from benchmarks.scale import warm_up
from benchmarks.scale_memory import MIB, clear_peak, read_peak
from benchmarks.scale_report import describe_machine
from chmcnn import CHMCNNClassifier, Hierarchy
from chmcnn.datasets import RowGroups, read_table
from chmcnn.datasets.texts import COUNTED_TERMS, TermCounts

FOLDER = RESULTS / "stream_memory"
ROWS = (20_000, 80_000)
WINDOW = 2_000
KNOWN_WORDS, WORDS = 20_000, 50
CLASSES = Hierarchy.from_paths([f"{top}/{number}" for top in range(5) for number in range(20)])
OPTIONS: dict[str, Any] = {"epochs": 1, "widths": (16,), "validation": 0, "random_state": 0}
WAYS = ("whole", "streamed")


def write_texts(folder: Path, rows: int) -> None:
    """Write a file of texts, with labels that are drawn at random."""
    random = np.random.default_rng(0)
    shares = 1 / np.arange(1, KNOWN_WORDS + 1)
    words = random.choice(KNOWN_WORDS, (rows, WORDS), p=shares / shares.sum())
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    labels = random.choice(CLASSES.classes, rows)
    parquet.write_table(pa.table({"text": texts, "labels": labels}), folder / "my.parquet", row_group_size=WINDOW)


def measure(folder: Path, way: str, rows: int) -> dict[str, Any]:
    """Train an epoch, and return what it adds to the memory of the process."""
    warm_up()
    clear_peak()
    before = read_peak()
    model = CHMCNNClassifier(CLASSES, **OPTIONS)
    if way == "streamed":
        model.fit(RowGroups([folder], CLASSES, window=WINDOW))
    else:
        data = read_table(folder, CLASSES)
        model.fit(data.X, data.Y)
    columns = len(model.preprocessor_.get_feature_names_out())
    return {"rows": rows, "way": way, "columns": columns, "bytes": read_peak() - before}


def count_common(folder: Path, rows: int) -> dict[str, Any]:
    """Return how many terms are the same if only some are counted at once."""
    texts = parquet.read_table(folder, columns=["text"]).column("text").to_pylist()
    bounded, all_terms = TermCounts(COUNTED_TERMS), TermCounts()
    for counts in (bounded, all_terms):
        counts.add(texts)
    chosen = [counts.create().terms for counts in (bounded, all_terms)]
    return {
        "rows": rows,
        "different terms": len(all_terms),
        "columns": len(chosen[1]),
        "common": len(set(chosen[0]).intersection(chosen[1])),
    }


def report() -> str:
    """Return the memory of both ways, and what the bound on the words changes."""
    results = {way: [read(FOLDER / f"{way}-{rows}.json") for rows in ROWS] for way in WAYS}
    words = [read(FOLDER / f"words-{rows}.json") for rows in ROWS]
    cells = [
        [
            f"{whole['rows']:,}",
            f"{found['different terms']:,}",
            *(f"{row['bytes'] / MIB:,.0f} MiB" for row in (whole, streamed)),
            f"{found['common']:,} of {found['columns']:,}",
        ]
        for whole, streamed, found in zip(results["whole"], results["streamed"], words, strict=True)
    ]
    header = ["rows", "terms in them", "memory, as a whole", "memory, streamed", "the same columns"]
    command = f"Measured by `python -m benchmarks.stream_memory`{describe_machine(results['whole'][0])}"
    return f"{table(header, cells)}\n{command}; {WORDS} words a row, windows of {WINDOW:,} rows.\n"


def main() -> None:
    """Measure what has no result file yet."""
    for rows in ROWS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_texts(folder, rows)
            for way in WAYS:
                run_apart(FOLDER / f"{way}-{rows}.json", measure, folder, way, rows)
            run_apart(FOLDER / f"words-{rows}.json", count_common, folder, rows)


if __name__ == "__main__":
    main()
