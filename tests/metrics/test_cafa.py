from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cafaeval.evaluation import cafa_eval
from sklearn.metrics import f1_score

from chmcnn import ScoreError
from chmcnn.constraint import max_constraint
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.metrics import fmax, information_content, smin


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_fmax_and_smin_are_those_of_cafa_evaluator(tmp_path: Path, seed: int) -> None:
    import torch

    hierarchy = random_hierarchy(40, edges=55, depth=5, seed=seed)
    random = np.random.default_rng(seed)
    truth = hierarchy.close(random.random((30, 40)) < 0.06)
    truth = truth[truth.any(axis=1)]
    raw = np.round(random.random(truth.shape) * 0.6 + truth * 0.3, 3)
    scores = max_constraint(torch.tensor(raw), hierarchy).numpy()
    content = information_content(truth, hierarchy)
    terms = [f"GO:{number:07}" for number in range(len(hierarchy))]
    stanzas = [
        "\n".join([f"[Term]\nid: {terms[at]}\nname: x\nnamespace: biological_process", *parents])
        for at, parents in enumerate(
            [f"is_a: {terms[parent]}" for parent, child in hierarchy.edges.tolist() if child == at]
            for at in range(len(terms))
        )
    ]
    (tmp_path / "predicted").mkdir()
    (tmp_path / "my.obo").write_text("\n\n".join([*stanzas, ""]))
    cells = [(f"P{row}", terms[at], scores[row, at]) for row in range(len(truth)) for at in range(len(terms))]
    predicted = pd.DataFrame([cell for cell in cells if cell[2] > 0])
    predicted.to_csv(tmp_path / "predicted" / "mine.tsv", sep="\t", header=False, index=False)
    true = pd.DataFrame([(f"P{row}", terms[at]) for row, at in np.argwhere(truth)])
    true.to_csv(tmp_path / "true.tsv", sep="\t", header=False, index=False)
    pd.DataFrame({"term": terms, "ia": content}).to_csv(tmp_path / "ia.tsv", sep="\t", header=False, index=False)
    every, best = cafa_eval(
        str(tmp_path / "my.obo"), str(tmp_path / "predicted"), str(tmp_path / "true.tsv"), ia=str(tmp_path / "ia.tsv")
    )
    assert fmax(truth, scores).value == pytest.approx(best["f"]["f"].iloc[0], abs=1e-9)
    assert smin(truth, scores, content).value == pytest.approx(every["s_w"].min(), abs=1e-9)


def test_the_best_threshold_is_given() -> None:
    truth = np.array([[1, 1, 0], [1, 0, 1]], dtype=bool)
    scores = np.array([[0.9, 0.8, 0.3], [0.7, 0.2, 0.6]])
    assert fmax(truth, scores) == (1.0, 0.31)
    assert smin(truth, scores, [1, 1, 1]) == (0.0, 0.31)
    assert fmax(truth, scores * 0).value == 0
    assert np.isnan(fmax(truth & False, scores).value)


def test_the_best_f_of_one_class_is_the_best_f1() -> None:
    random = np.random.default_rng(0)
    truth, scores = random.random((40, 1)) < 0.3, random.random((40, 1))
    f1 = [f1_score(truth[:, 0], scores[:, 0] >= threshold, zero_division=0.0) for threshold in np.arange(1, 100) / 100]
    assert fmax(truth, scores).value == pytest.approx(max(f1))


def test_bad_input_is_told() -> None:
    with pytest.raises(ScoreError, match="Scores range from -1 to 2; expected probabilities"):
        fmax([[1, 0]], [[-1.0, 2.0]])
    with pytest.raises(ScoreError, match=r"information has shape \(1,\), but there are 2 classes"):
        smin([[1, 0]], [[0.1, 0.2]], [1])
    with pytest.raises(ScoreError, match=r"information\[1\] is inf; expected a finite number"):
        smin([[1, 0]], [[0.1, 0.2]], [1, np.inf])
    with pytest.raises(ScoreError, match="steps is 1"):
        fmax([[1, 0]], [[0.1, 0.2]], steps=1)
