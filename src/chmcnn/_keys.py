"""How label, score and rank of a class share the 64 bits of a key: see `chmcnn._plan`."""

_RANK_BITS = 28
RANK_MASK = (1 << _RANK_BITS) - 1
SCORE_SHIFT = _RANK_BITS
LABEL_SHIFT = SCORE_SHIFT + 32

OFFSET = (1 << (LABEL_SHIFT - 1)) + (1 << (LABEL_SHIFT + 1))
"""Makes every key positive, and as a float64 a normal number: neither NaN, nor one that may be rounded to zero."""
