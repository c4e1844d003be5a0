from pathlib import Path

import numpy as np
import pytest
import torch
from tests.estimator.models import DATA, fitted
from torch import nn

from chmcnn import CHMCNNClassifier, ChmcnnError, LabelError, metrics


class Pictures(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Rows of another shape than a table's, with labels that lack their ancestors."""

    def __init__(self, rows: slice) -> None:
        self.x = torch.tensor(DATA.train.X[rows], dtype=torch.float64).reshape(-1, 2, 4)
        sets = DATA.hierarchy.decode(DATA.train.Y[rows], most_specific=True)
        self.y = torch.tensor([[name in labels for name in DATA.hierarchy] for labels in sets])

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[at], self.y[at].long()


class Only(torch.utils.data.Dataset[torch.Tensor]):
    """Features without labels."""

    def __init__(self, data: Pictures) -> None:
        self.x = data.x

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> torch.Tensor:
        return self.x[at]


def flat(features: int, classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(features, classes))


def test_datasets_and_loaders_are_taken(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=30, random_state=0)
    model.fit(Pictures(slice(0, 150)))
    assert {epoch.phase for epoch in model.history_} == {"train"}
    assert model.best_score_ > 0.5
    held = Pictures(slice(150, 180))
    scores = model.predict_proba(held)
    assert np.array_equal(scores, model.predict_proba(held.x.numpy()))
    assert np.array_equal(scores, model.predict_proba(Only(held)))
    assert metrics.auprc(DATA.train.Y[150:], scores) > 0.5
    assert len(DATA.hierarchy.violations(scores)) == 0
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model", network=flat)
    assert np.array_equal(loaded.predict_proba(held), scores)
    loader = torch.utils.data.DataLoader(Pictures(slice(0, 150)), 16, shuffle=True)
    again = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=3, random_state=0, threshold="tune")
    again.fit(loader, validation_data=(held.x.numpy(), DATA.train.Y[150:]))
    assert len(DATA.hierarchy.violations(again.predict(loader))) == 0
    assert again.fit(loader, validation_data=held).best_epoch_ >= 1


def test_streams_that_cannot_be_trained_on_are_refused() -> None:
    data = Pictures(slice(0, 20))
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, random_state=0)
    with pytest.raises(ChmcnnError, match="which has the labels itself"):
        model.fit(data, DATA.train.Y[:20])
    with pytest.raises(ChmcnnError, match="pass hierarchy="):
        CHMCNNClassifier().fit(data)
    with pytest.raises(ChmcnnError, match="no rows to validate on"):
        model.fit(torch.utils.data.DataLoader(data))
    with pytest.raises(ChmcnnError, match=r"expected a pair \(features, labels\)"):
        model.fit(torch.utils.data.DataLoader(Only(data)), validation_data=data)
    with pytest.raises(LabelError, match=r"Labels of batch 0 have shape \(4, 2\); expected 0 and 1 of shape"):
        model.fit(torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.zeros(20, 2)), validation_data=None)
    with pytest.raises(LabelError, match=r"Labels of batch 0 have the value 2\.0; expected 0 and 1"):
        model.fit(torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.full((20, 15), 2.0)))
    with pytest.raises(ChmcnnError, match="The Dataset is empty"):
        model.fit(Pictures(slice(0, 0)))
    with pytest.raises(ChmcnnError, match=r"A row of the data has shape \(2, 4\), but the default network"):
        CHMCNNClassifier(DATA.hierarchy).fit(data)
    with pytest.raises(ChmcnnError, match="validation_data is of type Pictures; expected a pair"):
        fitted().fit(DATA.train.X, DATA.train.Y, validation_data=data)
    with pytest.raises(ChmcnnError, match="partial_fit takes tables only"):
        CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=1).fit(data).partial_fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match="needs labels in memory"):
        CHMCNNClassifier(DATA.hierarchy, network=flat, class_weight="balanced").fit(data)
    with pytest.raises(ChmcnnError, match="was trained on a table"):
        fitted().predict(data)
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=1).fit(data)
    with pytest.raises(ChmcnnError, match=r"A row of X has shape \(8,\); expected \(2, 4\)"):
        model.predict(DATA.test.X)
