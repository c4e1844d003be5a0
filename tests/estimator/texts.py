"""Texts whose classes are easy to tell, in a list and in a table."""

from typing import Any

import numpy as np
import pandas as pd

OPTIONS: dict[str, Any] = {"path_separator": ">", "epochs": 3, "widths": (8,), "random_state": 0}
"""Of a quick model of these texts."""
_WORDS = {
    "sport > tennis": "ball match racket court serve net",
    "sport > football": "ball match pitch kick keeper goal",
    "cooking > cake": "oven butter sugar cream icing sponge",
    "cooking > bread": "oven butter flour yeast crust salt",
}
_RANDOM = np.random.default_rng(0)
LABELS = [label for label in _WORDS for _ in range(20)]
TEXTS = [" ".join(_RANDOM.choice(_WORDS[label].split(), 6)) for label in LABELS]
TABLE = pd.DataFrame(
    {
        "price": [np.nan, *_RANDOM.normal(5, 2, 79)],
        "title": TEXTS,
        "day": pd.date_range("2026-01-01", periods=80),
        "shop": _RANDOM.choice(["north", "south"], 80),
    },
    index=pd.Index([f"n{number}" for number in range(80)], name="sku"),
)
