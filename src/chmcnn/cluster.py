"""`ClusterExecutor`: runs on a Dask cluster, each in a process of its own on one of the workers.

Data, results and modules of the user travel through the scheduler: the machines need no disk in common. Dask itself
executes a call again whose worker dies.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import platform
import sys
import tempfile
import weakref
from concurrent.futures import CancelledError, Executor, Future, wait
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from chmcnn._io import user_code
from chmcnn._version import __version__
from chmcnn._workers import KilledError, ProcessExecutor, limit_threads
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_SECONDS = 5
"""Time to wait for a scheduler that does not answer."""
_PRELOAD = ("chmcnn.comparison._preload",)
"""What runs, trials and predictions import."""
_LARGE = 1 << 16
"""Bytes from which an array is sent once to each worker, and not with every call."""


class ClusterError(ChmcnnError):
    """A cluster that does not answer, does not fit, or is gone."""


class WorkersKilledError(KilledError):
    """All workers that began a call died."""

    def __init__(self, code: int = -9) -> None:
        super().__init__(code)
        self.args = ("every worker that began it died; the memory may have been too small",)


class ClusterExecutor(Executor):
    """An executor whose calls are executed by the workers of a Dask cluster, each in a process of its own.

    Large arrays of arguments are sent once to each worker. On exit the connection is closed, and the cluster goes on.

    Parameters
    ----------
    cluster
        The address of a scheduler, such as ``"tcp://scheduler:8786"``, or a cluster object of Dask, such as a
        ``dask_jobqueue.SLURMCluster``.
    preload
        Names of modules that each worker imports once: the processes of its calls start with them.

    Examples
    --------
    >>> from chmcnn.comparison import Execution, Plan, Source, compare
    >>> with ClusterExecutor("tcp://scheduler:8786") as executor:                             # doctest: +SKIP
    ...     compare([Source("digits")], Plan(("C-HMCNN", "h+")), Path("comparison"), Execution(executor=executor))
    """

    def __init__(self, cluster: Any, *, preload: Sequence[str] = _PRELOAD) -> None:  # noqa: ANN401 -- Dask's clusters
        self._client = _connect(cluster)
        self.address: str = self._client.scheduler.address
        self._executor = self._client.get_executor(pure=False)
        self._preload = tuple(preload)
        self._modules: dict[str, bytes] = {}
        self._arrays: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        try:
            self._refuse_other_versions()
        except BaseException:
            self.shutdown()
            raise

    def count_threads(self) -> int:
        """Return the number of calls that the cluster executes at once now."""
        self._refuse_lost()
        return int(self._client.scheduler_info(n_workers=0).get("total_threads", 0))

    _max_workers = property(count_threads)  # as the executors of the standard library have it

    def submit(
        self, fn: Callable[_Parameters, _Result], /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> Future[_Result]:
        """Call a function on a worker; it, its arguments and its result must be picklable."""
        import dask

        def enter(*given: Any) -> bytes:  # noqa: ANN401 -- a local function is sent as it is: machines need no import
            from chmcnn.cluster import call_apart

            return call_apart(*given)

        call, arrays = _pack(partial(fn, *args, **kwargs))
        options = {"versions": find_versions(), "preload": self._preload, "modules": self._modules}
        self._refuse_lost()
        # Dask warns of data in tasks; `_send` says why they are there.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            sent = [self._send(array) for array in arrays]
            inner = self._executor.submit(enter, call, options, *sent)
        outer: Future[_Result] = Future()
        outer.add_done_callback(lambda future: inner.cancel() if future.cancelled() else None)
        inner.add_done_callback(lambda future: self._receive(future, outer, sent))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 -- Executor's
        """Close the connection; calls that are not completed are given up."""
        self._client.close(timeout=_SECONDS)

    def send_code(self, paths: Iterable[str]) -> None:
        """Send the modules of ``module:name`` with each call, unless they are installed; refuse what cannot be sent."""
        for path in paths:
            name = path.partition(":")[0]
            file = Path(getattr(sys.modules.get(name), "__file__", None) or "")
            if name == "__main__":
                raise ClusterError(
                    f"{path} is defined in the program itself, or in a notebook, where the workers of a cluster cannot "
                    "import it; write it to a file, such as mine.py, and import it from there."
                )
            if user_code.is_installed(file):
                continue
            if "." in name or file.name != f"{name}.py":
                raise ClusterError(
                    f"{path} is in a package that is not installed, so it cannot be sent to the workers of a cluster; "
                    "install the package on all machines, or write the class to one file, such as mine.py."
                )
            self._modules[file.name] = file.read_bytes()

    def _send(self, array: pickle.PickleBuffer) -> Any:  # noqa: ANN401 -- Dask's future
        """Return an array as Dask has it. As a task, and not as scattered data, it survives the death of a worker."""
        content = array.raw()
        key = f"chmcnn-{hashlib.sha256(content).hexdigest()}"
        sent = self._arrays.get(key)
        if sent is None:
            sent = self._client.submit(bytes, bytes(content), key=key)
            self._arrays[key] = sent
        return sent

    def _receive(self, inner: Future[bytes], outer: Future[Any], sent: list[Any]) -> None:
        """Pass on a result, or an error as the one who called understands it."""
        sent.clear()  # the cluster may forget the arrays, unless other calls need them
        if not outer.set_running_or_notify_cancel():
            return
        try:
            succeeded, value = pickle.loads(inner.result())  # noqa: S301 -- the user's own code  # nosec B301
        except CancelledError:
            succeeded, value = False, self._lost()
        except BaseException as error:  # noqa: BLE001 -- the future raises it
            succeeded, value = False, self._explain(error)
        if succeeded:
            outer.set_result(value)
        else:
            outer.set_exception(value)

    def _refuse_lost(self) -> None:
        """Raise an error if the scheduler is gone: calls would wait for it."""
        if self._client.status != "running":
            raise self._lost()

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler at {self.address} is lost. What is finished is kept: run the same "
            "command again when the cluster is back."
        )

    def _explain(self, error: BaseException) -> BaseException:
        from distributed import KilledWorker

        if isinstance(error, ChmcnnError | KilledError):
            return error
        if isinstance(error, KilledWorker):
            return WorkersKilledError()
        reason = " ".join(str(error).split())
        return ClusterError(
            f"The cluster at {self.address} cannot execute a call: {type(error).__name__}: {reason}. Install the same "
            "chmcnn on all workers."
        )

    def _refuse_other_versions(self) -> None:
        """Refuse a worker with other versions by its address, before anything is executed."""
        for worker, found in self._ask_versions().items():
            refuse_other_versions(worker, find_versions(), found if isinstance(found, dict) else {})

    def _ask_versions(self) -> dict[str, Any]:
        """Return the versions of each worker, or its error."""
        versions: dict[str, Any] = self._client.run(find_versions, on_error="return")
        return versions


def find_versions() -> dict[str, str]:
    """Return the versions that results depend on, without importing what is slow.

    >>> find_versions().keys()
    dict_keys(['chmcnn', 'torch', 'numpy', 'python'])
    """
    installed = {name: metadata.version(name) for name in ("torch", "numpy")}
    return {"chmcnn": __version__, **installed, "python": platform.python_version()}


def refuse_other_versions(worker: str, here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Raise an error that names all packages whose versions differ on a worker.

    >>> refuse_other_versions("tcp://one:1", {"torch": "2.9"}, {"torch": "2.7"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    chmcnn.cluster.ClusterError: The worker tcp://one:1 has torch 2.7, but this machine has torch 2.9. Results ...
    """
    if not there:
        raise ClusterError(f"The worker {worker} has no chmcnn; install chmcnn {here['chmcnn']} there.")
    other = [name for name in here if there.get(name) != here[name]]
    if other:
        theirs, ours = (" and ".join(f"{name} {found.get(name)}" for name in other) for found in (there, here))
        raise ClusterError(
            f"The worker {worker} has {theirs}, but this machine has {ours}. Results must not depend on the machine: "
            "install the same versions everywhere."
        )


def _connect(cluster: Any) -> Any:  # noqa: ANN401 -- Dask's clusters and clients
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError('A cluster needs Dask: pip install "chmcnn[cluster]".') from None
    try:
        return Client(cluster, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(
            f"No Dask scheduler answers at {cluster} ({reason}). Check the address, which is like "
            "tcp://scheduler:8786, and that `dask scheduler` runs there."
        ) from None


def _pack(call: Callable[[], object]) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """Return a pickled call, and apart from it its large arrays."""
    large: list[pickle.PickleBuffer] = []

    def is_small(array: pickle.PickleBuffer) -> bool:
        if array.raw().nbytes < _LARGE:
            return True
        large.append(array)
        return False

    try:
        return pickle.dumps(call, protocol=5, buffer_callback=is_small), large
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ClusterError(
            f"This cannot be sent to the workers of a cluster: {error}. Use classes and functions at the top level of "
            "a module, and arguments that can be pickled."
        ) from None


def call_apart(call: bytes, options: Mapping[str, Any], *arrays: bytes) -> bytes:
    """Execute a call in a new process of a worker, and return its pickled result; give it up if nobody wants it."""
    from distributed import get_worker

    worker = get_worker()
    refuse_other_versions(worker.address, options["versions"], find_versions())
    multiprocessing.current_process().daemon = False  # Dask's workers are, and may have no children; ours end with them
    with ProcessExecutor(1, preload=options["preload"]) as executor:
        future = executor.submit(_call_packed, call, options["modules"], arrays)
        while not wait([future], timeout=1).done:
            task = worker.state.tasks.get(worker.get_current_task())
            if task is None or task.state == "cancelled" or worker.status.name not in ("running", "paused"):
                raise CancelledError  # the block ends the process
        return future.result()


def _call_packed(call: bytes, modules: Mapping[str, bytes], arrays: Sequence[bytes]) -> bytes:
    """Call what `_pack` has packed, with modules of the user; return whether it succeeded, and its result or error."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in modules.items():
            Path(folder, name).write_bytes(content)
        sys.path.insert(0, folder)
        try:
            function = pickle.loads(call, buffers=map(bytearray, arrays))  # noqa: S301 -- as above  # nosec B301
            # Dask's nanny sets one thread for each worker; a worker without a nanny would use all cores for each call.
            with limit_threads(None if "OMP_NUM_THREADS" in os.environ else 1):
                return pickle.dumps((True, function()), protocol=5)
        except Exception as error:  # noqa: BLE001 -- the one who called raises it
            return pickle.dumps((False, error))
