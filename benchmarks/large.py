"""All presets on large problems, trained to the end: ``python -m benchmarks.large phenotypes``, or another one.

Each problem is a process of its own, and one file of results: accuracy on test rows, processor time and memory.
``CHMCNN_TEXTS`` names the folder of the texts: see `benchmarks.text_problems`. `benchmarks.encoders` says what
the encoder needs. The network of an interrupted training goes on where it was; its processor time is then only that of
the last process.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.svm import LinearSVC

from benchmarks.encoders import encode
from benchmarks.large_problems import LargeProblem, Proteins, read_all_of_wordnet, read_all_phenotypes
from benchmarks.measure import RESULTS, peak_mib, run_apart
from benchmarks.neighbours import create_neighbours
from benchmarks.texts import measure as measure_ranking
from chmcnn import CHMCNNClassifier, CoherentEnsemble, metrics
from chmcnn.constraint import max_constraint

FOLDER = RESULTS / "scale"


@dataclass(frozen=True, slots=True)
class Setup:
    """How to read a problem, and the settings that differ from the defaults."""

    read: Callable[[], tuple[LargeProblem, LargeProblem]]
    options: dict[str, Any] = field(default_factory=dict)  # of all presets
    network: dict[str, Any] = field(default_factory=dict)
    linear: bool = True  # whether scikit-learn's LinearSVC for each class takes minutes, and not hours


SETUPS = {
    "phenotypes": Setup(read_all_phenotypes),
    "phenotypes-encoded": Setup(
        partial(read_all_phenotypes, encode),
        options={"preprocess": False},  # it was done with the table; a sparse matrix would be scaled again
        linear=False,
    ),
    "wordnet": Setup(read_all_of_wordnet, network={"validation_sample": 2000}),
    "proteins": Setup(
        Proteins().draw,
        options={"validation": 0.05},
        network={"validation_sample": 2000, "refit": False},
        linear=False,
    ),
}


class Judge:
    """Measures systems on test rows, one after the other: only one has its scores in memory."""

    def __init__(self, test: LargeProblem) -> None:
        self.test = test
        self.violations = 0
        self.systems: dict[str, dict[str, float]] = {}

    def add(self, name: str, scores: NDArray[np.float32], seconds: float) -> None:
        """Measure the scores of a system."""
        self.violations += len(self.test.hierarchy.violations(scores))
        fmax = metrics.fmax(self.test.y, scores).value
        self.systems[name] = {**measure_ranking(self.test.y, scores), "Fmax": fmax, "processor seconds": seconds}
        print(name, self.systems[name], flush=True)


def train_presets(name: str) -> dict[str, Any]:
    """Train all presets, and neighbours with fixed settings."""
    setup = SETUPS[name]
    train, test = setup.read()
    judge, data, hierarchy = Judge(test), peak_mib(), train.hierarchy

    start = time.process_time()
    neighbours = create_neighbours(hierarchy).fit(train.x, train.y)
    judge.add("15 neighbours", neighbours.predict_proba(test.x), time.process_time() - start)

    options: dict[str, Any] = {"random_state": 0, **setup.options}
    start = time.process_time()
    fast = CoherentEnsemble(hierarchy, preset="fast", **options).fit(train.x, train.y)
    judge.add("fast", fast.predict_proba(test.x), time.process_time() - start)

    ensemble = CoherentEnsemble(
        hierarchy, network_settings=setup.network, checkpoint=f"build/{name}", verbose=True, **options
    )
    start, clock = time.process_time(), time.perf_counter()
    with _time_networks() as of_networks:
        ensemble.fit(train.x, train.y)
    seconds, elapsed, peak = time.process_time() - start, time.perf_counter() - clock, peak_mib()
    transform = ensemble.preprocessor_.transform
    network = ensemble.members_.get("network") or CHMCNNClassifier(  # which had no weight
        hierarchy, **setup.network, **(options | {"preprocess": False})
    ).fit(transform(train.x), train.y)
    judge.add("default", network.predict_proba(transform(test.x)), sum(of_networks))
    judge.add("best", ensemble.predict_proba(test.x), seconds)

    history = [epoch for epoch in network.history_ if epoch.phase == "train"]
    return {
        "rows": train.y.shape[0],
        "test rows": test.y.shape[0],
        "classes": train.y.shape[1],
        "classes with a row": int((train.y.sum(axis=0) > 0).sum()),
        "columns": train.x.shape[1],
        "options": setup.options | setup.network,
        "weights": ensemble.weights_,
        "validation AU(PRC) of members": ensemble.validation_scores_,
        "notice": ensemble.notice_,
        "data MiB": data,
        "peak MiB": peak,
        "fit seconds": elapsed,
        "epochs": [epoch.seconds for epoch in history],
        "validation AU(PRC) of the sample": [epoch.score for epoch in history],
        "violations": judge.violations,
        "systems": judge.systems,
    }


@contextmanager
def _time_networks() -> Iterator[list[float]]:
    """Collect the processor time of each training of a network."""
    learn, seconds = CHMCNNClassifier._learn, list[float]()  # noqa: SLF001 -- the part of a training that counts

    def timed(self: CHMCNNClassifier, *rows: Any) -> Any:  # noqa: ANN401 -- as the original
        start = time.process_time()
        scores = learn(self, *rows)
        seconds.append(time.process_time() - start)
        return scores

    with mock.patch.object(CHMCNNClassifier, "_learn", timed):
        yield seconds


def train_linear(name: str) -> dict[str, Any]:
    """Train scikit-learn's LinearSVC for each class; margins are mapped to scores and closed by the maximum."""
    train, test = SETUPS[name].read()
    judge, counts, labels, start = Judge(test), train.y.sum(axis=0), train.y.tocsc(), time.process_time()
    scores = np.tile((counts == train.y.shape[0]).astype(np.float32), (test.y.shape[0], 1))
    for at in np.flatnonzero((counts > 0) & (counts < train.y.shape[0])):
        model = LinearSVC(random_state=0).fit(train.x, labels[:, [at]].toarray().ravel())
        scores[:, at] = expit(model.decision_function(test.x))
    closed = max_constraint(torch.from_numpy(scores), train.hierarchy).numpy()
    judge.add("LinearSVC, closed", closed, time.process_time() - start)
    return {"peak MiB": peak_mib(), "violations": judge.violations, "systems": judge.systems}


def main(names: list[str]) -> None:
    """Train on problems that have no result file yet."""
    for name in names or SETUPS:
        run_apart(FOLDER / f"{name}.json", train_presets, name)
        if SETUPS[name].linear:
            run_apart(FOLDER / f"{name}-linear.json", train_linear, name)


if __name__ == "__main__":
    main(sys.argv[1:])
