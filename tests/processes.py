"""Processes for tests to kill, or to compare with: torch is imported already, where the system can copy a process."""

import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def start(function: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Call a function of a module in a process of its own."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    process: BaseProcess = context.Process(target=_call, args=(function, *arguments))
    process.start()
    return process


def _call(function: Callable[..., object], *arguments: Any) -> None:
    """Call a function; its own processes are copies of the same server, and not of a new one that imports torch again.

    The documentation of multiprocessing says that this is so, but Python 3.11 starts a new server.
    """
    server = getattr(forkserver, "_forkserver")  # noqa: B009 -- typeshed does not have it
    if server._forkserver_address is not None:
        server.ensure_running = resource_tracker.ensure_running
    function(*arguments)


def run_program(program: Path | str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a file, or a module by its name, as ``python`` does; warnings for users are errors."""
    (done,) = run_programs(program, *arguments, cwd=cwd, environments=[{}])
    return done


def run_programs(
    program: Path | str, *arguments: str, cwd: Path, environments: Sequence[Mapping[str, str]]
) -> list[subprocess.CompletedProcess[str]]:
    """Run a program several times at once, each in an environment with further variables."""
    with TemporaryDirectory() as folder:
        files = [[Path(folder, f"{name}{at}") for name in ("out", "err")] for at in range(len(environments))]
        started = [
            start(_become, program, arguments, cwd, printed, environment)
            for printed, environment in zip(files, environments, strict=True)
        ]
        for process in started:
            process.join()
        return [
            subprocess.CompletedProcess(
                [str(program), *arguments], process.exitcode or 0, *(path.read_text("utf-8") for path in printed)
            )
            for process, printed in zip(started, files, strict=True)
        ]


def find_port() -> int:
    """Return a free port, below those that the system gives to connections: none takes it before it is used."""
    for port in range(20_000 + 7 * os.getpid() % 12_000, 32_768):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("There is no free port.")


def find_places(size: int) -> list[dict[str, str]]:
    """Return the variables that torchrun sets for each of several processes on this machine."""
    shared = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(find_port())}
    return [shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(size)]


def _become(
    program: Path | str, arguments: list[str], cwd: Path, printed: list[Path], environment: Mapping[str, str]
) -> None:
    for number, path in enumerate(printed, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ |= environment
    os.chdir(cwd)
    sys.argv = [str(program), *arguments]
    warnings.simplefilter("error", UserWarning)
    if isinstance(program, Path):
        sys.path.insert(0, str(program.parent))
        runpy.run_path(str(program), run_name="__main__")
    else:
        sys.path.insert(0, str(cwd))
        runpy.run_module(program, run_name="__main__", alter_sys=True)
