"""What could add to the preset ``best``: other ways to weigh its members, and other members.

python -m benchmarks.more                       # all problems and candidates; finished ones are skipped
python -m benchmarks.more cellcycle_FUN --candidates 3
CHMCNN_TEXTS=texts python -m benchmarks.more Debian phenotypes WordNet --candidates 0 9    # see `benchmarks.texts`

Rows are split as in `benchmarks.ensembles`: only training and validation rows of a data set are used, of which a fifth
decides, and another fifth judges. The scores of a member are kept in ``build/more`` for all candidates.
"""

import argparse
import time
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks import ensembles, text_problems
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once
from benchmarks.more_members import Boosting, CopiedNetwork
from chmcnn import Hierarchy, metrics
from chmcnn.constraint import max_constraint
from chmcnn.datasets.stratification import stratify
from chmcnn.ensemble._rarity import Rarity
from chmcnn.ensemble._scores import average, iterate_blocks  # members are trained once for all candidates
from chmcnn.ensemble._weights import Cells

FOLDER = RESULTS / "more"
CACHE = Path("build") / "more"
TABLES = ("cellcycle_FUN", "eisen_FUN", "gasch1_FUN", "seq_FUN", "spo_FUN", "derisi_FUN", "eisen_GO", "enron")
PROBLEMS = (*TABLES, *text_problems.PROBLEMS)
SEEDS = 2
FOLDS = 3
GROUPS = 3
"""Groups of classes by their frequency that have weights of their own."""
MEMBERS: dict[str, Any] = {
    **ensembles.MEMBERS["tables"],
    **ensembles.MEMBERS["texts"],
    "boosting": Boosting,
    "copies": CopiedNetwork,
}
OF_TEXTS = ("network", "neighbours", "linear")
Scores = NDArray[np.float32]  # (members, rows, classes)


class Trial:
    """A problem and a seed: its rows, and what each member says of them."""

    cache, members = CACHE, MEMBERS

    def __init__(self, name: str, seed: int, problem: ensembles.Problem | None = None) -> None:
        self.name, self.seed, self.problem = name, seed, problem or ensembles.load(name)
        self.best = OF_TEXTS if name in text_problems.PROBLEMS else tuple(ensembles.MEMBERS["tables"])
        rows = self.problem.Y.shape[0]
        size = rows // 5
        self.train, self.deciding, self.judging = stratify(self.problem.Y, (rows - 2 * size, size, size), seed)
        self.seconds: dict[str, float] = {}

    @cached_property
    def learning(self) -> NDArray[np.int64]:
        """The rows that decide, after those that members are trained on."""
        return np.concatenate([self.train, self.deciding])

    def score(self, members: tuple[str, ...]) -> tuple[Scores, Scores]:
        """Return scores of the rows that decide, and of those that judge, by members without and with the former."""
        scored = [self._keep(member, partial(self._score, member)) for member in members]
        return np.stack([each["deciding"] for each in scored]), np.stack([each["judging"] for each in scored])

    def score_folds(self, members: tuple[str, ...]) -> Scores:
        """Return scores of all rows but those that judge, each by members that were trained on other folds."""
        scored = [self._keep(f"{member}-folds", partial(self._score_folds, member)) for member in members]
        return np.stack([each["out of fold"] for each in scored])

    def find_features(self, member: str) -> ensembles.Problem:  # noqa: ARG002 -- for trials with several kinds
        """Return the problem with the features of a member: here all have the same."""
        return self.problem

    def collect(self, deciding: Scores) -> Cells:
        """Return the pairs of a row that decides and a class, as the ensemble does."""
        return Cells.collect(self.problem.Y[self.deciding], [deciding], self.problem.evaluated, self.seed)

    def choose_rarity(self, cells: Cells, weights: NDArray[np.float64]) -> Rarity:
        """Return how much higher the scores of rare classes should be."""
        return Rarity.choose(cells, weights, self.problem.Y[self.learning].sum(axis=0), len(self.learning))

    def measure(self, scores: NDArray[np.float32]) -> float:
        """Return the AU(PRC) of scores of the rows that judge."""
        return metrics.auprc(self.problem.Y[self.judging], scores, classes=self.problem.evaluated)

    def _keep(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        path = self.cache / f"{self.name}-{self.seed}-{name}.npz"
        if not path.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            start = time.process_time()
            found = compute()
            np.savez_compressed(path, **found, seconds=time.process_time() - start)
        kept = dict(np.load(path))
        self.seconds[name] = float(kept["seconds"])
        return kept

    def _score(self, member: str) -> dict[str, Any]:
        model, problem = self._create(member), self.find_features(member)
        deciding = model.fit_scored(*problem.take(self.train), validation_data=problem.take(self.deciding))
        model.learn_rest()
        judging = model.predict_proba(problem.take(self.judging)[0])
        return {"deciding": np.concatenate(list(iterate_blocks(deciding))), "judging": judging}

    def _score_folds(self, member: str) -> dict[str, Any]:
        rows, problem = self.learning, self.find_features(member)
        sizes = [len(part) for part in np.array_split(rows, FOLDS)]
        scores = np.empty((len(rows), len(self.problem.hierarchy)), dtype=np.float32)
        for fold in stratify(self.problem.Y[rows], tuple(sizes), self.seed):
            others = np.setdiff1d(np.arange(len(rows)), fold)
            model = self._create(member).fit(*problem.take(rows[others]))
            scores[fold] = model.predict_proba(problem.take(rows[fold])[0])
        return {"out of fold": scores}

    def _create(self, member: str) -> Any:  # noqa: ANN401 -- any system
        problem = self.problem
        return self.members[member](problem.hierarchy, evaluated=problem.evaluated, random_state=self.seed)

    def close(self, scores: NDArray[np.floating]) -> Scores:
        """Return scores made coherent by the maximum over descendants."""
        return max_constraint(torch.from_numpy(scores.astype(np.float32)), self.problem.hierarchy).numpy()


def choose(trial: Trial, rows: NDArray[np.int64], scores: Scores, classes: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weights with the best AU(PRC) on some rows and classes."""
    return Cells.collect(trial.problem.Y[rows], [scores], classes, trial.seed).choose_weights()


def weigh(trial: Trial, others: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Scores:
    """Choose weights on the rows that decide, as the ensemble does."""
    members = *others, *(member for member in trial.best if member not in without)
    deciding, judging = trial.score(members)
    return average(list(judging), choose(trial, trial.deciding, deciding, trial.problem.evaluated))


def weigh_out_of_fold(trial: Trial) -> Scores:
    """Choose weights on out-of-fold scores of all rows."""
    weights = choose(trial, trial.learning, trial.score_folds(trial.best), trial.problem.evaluated)
    return average(list(trial.score(trial.best)[1]), weights)


def weigh_by_frequency(trial: Trial) -> Scores:
    """Choose weights on out-of-fold scores for groups of classes: frequent ones, rarer ones, and so on."""
    folds, judging = trial.score_folds(trial.best), trial.score(trial.best)[1]
    counts = trial.problem.Y[trial.learning].sum(axis=0)
    counted = np.flatnonzero((counts > 0) & trial.problem.evaluated)
    by_frequency = counted[np.argsort(-counts[counted])]
    shares = counts[by_frequency].cumsum() / counts[by_frequency].sum()  # each group has as many labels
    scores = weigh_out_of_fold(trial)
    for group in range(GROUPS):
        chosen = by_frequency[(shares > group / GROUPS) & (shares <= (group + 1) / GROUPS)]
        mask = np.isin(np.arange(len(counts)), chosen)
        if mask.any():
            scores[:, mask] = average(list(judging[:, :, mask]), choose(trial, trial.learning, folds, mask))
    return trial.close(scores)


def lift_rare(trial: Trial, members: tuple[str, ...] = ()) -> Scores:
    """Choose weights, and then raise the scores of rare classes, as the ensemble does."""
    deciding, judging = trial.score(members or trial.best)
    cells = trial.collect(deciding)
    weights = cells.choose_weights()
    return trial.close(trial.choose_rarity(cells, weights).apply(average(list(judging), weights)))


def lift_rare_in_members(trial: Trial) -> Scores:
    """Raise the scores of rare classes of each member as well, before weights are chosen."""
    deciding, judging = trial.score(trial.best)
    cells = trial.collect(deciding)
    chosen = [trial.choose_rarity(cells, only) for only in np.eye(len(trial.best))]
    lifted = trial.collect(np.stack([rarity.apply(each) for rarity, each in zip(chosen, deciding, strict=True)]))
    weights = lifted.choose_weights()
    mean = average([rarity.apply(each) for rarity, each in zip(chosen, judging, strict=True)], weights)
    return trial.close(trial.choose_rarity(lifted, weights).apply(mean))


def stack(trial: Trial, create: Callable[[int], Any], *, folds: bool, parts: slice = slice(None)) -> Scores:
    """Learn scores from those of all members for a class, its parents and its children, one model for all classes.

    ``parts`` says which of the last six descriptions of a class are used: see `_describe`.
    """
    deciding, judging = trial.score(trial.best)
    rows, known = (trial.learning, trial.score_folds(trial.best)) if folds else (trial.deciding, deciding)
    weights = choose(trial, rows, known, trial.problem.evaluated)
    labels = trial.problem.Y[trial.learning]
    frequencies = labels.sum(axis=0) / labels.shape[0]

    def describe(scores: Scores) -> list[NDArray[np.float32]]:
        described = _describe(scores, weights, trial.problem.hierarchy, frequencies)
        return [*described[: len(scores)], *described[len(scores) :][parts]]

    counted = np.flatnonzero((frequencies > 0) & trial.problem.evaluated)
    targets = trial.problem.Y[rows][:, counted].toarray()
    model = create(trial.seed).fit(_flatten(describe(known), counted), targets.ravel())
    scores = np.zeros(judging.shape[1:], dtype=np.float32)
    found = model.predict_proba(_flatten(describe(judging), counted))[:, 1]
    scores[:, counted] = found.reshape(len(scores), -1)
    return trial.close(scores)


def _describe(
    scores: Scores, weights: NDArray[np.float64], hierarchy: Hierarchy, frequencies: NDArray[np.float64]
) -> list[NDArray[np.float32]]:
    """Return logits (rows, classes): of members, of their mean, of its parents and children, and of the frequency."""
    mean = average(list(scores), weights)
    parents, children = hierarchy.edges.T
    shape = (len(hierarchy), len(hierarchy))
    below = sparse.csr_array((np.ones(len(parents), dtype=np.float32), (parents, children)), shape=shape)
    highest, lowest = np.zeros_like(mean.T), np.ones_like(mean.T)
    np.maximum.at(highest, parents, mean.T[children])
    np.minimum.at(lowest, children, mean.T[parents])
    of_children = (mean @ below.T) / np.maximum(below.sum(axis=1), 1)
    number = below.sum(axis=0)
    of_parents = np.where(number > 0, (mean @ below) / np.maximum(number, 1), 1)
    parts = [*scores, mean, of_parents, lowest.T, of_children, highest.T, np.broadcast_to(frequencies, mean.shape)]
    return [logit(np.clip(part, 1e-4, 1 - 1e-4)).astype(np.float32) for part in parts]


def _flatten(parts: list[NDArray[np.float32]], classes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return one line for each pair of a row and a class, with a column for each part."""
    return np.stack([part[:, classes].ravel() for part in parts], axis=1)


def _create_logistic(_seed: int) -> LogisticRegression:
    return LogisticRegression(max_iter=300)


def _create_boosting(seed: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=100, random_state=seed
    )


CANDIDATES: dict[str, Callable[[Trial], Scores]] = {
    "weights on validation rows": weigh,
    "weights out of fold": weigh_out_of_fold,
    "weights out of fold, by the frequency of classes": weigh_by_frequency,
    "stacker over edges, logistic": partial(stack, create=_create_logistic, folds=False),
    "stacker over edges, logistic, out of fold": partial(stack, create=_create_logistic, folds=True),
    "stacker over edges, boosting, out of fold": partial(stack, create=_create_boosting, folds=True),
    "with gradient boosting of label components": partial(weigh, others=("boosting",)),
    "with a network of scaled copies": partial(weigh, others=("copies",)),
    "a network of scaled copies in the place of the network": partial(weigh, others=("copies",), without=("network",)),
    "rare classes raised, as built in": lift_rare,
    "rare classes raised, also in each member": lift_rare_in_members,
    "stacker without edges, logistic": partial(stack, create=_create_logistic, folds=False, parts=slice(0, None, 5)),
    "stacker over edges without frequencies, logistic": partial(
        stack, create=_create_logistic, folds=False, parts=slice(-1)
    ),
    "the network alone": lambda trial: trial.score(("network",))[1][0],
    "the network alone, rare classes raised": partial(lift_rare, members=("network",)),
}


def measure(name: str, candidate: str, seed: int) -> dict[str, Any]:
    """Return the AU(PRC) of a candidate on the rows that judge, and the processor time of members that it needs."""
    trial = Trial(name, seed)
    score = trial.measure(CANDIDATES[candidate](trial))
    result = {"dataset": name, "candidate": candidate, "seed": seed, "AU(PRC)": score}
    return result | {"processor seconds of members": trial.seconds}


def report() -> str:
    """Return a table of the preset, and by how much each candidate differs from it on the same rows."""
    runs = pd.DataFrame(load_all(FOLDER))
    if runs.empty:
        return ""
    scores = runs.pivot_table("AU(PRC)", ["dataset", "seed"], "candidate")
    first, *others = (candidate for candidate in CANDIDATES if candidate in scores)
    shown = [(first, scores[first], ""), *((name, scores[name] - scores[first], "+") for name in others)]
    cells = []
    for candidate, values, sign in shown:
        means = values.dropna().groupby("dataset").mean()
        described = (f"{means[name]:{sign}.4f}" if name in means else "not run" for name in PROBLEMS)
        cells.append([candidate, *described, f"{means.mean():{sign}.4f}"])
    note = (
        f"AU(PRC) on held-out rows, at most {runs['seed'].nunique()} seeds, and for the others the difference to the "
        "first row; the mean is over the data sets that were run. Run by `python -m benchmarks.more`."
    )
    return f"{table(['candidate', *PROBLEMS, 'mean'], cells)}\n{note}\n"


def main() -> None:
    """Run what has no result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    parser.add_argument("--candidates", type=int, nargs="*", default=range(len(CANDIDATES)))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = list(CANDIDATES)
    for seed in range(SEEDS):
        for name in arguments.problems:
            for number in arguments.candidates:
                run_once(FOLDER / f"{name}-{number}-{seed}.json", partial(measure, name, names[number], seed), "more")


if __name__ == "__main__":
    main()
