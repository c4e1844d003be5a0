"""The ways to predict that all systems have: scores, labels, the best classes, and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Unpack, overload

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from chmcnn._sparse import refuse_damaged
from chmcnn.errors import ChmcnnError, FeatureError
from chmcnn.estimator._answering import Answering, AnswerOptions, read_limit
from chmcnn.estimator._correction import Direction, correct, find_delegates, get_options
from chmcnn.estimator._explain import Explanation, explain
from chmcnn.estimator._ranking import Ranked, RankedClass, Ranker
from chmcnn.estimator._streams import count_rows, is_stream
from chmcnn.estimator._system_scores import check_system_scores
from chmcnn.settings import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn._typing import Features
    from chmcnn.estimator._calibration import Calibration
    from chmcnn.estimator._risks import Limit, RiskCurves
    from chmcnn.hierarchy import Hierarchy

Threshold: TypeAlias = float | Literal["tune", "hierarchical_f", "fmax"]
"""A number, or a way to tune thresholds: see `chmcnn.CHMCNNClassifier`."""

_CELLS_AT_ONCE = 1 << 22
"""Scores that are computed at once where not all are kept."""


class Predictor:
    """Predictions from `uncorrected_proba`, which a system implements."""

    threshold: Threshold
    hierarchy_: Hierarchy
    evaluated_: NDArray[np.bool_]
    tuned_thresholds_: dict[str, NDArray[np.float64]]  # of scores before the calibration
    calibration_: Calibration | None = None
    risks_: RiskCurves | None = None  # of scores before the calibration

    correction: ClassVar[Direction] = "max"
    """How scores are made coherent: by the maximum over descendants, or the minimum over ancestors."""

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return probabilities (rows, classes) before the correction."""
        raise NotImplementedError

    # Scores

    def predict_proba(self, X: Features) -> NDArray[np.float32]:
        """Return coherent probabilities (rows, classes), in the order of ``hierarchy_.classes``."""
        return self.correct(torch.from_numpy(self._score_raw(X))).numpy()

    def iterate_proba(self, X: Features) -> Iterator[NDArray[np.float32]]:
        """Yield the coherent probabilities of some rows at a time: all of them need not fit into memory."""
        return (self.predict_proba(block) for block in self._split_rows(X, self._count_rows_at_once()))

    def iterate_scores(self, X: Features) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Yield probabilities before and after the correction, of some rows at a time."""
        for raw in self._iterate_uncorrected(X):
            yield raw, self.correct(torch.from_numpy(raw)).numpy()

    def _iterate_uncorrected(self, X: Features) -> Iterator[NDArray[np.float32]]:
        for block in self._split_rows(X, self._count_rows_at_once()):
            yield self._score_raw(block)

    def _score_raw(self, X: Features) -> NDArray[np.float32]:
        """Return probabilities before the correction: those of a system of the user are checked."""
        raw, classes = self.uncorrected_proba(X), len(self._require_hierarchy())
        rows = count_rows(X)
        shape = (len(raw) if rows is None else rows, classes)
        return check_system_scores(raw, shape, type(self).__name__)

    def _count_rows_at_once(self) -> int:
        return max(1, _CELLS_AT_ONCE // len(self._require_hierarchy()))

    def predict_top(
        self,
        X: Features,
        k: int | None = 10,
        *,
        min_score: float = 0.0,
        within: str | None = None,
        most_specific: bool = False,
    ) -> list[list[RankedClass]]:
        """Return the best classes of each row with their scores, highest first.

        Equal scores put a class before its descendants. Scores are computed some rows at a time: memory grows with the
        classes that are kept.

        Parameters
        ----------
        X
            Features.
        k
            Number of classes of each row; None for all.
        min_score
            Lowest score of a class.
        within
            Only this class and its descendants.
        most_specific
            Leave out a class if one of its children reaches ``min_score``. With the default 0, only leaves remain.

        Examples
        --------
        >>> from chmcnn import CHMCNNClassifier, Hierarchy
        >>> pets = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat")])
        >>> model = CHMCNNClassifier(pets, epochs=20, random_state=0).fit([[0.0], [1.0]] * 20, [{"dog"}, {"cat"}] * 20)
        >>> [name for name, score in model.predict_top([[1.0]], k=2)[0]]
        ['animal', 'cat']
        """
        hierarchy = self._require_hierarchy()
        ranker = Ranker(hierarchy, k, min_score=min_score, within=within, most_specific=most_specific)
        names = hierarchy.classes
        found: list[list[RankedClass]] = []
        for rows, ranked in self.iterate_top(X, ranker):
            start = len(found)
            found.extend([] for _ in range(rows))
            for row, column, score in zip(*(part.tolist() for part in ranked), strict=True):
                found[start + row].append(RankedClass(names[column], score))
        return found

    def iterate_top(self, X: Features, ranker: Ranker) -> Iterator[tuple[int, Ranked]]:
        """Yield the best classes of some rows at a time, as arrays, with the number of rows; see `predict_top`."""
        return ((len(scores), ranker.rank(scores)) for scores in self.iterate_proba(X))

    def _split_rows(self, X: Features, size: int) -> Iterator[Features]:
        """Yield some rows of X at a time."""
        if is_stream(X):  # refused by `predict_proba`, unless a subclass splits it
            yield X
            return
        refuse_damaged(X, "X", FeatureError)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X
        rows = _num_samples(X)
        if rows <= size:
            yield X
            return
        for start in range(0, rows, size):
            yield _safe_indexing(X, slice(start, min(start + size, rows)))

    # Labels

    @property
    def thresholds_(self) -> NDArray[np.float64]:
        """Lowest score at which each class is predicted (classes,), by the parameter ``threshold``."""
        return self._find_thresholds(None)

    @overload
    def predict(
        self, X: Features, *, sparse_output: Literal[False] = ..., **options: Unpack[AnswerOptions]
    ) -> NDArray[np.int8]: ...
    @overload
    def predict(
        self, X: Features, *, sparse_output: Literal[True], **options: Unpack[AnswerOptions]
    ) -> sparse.csr_array: ...
    def predict(
        self, X: Features, *, sparse_output: bool = False, **options: Unpack[AnswerOptions]
    ) -> NDArray[np.int8] | sparse.csr_array:
        """Return predicted labels as a 0/1 matrix (rows, classes), with all ancestors.

        Parameters
        ----------
        X
            Features.
        sparse_output
            Return a CSR matrix. Scores are computed some rows at a time: memory grows with the predicted labels.
        **options
            A threshold or a risk, as for `predict_labels`.
        """
        answering = self.create_answering(**options)
        if sparse_output:
            blocks = [sparse.csr_array(answering.answer(scores).astype(np.int8)) for scores in self.iterate_proba(X)]
            return sparse.csr_array(sparse.vstack(blocks))
        return answering.answer(self.predict_proba(X)).astype(np.int8)

    def predict_labels(
        self, X: Features, *, most_specific: bool = False, **options: Unpack[AnswerOptions]
    ) -> list[set[str]]:
        """Return predicted label sets, with all ancestors or only the most specific classes.

        Parameters
        ----------
        X
            Features.
        most_specific
            Leave out ancestors of predicted classes.
        threshold
            Threshold instead of the parameter of the model.
        risk
            Instead of a threshold: how much of an answer may go wrong, as a mean over rows, such as 0.1. The threshold
            follows from held-out rows: see `guarantee`.
        risk_of
            What goes wrong: the share of the true classes that are ``"missed"`` (the default), or the share of the
            answered classes that are ``"wrong"``.
        back_off
            Answer one path of each row, down to the deepest class that is safe enough: ``risk`` is how often that class
            is wrong.
        confidence
            Keep the risk with this probability over the choice of the held-out rows, such as 0.9, and not only as a
            mean over them: answers are more cautious.

        Examples
        --------
        >>> from chmcnn import CHMCNNClassifier, datasets
        >>> data = datasets.load("digits")
        >>> model = CHMCNNClassifier(data.hierarchy, epochs=15, random_state=0).fit(data.train.X, data.train.Y)
        >>> model.predict_labels(data.test.X[:1], risk=0.05, back_off=True, most_specific=True)
        [{'0'}]
        """
        answering = self.create_answering(**options)
        blocks = (answering.answer(scores) for scores in self.iterate_proba(X))
        return [labels for block in blocks for labels in self.hierarchy_.decode(block, most_specific=most_specific)]

    def create_answering(
        self,
        *,
        threshold: Threshold | None = None,
        risk: float | None = None,
        risk_of: Literal["missed", "wrong"] | None = None,
        back_off: bool = False,
        confidence: float | None = None,
    ) -> Answering:
        """Return which classes are answered, by a threshold or a risk."""
        limit = read_limit(risk, risk_of, confidence, back_off=back_off)
        if limit is None:
            return Answering(self._require_hierarchy(), self._find_thresholds(threshold))
        if threshold is not None:
            raise ChmcnnError("threshold and risk were both passed; a risk decides the threshold, so pass one of them.")
        return Answering(self.hierarchy_, self.find_risk_thresholds(limit), one_path=back_off)

    def find_risk_thresholds(self, limit: Limit) -> NDArray[np.float64]:
        """Return the lowest score at which each class is predicted (classes,), so that a risk is kept."""
        classes = len(self._require_hierarchy())
        if self.risks_ is None:
            raise ChmcnnError(
                f"The model has no held-out rows to base a risk of {limit.risk:g} on; train it with validation rows, "
                "or call guarantee(X, y) in Python with rows that it was not trained on."
            )
        return self._calibrate_thresholds(np.full(classes, self.risks_.find_threshold(limit)))

    def explain(self, X: Features, *, threshold: Threshold | None = None) -> list[Explanation]:
        """Return the predicted part of the hierarchy for each row, with scores and delegates.

        ``threshold`` is used instead of the parameter of the model.
        """
        thresholds = self._find_thresholds(threshold)
        raw = torch.from_numpy(self._score_raw(X))
        scores, positions = self.correct(raw).numpy(), self.delegates(raw).numpy()
        return [explain(self.hierarchy_, *row, thresholds) for row in zip(scores, positions, strict=True)]

    def _find_thresholds(self, threshold: Threshold | None) -> NDArray[np.float64]:
        """Return the threshold of each class: a number for all, or those tuned when the model was trained."""
        classes = len(self._require_hierarchy())
        value = check("threshold", self.threshold if threshold is None else threshold)
        if not isinstance(value, str):
            return np.full(classes, float(value))
        tuned = getattr(self, "tuned_thresholds_", {})
        if value not in tuned:
            raise ChmcnnError(
                f"threshold is {value!r}, but the model has no thresholds tuned on validation rows; use a number, or "
                f"train with validation rows and threshold={value!r}."
            )
        return self._calibrate_thresholds(tuned[value])

    def _calibrate_thresholds(self, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return thresholds of probabilities, from those of scores before the calibration."""
        if self.calibration_ is None:
            return thresholds
        narrow = torch.from_numpy(thresholds.astype(np.float32))  # scores are rounded in the same way
        return self.calibration_.apply(narrow).numpy().astype(np.float64)

    def _require_hierarchy(self) -> Hierarchy:
        """Return the classes of a fitted model; raise scikit-learn's error for one that is not."""
        check_is_fitted(self, "hierarchy_")
        return self.hierarchy_

    # Coherence

    def delegates(self, scores: Tensor) -> Tensor:
        """Return the position of the delegate of each class, from scores before the correction."""
        return find_delegates(scores, self.hierarchy_, **self._get_correction(scores))

    def correct(self, scores: Tensor) -> Tensor:
        """Make probabilities coherent and calibrated; a class that does not count has the highest below it, or 0."""
        return self._calibrate(self._correct_plain(scores))

    def _calibrate(self, coherent: Tensor) -> Tensor:
        return coherent if self.calibration_ is None else self.calibration_.apply(coherent)

    def _correct_plain(self, scores: Tensor) -> Tensor:
        return correct(scores, self.hierarchy_, **self._get_correction(scores))

    def _get_correction(self, scores: Tensor) -> dict[str, Any]:
        counted = None if self.evaluated_.all() else self.evaluated_
        return get_options(self.hierarchy_, self.correction, counted, scores.device)
