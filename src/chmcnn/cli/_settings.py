"""How to train: options of the command line, over a file of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chmcnn.settings import check_settings, read

if TYPE_CHECKING:
    from pathlib import Path


def merged(
    config: Path | None,
    *,
    width: int | None,
    validation_share: float | None,
    tune_thresholds: bool | None,
    balanced: bool | None,
    **same: Any,  # noqa: ANN401 -- options that are called as the setting is
) -> dict[str, Any]:
    """The settings of a file, and those of the command line, which win; None is what was not given."""
    options = same | {
        "widths": None if width is None else [width, width],
        "validation": validation_share,
        "threshold": None if tune_thresholds is None else "tune" if tune_thresholds else 0.5,
        "class_weight": "balanced" if balanced else None,
    }
    settings = (check_settings(read(config), config) if config else {}) | check_settings(options, None)
    if balanced is False:
        settings.pop("class_weight", None)
    return settings
