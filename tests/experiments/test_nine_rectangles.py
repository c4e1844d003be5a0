from pathlib import Path

import numpy as np

from chmcnn.datasets.synthetic import nine_rectangles as problem
from chmcnn.experiments import _parts, batched, nine_rectangles


def test_both_losses_are_run_on_the_same_problems(tmp_path: Path) -> None:
    nine_rectangles.run(tmp_path, epochs=300, runs=2)
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
