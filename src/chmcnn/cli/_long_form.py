"""Writing the long form of predictions, one line for each row and class, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    import pandas as pd

    Blocks = Iterator[pd.DataFrame]


def write(blocks: Blocks, target: Path | TextIO, suffix: str) -> int:
    """Write a file by its ending, or print; return the number of lines."""
    if suffix == ".parquet" and isinstance(target, Path):
        return _write_parquet(blocks, target)
    with _open(target) as file:
        if suffix == ".json":
            return _write_json(blocks, file)
        return _write_delimited(blocks, file, "," if suffix == ".csv" else "\t")


def write_cafa(blocks: Blocks, target: Path | TextIO) -> int:
    """Write lines of target, term and score with three decimals, above 0; return the number of lines."""
    lines = 0
    with _open(target) as file:
        for block in blocks:
            for row, name, score in zip(block.iloc[:, 0], block["class"], block["score"], strict=True):
                if score >= 0.0005:
                    file.write(f"{row}\t{name}\t{score:.3f}\n")
                    lines += 1
    return lines


def check_cafa(ids: Iterable[object], classes: Iterable[str]) -> None:
    """Refuse names of rows and classes that CAFA's form cannot have, before anything is computed."""
    _refuse_space("Row", map(str, ids), "use --id-column with other ids")
    _refuse_space("Class", classes, "use --format long")


def _refuse_space(what: str, names: Iterable[str], way_out: str) -> None:
    for name in names:
        if name.split() != [name]:
            raise ChmcnnError(f"{what} {name!r} has white space, which separates columns in CAFA's form; {way_out}.")


def _open(target: Path | TextIO) -> AbstractContextManager[TextIO]:
    return target.open("w", encoding="utf-8", newline="") if isinstance(target, Path) else nullcontext(target)


def _write_delimited(blocks: Blocks, file: TextIO, separator: str) -> int:
    lines = 0
    for number, block in enumerate(blocks):
        block.to_csv(file, sep=separator, index=False, header=number == 0)
        lines += len(block)
    return lines


def _write_json(blocks: Blocks, file: TextIO) -> int:
    """Write a list of objects."""
    lines = 0
    file.write("[")
    for block in blocks:
        for line in block.to_json(orient="records", lines=True).splitlines():
            file.write(f"{',' if lines else ''}\n{line}")
            lines += 1
    file.write("\n]\n")
    return lines


def _write_parquet(blocks: Blocks, path: Path) -> int:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    lines, writer = 0, None
    try:
        for block in blocks:
            if writer is None:
                kinds = {name: pa.string() for name in ("class", "name") if name in block}
                kinds |= {name: pa.float32() for name in ("score", "disagreement") if name in block}
                first = block.columns[0]
                ids = pa.int64() if pd.api.types.is_integer_dtype(block[first].dtype) else pa.string()
                schema = pa.schema({first: ids, **kinds})
                writer = parquet.ParquetWriter(path, schema, write_page_checksum=True)
            writer.write_table(pa.Table.from_pandas(block, schema=writer.schema, preserve_index=False))
            lines += len(block)
    finally:
        if writer is not None:
            writer.close()
    return lines
