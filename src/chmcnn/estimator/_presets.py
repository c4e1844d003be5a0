"""The two presets: the default, and the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chmcnn.settings import check, choice
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

PresetName = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class Preset:
    """The network, and how it is trained."""

    widths: tuple[int, ...]
    dropout: float
    settings: Settings
    scaled: bool = False  # whether the default network and its learning rate follow the size of the table

    def layers(self, columns: int) -> tuple[int, ...]:
        """Widths of the hidden layers: twice as wide for a table of more than 100 columns, and one for more than 400.

        >>> PRESETS["default"].layers(50), PRESETS["default"].layers(300), PRESETS["default"].layers(1000)
        ((500, 500), (1000, 1000), (1000,))
        """
        if not self.scaled or columns <= 100:
            return self.widths
        wider = tuple(2 * width for width in self.widths)
        return wider if columns <= 400 else wider[:1]

    def share(self, rows: int | None) -> float:
        """Dropout: less for a table of more than 5,000 rows, of which so large a network learns less by heart.

        None stands for data without a length.

        >>> PRESETS["default"].share(2000), PRESETS["default"].share(10_000), PRESETS["default"].share(None)
        (0.7, 0.5, 0.7)
        """
        return min(self.dropout, 0.5) if self.scaled and rows is not None and rows > 5000 else self.dropout

    def rate(self, columns: int | None) -> float:
        """The learning rate: with many columns, up to the 1,000 that were tried, each step moves the network far.

        None stands for a custom network, which has at most the usual rate of Adam.

        >>> PRESETS["default"].rate(50), PRESETS["default"].rate(300), PRESETS["default"].rate(None)
        (0.002, 0.0005, 0.001)
        """
        if not self.scaled:
            return self.settings.learning_rate
        return min(self.settings.learning_rate, 1e-3 if columns is None else 0.15 / min(columns, 1001))


PRESETS: dict[str, Preset] = {
    # Chosen by `python -m benchmarks.presets choose`, `layers` and `dropout` on training and validation rows: of which
    # data sets, and what led to it, is in benchmarks/README.md.
    "default": Preset(
        (500, 500), 0.7, Settings(batch_size=64, learning_rate=2e-3, patience=10, averaging=4), scaled=True
    ),
    # Section 5 of the paper; widths and learning rate differ between its data sets, and these are the most frequent.
    "paper": Preset((500, 500), 0.7, Settings(epochs=1000, batch_size=4, learning_rate=1e-4, patience=20)),
}


def find_preset(name: str, presets: Mapping[str, Preset] = PRESETS) -> Preset:
    """Return the preset of a name."""
    return presets[check("preset", name, choice(*presets))]
