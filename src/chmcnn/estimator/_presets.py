"""Presets: values of parameters that the user does not set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chmcnn.errors import ChmcnnError
from chmcnn.settings import ENSEMBLES, check, choice
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

PresetName = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class Preset:
    """Options of the default network, and settings of its training."""

    widths: tuple[int, ...]
    dropout: float
    settings: Settings
    scaled: bool = False  # whether options and learning rate depend on the size of the table
    by_frequency: bool = False  # whether only classes with a row have outputs, which begin with their frequencies
    scales_features: bool = False  # whether `chmcnn.nn.FeatureScaling` comes before the layers
    sparse: Preset | None = None  # for sparse features and `chmcnn.nn.SparseMLP`; None for the same as for dense ones

    def choose_widths(self, columns: int) -> tuple[int, ...]:
        """Return the widths of the hidden layers: doubled above 100 columns, and a single layer above 400.

        >>> [PRESETS["default"].choose_widths(columns) for columns in (50, 300, 1000)]
        [(500, 500), (1000, 1000), (1000,)]
        """
        if not self.scaled or columns <= 100:
            return self.widths
        wider = tuple(2 * width for width in self.widths)
        return wider if columns <= 400 else wider[:1]

    def choose_dropout(self, rows: int | None) -> float:
        """Return the dropout: less above 5,000 rows, which the network overfits less.

        ``rows`` is None for data without a length.

        >>> [PRESETS["default"].choose_dropout(rows) for rows in (2000, 10_000, None)]
        [0.7, 0.5, 0.7]
        """
        return min(self.dropout, 0.5) if self.scaled and rows is not None and rows > 5000 else self.dropout

    def choose_learning_rate(self, columns: int | None) -> float:
        """Return the learning rate: smaller for more columns, up to the 1,000 that were tried.

        ``columns`` is None for a custom network, which has at most the default rate of Adam.

        >>> [PRESETS["default"].choose_learning_rate(columns) for columns in (50, 300, None)]
        [0.002, 0.0005, 0.001]
        """
        if not self.scaled:
            return self.settings.learning_rate
        return min(self.settings.learning_rate, 1e-3 if columns is None else 0.15 / min(columns, 1001))


PRESETS: dict[str, Preset] = {
    # Chosen by `python -m benchmarks.presets choose`, `layers` and `dropout` on training and validation rows;
    # docs/benchmarks.md has the data sets and the results.
    "default": Preset(
        (500, 500),
        0.7,
        Settings(epochs=400, batch_size=64, learning_rate=2e-3, patience=10, patience_growth=0.2, averaging=4),
        scaled=True,
        by_frequency=True,
        scales_features=True,
        # Chosen on validation rows of the problems of benchmarks/texts.py.
        sparse=Preset(
            (512,),
            0.5,
            Settings(epochs=20, batch_size=128, learning_rate=3e-3, weight_decay=0, patience=3, averaging=1),
            by_frequency=True,
        ),
    ),
    # Section 5 of the paper; widths and learning rate differ between its data sets, these are the most frequent ones.
    "paper": Preset((500, 500), 0.7, Settings(epochs=1000, batch_size=4, learning_rate=1e-4, patience=20)),
}


def find_preset(name: str, presets: Mapping[str, Preset] = PRESETS) -> Preset:
    """Return a preset by name."""
    if name in ENSEMBLES:
        raise ChmcnnError(f"preset is {name!r}, which is an ensemble: use chmcnn.CoherentEnsemble(preset={name!r}).")
    return presets[check("preset", name, choice(*presets))]
