from pathlib import Path

import numpy as np
import pytest

from chmcnn.datasets.synthetic import nine_rectangles as problem
from chmcnn.experiments import _parts, batched, nine_rectangles
from chmcnn.experiments.context import Context
from chmcnn.experiments.nine_rectangles import NineRectangles, section


def test_both_losses_are_run_on_the_same_problems(tmp_path: Path) -> None:
    nine_rectangles.run(Context(tmp_path), epochs=300, runs=2)
    result = nine_rectangles.collect(tmp_path)
    assert result is not None
    assert result.epochs == 300
    kept = _parts.collect(tmp_path, nine_rectangles.LOSSES, {})
    for name in ("MCLoss", "BCE"):
        assert result.auprc[name].shape == (2,)
        assert result.auprc[name].min() > problem().Y.mean()  # better than nothing
        assert result.shown[name].shape == (201, 201)
        assert kept[name]["result"]["seeds"] == [0, 1]
    assert not np.allclose(result.shown["MCLoss"], result.shown["BCE"])


def test_the_sixth_best_run_is_shown() -> None:
    networks = [batched._new(2, 7, 9, seed) for seed in range(7)]
    scores = [0.1, 0.7, 0.2, 0.6, 0.5, 0.4, 0.3]  # the 6th best is the third
    result = {"auprc": scores, "networks": [batched.weights(network) for network in networks]}
    shown = nine_rectangles._shown(result)
    np.testing.assert_allclose(shown, batched.grid(networks[2]).max(dim=-1).values.numpy())


def result(mcloss: list[float], bce: list[float]) -> NineRectangles:
    grid = np.random.default_rng(0).random((5, 5), dtype=np.float32)
    return NineRectangles({"MCLoss": np.array(mcloss), "BCE": np.array(bce)}, {"MCLoss": grid, "BCE": grid}, 100)


def test_the_means_and_deviations_are_compared() -> None:
    assert [check.agrees for check in section(result([0.96, 0.98], [0.9, 0.98])).checks] == [True] * 4
    wrong = section(result([0.95, 0.96], [0.96, 0.96])).checks
    assert [check.agrees for check in wrong] == [False] * 4
    assert wrong[1].why.startswith("unknown: the paper does not say")


def test_ours_stands_below_the_published_figures() -> None:
    made = section(result([0.96, 0.97, 0.98], [0.9, 0.9, 0.9]))
    assert made.name == "nine-rectangles"
    published, ours = made.tables[0].rows[:2]
    assert published[1:] == ("published", 0.974, 0.007, 0.964, 0.975, 0.990)
    assert ours[0] == published[0]
    assert ours[2:] == pytest.approx((0.97, 0.01, 0.96, 0.97, 0.98))


def test_the_arrangement_is_drawn_beside_the_boundaries() -> None:
    figure = section(result([0.96], [0.9])).pictures[0].figure
    arrangement, bce, mcloss, _scale = figure.axes
    assert [text.get_text() for text in arrangement.texts] == list("123456789")
    assert bce.get_title() == "h + MCM, cross-entropy, A5"
    assert mcloss.get_title() == "C-HMCNN(h), MCLoss, A5"
