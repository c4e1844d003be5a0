"""Requests that come together are computed together: one call of the model for all rows that wait."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd
from fastapi import HTTPException
from scipy import sparse

from chmcnn.serving._rows import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.serving._limits import Limits

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A request that waits for its scores."""

    features: Features
    rows: int
    scores: asyncio.Future[NDArray[np.float32]]


class Batches:
    """Computes scores in one thread, where the model is; requests wait without blocking each other.

    While the model computes, further requests gather, and are the next batch. Nothing waits for company: the first
    request is computed at once.
    """

    def __init__(self, model: HierarchicalClassifier, limits: Limits, count: Callable[[int], None]) -> None:
        self._model, self._limits, self._count = model, limits, count
        self._waiting: list[_Waiting] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="chmcnn-serve")
        self._task: asyncio.Task[None] | None = None
        self._most = max(limits.rows, (1 << 22) // max(1, len(model.hierarchy_)))  # rows of a batch

    @property
    def waiting_rows(self) -> int:
        """Number of rows that wait."""
        return sum(each.rows for each in self._waiting)

    async def score(self, features: Features, rows: int) -> NDArray[np.float32]:
        """Return the coherent scores (rows, classes) of a request."""
        self._refuse_when_full(rows)
        waiting = _Waiting(features, rows, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        try:
            return await self._within_time(waiting.scores)
        finally:
            if waiting in self._waiting:  # it took too long, or the client has gone
                self._waiting.remove(waiting)

    async def run(self, compute: Callable[[], _Result], rows: int) -> _Result:
        """Return what is computed in the thread of the model."""
        self._refuse_when_full(rows)
        return await self._within_time(asyncio.get_running_loop().run_in_executor(self._thread, compute))

    def close(self) -> None:
        """End the thread, after what it is doing."""
        self._thread.shutdown()

    def _refuse_when_full(self, rows: int) -> None:
        if self.waiting_rows + rows > self._limits.waiting:
            raise HTTPException(
                503, f"{self.waiting_rows:,} rows are waiting already; try again.", headers={"Retry-After": "1"}
            )

    async def _within_time(self, result: asyncio.Future[_Result]) -> _Result:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await result
        except TimeoutError:
            raise HTTPException(
                503,
                f"There is no answer within {self._limits.seconds:g} seconds; try again, or send fewer rows.",
                headers={"Retry-After": "1"},
            ) from None

    async def _work(self) -> None:
        """Compute batches until nobody waits."""
        while self._waiting:
            await self._answer(self._take())

    async def _answer(self, batch: list[_Waiting]) -> None:
        """Compute a batch; if it fails, each request by itself: only those that are wrong get an error."""
        rows = [each.rows for each in batch]
        self._count(sum(rows))
        features = [each.features for each in batch]
        try:
            scores = await asyncio.get_running_loop().run_in_executor(self._thread, self._compute, features)
        except Exception as error:  # noqa: BLE001 -- whatever fails is the answer of the one who waits for it
            if len(batch) > 1:
                for each in batch:
                    await self._answer([each])
            elif not batch[0].scores.done():
                batch[0].scores.set_exception(error)
            return
        for each, part in zip(batch, np.split(scores, np.cumsum(rows)[:-1]), strict=True):
            if not each.scores.done():
                each.scores.set_result(part)

    def _take(self) -> list[_Waiting]:
        """Return the first of those that wait, as many as are computed at once; only features of one kind."""
        kind, rows, count = type(self._waiting[0].features), 0, 0
        for each in self._waiting:
            if count and (type(each.features) is not kind or rows + each.rows > self._most):
                break
            rows, count = rows + each.rows, count + 1
        batch, self._waiting[:count] = self._waiting[:count], []
        return batch

    def _compute(self, features: list[Features]) -> NDArray[np.float32]:
        return self._model.predict_proba(concatenate(features))


def concatenate(features: Sequence[Features]) -> Features:
    """Return the rows of several requests in one table, matrix or list."""
    first: Any = features[0]
    if isinstance(first, Records):
        return Records(first.columns, [row for each in features for row in each.rows]).to_table()
    if len(features) == 1:
        return first
    if isinstance(first, pd.DataFrame):
        return pd.concat(cast("Any", features), ignore_index=True)
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack(features))
    if isinstance(first, np.ndarray):
        return np.concatenate(cast("Any", features))
    return [text for each in features for text in cast("Any", each)]
