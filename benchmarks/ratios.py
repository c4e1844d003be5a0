"""Time of metrics, readers and the training loop, relative to a reference that does the same work.

python -m benchmarks.ratios
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import obonet
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import average_precision_score
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from benchmarks.measure import median_seconds, save
from chmcnn import metrics
from chmcnn.datasets import obo
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.nn import MLP, MCLoss
from chmcnn.training import Rows, Settings, train
from chmcnn.training._average import WeightAverage

Call = Callable[[], object]
ROWS, CLASSES = 1300, 4100  # the test rows of a Gene Ontology data set
FEATURES, BATCH = 77, 4


def main() -> None:
    """Measure each pair in turns, and write the ratios to results/ratios.json."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        pairs = {
            "auprc / scikit-learn's average_precision_score": average_precision(),
            "auprc, in blocks / sorting all scores at once": blocks(),
            "obo.read / obonet": ontology(Path(folder) / "ontology.obo"),
            "train / bare steps of forward, backward and Adam": training(),
            "our average of weights / torch's AveragedModel": averaging(),
        }
        for what, (ours, reference) in pairs.items():
            times = median_seconds({"ours": ours, "reference": reference}, rounds=15, warm_up=1)
            rows.append({"what": what, "ratio": times["ours"] / times["reference"]})
            print(f"{what:50} {rows[-1]['ratio']:.2f}")
    print(save("ratios", "python -m benchmarks.ratios", rows))


def draw_scores() -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Return labels, and scores that tell nothing."""
    random = np.random.default_rng(0)
    truth = random.random((ROWS, CLASSES)) < 0.008
    return truth, random.random(truth.shape, dtype=np.float32)


def average_precision() -> tuple[Call, Call]:
    """AU(PRC) of all rows and classes together."""
    truth, scores = draw_scores()
    return lambda: metrics.auprc(truth, scores), lambda: average_precision_score(truth, scores, average="micro")


def blocks() -> tuple[Call, Call]:
    """AU(PRC) of a matrix, beside the shortest way if memory did not count."""
    truth, scores = draw_scores()

    def sort_all() -> float:
        positive, every = np.sort(scores[truth]), np.sort(scores.ravel())
        thresholds, first = np.unique(positive, return_index=True)
        found = (len(positive) - first)[::-1]
        predicted = (len(every) - np.searchsorted(every, thresholds))[::-1]
        return float((np.diff(found, prepend=0) * (found / predicted)).sum() / len(positive))

    return lambda: metrics.auprc(truth, scores), sort_all


def ontology(path: Path) -> tuple[Call, Call]:
    """Read an ontology of the size of the Gene Ontology."""
    hierarchy = random_hierarchy(45_000, edges=80_000, depth=16)
    lines = ["format-version: 1.2", "ontology: go"]
    for name in hierarchy.classes:
        lines += ["", "[Term]", f"id: GO:{name}", f"name: term {name}", "namespace: biological_process"]
        lines += [f"is_a: GO:{parent} ! term {parent}" for parent in hierarchy.parents(name)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return lambda: obo.read(path), lambda: obonet.read_obo(path)


def training() -> tuple[Call, Call]:
    """One epoch in small batches, where the loop itself costs most."""
    hierarchy = random_hierarchy(500, edges=499, depth=6)
    x = torch.randn(800, FEATURES)
    y = torch.tensor(hierarchy.close(torch.rand(800, len(hierarchy)).numpy() < 0.02))
    loss = MCLoss(hierarchy, validate=False)
    settings = Settings(epochs=1, batch_size=BATCH, patience=None)

    def build() -> MLP:
        return MLP(FEATURES, len(hierarchy), widths=(500, 500))

    def bare_steps() -> None:
        network = build()
        optimizer = torch.optim.Adam(network.parameters(), fused=True)
        for rows in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss(network(x[rows]), y[rows]).backward()
            optimizer.step()

    return lambda: train(build, Rows(x, csr_array(y.numpy())), loss=loss, settings=settings), bare_steps


def averaging() -> tuple[Call, Call]:
    """Add one step to the moving average of the default network's weights."""
    network = MLP(FEATURES, 500, widths=(500, 500))
    ours = WeightAverage(decay=0.99)
    reference = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    return lambda: ours.update(network), lambda: reference.update_parameters(network)


if __name__ == "__main__":
    main()
