"""Figure 2 of the paper: C-HMCNN(h), f+ and g+ while the smaller rectangle moves into the bigger one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.datasets.synthetic import STEPS, two_rectangles
from chmcnn.experiments import _parts
from chmcnn.experiments.two_rectangles import KINDS, Kind, auprc, delegated, train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Figure2:
    """AU(PRC) on the test points of each kind with its correction, and the share delegated: (steps, runs)."""

    auprc: Mapping[Kind, NDArray[np.float64]]
    delegated: NDArray[np.float64]  # of the test points of A, the prediction for B of C-HMCNN(h)
    epochs: int


def run(
    folder: Path,
    *,
    epochs: int = 20_000,
    runs: int = 10,
    command: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Train networks of all kinds at each step, with a seed for each run's points and weights; one file for a step."""
    parts = {name: partial(_measured, step, epochs, runs) for step, name in _names().items()}
    settings = _coordinates() | {"epochs": epochs, "runs": runs}
    _parts.run(folder, parts, settings=settings, steps=epochs * len(KINDS), command=command, progress=progress)


def collect(folder: Path) -> Figure2 | None:
    """The results in a folder; None if they are not all there."""
    found = list(_parts.collect(folder, _names().values(), _coordinates()).values())
    if len(found) < STEPS:
        return None
    results = [each["result"] for each in found]
    return Figure2(
        auprc={kind: np.array([result["auprc"][kind] for result in results]) for kind in KINDS},
        delegated=np.array([result["delegated"] for result in results]),
        epochs=found[0]["settings"]["epochs"],
    )


def _names() -> dict[int, str]:
    return {step: f"step{step}" for step in range(1, STEPS + 1)}


def _coordinates() -> dict[str, int | str]:
    return _parts.coordinates(*(two_rectangles(step, rows=1) for step in _names()))


def _measured(step: int, epochs: int, runs: int, advance: Callable[[], object]) -> dict[str, Any]:
    seeds = range(runs)
    problems = [two_rectangles(step, seed=seed) for seed in seeds]
    networks = {kind: train(kind, problems, seeds=seeds, epochs=epochs, progress=advance) for kind in KINDS}
    return {
        "seeds": list(seeds),
        "auprc": {kind: [auprc(kind, *pair) for pair in zip(networks[kind], problems, strict=True)] for kind in KINDS},
        "delegated": [delegated(*pair) for pair in zip(networks["h"], problems, strict=True)],
    }
