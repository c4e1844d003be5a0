"""Any scikit-learn classifier of several labels as a system: its scores are made coherent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier, check_system_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows


class Coherent(HierarchicalClassifier):
    """A classifier that knows nothing about the hierarchy, with scores that are made coherent by the maximum.

    The classifier is fitted to preprocessed features and the 0/1 matrix of all labels with their ancestors, training
    and validation rows together. A class that no row has, or every row, is not learned: it scores 0 or 1.

    Parameters
    ----------
    estimator
        Any object with ``fit(X, Y)`` for a 0/1 matrix Y, and with ``predict_proba(X)`` or ``decision_function(X)``,
        which the logistic function maps to scores from 0 to 1. One that takes a single label for each row, such as
        ``LogisticRegression``, is wrapped in ``sklearn.multiclass.OneVsRestClassifier`` first.
    hierarchy, threshold, preprocess, evaluated, random_state
        See `CHMCNNClassifier`. If the estimator has a parameter ``random_state`` that is None, it gets the seed.
    validation
        Share of the rows to tune thresholds on if ``fit`` gets no validation data.

    Attributes
    ----------
    estimator_
        The fitted classifier.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [0.4], [1.0]] * 5, ["animal/dog", "animal/cat", "plant"] * 5
    >>> model = Coherent(KNeighborsClassifier(3), random_state=0).fit(X, y)
    >>> sorted(model.predict_labels([[0.0]])[0])
    ['animal', 'animal/dog']
    """

    estimator_: Any
    learned_: NDArray[np.bool_]
    constant_: NDArray[np.float32]

    def __init__(
        self,
        estimator: Any = None,  # noqa: ANN401 -- of any library
        hierarchy: Hierarchy | None = None,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, **options)
        self.estimator = estimator

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return the scores of the classifier (rows, classes), before the correction."""
        check_is_fitted(self, "estimator_")
        x = self._transform(X)
        scores = np.tile(self.constant_, (x.shape[0], 1))
        if self.learned_.any():
            scores[:, self.learned_] = self._score(x, int(self.learned_.sum()))
        return scores

    def _learn(self, train: Rows, valid: Rows | None) -> NDArray[np.floating] | None:
        scores = None
        if (isinstance(self.threshold, str) or self.calibration) and valid is not None:
            self._fit_estimator(train)
            scores = self._score_rows(valid)
        self._fit_estimator(train if valid is None else train.concatenate(valid))
        return scores

    def _fit_estimator(self, rows: Rows) -> None:
        counts = rows.y.sum(axis=0)
        self.learned_, self.constant_ = (counts > 0) & (counts < len(rows)), (counts == len(rows)).astype(np.float32)
        self.estimator_ = clone(self.estimator, safe=False)
        if "random_state" in getattr(self.estimator_, "get_params", dict)() and self.estimator_.random_state is None:
            self.estimator_.set_params(random_state=self.seed_)
        if not self.learned_.any():
            return
        try:
            self.estimator_.fit(rows.features, rows.y[:, self.learned_].toarray().astype(np.int8))
        except ValueError as error:
            if "y should be a 1d array" not in str(error):  # as classifiers of scikit-learn say that take one label
                raise
            raise ChmcnnError(
                f"{type(self.estimator_).__name__} takes a single label for each row: wrap it in "
                "sklearn.multiclass.OneVsRestClassifier."
            ) from error

    def _score_rows(self, rows: Rows) -> NDArray[np.floating]:
        import torch

        x = rows.features
        scores = np.tile(self.constant_, (x.shape[0], 1))
        scores[:, self.learned_] = self._score(x, int(self.learned_.sum()))
        return self._correct_plain(torch.from_numpy(scores)).numpy()

    def _score(self, x: Features, classes: int) -> NDArray[np.floating]:
        """Return scores from 0 to 1 of the learned classes."""
        name = type(self.estimator).__name__
        if hasattr(self.estimator_, "predict_proba"):
            scores = _to_matrix(self.estimator_.predict_proba(x))
        elif hasattr(self.estimator_, "decision_function"):
            scores = expit(_to_matrix(self.estimator_.decision_function(x)))
        else:
            raise ChmcnnError(f"{name} has no scores: it needs predict_proba or decision_function.")
        if scores.shape == (x.shape[0], 2) and classes == 1:
            scores = scores[:, 1:]  # of one class, scikit-learn returns both probabilities
        return check_system_scores(scores.reshape(-1, 1) if classes == 1 else scores, (x.shape[0], classes), name)


def _to_matrix(scores: Any) -> NDArray[np.floating]:  # noqa: ANN401 -- of any library
    """Return scores as a matrix; some classifiers return a list with the probabilities of 0 and 1 of each class."""
    if isinstance(scores, list) and scores and np.ndim(scores[0]) == 2:
        return np.stack([np.asarray(each)[:, -1] for each in scores], axis=1)
    return np.asarray(scores.toarray() if hasattr(scores, "toarray") else scores)
