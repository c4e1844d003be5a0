"""A torch network of your own with a hierarchy: in a loop of your own, and as a scikit-learn estimator.

A small convolutional network reads pictures of handwritten digits, 8 x 8 pixels, and names the digit and the strokes
in it. Its predictions never contradict the hierarchy.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from chmcnn import CHMCNNClassifier, Hierarchy, datasets, metrics
from chmcnn.nn import MaxConstraint, MCLoss


class DigitNetwork(nn.Module):
    """Two convolutions, and one logit per class."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv2d(1, 16, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, kernel_size=3, padding=1), nn.ReLU(), nn.Flatten()),
            nn.Linear(32 * 4 * 4, classes),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """Return logits (rows, classes) of pictures (rows, 1, 8, 8)."""
        logits: Tensor = self.layers(pictures)
        return logits


def to_dataset(table: datasets.Table) -> TensorDataset:
    """Return pairs of a picture and its labels, 0 and 1 in the order of ``hierarchy.classes``."""
    pictures = torch.tensor(table.X.to_numpy(), dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    return TensorDataset(pictures, torch.tensor(table.Y.toarray()))


def train_in_own_loop(hierarchy: Hierarchy, rows: TensorDataset, epochs: int = 5) -> nn.Module:
    """Train with the loss; it expects logits, and labels with all ancestors."""
    network, loss = DigitNetwork(len(hierarchy)), MCLoss(hierarchy)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(epochs):
        for pictures, labels in DataLoader(rows, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss(network(pictures), labels).backward()
            optimizer.step()
    return network.eval()


def rank_classes(hierarchy: Hierarchy, scores: Tensor, k: int = 5) -> str:
    """Return the classes of one row with the highest scores."""
    best = scores.topk(k)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return ", ".join(f"{hierarchy.classes[at]} {score:.2f}" for at, score in pairs)


def main() -> None:
    """Train, save, load and predict in both ways."""
    torch.manual_seed(0)
    data = datasets.load("digits")
    hierarchy = data.hierarchy
    train, valid, test = (to_dataset(part) for part in (data.train, data.valid, data.test))
    pictures, labels = test.tensors

    with TemporaryDirectory() as folder:
        network = train_in_own_loop(hierarchy, train)
        save_file(network.state_dict(), Path(folder) / "network.safetensors")
        restored = DigitNetwork(len(hierarchy)).eval()  # the layer has no weights: it is added after loading
        restored.load_state_dict(load_file(Path(folder) / "network.safetensors"))
        with torch.inference_mode():
            scores = MaxConstraint(hierarchy)(restored(pictures).sigmoid())
        print(f"Own loop:  AU(PRC) {metrics.auprc(labels, scores):.3f}, {hierarchy.violations(scores.numpy())}")
        print("The first: " + rank_classes(hierarchy, scores[0]))

        model = CHMCNNClassifier(hierarchy, network=DigitNetwork(len(hierarchy)), epochs=5, random_state=0)
        model.set_params(learning_rate=3e-3).fit(train, validation_data=valid)
        model.save(Path(folder) / "model")
        loaded = CHMCNNClassifier.load(Path(folder) / "model", network=DigitNetwork(len(hierarchy)))
        scores = torch.from_numpy(loaded.predict_proba(pictures))
        print(f"Estimator: AU(PRC) {metrics.auprc(labels, scores):.3f}, {hierarchy.violations(scores.numpy())}")
        print("The first: " + rank_classes(hierarchy, scores[0]))
        print(f"Its most specific classes: {hierarchy.decode(loaded.predict(pictures[:1]), most_specific=True)[0]}")


if __name__ == "__main__":
    main()
