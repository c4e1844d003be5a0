from pathlib import Path

import numpy as np
import pytest
import torch

from chmcnn._io.results import read
from chmcnn.datasets.synthetic import two_rectangles
from chmcnn.experiments import figure1, figure2
from chmcnn.experiments.context import Context
from chmcnn.experiments.figure2 import Figure2, section
from chmcnn.experiments.two_rectangles import auprc, delegated, train


def test_every_run_has_points_and_weights_of_its_own(tmp_path: Path) -> None:
    figure2.run(Context(tmp_path), epochs=20, runs=2)
    result = figure2.collect(tmp_path)
    assert result is not None
    assert result.epochs == 20
    assert result.delegated.shape == (9, 2)
    problem = two_rectangles(7, seed=1)
    for kind in ("f", "g", "h"):
        assert result.auprc[kind].shape == (9, 2)
        (network,) = train(kind, [problem], seeds=[1], epochs=20)
        assert abs(result.auprc[kind][6, 1] - auprc(kind, network, problem)) < 1e-3
    assert result.delegated[6, 1] == delegated(network, problem)


def test_g_learns_b_without_a() -> None:
    problem = two_rectangles(1, rows=1000, seed=0)
    (network,) = train("g", [problem], seeds=[0], epochs=1500)
    a, b = (problem.hierarchy.index(name) for name in "AB")
    points = torch.tensor(problem.X, dtype=torch.float32)
    inside = torch.tensor(problem.Y[:, a])
    scores = torch.sigmoid(network(points)).detach()
    assert scores[inside, b].mean() < 0.5 < scores[torch.tensor(problem.Y[:, b]) & ~inside, b].mean()


def test_runs_trained_at_once_are_like_one_trained_alone_to_the_end() -> None:
    results = Path(__file__).parents[2] / "results"
    together = figure2.collect(results / "figure2")
    assert together is not None
    for step in figure1.STEPS:
        problem = two_rectangles(step, seed=figure1.SEED)  # which is that of the first of the runs
        networks = figure1.networks(read(results / "figure1" / f"step{step}.json"))
        for kind, network in networks.items():
            assert abs(together.auprc[kind][step - 1, 0] - auprc(kind, network, problem)) < 1e-3
        assert together.delegated[step - 1, 0] == delegated(networks["h"], problem)


def result(h: float) -> Figure2:
    """The better of f+ and g+ is at 0.9 or 0.95."""
    f = np.tile([0.8, 0.9], (9, 1)) + 0.05
    g = np.full((9, 2), 0.9)
    g[4:] = 0.95
    return Figure2({"f": f, "g": g, "h": np.full((9, 2), h)}, delegated=np.full((9, 2), 0.25), epochs=100)


@pytest.mark.parametrize(
    ("h", "agrees", "worst"), [(0.935, True, "-0.015 at step 5"), (0.92, False, "-0.030 at step 5")]
)
def test_the_worst_step_decides(h: float, agrees: bool, worst: str) -> None:
    check = section(result(h)).checks[0]
    assert check.agrees is agrees
    assert check.ours.startswith(worst)


def test_f_and_g_are_good_where_the_paper_says() -> None:
    made = result(0.9)
    assert [check.agrees for check in section(made).checks[1:]] == [False, False]
    made.auprc["f"][:3] -= 0.1
    made.auprc["g"][5:] -= np.arange(1, 5)[:, None] / 100
    _, f, g = section(made).checks
    assert f.agrees
    assert f.ours == "at most 0.800, and at least 0.900 from step 6"
    assert g.agrees
    assert g.ours == "0.950 at step 5, then 0.940, 0.930, 0.920, 0.910"


def test_the_table_has_mean_and_deviation_of_each_step() -> None:
    made = section(result(0.9))
    (table,) = made.tables
    assert table.columns[:3] == ("step", "f+", "f+ deviation")
    assert table.rows[0] == pytest.approx((1, 0.9, 0.05 * 2**0.5, 0.9, 0, 0.9, 0, 0.25))
    assert len(table.rows) == 9
    (axis,) = made.pictures[0].figure.axes
    assert [line.get_label() for line in axis.get_lines()] == ["f+", "g+", "C-HMCNN(h)"]
    assert len(axis.collections) == 3  # the bands
