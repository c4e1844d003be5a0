"""Requests that come together are computed together: one call of the model for all rows that wait."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from fastapi import HTTPException

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.serving._limits import Limits

_QUICK = 0.005
"""Processor seconds of a batch that needs no thread: a thread may keep the interpreter to itself that long anyway."""


class _Question(Protocol):
    """What a request asks the model."""

    @property
    def size(self) -> int:
        """Number of rows."""

    @property
    def kind(self) -> object:
        """Only questions of one kind are computed together."""


_Asked = TypeVar("_Asked", bound=_Question)
_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting(Generic[_Asked, _Answer]):
    """A request that waits for its answer."""

    question: _Asked
    answer: asyncio.Future[_Answer]


class Batches(Generic[_Asked, _Answer]):
    """Computes the answers to all requests that wait in one call, while further requests gather for the next one.

    Nothing waits for company: the first request is computed as soon as those are read that came with it. A batch that
    takes long is computed in a thread, so that requests are read meanwhile; for a quick one, handing it to a thread and
    back would take longer than the answer. The model is never at work twice at a time.

    Parameters
    ----------
    compute
        Returns the answers to several questions.
    limits
        How long a request may wait, and for how many rows at a time.
    most
        Rows of a batch.
    count
        Called with the number of rows of each batch.
    """

    def __init__(
        self,
        compute: Callable[[list[_Asked]], list[_Answer]],
        limits: Limits,
        most: int,
        count: Callable[[int], None],
    ) -> None:
        self._compute, self._limits, self._most, self._count = compute, limits, most, count
        self._waiting: list[_Waiting[_Asked, _Answer]] = []
        self.waiting_rows = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="chmcnn-serve")
        self._task: asyncio.Task[None] | None = None
        self._model = threading.Lock()  # held while the model is at work
        self._seconds, self._rows = float("inf"), 1  # of the last batch

    async def ask(self, question: _Asked) -> _Answer:
        """Return the answer to a request."""
        self._refuse_when_full(question.size)
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self.waiting_rows += question.size
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        try:
            return await self._within_time(waiting.answer)
        finally:
            if waiting.answer.cancelled() and waiting in self._waiting:  # it took too long, or the client has gone
                self._waiting.remove(waiting)
                self.waiting_rows -= question.size

    async def run(self, compute: Callable[[], _Result], rows: int) -> _Result:
        """Return what is computed in the thread of the model."""
        self._refuse_when_full(rows)
        self.waiting_rows += rows
        try:
            return await self._within_time(self._run_in_thread(compute))
        finally:
            self.waiting_rows -= rows

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
            await self._gather()
            if self._waiting:
                await self._answer(self._take())

    async def _gather(self) -> None:
        """Let requests be read that have arrived already, as long as there are more, and for a short time at most."""
        end, before = time.perf_counter() + _QUICK, 0
        while before < self.waiting_rows < self._most and time.perf_counter() < end:
            before = self.waiting_rows
            for _ in range(2):  # bytes arrive in one turn of the loop, and are read in the next
                await asyncio.sleep(0)

    async def _answer(self, batch: list[_Waiting[_Asked, _Answer]]) -> None:
        """Compute a batch; if it fails, each request by itself: only those that are wrong get an error."""
        rows = sum(each.question.size for each in batch)
        self._count(rows)
        try:
            answers = await self._compute_batch([each.question for each in batch], rows)
        except Exception as error:  # noqa: BLE001 -- whatever fails is the answer of the one who waits for it
            if len(batch) > 1:
                for each in batch:
                    await self._answer([each])
            elif not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        for each, answer in zip(batch, answers, strict=True):
            if not each.answer.done():
                each.answer.set_result(answer)

    async def _compute_batch(self, questions: list[_Asked], rows: int) -> list[_Answer]:
        """Compute at once what is expected to be quick, as the last batch was, and anything else in the thread."""

        def compute() -> list[_Answer]:
            start = time.thread_time()  # other programs of the machine do not count
            answers = self._compute(questions)
            self._seconds, self._rows = time.thread_time() - start, rows  # an error is quick, and says nothing
            return answers

        if self._seconds * max(1, rows / self._rows) < _QUICK and self._model.acquire(blocking=False):
            try:
                return compute()
            finally:
                self._model.release()
        return await self._run_in_thread(compute)

    def _run_in_thread(self, compute: Callable[[], _Result]) -> asyncio.Future[_Result]:
        return asyncio.get_running_loop().run_in_executor(self._thread, self._run_alone, compute)

    def _run_alone(self, compute: Callable[[], _Result]) -> _Result:
        with self._model:
            return compute()

    def _take(self) -> list[_Waiting[_Asked, _Answer]]:
        """Return the first of those that wait, as many as are computed at once; only questions of one kind."""
        kind, rows, count = self._waiting[0].question.kind, 0, 0
        for each in self._waiting:
            if count and (each.question.kind is not kind or rows + each.question.size > self._most):
                break
            rows, count = rows + each.question.size, count + 1
        batch, self._waiting[:count] = self._waiting[:count], []
        self.waiting_rows -= rows
        return batch
