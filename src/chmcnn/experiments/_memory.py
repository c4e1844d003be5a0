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
    """Most memory that tensors made during the call hold at one time, by torch's own account.

    Call it once before: what is made the first time only is no part of the answer.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would write a line to standard error whenever it starts
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            call()
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    memory = sorted((event for event in events if event.get("name") == "[memory]"), key=lambda event: event["ts"])
    return int(max(accumulate((event["args"]["Bytes"] for event in memory), initial=0)))
