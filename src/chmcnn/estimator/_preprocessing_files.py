"""The preprocessing in model files: facts in JSON, means, scales and words in safetensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn.datasets.columns import KINDS, Categories, Dates, Numbers, Texts
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.datasets.texts import TextEncoder
from chmcnn.errors import ModelError
from chmcnn.estimator._transformers import CustomPreprocessor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from chmcnn._typing import Transformer
    from chmcnn.datasets.columns import Column
    from chmcnn.estimator._base import HierarchicalClassifier


def describe_preprocessing(model: HierarchicalClassifier) -> dict[str, Any]:
    """Return the columns of the features; none for a model of a stream, which is not preprocessed."""
    if model.streamed_:
        return {}
    preprocessor = model.preprocessor_
    facts = {
        "features": [str(name) for name in getattr(model, "feature_names_in_", [])] or model.n_features_in_,
        "id column": model.id_column_,
        "sparse": preprocessor.sparse_,
    }
    if isinstance(preprocessor, CustomPreprocessor):
        return facts | {"kinds": preprocessor.kinds_, "columns of the transformer": preprocessor.width_}
    return facts | {
        "kinds": [KINDS[type(column)] for column in preprocessor.columns_],
        "categories": preprocessor.categories_,
    }


def preprocessing_tensors(model: HierarchicalClassifier) -> dict[str, Tensor]:
    """Return means and scales, and the words of each column of text with their weights."""
    if model.streamed_ or isinstance(model.preprocessor_, CustomPreprocessor):
        return {}
    preprocessor = model.preprocessor_
    tensors = {name: torch.tensor(getattr(preprocessor, f"{name}_")) for name in ("means", "scales")}
    for position, column in enumerate(preprocessor.columns_):
        if isinstance(column, Texts):
            tensors[f"text.{position}.terms"] = torch.tensor(column.encoder.to_bytes())
            tensors[f"text.{position}.idf"] = torch.tensor(column.encoder.idf)
    return tensors


def restore_preprocessing(
    model: HierarchicalClassifier,
    facts: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    transformer: Transformer | None,
) -> None:
    """Give a model its preprocessing."""
    if "features" not in facts:  # a model of a stream
        return
    features = facts["features"]
    for texts in (features, [facts.get("id column") or ""], *filter(None, facts.get("categories", ()))):
        _check_names(texts)
    names = None if isinstance(features, int) else np.array(features, dtype=object)
    preprocessor = (
        _restore_own(facts, tensors, standardise=model.preprocess)
        if transformer is None
        else _restore_custom(facts, transformer)
    )
    preprocessor.n_features_in_ = features if names is None else len(names)
    if isinstance(preprocessor, Preprocessor) and len(preprocessor.columns_) != preprocessor.n_features_in_:
        raise ModelError(f"there are {len(preprocessor.columns_)} columns, but features are {features}")
    preprocessor.sparse_ = facts["sparse"]
    if names is not None:
        model.feature_names_in_ = preprocessor.feature_names_in_ = names
    model.preprocessor_, model.n_features_in_ = preprocessor, preprocessor.n_features_in_
    model.id_column_ = facts.get("id column")


def _check_names(names: object) -> None:
    """Refuse names of columns or categories that are not text; columns may be a number instead."""
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return
    if not isinstance(names, int) or isinstance(names, bool):
        raise ModelError(f"there are columns or categories {str(names)[:40]}; expected a list of names")


def _restore_custom(facts: Mapping[str, Any], transformer: Transformer) -> CustomPreprocessor:
    preprocessor = CustomPreprocessor(transformer)
    preprocessor.kinds_, preprocessor.width_ = dict(facts["kinds"]), int(facts["columns of the transformer"])
    return preprocessor


def _restore_own(facts: Mapping[str, Any], tensors: Mapping[str, Tensor], *, standardise: bool) -> Preprocessor:
    preprocessor = Preprocessor(standardise=standardise)
    kinds = facts.get("kinds") or [KINDS[Numbers if names is None else Categories] for names in facts["categories"]]
    preprocessor.columns_ = [
        _restore_column(kind, names, tensors, position)
        for position, (kind, names) in enumerate(zip(kinds, facts["categories"], strict=True))
    ]
    preprocessor.means_, preprocessor.scales_ = tensors["means"].numpy(), tensors["scales"].numpy()
    width = sum(column.width for column in preprocessor.columns_)
    if preprocessor.means_.shape != (width,) or preprocessor.scales_.shape != (width,):
        raise ModelError(f"there are {width} columns, but means of shape {preprocessor.means_.shape}")
    for name, values, least in (("means", preprocessor.means_, -np.inf), ("scales", preprocessor.scales_, 0)):
        if not ((values > least) & (values < np.inf)).all():
            raise ModelError(f"there are {name} that are not finite, or scales that are not above 0")
    return preprocessor


def _restore_column(kind: str, names: list[str] | None, tensors: Mapping[str, Tensor], position: int) -> Column:
    if kind == KINDS[Texts]:
        terms, idf = (tensors[f"text.{position}.{name}"].numpy() for name in ("terms", "idf"))
        return Texts(TextEncoder.from_bytes(terms, idf))
    if kind == KINDS[Categories]:
        return Categories(tuple(names or ()))
    if kind not in (KINDS[Numbers], KINDS[Dates]):
        raise ModelError(f"column {position} has the unknown kind {kind!r}")
    return Dates() if kind == KINDS[Dates] else Numbers()
