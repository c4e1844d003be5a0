"""Linear: a support vector machine for each class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.parallel import Parallel, delayed

from chmcnn import metrics
from chmcnn.baselines._arrays import read_array, read_positions
from chmcnn.baselines._refitted import Refitted
from chmcnn.errors import ChmcnnError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from chmcnn._typing import Features, JSONValue, LabelsLike, ScoresLike
    from chmcnn.baselines._arrays import Arrays
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

COSTS = (0.01, 0.1, 0.3, 1.0, 3.0)
DEFAULT_COST = 0.5
DEFAULT_LOGISTIC = (5.0, 0.5)
"""Slope and intercept without validation rows: about those of the text problems."""
_CLASSES_OF_CHOICE = 32
"""Most classes that the cost is chosen by."""
_SOLVER = {"dual": True, "max_iter": 50, "tol": 1e-2}
"""Options of ``LinearSVC``: a closer solution took longer, with the same AU(PRC) on validation rows of texts."""
_WEIGHTS = 1 << 28
"""Most weights, one for each column and class: 1 GiB."""
_CELLS_OF_LOGISTIC = 1 << 21
"""Most margins of validation rows that the logistic function is fitted to."""


class Linear(Refitted["Margins"]):
    """A linear support vector machine for each class, without the hierarchy; the correction is the maximum.

    The loss is the squared hinge, by scikit-learn's ``LinearSVC``. One logistic function for all classes maps margins
    to scores; it is fitted to validation rows. Only classes with training rows are learned; others score 0, and
    classes that all rows have score 1. It is strong on sparse features, such as words.

    Parameters
    ----------
    C
        Weight of the loss against the penalty on the weights. By default the best of 0.01, 0.1, 0.3, 1 and 3 by the
        AU(PRC) of some classes on the validation rows, or 0.5 without such rows.
    most_products
        Most products of stored features and classes: `fit` refuses larger problems, as it takes too long.
    n_jobs
        Number of classes to learn in parallel; -1 is one per core, and None one per thread of torch. The result does
        not depend on it.
    hierarchy, validation, threshold, preprocess, path_separator, refit, evaluated, random_state
        See `chmcnn.CHMCNNClassifier`.

    Attributes
    ----------
    C_ : float
        The weight of the loss that is used.
    best_score_ : float
        AU(PRC) on the validation rows, of a model without them.

    Examples
    --------
    >>> X, y = ["red shoes", "blue shoes", "green tea"] * 5, ["wear/shoes", "wear/shoes", "food/tea"] * 5
    >>> sorted(Linear(random_state=0).fit(X, y).predict_labels(["green tea"])[0])
    ['food', 'food/tea']
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        C: float | None = None,
        most_products: float = 2e10,
        n_jobs: int | None = None,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, **options)
        self.C = C
        self.most_products = most_products
        self.n_jobs = n_jobs

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        self._check_numbers(most_products=1.0, **({} if self.C is None else {"C": 1e-6}))
        self.C_, self._logistic = self.C or DEFAULT_COST, DEFAULT_LOGISTIC

    def settings_to_save(self) -> dict[str, JSONValue]:
        """Return the weight of the loss that is used."""
        return {"C": self.C_}

    def _learn(self, train: Rows, valid: Rows | None) -> ScoresLike | None:
        self._refuse_large(train if valid is None else train.concatenate(valid))
        if self.C is None and valid is not None:
            self._choose_cost(train, valid)
        return super()._learn(train, valid)

    def _choose_cost(self, train: Rows, valid: Rows) -> None:
        """Choose the weight of the loss by some classes."""
        learned = np.random.default_rng(self.seed_).permutation(self._find_learned(train))[:_CLASSES_OF_CHOICE]
        labels = valid.y[:, learned]
        if not labels.nnz:
            return
        scores = {}
        for cost in COSTS:
            weights = self._fit_classes(train.features, train.y[:, learned], cost)
            scores[cost] = metrics.auprc(labels, valid.features @ weights[:, :-1].T + weights[:, -1])
        self.C_ = max(COSTS, key=scores.__getitem__)

    def _find_learned(self, rows: Rows) -> NDArray[np.int64]:
        """Return the classes that count, and that some rows have and others do not."""
        counts = rows.y.sum(axis=0)
        return np.flatnonzero((counts > 0) & (counts < len(rows)) & self.evaluated_)

    def _fit_classes(self, x: Features, labels: csr_array, cost: float) -> NDArray[np.float32]:
        """Return the weights (classes, columns) of some classes, followed by their biases."""
        columns = labels.tocsc()
        classes = (
            columns.indices[start:end] for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see `_SOLVER`
            fitted = Parallel(n_jobs=self.n_jobs or torch.get_num_threads(), prefer="threads")(
                delayed(_fit_class)(x, positives, cost, self.seed_) for positives in classes
            )
        return np.stack(fitted) if fitted else np.zeros((0, x.shape[1] + 1), dtype=np.float32)

    def _train(self, rows: Rows) -> Margins:
        x, learned = rows.features, self._find_learned(rows)
        weights = self._fit_classes(x, rows.y[:, learned], self.C_)
        return Margins(
            np.ascontiguousarray(weights[:, :-1]),
            np.ascontiguousarray(weights[:, -1]),
            learned.astype(np.int32),
            (rows.y.sum(axis=0) == len(rows)).astype(np.float32),
            *self._logistic,
        )

    def _refuse_large(self, rows: Rows) -> None:
        """Refuse too large a problem at the start: an ensemble then goes on without this member."""
        x, classes = rows.features, len(self._find_learned(rows))
        products = float(x.size) * classes
        if products > self.most_products or x.shape[1] * classes > _WEIGHTS:
            raise ChmcnnError(
                f"Linear steps aside: {x.shape[0]:,} rows and {x.shape[1]:,} columns with {classes:,} classes take too "
                f"long or too much memory ({products:.1e} products; most_products is {self.most_products:.1e}). "
                "Use Neighbours, or raise most_products=."
            )

    def _choose(self, first: Margins, valid: Rows) -> Margins:
        """Fit the logistic function to margins of validation rows."""
        if not len(first.learned):
            return first
        sample = self._draw(valid, _CELLS_OF_LOGISTIC // len(first.learned))
        labels = sample.y[:, first.learned].toarray().ravel()
        if labels.any() and not labels.all():
            fitted = LogisticRegression(C=1e6).fit(first.compute_margins(sample.features).reshape(-1, 1), labels)
            slope = float(fitted.coef_[0, 0])
            if slope > 0:  # otherwise margins say nothing, or too few rows do
                self._logistic = slope, float(fitted.intercept_[0])
        return replace(first, slope=self._logistic[0], intercept=self._logistic[1])

    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> Margins:  # noqa: ARG002 -- of all systems
        return Margins.read(arrays, self._count_columns(), len(self.hierarchy_))


@dataclass(frozen=True, slots=True)
class Margins:
    """The weights of the classes that were learned, and the logistic function of their margins."""

    weights: NDArray[np.float32]  # (learned classes, columns)
    biases: NDArray[np.float32]  # (learned classes,)
    learned: NDArray[np.int32]  # positions of the classes that were learned
    constant: NDArray[np.float32]  # (classes,) scores of the others
    slope: float
    intercept: float

    @property
    def width(self) -> int:
        """Margins are as many as scores."""
        return 1

    def compute_margins(self, x: Features) -> NDArray[np.float32]:
        """Return the margins (rows, learned classes)."""
        margins: NDArray[np.float32] = x.astype(np.float32) @ self.weights.T
        return margins + self.biases

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return scores (rows, classes)."""
        scores = np.tile(self.constant, (x.shape[0], 1))
        scores[:, self.learned] = expit(self.slope * self.compute_margins(x) + self.intercept)
        return scores

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays, for a model file."""
        return {
            "weights": self.weights,
            "biases": self.biases,
            "learned": self.learned,
            "constant": self.constant,
            "logistic": np.array([self.slope, self.intercept]),
        }

    @classmethod
    def read(cls, arrays: Arrays, columns: int, classes: int) -> Self:
        """Return what a model file has, for a number of columns and classes."""
        weights = read_array(arrays, "weights", np.float32, (None, columns))
        slope, intercept = read_array(arrays, "logistic", np.float64, (2,)).tolist()
        if slope <= 0:
            raise ModelError(f"the slope of the logistic function is {slope}; expected a number above 0")
        return cls(
            weights,
            read_array(arrays, "biases", np.float32, (len(weights),)),
            read_positions(arrays, "learned", classes, (len(weights),)),
            read_array(arrays, "constant", np.float32, (classes,)),
            slope,
            intercept,
        )


def _fit_class(x: Features, positives: NDArray[np.int32], cost: float, seed: int) -> NDArray[np.float32]:
    """Return the weights of a class, and then its bias."""
    labels = np.zeros(x.shape[0], dtype=np.int8)
    labels[positives] = 1
    machine = LinearSVC(C=cost, random_state=seed, **_SOLVER).fit(x, labels)
    return np.append(machine.coef_[0], machine.intercept_).astype(np.float32)
