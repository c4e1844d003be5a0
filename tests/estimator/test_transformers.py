"""Transformers of the user in `preprocess=`: what they get, what they may give, and which a model folder can keep."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from tests.estimator.texts import LABELS, TABLE, TEXTS

from chmcnn import CHMCNNClassifier, ChmcnnError, FeatureError
from chmcnn.baselines import ClusHMC
from chmcnn.datasets import Preprocessor
from chmcnn.estimator import CustomPreprocessor

QUICK: dict[str, Any] = {"path_separator": ">", "epochs": 2, "widths": (8,), "random_state": 0}
MIXED = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler(), FunctionTransformer(np.tanh)), ["price"]),
    (OneHotEncoder(handle_unknown="ignore"), ["shop"]),
    (TfidfVectorizer(), "title"),
)


class Other(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A transformer of the user's own."""

    def fit(self, X: Any, y: Any = None) -> "Other":
        del X, y
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X)


def train(transformer: Any, X: Any = TEXTS, **options: Any) -> CHMCNNClassifier:
    return CHMCNNClassifier(**{**QUICK, **options}, preprocess=transformer).fit(X, LABELS)


@pytest.mark.parametrize(
    ("transformer", "X"),
    [
        (TfidfVectorizer(), TEXTS),
        (TfidfVectorizer(dtype=np.float32), pd.Series(TEXTS)),
        (make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0)), TEXTS),
        (MIXED, TABLE),
        (Preprocessor(standardise=False), TABLE),
    ],
)
def test_a_transformer_is_kept_in_the_model(transformer: Any, X: Any, tmp_path: Path) -> None:
    model = train(transformer, X)
    assert clone(transformer).get_params().keys() == transformer.get_params().keys()
    assert "vocabulary_" not in vars(transformer)  # a copy is fitted
    scores = model.predict_proba(X)
    assert len(model.hierarchy_.violations(scores)) == 0
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), scores)
    assert loaded.fit(X, LABELS).predict_proba(X).shape == scores.shape  # with a transformer that is not fitted yet


def test_it_is_fitted_to_training_rows_only() -> None:
    model = CHMCNNClassifier(**QUICK, preprocess=TfidfVectorizer())
    model.fit(TEXTS[::2], LABELS[::2], validation_data=(TEXTS[1::2], LABELS[1::2]))
    assert isinstance(model.preprocessor_, CustomPreprocessor)
    assert np.array_equal(model.preprocessor_.transformer_.idf_, TfidfVectorizer().fit(TEXTS[::2]).idf_)
    drawn = train(TfidfVectorizer()).preprocessor_
    assert isinstance(drawn, CustomPreprocessor)
    assert not np.array_equal(drawn.transformer_.idf_, TfidfVectorizer().fit(TEXTS).idf_)


def test_tables_of_skrub(tmp_path: Path) -> None:
    skrub = pytest.importorskip("skrub")
    model = train(make_pipeline(skrub.TableVectorizer(), SimpleImputer(), StandardScaler()), TABLE)
    model.save(tmp_path / "model")
    assert np.array_equal(CHMCNNClassifier.load(tmp_path / "model").predict_proba(TABLE), model.predict_proba(TABLE))


def test_scikit_learn_searches_over_its_parameters() -> None:
    model = CHMCNNClassifier(**QUICK, preprocess=TfidfVectorizer())
    search = GridSearchCV(model, {"preprocess__max_features": [2, 20]}, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_params_["preprocess__max_features"] in (2, 20)


def test_other_systems_take_transformers_too() -> None:
    options = {"random_state": 0, "path_separator": ">", "preprocess": TfidfVectorizer()}
    model = ClusHMC(**options).fit(TEXTS, LABELS)
    assert model.predict_proba(TEXTS).shape == (80, 6)
    assert len(model.feature_importances_) == len(model.preprocessor_.get_feature_names_out())
    assert "<=" in model.to_text()


@pytest.mark.parametrize(
    ("transformer", "told"),
    [
        (FunctionTransformer(lambda x: x), r"test_transformers\.<lambda> \(FunctionNode\), which is not on the list"),
        (
            make_pipeline(StandardScaler(), FunctionTransformer(np.nan_to_num)),
            r"Pipeline of preprocess=: it has numpy",
        ),
        (
            Other(),
            r"test_transformers\.Other \(ObjectNode\), which is not on the list of safe types\. Use",
        ),
    ],
)
def test_what_no_folder_can_keep_is_refused_before_the_training(
    transformer: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHMCNNClassifier, "_learn", lambda *_: pytest.fail("it is trained"))
    with pytest.raises(ChmcnnError, match=told):
        train(transformer, np.eye(80))


@pytest.mark.parametrize(
    ("transformer", "X", "told"),
    [
        (TfidfVectorizer(min_df=90), TEXTS, "TfidfVectorizer of preprocess= cannot be fitted to X: max_df corresponds"),
        (TfidfVectorizer(), [""] * 80, "cannot be fitted to X: empty vocabulary"),
        (
            FunctionTransformer(),
            np.full((80, 2), np.nan),
            "missing or infinite numbers; add a SimpleImputer",
        ),
        (FunctionTransformer(), TABLE, "gives something other than numbers"),
        (FunctionTransformer(), TEXTS, "gives something other than numbers"),
    ],
)
def test_what_a_transformer_may_not_give_is_told(transformer: Any, X: Any, told: str) -> None:
    with pytest.raises(FeatureError, match=told):
        train(transformer, X)


def test_prediction_on_other_rows_is_told() -> None:
    model = train(MIXED, TABLE)
    with pytest.raises(FeatureError, match="ColumnTransformer of preprocess= cannot transform X: "):
        model.predict(TABLE.drop(columns="title"))
    with pytest.raises(ChmcnnError, match="preprocess is 'yes'; expected true, false or a scikit-learn transformer"):
        train("yes")
    with pytest.raises(ChmcnnError, match="preprocess is <class"):
        train(TfidfVectorizer)
