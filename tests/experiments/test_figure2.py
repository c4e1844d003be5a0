from pathlib import Path

import torch

from chmcnn._io.results import read
from chmcnn.datasets.synthetic import two_rectangles
from chmcnn.experiments import figure1, figure2
from chmcnn.experiments.two_rectangles import auprc, delegated, train


def test_every_run_has_points_and_weights_of_its_own(tmp_path: Path) -> None:
    figure2.run(tmp_path, epochs=20, runs=2)
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
