"""Counts and times of a service, in the format of Prometheus."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of a folder where several processes count; Prometheus' library reads it when it is imported."""

_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class Measured:
    """What a service counts: in this process, or together with others that count in the same folder."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "chmcnn_requests", "Requests by path and status.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "chmcnn_request_seconds", "Time from the request to the answer.", ["path"], registry=self._registry
        )
        self._batches = Histogram(
            "chmcnn_batch_rows", "Rows that the model computed in one call.", buckets=_BATCHES, registry=self._registry
        )
        self._counters: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        counters = self._counters.get((path, status))
        if counters is None:  # looking labels up takes longer than counting
            counters = self._requests.labels(path, str(status)), self._seconds.labels(path)
            self._counters[path, status] = counters
        counters[0].inc()
        counters[1].observe(seconds)

    def count_batch(self, rows: int) -> None:
        """Count rows that the model computes in one call."""
        self._batches.observe(rows)

    def text(self) -> bytes:
        """Return all counts, also those of other processes, and of such that have ended."""
        if SHARED not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
