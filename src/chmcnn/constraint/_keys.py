"""Layout of the label, score and rank of a class in a 64-bit key: see `chmcnn.constraint._delegates`.

numba caches compiled code beside `_kernel.py` and does not notice a change here: delete ``__pycache__`` after one.
"""

_RANK_BITS = 28
RANK_MASK = (1 << _RANK_BITS) - 1
SCORE_SHIFT = _RANK_BITS
LABEL_SHIFT = SCORE_SHIFT + 32

INFINITY = 0x7F800000
"""The bits of an infinite float32: larger magnitudes are NaN."""

OFFSET = (1 << (LABEL_SHIFT - 1)) + (1 << (LABEL_SHIFT + 1))
"""Makes every key positive and, read as a float64, a normal number: neither NaN nor flushed to zero."""
