"""What works with any executor."""

import operator
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.untyped import untyped

from chmcnn import _workers
from chmcnn._workers import ProcessExecutor, iterate_completed, open_executor


def test_a_number_of_jobs_opens_processes_that_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workers._threads, "count_cores", lambda: 4)
    with open_executor(3, tasks=10) as (executor, threads):
        assert isinstance(executor, ProcessExecutor)
        assert executor._threads._max_workers == 3
        assert threads == 1
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(int)
    with open_executor(None, tasks=1) as (executor, _):
        assert isinstance(executor, ProcessExecutor)
        assert executor._threads._max_workers == 1, "no more than there are tasks"


def test_an_executor_is_used_and_stays_open() -> None:
    with ThreadPoolExecutor(1) as own:
        with open_executor(own, tasks=3) as (executor, threads):
            assert executor is own
            assert threads is None
        assert own.submit(abs, -1).result() == 1


def test_completed_calls_come_with_their_number() -> None:
    with ThreadPoolExecutor(2) as executor:
        calls = [partial(operator.add, 1, 2), partial(int, "one")]
        futures = dict(iterate_completed(executor, calls))
    assert futures.keys() == {0, 1}
    assert futures[0].result() == 3
    assert isinstance(futures[1].exception(), ValueError)


def test_a_function_is_called_while_none_is_completed() -> None:
    calls: list[int] = []
    with ThreadPoolExecutor(1) as executor:
        list(iterate_completed(executor, [partial(time.sleep, 1.2)], on_idle=lambda: calls.append(1)))
    assert calls


def test_an_early_end_cancels_what_has_not_started() -> None:
    started: list[int] = []
    with ThreadPoolExecutor(1) as executor:
        calls = [partial(started.append, 0), partial(time.sleep, 0.2), partial(started.append, 2)]
        completed = iterate_completed(executor, calls)
        next(completed)
        untyped(completed).close()
    assert started == [0]
