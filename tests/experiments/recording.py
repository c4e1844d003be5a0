"""A context that remembers the progress of an experiment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chmcnn.experiments.context import Context


@dataclass(frozen=True)
class RecordingContext(Context):
    """How an experiment is run, with a list of its progress: (finished, total) for each step."""

    steps: list[tuple[int, int]] = field(default_factory=list)

    @contextmanager
    def show_progress(self) -> Iterator[Callable[[int, int], object]]:
        yield lambda finished, total: self.steps.append((finished, total))
