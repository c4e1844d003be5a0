"""Results of comparisons that nobody has run."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chmcnn._io import results
from chmcnn.comparison._figures import Figures
from chmcnn.comparison._runs import Run, RunSpec, versions
from chmcnn.comparison._summary import Comparison, summarise

WHY = "this system takes one path for each row"


def summed_up(  # the defaults are those of a comparison on one data set
    datasets: Sequence[str] = ("mine",),
    systems: Sequence[str] = ("C-HMCNN", "h+", "f+"),
    *,
    repeats: int = 5,
    folds: bool = False,
    lacking: Collection[tuple[str, str]] = (),
    apart: float = 0.02,
    **options: Any,
) -> Comparison:
    """Each system is a little worse than the one before it; some have no result."""
    random, runs = np.random.default_rng(0), []
    for dataset in datasets:
        for place, system in enumerate(systems):
            for number in range(repeats):
                where: dict[str, Any] = {"fold": number, "folds": repeats} if folds else {"seed": number}
                score = 0.8 - apart * place + random.normal(0, 0.004)
                figures = Figures(score, 0.5, 10, 7, 0.01, 0, 10.0, 0.1, 1000 if place else None, 30.0, 1)
                lacks = (dataset, system) in lacking and number == repeats - 1
                spec = RunSpec(dataset, system, {}, **where)
                runs.append(Run(spec, "digest", None if lacks else figures, WHY if lacks else "", versions=versions()))
    sizes = {name: {"rows": 100, "features": 5, "classes": 10} for name in datasets}
    defaults: dict[str, Any] = {"drawn": dict.fromkeys(datasets, folds), "missing": "last"}
    return summarise(runs, systems=systems, sizes=sizes, **defaults | options)


def write_runs(
    folder: Path,
    scores: Mapping[str, Sequence[float]],
    system: str = "C-HMCNN",
    options: Mapping[str, Any] | None = None,
) -> None:
    """Files of results: for each data set a score for each seed."""
    for dataset, values in scores.items():
        for seed, score in enumerate(values):
            spec = RunSpec(dataset, system, dict(options or {}), seed)
            figures = Figures(score, score, 10, 7, 0.01, 0, 10.0, 0.1, 1000, 30.0, 1)
            results.write(spec.path(folder), Run(spec, "digest", figures, versions=versions()).to_json())
