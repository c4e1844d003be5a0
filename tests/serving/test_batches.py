import asyncio
import threading
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from fastapi import HTTPException
from scipy import sparse

from chmcnn.errors import FeatureError
from chmcnn.serving._batches import Batches
from chmcnn.serving._columns import concatenate
from chmcnn.serving._limits import Limits


class Question(NamedTuple):
    """One row; or several of another kind."""

    value: float
    size: int = 1
    kind: object = float


class Model:
    """Answers with the number it was asked, as soon as it may; refuses negative ones."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.counted: list[int] = []
        self.threads: list[str] = []
        self.began, self.may = threading.Event(), threading.Event()

    def compute(self, questions: list[Question]) -> list[float]:
        self.calls.append(len(questions))
        self.threads.append(threading.current_thread().name)
        self.began.set()
        assert self.may.wait(300)
        if any(each.value < 0 for each in questions):
            raise FeatureError("A row is negative.")
        return [each.value for each in questions]

    def create_batches(self, limits: Limits | None = None, most: int = 1000) -> Batches[Question, float]:
        return Batches(self.compute, limits or Limits(), most, self.counted.append)


async def ask(batches: Batches[Question, float], model: Model, questions: list[Question]) -> list[Any]:
    """Send one request for each question while the model computes the first; return answers or errors."""
    tasks = [asyncio.create_task(batches.ask(question)) for question in questions]
    await asyncio.to_thread(model.began.wait, 300)
    model.may.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_requests_that_come_together_are_computed_together() -> None:
    model = Model()
    batches = model.create_batches()
    found = asyncio.run(ask(batches, model, [Question(number) for number in range(50)]))
    batches.close()
    assert found == list(range(50))
    assert model.calls == model.counted == [50]
    assert batches.waiting_rows == 0


def test_a_batch_has_a_largest_size_and_one_kind() -> None:
    model = Model()
    batches = model.create_batches(most=3)
    found = asyncio.run(ask(batches, model, [Question(1, 2), Question(2, 2), Question(3), Question(4, 1, str)]))
    batches.close()
    assert found == [1, 2, 3, 4]
    assert model.counted == [2, 3, 1]


def test_quick_batches_need_no_thread_and_slow_ones_leave_the_loop_free() -> None:
    model = Model()
    model.may.set()
    batches = model.create_batches()

    async def ask_one_by_one() -> None:
        for batches._seconds in (1.0, 0.0, 1.0):  # processor seconds of the batch before
            await batches.ask(Question(0.0))

    asyncio.run(ask_one_by_one())
    batches.close()
    assert [name.startswith("chmcnn-serve") for name in model.threads] == [True, False, True]


def test_a_batch_that_fails_at_once_does_not_make_the_next_one_quick() -> None:
    model = Model()
    model.may.set()
    batches = model.create_batches()

    async def ask_one_by_one() -> None:
        batches._seconds = 1.0
        with pytest.raises(FeatureError):
            await batches.ask(Question(-1.0))
        await batches.ask(Question(0.0))

    asyncio.run(ask_one_by_one())
    batches.close()
    assert [name.startswith("chmcnn-serve") for name in model.threads] == [True, True]


def test_the_model_is_never_at_work_twice_at_a_time() -> None:
    model, began, other = Model(), threading.Event(), threading.Event()
    model.may.set()
    batches = model.create_batches()

    def work_long() -> bool:
        began.set()
        return other.wait(300)

    async def ask_while_another_call_runs() -> float:
        running = asyncio.create_task(batches.run(work_long, 1))
        await asyncio.to_thread(began.wait, 300)
        batches._seconds = 0.0
        asked = asyncio.create_task(batches.ask(Question(7.0)))
        for _ in range(100):
            await asyncio.sleep(0)
        assert model.calls == []
        other.set()
        assert await running
        return await asked

    assert asyncio.run(ask_while_another_call_runs()) == 7.0
    batches.close()
    assert model.threads[0].startswith("chmcnn-serve")


def test_one_wrong_request_spoils_no_other() -> None:
    model = Model()
    batches = model.create_batches()
    found = asyncio.run(ask(batches, model, [Question(0.1), Question(-1.0), Question(0.3)]))
    batches.close()
    assert isinstance(found[1], FeatureError)
    assert [found[0], found[2]] == [0.1, 0.3]


def test_too_much_to_do_is_told_at_once() -> None:
    model = Model()
    batches = model.create_batches(Limits(waiting=2))
    found = asyncio.run(ask(batches, model, [Question(number) for number in range(4)]))
    batches.close()
    assert found[:2] == [0, 1]
    assert [error.status_code for error in found[2:]] == [503, 503]
    assert found[2].headers == {"Retry-After": "1"}
    assert found[2].detail == "2 rows are waiting already; try again."


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    model = Model()

    async def wait() -> None:
        batches = model.create_batches(Limits(seconds=0.05), most=1)
        try:
            tasks = [asyncio.create_task(batches.ask(Question(number))) for number in range(2)]
            for task in tasks:  # the model computes the first, and the second waits
                with pytest.raises(HTTPException, match=r"no answer within 0\.05 seconds"):
                    await task
            assert batches.waiting_rows == 0
        finally:
            model.may.set()
            batches.close()

    asyncio.run(wait())


@pytest.mark.parametrize(
    "features", [np.ones((1, 1)), pd.DataFrame({"size": [1.0]}), sparse.csr_array(np.ones((1, 1)))]
)
def test_rows_of_every_kind_are_joined(features: Any) -> None:
    joined: Any = concatenate([features] * 3)
    assert type(joined) is type(features)
    assert joined.shape == (3, 1)


def test_texts_are_joined() -> None:
    assert concatenate([["a"], ["b", "c"]]) == ["a", "b", "c"]
