"""The base class of all systems: labels, features, validation rows and training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from chmcnn import metrics
from chmcnn._sparse import refuse_damaged
from chmcnn.datasets.preprocessing import refuse_too_large
from chmcnn.datasets.stratification import stratify
from chmcnn.errors import ChmcnnError, FeatureError, LabelError, ModelError
from chmcnn.estimator._constructors import complete_signature, list_parameters
from chmcnn.estimator._held_out import HeldOutLearner
from chmcnn.estimator._row_names import refuse_other_order
from chmcnn.estimator._seeds import choose_seed
from chmcnn.estimator._streams import count_rows
from chmcnn.estimator._transformers import create_preprocessor, is_transformer
from chmcnn.hierarchy import Hierarchy, hierarchy_from_labels, label_matrix
from chmcnn.settings import SETTINGS, check
from chmcnn.training import Matrix, Rows, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array
    from sklearn.utils import Tags
    from torch import Tensor

    from chmcnn._typing import Features, JSONValue, LabelsLike, ScoresLike, Transformer
    from chmcnn.datasets.preprocessing import Preprocessor
    from chmcnn.estimator._calibration import CalibrationMethod
    from chmcnn.estimator._parameters import NetworkLike
    from chmcnn.estimator._predicting import Threshold
    from chmcnn.estimator._transformers import CustomPreprocessor


class HierarchicalClassifier(HeldOutLearner, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator for classes in a hierarchy. A system is a subclass with `_learn` and `uncorrected_proba`."""

    hierarchy: Hierarchy | None
    validation: float
    preprocess: bool | Transformer
    evaluated: ArrayLike | None
    random_state: int | np.random.RandomState | None
    path_separator: str = "/"

    set_later: ClassVar[tuple[str, ...]] = ("threshold",)
    """Parameters that matter after a training: a model file has their present values, and those of `fit` of others."""

    fitted_params_: dict[str, Any] | None = None  # as they were in the training; None in pickles of earlier versions
    preprocessor_: Preprocessor | CustomPreprocessor
    id_column_: str | None = None  # name of the index of the training rows
    is_given_standardised: bool = False  # whether the features that `fit` gets are, as in an ensemble
    streamed_: bool = False  # whether the training rows came from a torch Dataset or DataLoader, without preprocessing

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401 -- as in Python itself
        """Give a constructor with ``**options`` the signature that it has with those of its base class."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            complete_signature(cls)

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        validation: float = 0.2,
        threshold: Threshold = 0.5,
        calibration: CalibrationMethod | None = None,
        preprocess: bool | Transformer = True,
        path_separator: str = "/",
        evaluated: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.validation = validation
        self.threshold = threshold
        self.calibration = calibration
        self.preprocess = preprocess
        self.path_separator = path_separator
        self.evaluated = evaluated
        self.random_state = random_state

    # Implemented by each system

    def _learn(self, train: Rows, valid: Rows | None) -> ScoresLike | None:
        """Train, and return coherent scores of the validation rows, by a model that was not trained on them.

        They are a matrix, or a function that yields blocks of its rows: see `chmcnn.metrics`.
        """
        raise NotImplementedError

    # Implemented by each system that has model files

    def learned_tensors(self) -> dict[str, Tensor]:
        """Return what was learned, for a model file."""
        name = type(self).__name__
        raise ChmcnnError(f"{name} has no model files; use joblib.dump, and load such files only if you trust them.")

    def learned_facts(self) -> dict[str, JSONValue]:
        """Return what was learned and is no tensor, for a model file."""
        return {}

    def settings_to_save(self) -> dict[str, JSONValue]:
        """Return settings that a model file has in the place of parameters."""
        return {}

    def restore(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Take back what was learned from a model file, of which every shape and index must be checked.

        The parameters, the hierarchy, the preprocessing and the thresholds are there already.
        """
        raise NotImplementedError

    # Training

    def fit(self, X: Features, y: LabelsLike = None, validation_data: Features = None) -> Self:
        """Train.

        Parameters
        ----------
        X
            Features (rows, features): an array, a sparse matrix, a DataFrame or a list of texts. The index of a
            DataFrame has the names of the rows.
        y
            Label sets, or a 0/1 matrix in the order of ``hierarchy.classes``. Ancestors are added.
        validation_data
            Features and labels for early stopping and for tuning thresholds, instead of a share of the rows.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, validation_data)
        except BaseException:
            self.__dict__ = before  # a failed training leaves the model unchanged
            raise
        return self

    def fit_scored(self, X: Features, y: LabelsLike, validation_data: Features = None) -> ScoresLike | None:
        """Train as `fit` does, but learn nothing from the validation scores: an ensemble does this with its members.

        Call `learn_rest` before the model is used.

        Returns
        -------
        Coherent scores of the validation rows, by a model that was not trained on them: a matrix, or blocks of its
        rows. None without validation rows, and for a system that has no such scores.
        """
        _, scores = self._fit_table(X, y, validation_data)
        self._learn_held_out(None, None)
        return scores

    def learn_rest(self) -> None:
        """Do what `_learn` leaves for later, such as learning from validation rows, too; by default nothing.

        An ensemble does this after its weights are chosen, and only with members that have a weight.
        """

    def _fit(self, X: Features, y: LabelsLike, validation_data: Features) -> None:
        valid, scores = self._fit_table(X, y, validation_data)
        self.learn_rest()
        self._learn_held_out(valid, scores)

    def _fit_table(
        self, X: Features, y: LabelsLike, validation_data: Features
    ) -> tuple[Rows | None, ScoresLike | None]:
        """Train on rows in memory; return the validation rows and their scores."""
        X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X
        labels = self._check(X, y)
        train, valid = self._split(X, labels, validation_data)
        self._require_validation_rows(valid)
        return valid, self._learn(train, valid)

    # Scoring

    def score(self, X: Features, y: LabelsLike, sample_weight: None = None) -> float:
        """Return the AU(PRC) of all rows and evaluated classes, the measure of the paper."""
        if sample_weight is not None:
            raise ChmcnnError("sample_weight is not supported: all rows have the same weight in the AU(PRC).")
        scores = self.predict_proba(X)
        refuse_other_order(X, y)
        return metrics.auprc(self._to_matrix(y), scores, classes=self.evaluated_)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of all parameters, also of those that a constructor passes on."""
        return sorted(list_parameters(cls))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what is supported: several labels, missing values, sparse matrices."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # the score is not an accuracy
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    # Files

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a folder, atomically: safetensors, JSON, and a skops file for a transformer of yours.

        ``force`` overwrites an existing model. Of processes that train together, the first one writes.
        """
        from chmcnn.estimator import _model_files

        check_is_fitted(self, "tuned_thresholds_")
        if joined().is_first:
            _model_files.save_model(self, Path(path), force=force)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        network: NetworkLike = None,
        device: str = "auto",
        verify_key: str | Path | bytes | None = None,
    ) -> Self:
        """Read a model that `save` wrote. Reading never runs code: pass a custom network as ``network=``.

        ``device`` is that of a network; other systems compute on the processor. ``verify_key`` is a public key, as for
        `chmcnn.load_model`.
        """
        from chmcnn.estimator import _model_files

        known = cls().get_params(deep=False)
        if network is not None and "network" not in known:
            raise ModelError(f"network= was passed, but {cls.__name__} has no network; leave it out", Path(path))
        options = {"network": network, "device": device}
        given = {name: options[name] for name in options if name in known}
        return _model_files.load_model(cls, Path(path), given, verify_key)

    # Preparing a training

    def _check(self, X: Features, y: LabelsLike, classes: LabelsLike = None) -> csr_array:
        """Check the parameters and the labels, and return the labels as a matrix."""
        if y is None:
            raise LabelError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if any(getattr(getattr(part, "dtype", None), "kind", "") == "c" for part in (X, y)):
            raise ChmcnnError("Complex data not supported: use real numbers in X and y.")
        self.resolve(y if classes is None else classes)
        labels = self._to_labels(X, y)
        if not self._has_labels(labels):
            raise LabelError("No row has any of the classes that count: there is nothing to learn.")
        return labels

    def _has_labels(self, labels: csr_array) -> bool:
        """Return whether any row has a class that counts."""
        return bool(self.evaluated_[labels.indices].any())

    def _to_labels(self, X: Features, y: LabelsLike) -> csr_array:
        """Return labels with all ancestors as a matrix, one row for each row of X."""
        check_is_fitted(self, "hierarchy_")
        refuse_damaged(X, "X", FeatureError)
        labels, rows = self._to_matrix(y), count_rows(X)
        if rows is not None and rows != labels.shape[0]:
            raise LabelError(f"X has {rows} rows, but y has labels of {labels.shape[0]}.")
        refuse_other_order(X, y)
        return labels

    def _to_matrix(self, y: LabelsLike) -> csr_array:
        try:
            return label_matrix(y, self.hierarchy_, path_separator=self.path_separator)
        except ChmcnnError as error:
            if self.hierarchy is not None:
                raise
            hint = "The hierarchy was read from the training labels: pass hierarchy= with all classes."
            raise LabelError(f"{error} {hint}") from None

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            kind = type(self.hierarchy).__name__
            raise ChmcnnError(
                f"hierarchy is of type {kind}; expected a Hierarchy, for example from Hierarchy.from_edges."
            )
        self.check_settings()
        self.remember_params()
        self.id_column_, self.calibration_, self.risks_ = None, None, None
        self.seed_ = self._choose_seed()
        self.hierarchy_ = self.hierarchy or hierarchy_from_labels(y, self.path_separator)
        self.classes_ = np.array(self.hierarchy_.classes, dtype=object)
        self.evaluated_ = _check_evaluated(self.evaluated, self.hierarchy_)

    def _choose_seed(self) -> int:
        return choose_seed(self.random_state)

    def remember_params(self) -> None:
        """Remember the parameters: `set_params` does not change what a trained model is."""
        self.fitted_params_ = self.get_params(deep=False)

    def check_settings(self) -> None:
        """Refuse settings with values that they cannot have."""
        if not isinstance(self.path_separator, str) or not self.path_separator.strip():
            raise ChmcnnError(f"path_separator is {self.path_separator!r}; expected a string, such as '/' or '>'.")
        for name, setting in SETTINGS.items():
            value = getattr(self, name, setting.default)
            if name == "preprocess":
                if not is_transformer(value):
                    check(name, value, setting.domain._replace(expected="true, false or a scikit-learn transformer"))
                continue
            optional = setting.default is None  # the preset has a value
            if name != "preset" and not (optional and value is None):  # each system has its own presets
                check(name, value)

    def _split(self, X: Features, labels: csr_array, validation_data: Features) -> tuple[Rows, Rows | None]:
        """Return training and validation rows, passed or drawn, stratified; None if drawn rows have no label."""
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
                kind = type(validation_data).__name__
                raise ChmcnnError(f"validation_data is of type {kind}; expected a pair (X, y), in the form of X and y.")
            valid_labels = self._to_labels(*validation_data)
            return self._fit_transform_rows(X, labels), self._to_rows(validation_data[0], valid_labels)
        size = round(self.validation * labels.shape[0])
        train, valid = stratify(labels, (labels.shape[0] - size, size), self.seed_)
        if not size or not all(self._has_labels(labels[rows]) for rows in (train, valid)):
            return self._fit_transform_rows(X, labels), None
        rows = self._fit_transform_rows(_safe_indexing(X, train), labels[train])
        return rows, self._to_rows(_safe_indexing(X, valid), labels[valid])

    def _fit_transform_rows(self, X: Features, labels: csr_array) -> Rows:
        """Fit the preprocessing on training rows, and apply it."""
        name = getattr(getattr(X, "index", None), "name", None)
        preprocessor = create_preprocessor(self.preprocess).fit(X, labels)
        self._take_preprocessor(preprocessor, name if isinstance(name, str) else None)
        return self._to_rows(X, labels)

    def _take_preprocessor(self, preprocessor: Preprocessor | CustomPreprocessor, id_column: str | None) -> None:
        """Set a fitted preprocessor, and what is known of the features by it."""
        self.preprocessor_, self.id_column_ = preprocessor, id_column
        self.n_features_in_ = preprocessor.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(preprocessor, "feature_names_in_"):
            self.feature_names_in_ = preprocessor.feature_names_in_

    def _to_rows(self, X: Features, labels: csr_array) -> Rows:
        return Rows(self._preprocess(X), labels)

    def _preprocess(self, X: Features) -> Matrix:
        """Preprocess features, as the rows of a training have them."""
        x = self._transform(X)
        return torch.from_numpy(x) if isinstance(x, np.ndarray) else x

    def _transform(self, X: Features) -> NDArray[np.float64] | csr_array:
        """Preprocess features; values beyond single precision are refused, as most systems compute in it."""
        with config_context(transform_output="default"):  # whatever the user wants of transformers elsewhere
            x: NDArray[np.float64] | csr_array = self.preprocessor_.transform(X)
        refuse_too_large(x, self.preprocessor_.get_feature_names_out)
        return x


def _check_evaluated(evaluated: ArrayLike | None, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    mask = np.ones(len(hierarchy), dtype=np.bool_) if evaluated is None else np.asarray(evaluated)
    if mask.shape != (len(hierarchy),) or mask.dtype != np.bool_ or not mask.any():
        raise ChmcnnError(
            f"evaluated has shape {mask.shape} and type {mask.dtype}; expected a mask of the {len(hierarchy)} classes "
            "with at least one true value."
        )
    return mask
