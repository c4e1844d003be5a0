"""The model of the processor: times of different processors are not comparable."""

from __future__ import annotations

import platform
from pathlib import Path

_LINUX = Path("/proc/cpuinfo")


def processor() -> str:
    """Return the model of the processor, or the architecture if the system does not name the model."""
    lines = _LINUX.read_text(encoding="utf-8").splitlines() if _LINUX.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()
