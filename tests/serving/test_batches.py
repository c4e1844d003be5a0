import asyncio
import threading
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from fastapi import HTTPException
from numpy.typing import NDArray
from scipy import sparse

from chmcnn import Hierarchy
from chmcnn.errors import FeatureError
from chmcnn.serving._batches import Batches
from chmcnn.serving._limits import Limits


class Model:
    """Scores each row with its first number, as soon as it may; refuses negative ones."""

    hierarchy_ = Hierarchy.from_edges([("a", "b")])

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.counted: list[int] = []
        self.began, self.may = threading.Event(), threading.Event()

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        self.calls.append(len(X))
        self.began.set()
        assert self.may.wait(300)
        values = np.asarray(X, dtype=np.float32)[:, :1]
        if (values < 0).any():
            raise FeatureError("A row is negative.")
        return np.repeat(values, 2, axis=1)


async def ask(batches: Batches, model: Model, values: list[float]) -> list[Any]:
    """Send one request for each value while the model computes the first; return scores or errors."""
    tasks = [asyncio.create_task(batches.score(np.array([[value]]), 1)) for value in values]
    await asyncio.to_thread(model.began.wait, 300)
    model.may.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_requests_that_come_together_are_computed_together() -> None:
    model = Model()
    batches = Batches(cast("Any", model), Limits(), model.counted.append)
    found = asyncio.run(ask(batches, model, [number / 100 for number in range(50)]))
    batches.close()
    assert [float(scores[0, 0]) for scores in found] == pytest.approx([number / 100 for number in range(50)])
    assert sum(model.calls) == 50
    assert len(model.calls) <= 2
    assert model.counted == model.calls


def test_one_wrong_request_spoils_no_other() -> None:
    model = Model()
    batches = Batches(cast("Any", model), Limits(), model.counted.append)
    found = asyncio.run(ask(batches, model, [0.1, -1.0, 0.3]))
    batches.close()
    assert isinstance(found[1], FeatureError)
    assert [float(found[place][0, 0]) for place in (0, 2)] == pytest.approx([0.1, 0.3])


def test_too_much_to_do_is_told_at_once() -> None:
    model = Model()
    batches = Batches(cast("Any", model), Limits(waiting=2), model.counted.append)
    found = asyncio.run(ask(batches, model, [0.1, 0.2, 0.3, 0.4]))
    batches.close()
    refused = [each for each in found if isinstance(each, HTTPException)]
    assert [error.status_code for error in refused] == [503] * len(refused)
    assert refused
    assert refused[0].headers == {"Retry-After": "1"}


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    model = Model()

    async def wait() -> None:
        batches = Batches(cast("Any", model), Limits(seconds=0.05), model.counted.append)
        try:
            with pytest.raises(HTTPException, match=r"no answer within 0\.05 seconds"):
                await batches.score(np.zeros((1, 1)), 1)
            assert batches.waiting_rows == 0
        finally:
            model.may.set()
            batches.close()

    asyncio.run(wait())


@pytest.mark.parametrize(
    "features", [np.ones((1, 1)), pd.DataFrame({"size": [1.0]}), sparse.csr_array(np.ones((1, 1)))]
)
def test_rows_of_every_kind_are_joined(features: Any) -> None:
    class Counting(Model):
        def predict_proba(self, X: Any) -> NDArray[np.float32]:
            self.calls.append(X.shape[0])
            assert self.may.wait(300)
            return np.zeros((X.shape[0], 2), dtype=np.float32)

    model = Counting()
    batches = Batches(cast("Any", model), Limits(), model.counted.append)

    async def ask_twice() -> list[Any]:
        tasks = [asyncio.create_task(batches.score(features.copy(), 1)) for _ in range(4)]
        await asyncio.sleep(0.05)
        model.may.set()
        return await asyncio.gather(*tasks)

    assert [scores.shape for scores in asyncio.run(ask_twice())] == [(1, 2)] * 4
    assert model.calls == [4]
    batches._most = 1  # others still wait when the first is done
    assert [scores.shape for scores in asyncio.run(ask_twice())] == [(1, 2)] * 4
    assert model.calls == [4, 1, 1, 1, 1]
    batches.close()
