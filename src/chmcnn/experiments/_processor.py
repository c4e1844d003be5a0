"""Which processor this is: times are compared on one only."""

from __future__ import annotations

import platform
from pathlib import Path

_LINUX = Path("/proc/cpuinfo")


def processor() -> str:
    """The model of the processor, or as much of it as the system tells."""
    lines = _LINUX.read_text(encoding="utf-8").splitlines() if _LINUX.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()
