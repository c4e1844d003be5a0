"""What each member of an ensemble brings: members alone, pairs of them, and all, on rows that no choice has seen.

python -m benchmarks.ensembles                              # all problems, 3 seeds; finished ones are skipped
python -m benchmarks.ensembles cellcycle_FUN --seeds 1

Only training and validation rows of a data set are used. A fifth of them is held out to judge on, and a fifth of the
rest decides about epochs, settings and weights. Each problem and seed is one file of results.
"""

import argparse
import json
import time
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from benchmarks import mixed_problems, text_problems
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, describe_machine, load_all, write
from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, datasets, metrics
from chmcnn.baselines import ExtraTrees, KernelRidge, Linear, Neighbours
from chmcnn.datasets.stratification import stratify
from chmcnn.ensemble._scores import average, iterate_blocks, iterate_together  # members are trained once for all
from chmcnn.ensemble._weights import Cells

FOLDER = RESULTS / "ensembles"
TABLES = ("cellcycle_FUN", "eisen_FUN", "seq_FUN", "enron", "diatoms", "eisen_GO")
MIXED = tuple(mixed_problems.PROBLEMS)
PROBLEMS = (*TABLES, *text_problems.PROBLEMS, *MIXED)
SEEDS = 3
TEXTS = 6000
"""Rows of a text problem: enough to compare members in minutes."""
_FILLED_TREES = partial(ExtraTrees, min_filled=0.1)
MEMBERS: dict[str, dict[str, Any]] = {
    "tables": {"network": CHMCNNClassifier, "ridge": KernelRidge, "trees": ExtraTrees, "neighbours": Neighbours},
    "texts": {"network": CHMCNNClassifier, "neighbours": Neighbours, "linear": Linear, "ridge": KernelRidge},
    "mixed": {
        "network": CHMCNNClassifier,
        "neighbours": Neighbours,
        "linear": Linear,
        "trees": _FILLED_TREES,
        "ridge": KernelRidge,
    },
}
"""Members by the kind of the problem, those of the preset ``best`` first."""


class Problem(NamedTuple):
    """Rows that choices may be made on."""

    X: Any
    Y: sparse.csr_array
    hierarchy: Hierarchy
    evaluated: NDArray[np.bool_]

    def take(self, rows: NDArray[np.int64]) -> tuple[Any, sparse.csr_array]:
        """Return features and labels of some rows."""
        return _safe_indexing(self.X, rows), self.Y[rows]


class Scores(NamedTuple):
    """What a member says of the rows that decide, and of the rows that judge, and the processor time of both."""

    deciding: Any
    judging: NDArray[np.float32]
    seconds: float


def main() -> None:
    """Run what is not finished."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    for seed in range(arguments.seeds):
        for name in arguments.problems:
            path = FOLDER / f"{name.replace(', ', '-').replace(' ', '_')}-{seed}.json"
            if path.exists():
                continue
            result = {"problem": name, "seed": seed, "rows": measure(name, seed), "machine": describe_machine()}
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, result)
            print(json.dumps(result), flush=True)


def load(name: str) -> Problem:
    """Read the training and validation rows of a data set, or a text problem."""
    if name in MIXED:
        mixed = mixed_problems.PROBLEMS[name]()
        return Problem(*mixed, np.ones(len(mixed.hierarchy), dtype=np.bool_))
    if name in text_problems.PROBLEMS:
        texts = text_problems.load(name)
        every = np.ones(len(texts.hierarchy), dtype=np.bool_)
        return Problem(texts.texts[:TEXTS], texts.labels[:TEXTS], texts.hierarchy, every)
    data = datasets.load(name)
    Y = sparse.vstack([data.train.Y, data.valid.Y], format="csr")
    return Problem(pd.concat([data.train.X, data.valid.X]), Y, data.hierarchy, data.evaluated)


def measure(name: str, seed: int) -> list[dict[str, Any]]:
    """Return AU(PRC), processor time and weights of each member, of each pair, and of the members of ``best``."""
    kind = "mixed" if name in MIXED else "texts" if name in text_problems.PROBLEMS else "tables"
    problem, kinds = load(name), MEMBERS[kind]
    size = problem.Y.shape[0] // 5
    parts = [problem.take(rows) for rows in stratify(problem.Y, (problem.Y.shape[0] - 2 * size, size, size), seed)]
    scores = {}
    for member, kind in kinds.items():
        model = kind(problem.hierarchy, evaluated=problem.evaluated, random_state=seed)
        start = time.process_time()
        try:
            deciding = model.fit_scored(*parts[0], validation_data=parts[1])
        except ChmcnnError as error:
            print(f"{name}: {error}", flush=True)
            continue
        model.learn_rest()
        scores[member] = Scores(deciding, model.predict_proba(parts[2][0]), time.process_time() - start)
    sets = [
        *combinations(scores, 1),
        *combinations(scores, 2),
        *(tuple(scores)[:size] for size in range(3, len(scores) + 1)),
    ]
    return [judge({member: scores[member] for member in each}, parts, problem, seed) for each in sets]


def judge(members: dict[str, Scores], parts: list[Any], problem: Problem, seed: int) -> dict[str, Any]:
    """Choose weights on the rows that decide, and measure the mean on those that judge."""
    blocks = iterate_together([iterate_blocks(each.deciding) for each in members.values()])
    cells = Cells.collect(parts[1][1], blocks, problem.evaluated, seed)
    start = time.process_time()
    weights = cells.choose_weights()
    seconds = time.process_time() - start + sum(each.seconds for each in members.values())
    judging = [each.judging for each in members.values()]
    equal = np.full(len(members), 1 / len(members))
    return {
        "members": list(members),
        "weights": weights.tolist(),
        "auprc": metrics.auprc(parts[2][1], average(judging, weights), classes=problem.evaluated),
        "auprc of equal weights": metrics.auprc(parts[2][1], average(judging, equal), classes=problem.evaluated),
        "seconds": seconds,
    }


def report() -> str:
    """Return the AU(PRC) of the network, what other sets of members gain on it, and their time."""
    results = load_all(FOLDER)
    if not results:
        return ""
    rows = pd.DataFrame(line for result in results for row in result["rows"] for line in _list_lines(result, row))
    kinds = (TABLES, text_problems.PROBLEMS, MIXED)
    parts = [_report(rows[rows["problem"].isin(problems)]) for problems in kinds]
    return "\n".join(filter(None, parts)) + "\nRun by `python -m benchmarks.ensembles`.\n"


def _list_lines(result: dict[str, Any], row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a line of the table for a set of members, and for a large set one with equal weights."""
    members = " + ".join(row["members"])
    line = {"problem": result["problem"], "seed": result["seed"], "seconds": row["seconds"]}
    chosen = line | {"members": members, "auprc": row["auprc"]}
    if len(row["members"]) < 3:
        return [chosen]
    return [chosen, line | {"members": f"{members}, equal weights", "auprc": row["auprc of equal weights"]}]


def _report(rows: pd.DataFrame) -> str:
    """Return a table with a line for each set of members and a column for each problem."""
    if rows.empty:
        return ""
    seconds = rows.pivot_table("seconds", "members", "problem", sort=False)
    ratios = (seconds / seconds.loc["network"]).mean(axis=1)
    scores = rows.pivot_table("auprc", "members", ["problem", "seed"], sort=False)
    gains = scores - scores.loc["network"]
    problems = list(dict.fromkeys(rows["problem"]))
    cells = [["network", *(f"{scores.loc['network', problem].mean():.4f}" for problem in problems), "1.00"]]
    for members in gains.index.drop("network"):
        described = (_describe(gains.loc[members, problem]) for problem in problems)
        cells.append([str(members), *described, f"{ratios[members]:.2f}"])
    return table(["members", *problems, "time"], cells)


def _describe(gains: "pd.Series[float]") -> str:
    deviation = f" ± {gains.std():.4f}" if len(gains) > 1 else ""
    return f"{gains.mean():+.4f}{deviation}"


if __name__ == "__main__":
    main()
