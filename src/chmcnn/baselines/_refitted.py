"""The base class of systems that are fitted twice: without the validation rows, to choose, and then with them."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from chmcnn import metrics
from chmcnn.baselines._arrays import to_arrays, to_tensors
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn._typing import Features, JSONValue, ScoresLike
    from chmcnn.baselines._arrays import Arrays
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

_CELLS_AT_ONCE = 1 << 22
"""Most numbers of some rows that are computed at once."""


class Learned(Protocol):
    """What was learned from some rows: an immutable value that scores other rows."""

    @property
    def width(self) -> int:
        """Numbers that each row needs while it is scored, beside one for each class."""

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return scores (rows, classes) of preprocessed features."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all of it, for a model file."""


Model = TypeVar("Model", bound=Learned)


class Refitted(HierarchicalClassifier, Generic[Model]):
    """A system that chooses its settings on validation rows, and then learns from all rows.

    A system is a subclass with `_train` and `_read`.
    """

    model_: Model
    notice_: str = ""
    best_score_: float
    _left: tuple[Rows, Rows] | None = None  # training and validation rows that are still to be learned from, together

    def __init__(self, hierarchy: Hierarchy | None = None, *, refit: bool = True, **options: JSONValue) -> None:
        super().__init__(hierarchy, **options)
        self.refit = refit

    # Implemented by each system

    @abstractmethod
    def _train(self, rows: Rows) -> Model:
        """Learn from rows."""

    @abstractmethod
    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> Model:
        """Return what a model file has, of which everything is checked."""

    def _choose(self, first: Model, valid: Rows) -> Model:  # noqa: ARG002 -- for systems that choose
        """Choose settings on rows that were not learned from, and return the first model with these settings."""
        return first

    # Training

    def _learn(self, train: Rows, valid: Rows | None) -> ScoresLike | None:
        self.notice_ = ""
        self._left, first = None, self._train(train)
        if valid is None:
            self.model_ = first
            return None
        chosen = self._choose(first, valid)
        scores = self._score_rows(chosen, valid)
        self.best_score_ = metrics.auprc(valid.y, scores, classes=self.evaluated_)
        if self.refit:
            self._left = train, valid
        else:
            self.model_ = chosen
        return scores

    def learn_rest(self) -> None:
        """Learn from training and validation rows."""
        if self._left is not None:
            train, valid = self._left
            self.model_, self._left = self._train(train.concatenate(valid)), None

    def _score_rows(self, model: Model, rows: Rows) -> ScoresLike:
        """Return blocks of coherent scores; if there are very many, they are computed each time that they are read."""
        compute = partial(self._iterate, model, rows.features)
        return list(compute()) if len(rows) * len(self.hierarchy_) <= metrics.CELLS_IN_MEMORY else compute

    def _iterate(self, model: Model, x: Features) -> Iterator[NDArray[np.float32]]:
        for block in self._split_features(model, x):
            yield self._correct_plain(torch.from_numpy(model.score(block))).numpy()

    def _split_features(self, model: Model, x: Features) -> Iterator[Features]:
        size = max(1, _CELLS_AT_ONCE // max(len(self.hierarchy_), model.width))
        return (x[start : start + size] for start in range(0, x.shape[0], size))

    def _draw(self, rows: Rows, most: int) -> Rows:
        """Return rows drawn at random; all, if there are not more."""
        if len(rows) <= most:
            return rows
        return rows.take(np.random.default_rng(self.seed_).permutation(len(rows))[: max(1, most)])

    def _check_numbers(self, **least: float) -> None:
        """Refuse settings that are no numbers, or too small: whole numbers where the least one is."""
        for name, smallest in least.items():
            value, whole = getattr(self, name), isinstance(smallest, int)
            kinds = (int, np.integer) if whole else (int, float, np.number)
            if isinstance(value, bool) or not isinstance(value, kinds) or not smallest <= value < np.inf:
                kind = "an integer" if whole else "a finite number"
                raise ChmcnnError(f"{name} is {value!r}; expected {kind}, {smallest} or more.")

    # Predicting

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return scores (rows, classes) before the correction."""
        check_is_fitted(self, "model_")
        x = self._transform(X)
        scores = np.empty((x.shape[0], len(self.hierarchy_)), dtype=np.float32)
        start = 0
        for block in self._split_features(self.model_, x):
            scores[start : start + block.shape[0]] = self.model_.score(block)
            start += block.shape[0]
        return scores

    # Files

    def learned_tensors(self) -> dict[str, Tensor]:
        """Return what was learned, for a model file."""
        return to_tensors(self.model_.arrays())

    def learned_facts(self) -> dict[str, JSONValue]:
        """Return the notice, for a model file."""
        return {"notice": self.notice_}

    def restore(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Take back what was learned from a model file."""
        self.notice_ = str(facts["notice"])
        self.model_ = self._read(to_arrays(tensors), facts)

    def _count_columns(self) -> int:
        """Return the number of preprocessed columns."""
        return len(self.preprocessor_.scales_)
