"""The parameters of a system with a network, and their values from a preset."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from chmcnn.estimator._base import HierarchicalClassifier
from chmcnn.estimator._presets import PRESETS, Preset, PresetName, find_preset
from chmcnn.settings import SETTINGS, check
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike
    from torch import nn

    from chmcnn._typing import JSONValue, Transformer
    from chmcnn.estimator._calibration import CalibrationMethod
    from chmcnn.estimator._predicting import Threshold
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Epoch

NetworkLike: TypeAlias = "nn.Module | Callable[[int, int], nn.Module] | None"
"""A network, a function that creates one from the numbers of features and classes, or None for the default one."""
TRAINING = tuple(
    field.name for field in fields(Settings) if field.name in SETTINGS and not SETTINGS[field.name].default
)
"""Settings of a training that a preset has values for."""


class NetworkParameters(HierarchicalClassifier):
    """The constructor of a system with a network; `CHMCNNClassifier` documents its parameters."""

    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    """Values of the parameters that are None."""
    set_later: ClassVar[tuple[str, ...]] = (*HierarchicalClassifier.set_later, *TRAINING)  # for `partial_fit`
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that only this system has; model files store them."""

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        preset: PresetName = "default",
        network: NetworkLike = None,
        widths: Sequence[int] | None = None,
        dropout: float | None = None,
        output_rank: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        patience: int | None = None,
        patience_growth: float | None = None,
        refit: bool | None = None,
        schedule: Literal["constant", "cosine"] | None = None,
        averaging: float | None = None,
        max_minutes: float | None = None,
        validation_sample: int | None = None,
        sharded: bool | None = None,
        precision: Literal["float32", "bfloat16"] = "float32",
        class_weight: Mapping[str, float] | Literal["balanced"] | None = None,
        validation: float = 0.2,
        threshold: Threshold = 0.5,
        calibration: CalibrationMethod | None = None,
        preprocess: bool | Transformer = True,
        path_separator: str = "/",
        evaluated: ArrayLike | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        checkpoint: str | Path | None = None,
        verbose: bool | Callable[[Epoch], object] = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.preset = preset
        self.network = network
        self.widths = widths
        self.dropout = dropout
        self.output_rank = output_rank
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.patience_growth = patience_growth
        self.refit = refit
        self.schedule = schedule
        self.averaging = averaging
        self.max_minutes = max_minutes
        self.validation_sample = validation_sample
        self.sharded = sharded
        self.precision = precision
        self.class_weight = class_weight
        self.validation = validation
        self.threshold = threshold
        self.calibration = calibration
        self.preprocess = preprocess
        self.path_separator = path_separator
        self.evaluated = evaluated
        self.device = device
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def resolve_settings(self, columns: int | None, rows: int | None, *, sparse: bool = False) -> dict[str, Any]:
        """Return all settings of a training on a table of this size, from the parameters or else from the preset.

        ``columns`` is None for a custom network, and ``rows`` is None if their number is unknown. ``sparse`` is for the
        network for sparse features.
        """
        preset = self._find_preset(sparse=sparse)
        by_size = {"widths": preset.choose_widths(columns or 0), "dropout": preset.choose_dropout(rows)}
        by_size["learning_rate"] = preset.choose_learning_rate(columns)
        explicit = {name: self._get_setting(name, preset) for name in by_size if getattr(self, name) is not None}
        others = {name: self._get_setting(name, preset) for name in TRAINING if name not in by_size}
        is_default = self.network is None
        flags = {
            "sparse": sparse,
            "by_frequency": is_default and preset.by_frequency,
            "scales_features": is_default and preset.scales_features and self.preprocess is True,
        }
        size = {"columns": columns, "rows": rows} | {name: True for name, flag in flags.items() if flag}
        return size | by_size | explicit | others | {"output_rank": self.output_rank} | self._get_own_settings()

    def _find_preset(self, *, sparse: bool) -> Preset:
        preset = find_preset(self.preset, self.presets)
        return preset.sparse or preset if sparse else preset

    def _get_own_settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.own_settings}

    def _get_setting(self, name: str, preset: Preset) -> JSONValue:
        """Return a parameter, or else the value of the preset."""
        value = getattr(self, name)
        if value is not None:
            return check(name, value)
        if name == "patience_growth" and self.patience is not None:
            return 0.0  # a patience of the user is exactly that
        return getattr(preset.settings, name)
