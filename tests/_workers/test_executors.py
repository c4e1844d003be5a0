"""What works with any executor."""

import operator
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.untyped import untyped

from chmcnn import _workers
from chmcnn._workers import InlineExecutor, ProcessExecutor, Workers, iterate_completed, open_workers


def run_all(
    executor: Executor, calls: Sequence[Callable[[], Any]], at_once: int = 10, **options: Any
) -> Iterator[tuple[int, Future[Any]]]:
    """Each call with its number, when it is completed."""
    numbered = iter(enumerate(calls))

    def take() -> tuple[int, Future[Any]] | None:
        taken = next(numbered, None)
        return None if taken is None else (taken[0], executor.submit(taken[1]))

    return iterate_completed(take, lambda: at_once, **options)


def test_a_number_of_jobs_opens_processes_that_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workers._threads, "count_cores", lambda: 4)
    with open_workers(3, None, tasks=10) as workers:
        assert isinstance(workers.executor, ProcessExecutor)
        assert workers.executor._threads._max_workers == workers.limit() == 3
        assert workers.threads == 1
    with pytest.raises(RuntimeError, match="after shutdown"):
        workers.executor.submit(int)
    with open_workers(None, None, tasks=1) as workers:
        assert workers.limit() == 1, "no more than there are tasks"


def test_an_executor_is_used_and_stays_open() -> None:
    with ThreadPoolExecutor(3) as own:
        with open_workers(None, own, tasks=5) as workers:
            assert workers.executor is own
            assert workers.threads is None
            assert workers.limit() == 3
        with open_workers(2, own, tasks=5) as workers:
            assert workers.limit() == 2
        assert own.submit(abs, -1).result() == 1


def test_an_executor_without_workers_yet_or_of_unknown_size_gets_tasks() -> None:
    class Growing(InlineExecutor):
        _max_workers = 0

    assert Workers(Growing(), None).limit() == 1
    assert Workers(Executor(), None).limit() == 100


def test_completed_calls_come_with_their_number() -> None:
    with ThreadPoolExecutor(2) as executor:
        futures = dict(run_all(executor, [partial(operator.add, 1, 2), partial(int, "one")]))
    assert futures.keys() == {0, 1}
    assert futures[0].result() == 3
    assert isinstance(futures[1].exception(), ValueError)


def test_an_error_comes_after_the_results_that_are_there_already() -> None:
    executor = InlineExecutor()
    completed = run_all(executor, [partial(int, "one"), partial(int, "1"), partial(int, "2")])
    numbers = [number for number, _ in completed]
    assert sorted(numbers) == [0, 1, 2]
    assert numbers[-1] == 0


def test_no_more_are_submitted_than_may_run_at_once() -> None:
    with ThreadPoolExecutor(4) as executor:
        running: list[int] = []
        most: list[int] = []

        def call() -> None:
            running.append(1)
            time.sleep(0.01)
            most.append(len(running))
            running.pop()

        assert len(list(run_all(executor, [call] * 8, at_once=2))) == 8
    assert max(most) <= 2


def test_a_function_is_called_while_none_is_completed() -> None:
    called = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        ((_, future),) = run_all(executor, [partial(called.wait, 300)], on_idle=called.set)
    assert future.result(), "it has ended because the function was called"


def test_an_early_end_cancels_what_has_not_started() -> None:
    started: list[int] = []
    closed = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        calls: list[Callable[[], Any]] = [
            partial(started.append, 0),
            partial(closed.wait, 300),
            partial(started.append, 2),
        ]
        completed = run_all(executor, calls)
        next(completed)
        untyped(completed).close()
        closed.set()
    assert started == [0]


def test_a_call_in_this_thread_is_interrupted_by_an_interrupt_alone() -> None:
    executor = InlineExecutor()
    assert isinstance(executor.submit(int, "one").exception(), ValueError)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor.submit(interrupt)
