"""Rows of numbers that are computed once and read often, in memory or in a temporary file."""

from __future__ import annotations

import io
import tempfile
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

_BYTES_AT_ONCE = 1 << 24
"""Bytes that are read at once, unless a row has more."""


class Spool:
    """Rows of the same width. The temporary file, if there is one, disappears with the spool.

    Parameters
    ----------
    width
        Numbers in each row.
    dtype
        Type of the numbers.
    in_memory
        Whether the rows are kept in memory, and not in a temporary file.

    Examples
    --------
    >>> with Spool(2, np.float32, in_memory=True) as spool:
    ...     spool.append(np.array([[1, 2], [3, 4]]))
    ...     spool.append(np.array([[5, 6]]))
    ...     len(spool), spool.row(2), [block.shape for block in spool.blocks()]
    (3, array([5., 6.], dtype=float32), [(3, 2)])
    """

    def __init__(self, width: int, dtype: DTypeLike, *, in_memory: bool) -> None:
        self._width, self._dtype, self._rows = width, np.dtype(dtype), 0
        self._row_bytes = width * self._dtype.itemsize
        self._file: IO[bytes] = io.BytesIO() if in_memory else tempfile.TemporaryFile()  # noqa: SIM115 -- see __exit__

    def __enter__(self) -> Self:
        """Return the spool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free the memory, and remove the file."""
        self._file.close()

    def __len__(self) -> int:
        """Number of rows."""
        return self._rows

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        try:
            self._file.seek(self._rows * self._row_bytes)
            self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        except OSError as error:
            raise ChmcnnError(
                f"The scores do not fit into the temporary folder {tempfile.gettempdir()}: {error.strerror}. Set the "
                "environment variable TMPDIR to a folder with more space."
            ) from error
        self._rows += len(rows)

    def row(self, number: int) -> NDArray[Any]:
        """Return one row."""
        return self._read(number, number + 1).ravel()

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield all rows in blocks, from the first; they are read-only."""
        step = max(1, _BYTES_AT_ONCE // self._row_bytes)
        for start in range(0, self._rows, step):
            yield self._read(start, min(start + step, self._rows))

    def _read(self, start: int, end: int) -> NDArray[Any]:
        self._file.seek(start * self._row_bytes)
        content = self._file.read((end - start) * self._row_bytes)
        return np.frombuffer(content, dtype=self._dtype).reshape(end - start, self._width)
