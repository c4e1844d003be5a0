from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.estimator.models import DATA, fitted
from tests.estimator.texts import LABELS, TABLE

from chmcnn import CHMCNNClassifier


@pytest.mark.parametrize(
    "options", [{"preprocess": False}, {"evaluated": DATA.hierarchy.depths != 1, "calibration": "isotonic"}]
)
def test_onnx_gives_the_same_coherent_probabilities(tmp_path: Path, options: dict[str, Any]) -> None:
    import onnxruntime

    model = fitted(**options)
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    x = DATA.test.X.astype(np.float32)
    x[0, 0] = np.nan
    (found,) = session.run(None, {"features": x})
    steepness = 10 if "calibration" in options else 1  # of the map from scores to probabilities
    np.testing.assert_allclose(found, model.predict_proba(x), atol=1e-5 * steepness)
    assert len(DATA.hierarchy.violations(found)) == 0
    assert model.predict(DATA.test.X).shape == (60, 15)


def test_a_model_of_texts_takes_tf_idf(tmp_path: Path) -> None:
    import onnxruntime

    model = CHMCNNClassifier(path_separator=">", epochs=2, widths=(8,), random_state=0).fit(TABLE, LABELS)
    model.to_onnx(tmp_path / "model.onnx")
    features = model.preprocessor_.transform(TABLE).toarray()
    raw = features * model.preprocessor_.scales_ + model.preprocessor_.shifts_
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(None, {"features": raw.astype(np.float32)})
    np.testing.assert_allclose(scores, model.predict_proba(TABLE), atol=1e-4)
