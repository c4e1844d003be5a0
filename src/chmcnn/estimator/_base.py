"""What all systems share: labels and features as users have them, validation rows, thresholds, label sets."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from chmcnn import metrics
from chmcnn.constraint import delegates, max_constraint, min_constraint
from chmcnn.datasets.dataset import ROOTS
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ChmcnnError, LabelError
from chmcnn.estimator import _targets, _thresholds
from chmcnn.estimator._explain import Explanation, explain
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags
    from torch import Tensor


class Part(NamedTuple):
    """Rows to train or to validate on: features as numbers, and labels with all ancestors."""

    x: NDArray[np.float64] | sparse.csr_array
    y: NDArray[np.bool_]

    def joined(self, other: Part) -> Part:
        """These rows, and then the others."""
        join: Any = sparse.vstack if sparse.issparse(self.x) else np.concatenate
        return Part(join([self.x, other.x]), np.concatenate([self.y, other.y]))


class HierarchicalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator for classes in a hierarchy. A system is a subclass with `_learn` and `uncorrected_proba`."""

    hierarchy: Hierarchy | None
    validation: float
    threshold: float | Literal["tune"]
    preprocess: bool
    evaluated: ArrayLike | None
    random_state: int | np.random.RandomState | None

    hierarchy_: Hierarchy
    preprocessor_: Preprocessor
    evaluated_: NDArray[np.bool_]
    thresholds_: NDArray[np.float64]

    correction: ClassVar[Literal["max", "min"]] = "max"
    """How scores become coherent: a class has the most of its descendants', or the least of its ancestors' scores."""

    # What a system has of its own

    def _learn(self, train: Part, valid: Part | None) -> NDArray[np.floating] | None:
        """Train, and return coherent scores of the validation rows by a model that has not trained on them."""
        raise NotImplementedError

    def uncorrected_proba(self, X: Any) -> NDArray[np.float32]:  # noqa: ANN401
        """Probabilities (rows, classes) as the system has them before they are made coherent."""
        raise NotImplementedError

    # Training

    def fit(self, X: Any, y: Any = None, validation_data: Any = None) -> Self:  # noqa: ANN401
        """Train.

        Parameters
        ----------
        X
            Features (rows, features): an array, a sparse matrix or a DataFrame.
        y
            Label sets of names, or a 0/1 matrix in the order of ``hierarchy.classes``. Ancestors are added.
        validation_data
            Features and labels to stop by and to tune thresholds on, in place of a share of the rows.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, validation_data)
        except BaseException:
            self.__dict__ = before  # a model that could not be trained is the one it was
            raise
        return self

    def _fit(self, X: Any, y: Any, validation_data: Any) -> None:  # noqa: ANN401
        X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X
        truth = self._check(X, y)
        train, valid = self._parts(X, truth, validation_data)
        if self.threshold == "tune" and valid is None:
            raise ChmcnnError("threshold='tune' needs validation data: give validation_data, or a validation share.")
        held = self._learn(train, valid)
        self.thresholds_ = self._thresholds(None if valid is None else valid.y, held)

    # Predicting

    def predict_proba(self, X: Any) -> NDArray[np.float32]:  # noqa: ANN401
        """Probabilities (rows, classes), in the order of ``hierarchy_.classes``; never incoherent."""
        return self.correct(torch.from_numpy(self.uncorrected_proba(X))).numpy()

    def predict(self, X: Any) -> NDArray[np.int8]:  # noqa: ANN401
        """Predicted labels as a 0/1 matrix (rows, classes), closed under ancestors."""
        return (self.predict_proba(X) >= self.thresholds_).astype(np.int8)

    def predict_labels(self, X: Any, *, most_specific: bool = False) -> list[set[str]]:  # noqa: ANN401
        """Predicted label sets, with all ancestors; or only the most specific classes."""
        return self.hierarchy_.decode(self.predict(X), most_specific=most_specific)

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:  # noqa: ANN401
        """AU(PRC) of all rows and the classes that count, the measure of the paper."""
        if sample_weight is not None:
            raise ChmcnnError("sample_weight is not supported: the AU(PRC) counts all rows alike.")
        scores = self.predict_proba(X)
        return metrics.auprc(self._matrix(y), scores, classes=self.evaluated_)

    def explain(self, X: Any) -> list[Explanation]:  # noqa: ANN401
        """For each row the predicted part of the hierarchy, with scores and delegates."""
        raw = torch.from_numpy(self.uncorrected_proba(X))
        rows = zip(self.correct(raw).numpy(), self.delegates(raw).numpy(), strict=True)
        return [explain(self.hierarchy_, scores, index, self.thresholds_) for scores, index in rows]

    def delegates(self, scores: Tensor) -> Tensor:
        """Return the position of the delegate of each class, from uncorrected scores."""
        if self.correction == "max":
            return delegates(scores, self.hierarchy_)
        return delegates(-scores, self.hierarchy_.reversed)

    def correct(self, scores: Tensor) -> Tensor:
        """Make scores coherent."""
        constrain = max_constraint if self.correction == "max" else min_constraint
        return constrain(scores, self.hierarchy_)

    def __sklearn_tags__(self) -> Tags:
        """Say what it takes: several labels, missing values, sparse matrices."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # the score is no accuracy
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    # What is decided before any training

    def _check(self, X: Any, y: Any, classes: Any = None) -> NDArray[np.bool_]:  # noqa: ANN401
        """Decide everything that the labels decide, and return them as a matrix."""
        if y is None:
            raise LabelError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if any(getattr(getattr(part, "dtype", None), "kind", "") == "c" for part in (X, y)):
            raise ChmcnnError("Complex data not supported: give X and y as numbers that are not complex.")
        self._decide(y if classes is None else classes)
        truth = self._truth(X, y)
        if not truth[:, self.evaluated_].any():
            raise LabelError("No row has any of the classes that count: there is nothing to learn.")
        return truth

    def _truth(self, X: Any, y: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        """Labels as a matrix, one row for each row of X."""
        truth, rows = self._matrix(y), _num_samples(X)
        if rows != len(truth):
            raise LabelError(f"X has {rows} rows, however y has labels of {len(truth)}.")
        return truth

    def _matrix(self, y: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        try:
            return _targets.matrix(y, self.hierarchy_)
        except ChmcnnError as error:
            if self.hierarchy is not None:
                raise
            hint = "The hierarchy was read from the labels that were trained on: give hierarchy= with all classes."
            raise LabelError(f"{error} {hint}") from None

    def _decide(self, y: Any) -> None:  # noqa: ANN401
        """Check the settings, and find the classes."""
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            kind = type(self.hierarchy).__name__
            raise ChmcnnError(f"hierarchy is of type {kind}; expected a Hierarchy, such as Hierarchy.from_edges makes.")
        if self.threshold != "tune" and not (isinstance(self.threshold, numbers.Real) and 0 <= self.threshold <= 1):
            raise ChmcnnError(f"threshold is {self.threshold!r}; expected a number from 0 to 1, or 'tune'.")
        if not 0 <= self.validation < 1:
            raise ChmcnnError(f"validation is {self.validation!r}; expected a share of the rows, from 0 to below 1.")
        self._drawn = seed_of(self.random_state)
        self.hierarchy_ = self.hierarchy or _targets.hierarchy_of(y)
        self.classes_ = np.array(self.hierarchy_.classes, dtype=object)
        self.evaluated_ = _evaluated(self.evaluated, self.hierarchy_)

    def _parts(self, X: Any, truth: NDArray[np.bool_], given: Any) -> tuple[Part, Part | None]:  # noqa: ANN401
        """Training and validation rows: those given, or drawn by the seed. None where they would have no label."""
        if given is not None:
            if not isinstance(given, tuple | list) or len(given) != 2:
                kind = type(given).__name__
                raise ChmcnnError(f"validation_data is of type {kind}; expected a pair (X, y), as X and y are here.")
            held = self._truth(*given)
            return self._learnt(X, truth), self._part(given[0], held)
        size = round(self.validation * len(truth))
        order = np.random.default_rng(self._drawn).permutation(len(truth))
        train, held = np.sort(order[size:]), np.sort(order[:size])
        if not size or not all(truth[rows][:, self.evaluated_].any() for rows in (train, held)):
            return self._learnt(X, truth), None
        return self._learnt(_safe_indexing(X, train), truth[train]), self._part(_safe_indexing(X, held), truth[held])

    def _learnt(self, X: Any, truth: NDArray[np.bool_]) -> Part:  # noqa: ANN401
        """Fit the preprocessing on training rows, and apply it."""
        self.preprocessor_ = Preprocessor(standardise=self.preprocess).fit(X)
        self.n_features_in_ = self.preprocessor_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.preprocessor_, "feature_names_in_"):
            self.feature_names_in_ = self.preprocessor_.feature_names_in_
        return self._part(X, truth)

    def _part(self, X: Any, truth: NDArray[np.bool_]) -> Part:  # noqa: ANN401
        return Part(self.preprocessor_.transform(X), truth)

    def _thresholds(self, truth: NDArray[np.bool_] | None, held: NDArray[np.floating] | None) -> NDArray[np.float64]:
        """One threshold, or those tuned on validation rows with a model that has not seen them."""
        if self.threshold != "tune":
            return np.full(len(self.hierarchy_), float(self.threshold))
        if truth is None or held is None:
            return np.full(len(self.hierarchy_), 0.5)
        return _thresholds.tune(truth, held, self.hierarchy_)


def _evaluated(given: ArrayLike | None, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    mask = np.array([name not in ROOTS for name in hierarchy]) if given is None else np.asarray(given)
    if mask.shape != (len(hierarchy),) or mask.dtype != np.bool_ or not mask.any():
        raise ChmcnnError(
            f"evaluated has shape {mask.shape} and type {mask.dtype}; expected a mask of the {len(hierarchy)} classes "
            "with at least one true value."
        )
    return mask


def seed_of(state: Any) -> int:  # noqa: ANN401 -- what scikit-learn takes
    """A seed for one training."""
    if isinstance(state, int | np.integer):
        if not 0 <= state < 2**32:
            raise ChmcnnError(f"random_state is {state}; expected a number from 0 to {2**32 - 1}.")
        return int(state)
    return int(check_random_state(state).randint(2**31 - 1))
