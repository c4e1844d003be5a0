"""A Dask scheduler and workers of this machine, each a process with a folder of its own, on the loopback interface."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

_FILE = "scheduler.json"
SECONDS = 300
"""Most time to wait for a process to start or to end."""


class Machines:
    """Processes to connect to, and to kill.

    Parameters
    ----------
    folder
        Where each process has its folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.address, self.workers = folder, "", list[subprocess.Popen[bytes]]()
        self.scheduler = self._start("scheduler", "scheduler", "--port", "0", "--scheduler-file", _FILE)

    def __enter__(self) -> Self:
        """Wait for the scheduler, which chooses a free port."""
        try:
            wait_until(self._find_address)
        except TimeoutError:
            self.__exit__()
            raise
        return self

    def _find_address(self) -> str:
        with suppress(FileNotFoundError, ValueError):  # there is no file yet, or a part of it
            self.address = json.loads((self.folder / "scheduler" / _FILE).read_text(encoding="utf-8"))["address"]
        return self.address

    def __exit__(self, *_: object) -> None:
        """Kill all processes."""
        for process in (*self.workers, self.scheduler):
            process.kill()  # to close in good order may take a minute on a busy machine
        for process in (*self.workers, self.scheduler):
            process.wait(SECONDS)

    def add_worker(self, *options: str) -> Path:
        """Start a worker with one thread, and return its folder; ``--no-nanny`` for one that nobody starts again."""
        limits = ("--nthreads", "1", "--death-timeout", str(SECONDS))
        name = f"worker{len(self.workers)}"
        self.workers.append(self._start(name, "worker", self.address, *limits, *options))
        return self.folder / name

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        place = self.folder / name
        place.mkdir(parents=True)
        words = [sys.executable, "-m", "dask", *command, "--host", "127.0.0.1", "--no-dashboard"]
        with (place / "log").open("wb") as log:
            return subprocess.Popen(words, cwd=place, stdout=log, stderr=log)  # noqa: S603 -- Dask's own programs


def wait_until(is_true: Callable[[], object]) -> None:
    """Ask again and again, for a bounded time."""
    for _ in range(20 * SECONDS):
        if is_true():
            return
        time.sleep(0.05)
    raise TimeoutError
