"""A process for each task."""

import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Executor, as_completed
from pathlib import Path
from typing import Any

import pytest
from benchmarks.machines import wait_until

from chmcnn._workers import KilledError, ProcessExecutor

FOREVER = "import pathlib, time\nwhile True: pathlib.Path({!r}).touch(); time.sleep(0.05)"


def is_touched(mark: Path) -> bool:
    """Whether a process still touches a file."""
    mark.unlink(missing_ok=True)
    time.sleep(0.5)
    return mark.exists()


def peak_memory(size: int) -> int:
    """Most memory of this process, in KiB, after it has held so many MiB."""
    import resource

    len(bytearray(size * 2**20))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_each_task_has_a_process_of_its_own() -> None:
    with ProcessExecutor(2) as executor:
        assert isinstance(executor, Executor)
        assert executor.submit(operator.add, 1, 2).result() == 3
        assert executor.submit(int, "11", base=2).result() == 3
        processes = {executor.submit(os.getpid).result() for _ in range(3)}
    assert len(processes | {os.getpid()}) == 4


def test_no_more_run_at_once_than_allowed() -> None:
    with ProcessExecutor(2) as executor:
        times = [future.result() for future in [executor.submit(_start_and_end) for _ in range(5)]]
    most = max(sum(start <= moment < end for start, end in times) for moment, _ in times)
    assert most <= 2


def _start_and_end() -> tuple[float, float]:
    start = time.monotonic()
    time.sleep(0.2)
    return start, time.monotonic()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no peak memory")
def test_the_peak_memory_of_a_task_is_its_own() -> None:
    with ProcessExecutor(1) as executor:
        large, small = (executor.submit(peak_memory, size).result() for size in (200, 0))
    assert large - small > 100 * 1024


def test_a_process_that_is_killed_does_not_end_the_others() -> None:
    with ProcessExecutor(2) as executor:
        going_on = executor.submit(time.sleep, 1)
        killed: Any = executor.submit(signal.raise_signal, signal.SIGKILL)
        ended: Any = executor.submit(os._exit, 7)
        later = executor.submit(operator.add, 1, 2)
        errors = [killed.exception(), ended.exception()]
        assert (going_on.result(), later.result()) == (None, 3)
    assert [(type(error), error.code) for error in errors] == [(KilledError, -9), (KilledError, 7)]
    assert str(errors[0]) == "the process was killed by signal 9; the memory may have been too small"
    assert str(errors[1]) == "the process ended with code 7"


def test_a_process_that_is_killed_while_it_reads_its_task_does_not_end_the_others() -> None:
    with ProcessExecutor(1) as executor:
        killed = executor.submit(repr, Deadly())
        assert executor.submit(operator.add, 1, 2).result() == 3
        assert isinstance(killed.exception(), KilledError)


class Deadly:
    def __reduce__(self) -> tuple[Any, ...]:
        return signal.raise_signal, (signal.SIGKILL,)


def test_the_codes_of_many_processes_that_end_at_once_are_right() -> None:
    with ProcessExecutor(8) as executor:
        futures: list[Any] = [executor.submit(os._exit, code) for code in range(1, 25)]
        codes = [future.exception().code for future in futures]
    assert codes == list(range(1, 25))


def test_errors_are_raised_by_the_future() -> None:
    with ProcessExecutor(1) as executor:
        with pytest.raises(ValueError, match="invalid literal"):
            executor.submit(int, "one").result()
        with pytest.raises(Exception, match="pickle"):
            executor.submit(eval, "lambda: 1").result()
        with pytest.raises(Exception, match="pickle"):
            executor.submit(lambda: 1).result()


def test_shutdown_waits_for_all_tasks() -> None:
    executor = ProcessExecutor(1)
    futures = [executor.submit(time.sleep, 0.2) for _ in range(2)]
    executor.shutdown()
    assert all(future.done() for future in futures)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(int)


def test_shutdown_can_terminate_what_runs(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    executor = ProcessExecutor(1)
    running, waiting = (executor.submit(exec, FOREVER.format(str(mark))) for _ in range(2))
    wait_until(mark.exists)
    executor.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    assert isinstance(running.exception(), CancelledError)
    assert not is_touched(mark)
    assert multiprocessing.active_children() == []


def test_an_error_in_the_block_terminates_what_runs(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    with pytest.raises(KeyboardInterrupt), ProcessExecutor(1) as executor:
        executor.submit(exec, FOREVER.format(str(mark)))
        wait_until(mark.exists)
        raise KeyboardInterrupt
    assert not is_touched(mark)


def start_waiting(mark: Path) -> subprocess.Popen[str]:
    """A program that waits for a task without end, in a process group of its own."""
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's & ignores it
        "from chmcnn._workers import ProcessExecutor\n"
        f"with ProcessExecutor(1) as executor: executor.submit(exec, {FOREVER.format(str(mark))!r}).result()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: mark.exists() or process.poll() is not None)
    assert process.poll() is None
    return process


def test_tasks_end_with_the_process_that_waits_for_them(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    process = start_waiting(mark)
    process.kill()
    process.communicate()
    wait_until(lambda: not is_touched(mark))


def test_an_interrupt_is_for_the_process_that_waits(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    process = start_waiting(mark)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    errors = process.communicate()[1]
    assert process.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1, "only the waiting process is interrupted"
    assert not is_touched(mark)


def test_futures_work_with_the_standard_library() -> None:
    with ProcessExecutor(2) as executor:
        assert sorted(future.result() for future in as_completed([executor.submit(abs, -1), executor.submit(abs, -2)]))
        assert list(executor.map(abs, [-1, -2, -3])) == [1, 2, 3]
