from pathlib import Path

import numpy as np
import pytest
import torch
from tests.estimator.models import DATA, fitted
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

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
    loader = DataLoader(Pictures(slice(0, 150)), 16, shuffle=True)
    again = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=3, random_state=0, threshold="tune")
    again.fit(loader, validation_data=(held.x.numpy(), DATA.train.Y[150:]))
    assert len(DATA.hierarchy.violations(again.predict(DataLoader(held, 7)))) == 0
    assert again.fit(loader, validation_data=held).best_epoch_ >= 1


def test_rows_of_a_loader_are_predicted_in_their_order_or_not_at_all() -> None:
    held = Pictures(slice(150, 180))
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=1, random_state=0).fit(Pictures(slice(0, 150)))
    assert np.allclose(model.predict_proba(DataLoader(held, 7)), model.predict_proba(held), atol=1e-6)
    in_batches = BatchSampler(RandomSampler(held), 7, drop_last=False)
    for loader in (
        DataLoader(held, 7, shuffle=True),
        DataLoader(held, 7, drop_last=True),
        DataLoader(held, 7, sampler=range(10)),
        DataLoader(held, batch_sampler=in_batches),
        DataLoader(held, batch_sampler=BatchSampler(SequentialSampler(held), 7, drop_last=True)),
    ):
        for ask in (model.predict_proba, lambda X: model.calibrate(X, DATA.train.Y[150:])):
            with pytest.raises(ChmcnnError, match="The DataLoader may shuffle rows or leave some out: pass"):
                ask(loader)
    learned = model.guarantee(DataLoader(held, 7), DATA.train.Y[150:]).risks_
    assert learned is not None
    assert learned.rows == 30
    with pytest.raises(LabelError, match="X has 30 rows, but y has labels of 20"):
        model.calibrate(DataLoader(held, 7), DATA.train.Y[160:])


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


class Tokens(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Rows of integers, such as the tokens of a text."""

    def __init__(self, kind: torch.dtype = torch.int64) -> None:
        self.y = torch.tensor(DATA.train.Y.toarray())
        self.x = torch.arange(len(self.y) * 3).reshape(-1, 3).remainder(20).to(kind)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[at], self.y[at]


def embed(features: int, classes: int) -> nn.Module:
    return nn.Sequential(nn.EmbeddingBag(20, 4), nn.Linear(4, classes)) if features == 3 else nn.Identity()


@pytest.mark.parametrize("kind", [torch.int64, torch.int32])
def test_integers_stay_integers(kind: torch.dtype, tmp_path: Path) -> None:
    data = Tokens(kind)
    model = CHMCNNClassifier(DATA.hierarchy, network=embed, epochs=2, random_state=0).fit(data)
    scores = model.predict_proba(data)
    for same in (data.x, data.x.numpy(), data.x.tolist(), data.x.to(torch.int16)):
        assert np.array_equal(model.predict_proba(same), scores)
    with pytest.raises(ChmcnnError, match=r"X has numbers of type torch\.float64; expected integers, as for training"):
        model.predict(data.x.numpy() + 0.5)
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model", network=embed)
    assert np.array_equal(loaded.predict_proba(data.x.tolist()), scores)
    again = CHMCNNClassifier(DATA.hierarchy, network=embed, epochs=1, random_state=0)
    again.fit(torch.utils.data.DataLoader(data, 64), validation_data=(data.x.numpy(), DATA.train.Y))
    assert again.history_


@pytest.mark.usefixtures("one_table_of_operators")
def test_integers_in_an_onnx_file(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    data = Tokens()
    network = nn.Sequential(nn.Embedding(20, 4), nn.Flatten(), nn.Linear(12, len(DATA.hierarchy)))
    model = CHMCNNClassifier(DATA.hierarchy, network=network, epochs=1, random_state=0).fit(data)
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(None, {"features": data.x.numpy()})
    np.testing.assert_allclose(scores, model.predict_proba(data), atol=1e-6)


def test_integers_become_floats_for_the_default_network() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, epochs=1, widths=(4,), random_state=0).fit(Tokens())
    assert np.array_equal(model.predict_proba(Tokens()), model.predict_proba(Tokens().x.numpy().astype(np.float64)))


def test_a_loader_without_validation_rows_is_told() -> None:
    loader = torch.utils.data.DataLoader(Tokens(), 64)
    with pytest.warns(UserWarning, match="no validation rows: nothing stops the training before epoch 1") as caught:
        CHMCNNClassifier(DATA.hierarchy, network=embed, epochs=1, random_state=0).fit(loader)
    assert caught[0].filename == __file__
    CHMCNNClassifier(DATA.hierarchy, network=embed, epochs=1, random_state=0, validation=0).fit(loader)
