"""A cluster inside the process of the tests: what it is given is packed as for a cluster, and called from that."""

import pickle
from functools import partial
from typing import Any

from chmcnn import cluster
from chmcnn._workers import InlineExecutor


class PackedExecutor(InlineExecutor):
    """In the place of a `chmcnn.cluster.ClusterExecutor`."""

    address = "tcp://packed:8786"

    def __init__(self, address: str = address, preload: Any = ()) -> None:
        del address, preload
        self.calls = 0

    def count_threads(self) -> int:
        return 1

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(self._call, partial(fn, *args, **kwargs))

    def _call(self, call: Any) -> Any:
        self.calls += 1
        packed, arrays = cluster._pack(call)
        answer = cluster._call_packed(packed, {}, [bytes(array.raw()) for array in arrays])
        succeeded, value = pickle.loads(answer)  # noqa: S301 -- the tests' own values
        if not succeeded:
            raise value
        return value
