"""The processes that train together: who is the first, how rows are divided, and what they tell each other.

All that the training knows of several processes is here. For one process, each method returns what it is given.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import Tensor, distributed, nn

from chmcnn._workers import find_place
from chmcnn.errors import ChmcnnError
from chmcnn.nn import SparseMLP
from chmcnn.training._seeding import seed_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Batch = tuple[Tensor, Tensor]

_TIMEOUT = timedelta(minutes=10)
"""Time after which a process that does not answer ends the training; one that is killed ends it at once."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The place of this process among those that train together.

    >>> Ranks(1, size=3).take([0, 1, 2, 3, 4])
    [1, 4]
    """

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes files, shows progress and prints."""
        return self.rank == 0

    # Dividing

    def take(self, rows: T) -> T:
        """Return the rows of this process: of anything that has slices."""
        return rows if self.size == 1 else rows[self.rank :: self.size]  # type: ignore[index]  # no type for slices

    def in_step(self, batches: Iterable[Batch]) -> Iterator[tuple[Tensor, Tensor, int, float]]:
        """Yield the batches of this process, each with the number of its rows and the weight of its loss.

        Gradients are means over the processes: with these weights, a step is one on the mean of all rows. A process
        that has no batch left takes part with its last one, which counts nothing, until no process has one.
        """
        if self.size == 1:
            yield from ((x, y, len(y), 1.0) for x, y in batches)
            return
        last: Batch | None = None
        for batch, rows, of in self._count_ahead(self._draw_apart(batches)):
            last = batch or last
            if last is None:
                raise ChmcnnError(
                    f"Process {self.rank + 1} of {self.size} has no row to train on; start fewer processes, or use "
                    "larger batches, or smaller row groups."
                )
            yield *last, rows, rows * self.size / of

    def _count_ahead(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch | None, int, int]]:
        """Yield each batch with its rows, and those of all processes, which are added up during the step before."""

        def begin() -> tuple[Batch | None, int, Tensor, Any]:
            batch = next(batches, None)
            rows = 0 if batch is None else len(batch[1])
            of_all = torch.tensor(rows)
            return batch, rows, of_all, distributed.all_reduce(of_all, async_op=True)

        batch, rows, of_all, addition = begin()
        while addition.wait() and of_all:
            ready = batch, rows, int(of_all)
            batch, rows, of_all, addition = begin()
            yield ready

    def _draw_apart(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches whose order all processes draw alike; what they draw between them, as dropout, is their own."""
        shared = torch.get_rng_state()
        seed = np.random.SeedSequence([torch.initial_seed(), self.rank]).generate_state(1, np.uint64)[0]
        seed_torch(int(seed))
        own = torch.get_rng_state()
        torch.set_rng_state(shared)
        for batch in batches:
            shared = torch.get_rng_state()
            torch.set_rng_state(own)
            yield batch
            own = torch.get_rng_state()
            torch.set_rng_state(shared)

    # Telling each other

    def from_first(self, function: Callable[[], T]) -> T:
        """Return the result of a function of the first process; its error is raised in all."""
        if self.size == 1:
            return function()
        outcome: list[Any] = [None]
        if self.is_first:
            try:
                outcome = [(function(), None)]
            except Exception as error:  # noqa: BLE001 -- raised below, in all processes
                outcome = [(None, error)]
        distributed.broadcast_object_list(outcome)
        value, failure = outcome[0]
        if failure is not None:
            raise failure
        result: T = value
        return result

    def gather(self, value: T) -> list[T]:
        """Return the values of all processes, in their order."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def concatenate(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the arrays of all processes as one."""
        return values if self.size == 1 else np.concatenate(self.gather(values))

    def add(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the arrays of all processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values)
        distributed.all_reduce(total)
        return total.numpy()

    def require_same(self, facts: dict[str, Any]) -> None:
        """Refuse processes that do not agree on what is trained."""
        for number, others in enumerate(self.gather(facts), start=1):
            differing = [name for name in facts if others[name] != facts[name]]
            if differing:
                raise ChmcnnError(
                    f"Processes {self.rank + 1} and {number} have other {' and '.join(differing)}. Pass the same to "
                    "all processes: they divide the rows among them."
                )

    # The network

    def replicate(self, network: nn.Module) -> nn.Module:
        """Return a network that averages its gradients over all processes, and starts with the weights of the first.

        The parameters are shared with the network that is passed.
        """
        if self.size == 1:
            return network
        sparse = [name for name, part in network.named_modules() if isinstance(part, SparseMLP)]
        for name in sparse:
            self._average_rows(network.get_submodule(name).first)
        replica = nn.parallel.DistributedDataParallel
        # It expects sparse gradients of torch's own embeddings only, and has no other way to leave parameters out.
        names = [f"{name}.first".removeprefix(".") for name in sparse]
        replica._set_params_and_buffers_to_ignore_for_model(network, [*names, *(f".{name}" for name in names)])  # noqa: SLF001
        return replica(network, gradient_as_bucket_view=True)

    def _average_rows(self, parameter: Any) -> None:  # noqa: ANN401 -- torch has no type for hooks of a parameter
        """Average the sparse gradient of a parameter over all processes."""
        distributed.broadcast(parameter.data, 0)

        def average(changed: Any) -> None:  # noqa: ANN401 -- as above
            distributed.all_reduce(changed.grad)
            changed.grad = changed.grad / self.size

        parameter.register_post_accumulate_grad_hook(average)


ALONE = Ranks()


def join() -> Ranks:
    """Join the processes that torchrun started, or those of a process group that exists; never start any."""
    if joined() == ALONE and find_place().size > 1:
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        with explain_silence():
            distributed.init_process_group(backend, timeout=_TIMEOUT)
    return joined()


def joined() -> Ranks:
    """Return the place of this process among those that it has joined; alone if there are none."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return ALONE
    return Ranks(distributed.get_rank(), distributed.get_world_size())


@contextmanager
def explain_silence() -> Iterator[None]:
    """Say what it means if another process does not answer."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, distributed.DistError) or "gloo" in str(error)):
            raise
        reason = str(error).splitlines()[0]
        raise ChmcnnError(
            "Another process of this training has ended, or does not answer: its own message says more. With a "
            f"checkpoint, the same command resumes after the last epoch, with any number of processes. ({reason})"
        ) from None
