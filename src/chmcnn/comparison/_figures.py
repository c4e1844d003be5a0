"""The figures of a run: what a trained system is measured by, and what it costs."""

from __future__ import annotations

import json
import math
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn import metrics
from chmcnn._io import strict_json
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.ensemble import CoherentEnsemble
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import NeuralClassifier, check_system_scores
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import UnionType

    from numpy.typing import NDArray

    from chmcnn.comparison._runs import RunSpec
    from chmcnn.comparison._splits import Split
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.metrics import Measure


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a run; None where a figure is unknown, or does not apply to the system."""

    auprc: float  # on the test rows
    validation_auprc: float | None
    best_epoch: int | None
    violations_before: int  # pairs of a row and an edge, before scores are made coherent
    violations_before_share: float
    violations_after: int
    fit_seconds: float
    predict_seconds: float
    parameters: int | None
    memory: float | None  # MiB that training and predicting added to the peak of the process
    threads: int
    settings: Mapping[str, Any] | None = field(default=None, hash=False)  # of a network, with those of its preset
    measures: Mapping[str, float | None] | None = field(default=None, hash=False)  # by key; None in older results

    def get(self, measure: Measure) -> float | None:
        """Return the value of a measure; None if it is not defined on these rows."""
        return self.auprc if measure.key == "auprc" else (self.measures or {})[measure.key]

    def has(self, measure: Measure) -> bool:
        """Whether a measure was computed."""
        return measure.key == "auprc" or measure.key in (self.measures or {})

    def check(self) -> None:
        """Raise a `TypeError` for figures from a file that are none."""
        check_kinds(self, dict.fromkeys(NUMBERS, _NUMBER) | {"settings": dict | None, "measures": dict | None})
        if not all(isinstance(value, _NUMBER) for value in (self.measures or {}).values()):
            raise TypeError("measures")


_NUMBER = int | float | None

NUMBERS = tuple(name for name in Figures.__slots__ if name not in ("settings", "measures"))


def check_kinds(value: object, kinds: Mapping[str, type | UnionType]) -> None:
    """Raise a `TypeError` for an attribute of another kind."""
    for name, kind in kinds.items():
        if not isinstance(getattr(value, name), kind):
            raise TypeError(name)


def measure_system(spec: RunSpec, split: Split, measures: tuple[str, ...] = ()) -> Figures:
    model = spec.get_system().create(
        spec.options, hierarchy=split.train.hierarchy, evaluated=split.evaluated, random_state=spec.seed
    )
    _warm_up()
    peak, start = _measure_peak(), time.perf_counter()
    split.fit(model)
    fitted = time.perf_counter()
    shape = (len(split.test), len(model.hierarchy_))
    raw = torch.from_numpy(check_system_scores(model.uncorrected_proba(split.test.X), shape, spec.system))
    scores = model.correct(raw).numpy()
    predicted, after = time.perf_counter(), _measure_peak()
    parents, children = model.hierarchy_.edges[model.evaluated_[model.hierarchy_.edges].all(axis=1)].T
    violated = (raw[:, children] > raw[:, parents]).numpy()  # only evaluated classes: some systems do not train roots
    best = getattr(model, "best_score_", None)
    values = _compute_measures(model, split, scores, measures)
    return Figures(
        auprc=values["auprc"],
        validation_auprc=best if best is not None and np.isfinite(best) else None,
        best_epoch=getattr(model, "best_epoch_", None),
        violations_before=int(violated.sum()),
        violations_before_share=float(violated.sum() / max(violated.size, 1)),
        violations_after=metrics.violations(scores, model.hierarchy_).number,
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        parameters=_count_parameters(model),
        memory=None if peak is None or after is None else after - peak,
        threads=torch.get_num_threads(),
        settings=_get_settings(model),
        measures={key: value if math.isfinite(value) else None for key, value in values.items()},
    )


def _compute_measures(
    model: HierarchicalClassifier, split: Split, scores: NDArray[np.floating], measures: tuple[str, ...]
) -> dict[str, float]:
    """Return the measures that every result has, and those that were asked for: no later comparison lacks them."""
    outcome = metrics.Outcome(
        Y=split.test.Y,
        scores=scores,
        predicted=scores >= model.thresholds_,
        hierarchy=model.hierarchy_,
        classes=model.evaluated_,
        information=metrics.information_content(split.train.Y, model.hierarchy_),
    )
    wanted = metrics.find_measures(("auprc", *(name for name in measures if name != "auprc")))
    values = {measure.key: measure.compute(outcome) for measure in wanted}
    for measure in metrics.list_stored():
        with suppress(ChmcnnError):  # some need scores from 0 to 1
            values.setdefault(measure.key, measure.compute(outcome))
    return values


def _get_settings(model: HierarchicalClassifier) -> dict[str, Any] | None:
    """Return all settings of a network, or of that of an ensemble; None for other systems."""
    if isinstance(model, CoherentEnsemble):
        return model.network_settings_ and to_plain(model.network_settings_)
    if not isinstance(model, NeuralClassifier):
        return None
    columns = math.prod(model.feature_shape_)
    return to_plain(model.resolve_settings(columns, model.n_samples_fit_, sparse=model.sparse_network_))


def to_plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are read from a file."""
    plain: dict[str, Any] = json.loads(strict_json.dumps(settings))
    return plain


def _warm_up() -> None:
    """Train a small network, so that the costs of the system do not include what libraries load at first use."""
    tree = Hierarchy.from_edges([("a", "b")])
    CHMCNNClassifier(tree, epochs=1, widths=(4,), random_state=0).fit(np.eye(8), [{"b"}, {"a"}] * 4)


def _count_parameters(model: HierarchicalClassifier) -> int | None:
    """Return the number of weights of its networks; None for a system without one."""
    values = [value for name, value in vars(model).items() if name.endswith("_")]
    parts = [part for value in values for part in (value if isinstance(value, list | tuple) else [value])]
    networks = [part for part in parts if isinstance(part, torch.nn.Module)]
    return sum(weights.numel() for network in networks for weights in network.parameters()) if networks else None


def _measure_peak() -> float | None:
    """Return the peak memory of this process in MiB; None where the system does not report it."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
