"""What is checked before a comparison runs anything: hours of training are not lost for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from chmcnn import metrics
from chmcnn._io import user_code
from chmcnn.cluster import ClusterExecutor
from chmcnn.constraint import max_constraint
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from chmcnn.comparison._splits import Source, Split
    from chmcnn.comparison._systems import System
    from chmcnn.metrics import Measure

_ROWS = 2000
"""Rows that measures are tried on."""


def refuse_unsendable(systems: Sequence[System], measures: Sequence[Measure], executor: Executor | None) -> None:
    """Refuse classes and functions that the processes which execute runs cannot import."""
    paths = list(filter(None, [*(part.path for part in systems), *(part.path for part in measures)]))
    if isinstance(executor, ClusterExecutor):
        executor.send_code(paths)
        return
    for path in paths if executor is None else ():
        if user_code.is_interactive(path):
            raise ChmcnnError(
                f"{path} is defined in a notebook or at a prompt, where worker processes cannot import it; write it "
                "to a file, such as mine.py, and import it from there."
            )


def refuse_small(loaded: Sequence[Source], seeds: int, folds: int | None) -> None:
    """Draw all folds or parts once: this raises an error if one has nothing to test on."""
    for source in loaded:
        for number in range(folds or seeds):
            _draw(source, number, folds)


def refuse_undefined(measures: Sequence[Measure], loaded: Sequence[Source], folds: int | None) -> None:
    """Compute all measures of random scores once: this raises an error if one fails, or is not defined."""
    for source in loaded:
        outcome = _invent(_draw(source, 0, folds))
        for measure in measures:
            try:
                value = measure.compute(outcome)
            except ChmcnnError:
                raise
            except Exception as error:
                raise ChmcnnError(
                    f"The measure {measure.name} fails on random scores of {source.name}: "
                    f"{user_code.describe_error(error)}"
                ) from error
            if math.isnan(value):
                raise ChmcnnError(
                    f"The measure {measure.name} is not defined on the test rows of {source.name}; use another one."
                )


def _draw(source: Source, number: int, folds: int | None) -> Split:
    return source.fold(number, folds) if folds else source.split(number)


def _invent(split: Split) -> metrics.Outcome:
    """Return random coherent scores of test rows."""
    hierarchy = split.train.hierarchy
    test = split.test.take(np.arange(min(len(split.test), _ROWS)))
    random = np.random.default_rng(0).random((len(test), len(hierarchy)), dtype=np.float32)
    scores = max_constraint(torch.from_numpy(random), hierarchy).numpy()
    return metrics.Outcome(
        Y=test.Y,
        scores=scores,
        predicted=scores >= 0.5,
        hierarchy=hierarchy,
        classes=np.ones(len(hierarchy), dtype=np.bool_) if split.evaluated is None else split.evaluated,
        information=np.ones(len(hierarchy)),
    )
