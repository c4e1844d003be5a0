from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cafaeval.evaluation import cafa_eval, compute_metrics, normalize
from sklearn.metrics import f1_score

from chmcnn import ScoreError
from chmcnn.constraint import max_constraint
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.metrics import _inputs, fmax, information_content, smin


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
    weighted = fmax(truth, scores, information=content).value
    assert weighted == pytest.approx(best["f_w"]["f_w"].iloc[0], abs=1e-9)


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
    with pytest.raises(ScoreError, match=r"The score in row 0, column 0 is -1\.0; expected probabilities from 0 to 1"):
        fmax([[1, 0]], [[-1.0, 2.0]])
    with pytest.raises(ScoreError, match=r"information has shape \(1,\), but there are 2 classes"):
        smin([[1, 0]], [[0.1, 0.2]], [1])
    with pytest.raises(ScoreError, match=r"information\[1\] is inf; expected a finite number"):
        smin([[1, 0]], [[0.1, 0.2]], [1, np.inf])
    with pytest.raises(ScoreError, match="steps is 1"):
        fmax([[1, 0]], [[0.1, 0.2]], steps=1)


def cafa_best_f(truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None) -> float:
    """Fmax of CAFA's evaluator on matrices."""
    thresholds = np.arange(0.01, 1, 0.01)
    of = SimpleNamespace
    columns = np.arange(truth.shape[1])
    found = compute_metrics(of(matrix=scores), of(matrix=truth), thresholds, columns, weights, n_cpu=1)
    rows = np.full(len(thresholds), len(truth))
    return float(normalize(found, "all", thresholds, rows, "cafa")["f"].max())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_known_annotations_are_left_out_as_in_cafas_partial_knowledge(seed: int, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    truth, known = random.random((40, 12)) < 0.4, random.random((40, 12)) < 0.4
    scores = np.round(random.random((40, 12)), 3)
    weights = np.where(random.random(12) < 0.2, 0, random.random(12) * 5) if weighted else None
    new = truth & ~known
    rows = new.any(axis=1)
    expected = cafa_best_f(new[rows], np.where(known, 0, scores)[rows], weights)
    assert fmax(truth, scores, information=weights, known=known).value == pytest.approx(expected)
    content = np.ones(12) if weights is None else weights
    left_out = smin(truth, scores, content, known=known)
    assert left_out == pytest.approx(smin(new[rows], np.where(known, 0, scores)[rows], content))


def test_blocks_and_selected_classes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    truth, known, scores = random.random((20, 8)) < 0.4, random.random((20, 8)) < 0.3, random.random((20, 8))
    weights, some = random.random(8), [1, 5, 6]

    def measure() -> list[tuple[float, float]]:
        return [
            fmax(truth, scores, information=weights, known=known, classes=some),
            smin(truth, scores, weights, known=known, classes=some),
            fmax(truth, scores),
        ]

    before = measure()
    assert before[0] == fmax(truth[:, some], scores[:, some], information=weights[some], known=known[:, some])
    monkeypatch.setattr(_inputs, "_CELLS_AT_ONCE", 10)
    assert [part for best in measure() for part in best] == pytest.approx([part for best in before for part in best])


def test_known_annotations_that_leave_nothing_are_told() -> None:
    with pytest.raises(ScoreError, match="Every label is known before: there is nothing to measure"):
        fmax([[1, 0]], [[0.1, 0.2]], known=[[1, 0]])
    with pytest.raises(ScoreError, match=r"known has shape \(1, 3\) and Y \(1, 2\); expected the same"):
        fmax([[1, 0]], [[0.1, 0.2]], known=[[1, 0, 0]])
