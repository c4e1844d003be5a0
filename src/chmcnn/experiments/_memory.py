"""How much memory a computation needs."""

from __future__ import annotations

import json
import os
import tempfile
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from torch.profiler import ProfilerActivity, profile

if TYPE_CHECKING:
    from collections.abc import Callable


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the peak memory of the tensors that the call creates, as torch's profiler reports it.

    Make the call once before, so that one-time allocations do not count.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # otherwise it writes a line to standard error at each start
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            call()
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    memory = sorted((event for event in events if event.get("name") == "[memory]"), key=lambda event: event["ts"])
    return int(max(accumulate((event["args"]["Bytes"] for event in memory), initial=0)))
