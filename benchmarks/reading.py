"""Reading tables: ours beside pandas and Arrow, each in a fresh process.

python -m benchmarks.reading
"""

import math
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from benchmarks.markdown import table

Reader: TypeAlias = Callable[[Path], object]
READERS = ("chmcnn", "pandas", "Arrow")
SHAPES = {"100,000 x 50": (100_000, 50), "1,000 x 20,000": (1_000, 20_000)}
ENDINGS = (".csv", ".parquet")
ROUNDS = 3


def main() -> None:
    """Measure all readers in turns, and write the results to results/reading.json."""
    from benchmarks.measure import save  # not at the top: it imports torch, which no reader needs

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for shape, (number, columns) in SHAPES.items():
            frame = make_table(number, columns)
            for ending in ENDINGS:
                path = Path(folder) / f"table{ending}"
                if ending == ".csv":
                    frame.to_csv(path, index=False)
                else:
                    frame.to_parquet(path)
                rows += measure(path, shape)
    print(save("reading", "python -m benchmarks.reading", rows))


def make_table(rows: int, columns: int) -> pd.DataFrame:
    """Return numbers, some of them missing, two columns of categories, and labels."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(rows, columns)).round(4)
    numbers[random.random((rows, columns)) < 0.01] = np.nan
    frame = pd.DataFrame(numbers, columns=[f"x{number}" for number in range(columns)])
    words = {f"x{number}": random.choice(["red", "green", "blue"], rows) for number in (0, 1)}
    labels = random.choice(["sport/tennis", "sport;politics/law", "politics"], rows)
    return frame.assign(**words, labels=labels)


def measure(path: Path, shape: str) -> list[dict[str, Any]]:
    """Return the shortest processor time and the highest memory of each reader."""
    found: dict[str, list[tuple[float, float]]] = {reader: [] for reader in READERS}
    for _ in range(ROUNDS):
        for reader, values in found.items():
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                values.append(process.submit(read, reader, path).result())
    rows = []
    for reader, values in found.items():
        seconds = min(time for time, _ in values)
        peak = max(memory for _, memory in values)
        rows.append(
            {"file": path.suffix, "shape": shape, "reader": reader, "processor_seconds": seconds, "peak_mib": peak}
        )
        print(f"{path.suffix:9} {shape:15} {reader:7} {seconds:6.2f} s {peak:6.0f} MiB")
    return rows


def read(reader: str, path: Path) -> tuple[float, float]:
    """Read a table after the imports; return the processor time, and the peak memory of the process in MiB."""
    call = {"chmcnn": _read_ours, "pandas": _read_with_pandas, "Arrow": _read_with_arrow}[reader]()
    start = time.process_time()  # of all threads; a busy machine does not count
    call(path)
    seconds = time.process_time() - start
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    return seconds, int(peak[1]) / 2**10 if peak else math.nan  # ru_maxrss would have that of the parent process


def _read_ours() -> Reader:
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401 -- imports do not count

    from chmcnn.datasets import read_table

    return read_table


def _read_with_pandas() -> Reader:
    import pyarrow.parquet  # noqa: F401 -- as above

    return lambda path: pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def _read_with_arrow() -> Reader:
    from pyarrow import csv, parquet

    options = csv.ReadOptions(block_size=1 << 26)  # smaller blocks take minutes for a wide table
    return lambda path: csv.read_csv(path, options) if path.suffix == ".csv" else parquet.read_table(path)


def report() -> str:
    """Time and memory of our readers, of pandas and of Arrow."""
    from benchmarks.measure import load  # as above

    content = load("reading")
    groups: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in content["rows"]:
        groups.setdefault((row["file"], row["shape"]), {})[row["reader"]] = row
    cells = [
        [
            f"`{file}`",
            shape,
            f"{group['pandas']['processor_seconds']:.2f} s",
            *(
                f"{group[name]['processor_seconds'] / group['pandas']['processor_seconds']:.2f} x"
                for name in ("chmcnn", "Arrow")
            ),
            *(f"{group[name]['peak_mib']:,.0f} MiB" for name in ("pandas", "chmcnn", "Arrow")),
        ]
        for (file, shape), group in groups.items()
    ]
    header = ["file", "rows x columns", "pandas", "chmcnn", "Arrow", "memory, pandas", "chmcnn", "Arrow"]
    said = f"Processor time, the fastest of 3 fresh processes each, in turns. Measured by `{content['command']}`."
    return f"{table(header, cells)}\n{said}\n"


if __name__ == "__main__":
    main()
