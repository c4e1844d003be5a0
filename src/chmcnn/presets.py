"""Two recipes: the default, and the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chmcnn.errors import ChmcnnError
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
    scaled: bool = False  # whether the learning rate falls with the number of columns

    def learning_rate(self, columns: int) -> float:
        """The learning rate for so many columns of features: with many, each step moves the network far.

        >>> PRESETS["default"].learning_rate(50), PRESETS["default"].learning_rate(1000)
        (0.001, 0.0001)
        """
        return min(self.settings.learning_rate, 0.1 / columns) if self.scaled else self.settings.learning_rate


PRESETS: dict[str, Preset] = {
    # Chosen by `python -m benchmarks.presets`, on validation data alone.
    "default": Preset((500, 500), 0.7, Settings(batch_size=64, learning_rate=1e-3, patience=10), scaled=True),
    # Section 5 of the paper; widths and learning rate differ between its data sets, and these are the most frequent.
    "paper": Preset((500, 500), 0.7, Settings(epochs=1000, batch_size=4, learning_rate=1e-4, patience=20)),
}


def preset(name: str, presets: Mapping[str, Preset] = PRESETS) -> Preset:
    """Look one up."""
    if name not in presets:
        raise ChmcnnError(f"preset is {name!r}; expected one of {', '.join(map(repr, presets))}.")
    return presets[name]
