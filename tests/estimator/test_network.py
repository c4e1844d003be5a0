"""Where the default network scales features: they are dense and standardised."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler
from tests.changed_models import change_facts
from tests.estimator.models import DATA, QUICK

from chmcnn import CHMCNNClassifier, CoherentEnsemble
from chmcnn.baselines import DHN, HMCNF, LMLP
from chmcnn.datasets import RowGroups
from chmcnn.estimator import PRESETS, NeuralClassifier
from chmcnn.nn import MLP, FeatureScaling

X, Y = np.asarray(DATA.train.X), DATA.train.Y
STREAM = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(Y.toarray()))


def create(kind: Callable[..., Any] = CHMCNNClassifier, **options: Any) -> Any:
    return kind(DATA.hierarchy, **{**QUICK, "epochs": 1, **options})


def create_ensemble(**options: Any) -> CoherentEnsemble:
    return CoherentEnsemble(DATA.hierarchy, members=[("network", create())], random_state=0, **options)


def scales(model: NeuralClassifier) -> bool:
    return any(isinstance(module, FeatureScaling) for module in model.network_.modules())


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (create(), True),
        (create(DHN), True),
        (create(HMCNF, widths=[8, 8]), False),  # these have presets of their own
        (create(LMLP), False),
        (create(preset="paper"), False),
        (create(network=MLP, widths=None), False),
        (create(preprocess=False), False),
        (create(preprocess=StandardScaler()), False),
    ],
)
def test_the_default_network_scales_features_that_it_standardises(model: Any, expected: bool) -> None:
    assert scales(model.fit(X, Y)) == expected


@pytest.mark.parametrize("kind", [CHMCNNClassifier, DHN])
def test_sparse_features_are_not_scaled(kind: type[NeuralClassifier]) -> None:
    assert not scales(create(kind).fit(csr_array(np.maximum(X, 0)), Y))


def test_features_of_a_stream_are_not_scaled() -> None:
    assert not scales(create().fit(STREAM))


def test_features_of_files_and_of_partial_fit_are_scaled(tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    table["labels"] = [";".join(labels) for labels in DATA.hierarchy.decode(Y)]
    table.to_parquet(tmp_path / "rows.parquet")
    assert scales(create().fit(RowGroups([tmp_path / "rows.parquet"], DATA.hierarchy)))
    assert scales(create().partial_fit(X, Y))


@pytest.mark.parametrize("preprocess", [True, False])
def test_a_network_of_an_ensemble_scales_what_the_ensemble_standardises(preprocess: bool, tmp_path: Path) -> None:
    model = create_ensemble(preprocess=preprocess).fit(X, Y)
    assert scales(model.members_["network"]) == preprocess
    model.save(tmp_path / "model")
    again = CoherentEnsemble.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_so_does_a_network_of_an_ensemble_in_an_ensemble() -> None:
    model = CoherentEnsemble(DATA.hierarchy, members=[("inner", create_ensemble())], random_state=0).fit(X, Y)
    inner = model.members_["inner"]
    assert isinstance(inner, CoherentEnsemble)
    assert scales(inner.members_["network"])


def test_no_single_cell_decides_a_row() -> None:
    rows = X[:20].copy()
    rows[:, 0] = 1e6
    assert create().fit(X, Y).predict_proba(rows).std(axis=0).max() > 1e-3  # it would be 0 without a limit


def test_models_of_earlier_versions_do_not_scale_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(CHMCNNClassifier, "_wants_scaled_features", lambda _: False)
        model = create().fit(X, Y)
    model.save(tmp_path / "model")
    change_facts(tmp_path / "model", {}, without=["scaled features"])
    again = CHMCNNClassifier.load(tmp_path / "model")
    assert PRESETS["default"].scales_features
    assert not scales(again)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
