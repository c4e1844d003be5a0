"""``--cluster``: the workers of a Dask cluster, in place of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from chmcnn.cli._options import Invocation


@contextmanager
def connect(address: str | None, call: Invocation) -> Iterator[Executor | None]:
    """Yield the executor of a cluster, or None without an address. Connect first: a wrong address is told at once."""
    if address is None:
        yield None
        return
    from chmcnn._wording import count
    from chmcnn.cluster import ClusterExecutor

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # Dask tells a lost connection too, with a traceback
    with ClusterExecutor(address) as executor:
        threads = executor.count_threads()
        later = "" if threads else ": it waits for workers to join"
        call.notify(f"The cluster at {executor.address} executes {count(threads, 'run')} at once{later}.")
        yield executor
