"""Scores in blocks of rows, and sparse labels: what is taken, what is refused, and what it costs."""

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from chmcnn import Hierarchy, LabelError, ScoreError, metrics

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.random((10, 4)) < 0.4
SCORES = RANDOM.random((10, 4), dtype=np.float32)
PETS = Hierarchy.from_paths(["a/b", "a/c", "d"])


def pieces() -> Iterator[NDArray[Any]]:
    yield SCORES[:3]
    yield SCORES[3:]


class Pieces:
    """Blocks that can be read as often as one likes."""

    def __iter__(self) -> Iterator[Any]:
        return pieces()


@pytest.mark.parametrize(
    "blocks",
    [
        [SCORES[:3], SCORES[3:]],
        (torch.tensor(SCORES[:3]), torch.tensor(SCORES[3:])),
        [SCORES],
        Pieces(),
        pieces,
        lambda: [SCORES[:3], SCORES[3:3], SCORES[3:]],
        lambda: SCORES,
    ],
)
def test_blocks_come_in_every_form(blocks: Any) -> None:
    assert metrics.auprc(TRUTH, blocks) == metrics.auprc(TRUTH, SCORES)
    assert metrics.fmax(TRUTH, blocks) == metrics.fmax(TRUTH, SCORES)
    assert metrics.violations(blocks, PETS) == metrics.violations(SCORES, PETS)


def test_a_generator_is_enough_where_scores_are_read_once() -> None:
    assert metrics.fmax(TRUTH, pieces()) == metrics.fmax(TRUTH, SCORES)
    assert metrics.r_precision(TRUTH, pieces()) == metrics.r_precision(TRUTH, SCORES)
    predicted = (block > 0.5 for block in pieces())
    assert metrics.hierarchical(TRUTH, predicted) == metrics.hierarchical(TRUTH, SCORES > 0.5)
    assert metrics.bootstrap(metrics.auprc, TRUTH, pieces(), repeats=5) == metrics.bootstrap(
        metrics.auprc, TRUTH, SCORES, repeats=5
    )


@pytest.mark.parametrize(
    "measure",
    [
        metrics.auprc,
        metrics.cmap,
        metrics.precision_recall_curve,
        metrics.points_by_class,
        lambda Y, scores: metrics.by_level(metrics.fmax, Y, scores, PETS),
        lambda Y, scores: metrics.by_class(metrics.fmax, Y, scores, PETS),
    ],
)
def test_a_generator_is_refused_where_scores_are_read_several_times(measure: Callable[[Any, Any], object]) -> None:
    with pytest.raises(ScoreError, match=r"are a generator, which can be read only once, .* pass a list of blocks, or"):
        measure(TRUTH, pieces())


def with_value(value: float) -> NDArray[Any]:
    changed = SCORES[3:].copy()
    changed[2, 1] = value
    return changed


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (
            [SCORES[:3], SCORES[4:]],
            r"The blocks of scores have only 9 rows, but Y has 10; expected the blocks",
        ),
        ([SCORES[:3], SCORES[2:]], r"The blocks of scores have more than 10 rows, but Y has 10"),
        ([SCORES[:3], SCORES[3:, :2]], r"Scores of block 1 have shape \(7, 2\), but the hierarchy has 4 classes"),
        ([SCORES[:3], SCORES[3]], r"Scores of block 1 have shape \(4,\)"),
        ([SCORES[:3], with_value(np.nan)], "The score in row 5, column 1 is nan; expected finite numbers"),
        ([SCORES[:3], with_value(1.5)], r"The score in row 5, column 1 is 1\.5; expected probabilities from 0 to 1"),
        ([SCORES[:3], SCORES[3:].astype(str)], "The scores have type <U32; expected numbers"),
        (list, r"Scores of block 0 have shape \(0,\)"),
    ],
)
def test_blocks_that_do_not_fit_are_told_with_their_place(blocks: Any, told: str) -> None:
    with pytest.raises(ScoreError, match=told):
        metrics.fmax(TRUTH, blocks)


def test_predicted_labels_of_a_later_block_are_told_with_their_place() -> None:
    blocks = [SCORES[:3] > 0.5, with_value(0.5).round()[:, :4] * 1.0]
    blocks[1][2, 1] = 0.5
    with pytest.raises(LabelError, match=r"The predicted label in row 5, column 1 is 0\.5; expected only 0 and 1"):
        metrics.hamming(TRUTH, blocks)


def test_blocks_that_a_function_returns_only_once_are_told() -> None:
    exhausted = pieces()
    with pytest.raises(ScoreError, match="The blocks of scores have only 0 rows, but Y has 10"):
        metrics.auprc(TRUTH, lambda: exhausted)


def test_no_block_at_all_is_told() -> None:
    with pytest.raises(ScoreError, match="There are no blocks of scores; expected at least one"):
        metrics.bootstrap(metrics.auprc, TRUTH, iter([]))
    with pytest.raises(ScoreError, match="Y has 10 rows and the scores 3; expected the same"):
        metrics.bootstrap(metrics.auprc, TRUTH, [SCORES[:3]])


def test_an_error_of_the_users_own_blocks_is_not_hidden() -> None:
    def broken() -> Iterator[Any]:
        yield SCORES[:3]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        metrics.auprc(TRUTH, broken)


def test_sparse_labels_may_be_unsorted_and_have_zeros_and_stay_as_they_are() -> None:
    indptr, indices = np.array([0, 3, 4]), np.array([2, 0, 1, 3])
    odd = sparse.csr_array((np.array([1, 1, 0, 1]), indices.copy(), indptr), shape=(2, 4))
    assert metrics.auprc(odd, SCORES[:2]) == metrics.auprc(odd.toarray(), SCORES[:2])
    assert odd.indices.tolist() == [2, 0, 1, 3]
    assert odd.nnz == 4


@pytest.mark.parametrize(
    ("values", "columns", "told"),
    [
        ([1, 1], [2, 2], "The label in row 1, column 2 is 2; expected only 0 and 1"),
        ([1, 0.5], [0, 3], r"The label in row 1, column 3 is 0\.5"),
    ],
)
def test_sparse_labels_that_are_not_0_or_1_are_told_with_their_place(
    values: list[float], columns: list[int], told: str
) -> None:
    wrong = sparse.csr_array((values, columns, [0, 0, 2]), shape=(2, 4))
    with pytest.raises(LabelError, match=told):
        metrics.auprc(wrong, SCORES[:2], classes=[0, 2, 3])
    assert np.isnan(metrics.auprc(wrong, SCORES[:2], classes=[1]))


ROWS, CLASSES, STEP = 1000, 4000, 100


def many_blocks() -> Iterator[NDArray[np.float32]]:
    random = np.random.default_rng(0)
    for _ in range(0, ROWS, STEP):
        yield random.random((STEP, CLASSES), dtype=np.float32)


def count_violations(_: object, scores: Any) -> object:
    return metrics.violations(scores, Hierarchy.from_edges([(f"c{at // 2}", f"c{at}") for at in range(1, CLASSES)]))


@pytest.mark.parametrize(
    "measure",
    [
        metrics.auprc,
        partial(metrics.auprc, average=None),
        partial(metrics.auprc, classes=np.arange(CLASSES) > 0),
        metrics.precision_recall_curve,
        metrics.fmax,
        metrics.r_precision,
        metrics.calibration_error,
        count_violations,
    ],
)
def test_memory_does_not_grow_with_rows_times_classes(measure: Callable[[Any, Any], object]) -> None:
    """The scores have 16 MB in all, and a block 1.6."""
    labels = sparse.csr_array(np.random.default_rng(0).random((ROWS, CLASSES), dtype=np.float32) < 0.001)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chmcnn.metrics._inputs._CELLS_AT_ONCE", STEP * CLASSES // 4)
        tracemalloc.start()
        try:
            measure(labels, many_blocks)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < ROWS * CLASSES * 2  # half of the scores; labels as an array would have a quarter


def test_information_content_of_sparse_labels_is_that_of_dense_ones() -> None:
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"), ("e", "d"), ("c", "f")])
    for seed in range(20):
        truth = dag.close(np.random.default_rng(seed).random((12, len(dag))) < 0.15)
        above = [[dag.index(name) for name in dag.parents(each)] for each in dag.classes]
        candidates = np.array([truth[:, at].all(axis=1).sum() for at in above])
        expected = -np.log2(np.maximum(truth.sum(axis=0), 1) / np.maximum(candidates, 1))
        for labels in (truth, sparse.csr_array(truth)):
            assert metrics.information_content(labels, dag).tolist() == np.maximum(expected, 0).tolist()
