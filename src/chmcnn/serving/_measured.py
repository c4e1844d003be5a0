"""Counts and times of a service, in the format of Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class Measured:
    """What a service counts."""

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

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def count_batch(self, rows: int) -> None:
        """Count rows that the model computes in one call."""
        self._batches.observe(rows)

    def text(self) -> bytes:
        """Return all counts."""
        return generate_latest(self._registry)
