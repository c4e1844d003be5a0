from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from tests.estimator.models import DATA, QUICK, fitted
from tests.estimator.texts import LABELS, TABLE

from chmcnn import CHMCNNClassifier
from chmcnn.baselines import DHN
from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import SparseMLP

pytestmark = pytest.mark.usefixtures("one_table_of_operators")
LEAF = int(DATA.hierarchy.depths.argmax())


def fitted_without_a_class(kind: type[NeuralClassifier], options: dict[str, Any]) -> NeuralClassifier:
    """The network has no output for a class without rows; its weights are large, so that much is delegated."""
    kept = ~DATA.train.Y.toarray()[:, LEAF]
    model = kind(DATA.hierarchy, **QUICK, **options).fit(DATA.train.X[kept], DATA.train.Y[kept])
    with torch.no_grad():
        for parameter in model.network_.parameters():
            parameter.mul_(1.5)
    return model


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (CHMCNNClassifier, {"preprocess": False}),
        (CHMCNNClassifier, {"evaluated": DATA.hierarchy.depths != 1, "calibration": "isotonic"}),
        (DHN, {}),
    ],
)
def test_onnx_gives_the_same_coherent_probabilities(
    tmp_path: Path, kind: type[NeuralClassifier], options: dict[str, Any]
) -> None:
    model, file = fitted_without_a_class(kind, options), tmp_path / "model.onnx"
    file.write_text("mine")
    model.to_onnx(file, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    x = DATA.test.X.astype(np.float32)
    x[0, 0] = np.nan
    (found,) = onnxruntime.InferenceSession(file).run(None, {"features": x})
    steepness = 10 if "calibration" in options else 1  # of the map from scores to probabilities
    np.testing.assert_allclose(found, model.predict_proba(x), atol=1e-5 * steepness)
    assert not found[:, LEAF].any()
    assert len(DATA.hierarchy.violations(found)) == 0
    assert model.predict(DATA.test.X).shape == (60, 15)


def test_a_model_of_texts_takes_tf_idf(tmp_path: Path) -> None:
    model = CHMCNNClassifier(path_separator=">", epochs=2, widths=(8,), random_state=0).fit(TABLE, LABELS)
    assert isinstance(model.network_, SparseMLP), "the file takes its columns dense"
    model.to_onnx(tmp_path / "model.onnx")
    features = model.preprocessor_.transform(TABLE).toarray()
    raw = features * model.preprocessor_.scales_ + model.preprocessor_.shifts_
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(None, {"features": raw.astype(np.float32)})
    np.testing.assert_allclose(scores, model.predict_proba(TABLE), atol=1e-4)


def test_a_file_is_not_written_over_unless_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_text("mine")
    with pytest.raises(ValueError, match="already exists; choose another file, or use force=True to overwrite it"):
        fitted().to_onnx(file)
    assert file.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
