"""Which parts of words are worth a feature of text: ``python -m benchmarks.word_parts``.

Rows are the validation rows of ``benchmarks.texts choose``, which are test rows of no seed. Each problem, candidate and
seed is one file of results, with the network and the linear model.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pandas as pd
import torch

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once
from benchmarks.text_problems import PROBLEMS, load
from benchmarks.texts import split_for_choice
from chmcnn import metrics
from chmcnn.baselines import system
from chmcnn.datasets import Preprocessor, texts
from chmcnn.datasets.texts import split_text

FOLDER = RESULTS / "word_parts"
SEEDS = (0, 1)
SYSTEMS = {"network": "C-HMCNN", "linear": "Linear"}
WORDS_ONLY = "words and pairs"


def list_ends(word: str, size: int) -> list[str]:
    """Return how a longer word begins and ends.

    >>> list_ends("shoes", 4), list_ends("red", 4)
    (['shoe-', '-hoes'], [])
    """
    return [f"{word[:size]}-", f"-{word[-size:]}"] if len(word) > size else []


def list_pieces(word: str, size: int) -> list[str]:
    """Return all pieces of a word with its borders.

    >>> list_pieces("hats", 4)
    ['-hat', 'hats', 'ats-']
    """
    framed = f"-{word}-"
    return [framed[at : at + size] for at in range(len(framed) - size + 1)]


CANDIDATES: dict[str, Callable[[str], list[str]]] = {
    WORDS_ONLY: lambda _: [],
    "first and last 3 letters": partial(list_ends, size=3),
    "first and last 4 letters": partial(list_ends, size=4),
    "first and last 5 letters": partial(list_ends, size=5),
    "all pieces of 4 letters": partial(list_pieces, size=4),
}


def split(text: str, candidate: str) -> list[str]:
    """Return words and pairs of words, and the parts of a candidate."""
    terms = [term for term in split_text(text) if "-" not in term]
    return [*terms, *(part for word in terms if " " not in word for part in CANDIDATES[candidate](word))]


def measure(name: str, candidate: str, seed: int) -> dict[str, Any]:
    """Return the AU(PRC) of each system on validation rows, and its processor time with that of the features."""
    problem = load(name)
    train, validation = split_for_choice(len(problem.texts), seed)
    start = time.process_time()
    with mock.patch.object(texts, "split_text", partial(split, candidate=candidate)):
        preprocessor = Preprocessor().fit([problem.texts[row] for row in train])
        x, judged = (preprocessor.transform([problem.texts[row] for row in rows]) for rows in (train, validation))
    result: dict[str, Any] = {"problem": name, "candidate": candidate, "seed": seed, "columns": x.shape[1]}
    result["processor seconds of features"] = time.process_time() - start
    for system_name, kind in SYSTEMS.items():
        start = time.process_time()
        model = system(kind)(problem.hierarchy, random_state=seed, preprocess=False).fit(x, problem.labels[train])
        result[system_name] = metrics.auprc(problem.labels[validation], model.predict_proba(judged))
        result[f"processor seconds of {system_name}"] = time.process_time() - start
    return result


def report() -> str:
    """Return a table of words and pairs alone, and of what parts of words add."""
    runs = pd.DataFrame(load_all(FOLDER))
    if runs.empty:
        return ""
    columns = [*SYSTEMS, *(name for name in runs if str(name).startswith("processor"))]
    means = runs.pivot_table(columns, ["problem", "seed"], "candidate")
    cells = []
    for candidate in CANDIDATES:
        if candidate not in means["network"]:
            continue
        first = candidate == WORDS_ONLY
        paired = means.dropna(subset=[("network", candidate)])
        scores = {name: paired[name][candidate] - (0 if first else paired[name][WORDS_ONLY]) for name in SYSTEMS}
        seconds, before = (
            sum(paired[name][each].sum() for name in columns[len(SYSTEMS) :]) for each in (candidate, WORDS_ONLY)
        )
        described = (
            " / ".join(f"{scores[name][problem].mean():{'' if first else '+'}.4f}" for name in SYSTEMS)
            if problem in scores["network"]
            else "not run"
            for problem in sorted(PROBLEMS)
        )
        cells.append([candidate, *described, f"{seconds / before:.2f}"])
    note = (
        "AU(PRC) on validation rows of the network / of the linear model, and for the others the difference to words "
        f"and pairs; {runs['seed'].nunique()} seeds or fewer. The time is that of features and both models, relative "
        "to the first row. Run by `python -m benchmarks.word_parts`."
    )
    return f"{table(['features', *sorted(PROBLEMS), 'time'], cells)}\n{note}\n"


def main(words: list[str]) -> None:
    """Run what has no result file, for all problems or those named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for name in words or PROBLEMS:
            for number, candidate in enumerate(CANDIDATES):
                path = FOLDER / f"{name}-{number}-{seed}.json"
                run_once(path, partial(measure, name, candidate, seed), "word_parts")


if __name__ == "__main__":
    main(sys.argv[1:])
