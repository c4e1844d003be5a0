"""Work in processes of its own."""

import operator
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chmcnn._workers import processes
from chmcnn._workers.processes import Killed, each


def test_each_task_has_its_result_and_its_process() -> None:
    done = dict(each([partial(operator.add, 1, 2), os.getpid, os.getpid], jobs=2))
    assert done.keys() == {0, 1, 2}
    assert done[0] == 3
    assert len({done[1], done[2], os.getpid()}) == 3


def test_a_process_that_is_killed_does_not_end_the_others() -> None:
    tasks: list[Any] = [partial(signal.raise_signal, signal.SIGKILL), partial(os._exit, 7), partial(operator.add, 1, 2)]
    done = dict(each(tasks, jobs=1))
    assert done == {0: Killed(-9), 1: Killed(7), 2: 3}
    assert str(done[0]) == "its process was killed by signal 9; was there enough memory?"
    assert str(done[1]) == "its process ended with code 7"


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(each([partial(int, "one")], jobs=1))


def test_there_is_a_core() -> None:
    assert processes.cores() >= 1


def test_something_is_done_while_none_is_done() -> None:
    calls: list[int] = []
    assert dict(each([partial(time.sleep, 1.2)], jobs=1, idle=lambda: calls.append(1))) == {0: None}
    assert calls


def test_work_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    task = f"import pathlib, time\nwhile True: pathlib.Path({str(mark)!r}).touch(); time.sleep(0.05)"
    waiting = (
        "from functools import partial; from chmcnn._workers.processes import each; "
        f"list(each([partial(exec, {task!r})], 1))"
    )
    process = subprocess.Popen([sys.executable, "-c", waiting])
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    time.sleep(1)
    mark.unlink()
    time.sleep(0.5)
    assert not mark.exists()
