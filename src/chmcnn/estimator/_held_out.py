"""What a model learns from scores of rows that it was not trained on: calibration, thresholds, and curves of risk."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Self

import torch

from chmcnn._wording import count
from chmcnn.errors import ChmcnnError
from chmcnn.estimator._calibration import CalibrationMethod, learn_calibration
from chmcnn.estimator._predicting import Predictor
from chmcnn.estimator._risks import measure_risks
from chmcnn.estimator._thresholds import tune
from chmcnn.settings import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from chmcnn._typing import Features, LabelsLike, ScoresLike
    from chmcnn.estimator._calibration import Calibration
    from chmcnn.training import Rows


_FEW_ROWS = 30
"""With fewer rows, probabilities follow these rows, and say little of others."""


def _warn_of_few(rows: int) -> None:
    if rows < _FEW_ROWS:
        warnings.warn(
            f"{count(rows, 'row')} cannot tell probabilities well: calibrate with {_FEW_ROWS} or more.",
            UserWarning,
            stacklevel=3,
        )


class HeldOutLearner(Predictor):
    """Learns on validation rows in each training, and afterwards on rows of the user."""

    calibration: CalibrationMethod | None

    def _to_labels(self, X: Features, y: LabelsLike) -> csr_array:
        """Return labels with all ancestors as a matrix, one row for each row of X."""
        raise NotImplementedError

    def calibrate(self, X: Features, y: LabelsLike, method: CalibrationMethod | None = "isotonic") -> Self:
        """Learn probabilities from rows that the model was not trained on; thresholds and risks follow.

        One increasing map for all classes turns each score into a probability. It keeps the order of all scores, so
        they stay coherent.

        Parameters
        ----------
        X, y
            Features and labels, as for ``fit``.
        method
            ``"temperature"`` divides all logits by one number; ``"isotonic"`` and ``"venn-abers"`` learn any increasing
            map, and need more rows. None removes the calibration.

        Examples
        --------
        >>> from chmcnn import CHMCNNClassifier, datasets
        >>> data = datasets.load("digits")
        >>> model = CHMCNNClassifier(data.hierarchy, epochs=3, random_state=0).fit(data.train.X, data.train.Y)
        >>> model.calibrate(data.valid.X, data.valid.Y).calibration_.method
        'isotonic'
        >>> data.hierarchy.violations(model.predict_proba(data.test.X))
        0 violations in 500 rows
        """
        if method is None:
            self.calibration_ = None
            return self
        labels = self._to_labels(X, y)
        check("calibration", method)
        _warn_of_few(labels.shape[0])
        self.calibration_ = self._learn_calibration(labels, lambda: self._iterate_plain(X), method)
        return self

    def guarantee(self, X: Features, y: LabelsLike) -> Self:
        """Learn risks from rows that the model was not trained on: what ``predict_labels(X, risk=0.1)`` relies on.

        The rows must be drawn as future ones are. The risks of validation rows, from ``fit``, are replaced.

        Examples
        --------
        >>> from chmcnn import CHMCNNClassifier, datasets
        >>> data = datasets.load("digits")
        >>> model = CHMCNNClassifier(data.hierarchy, epochs=3, random_state=0).fit(data.train.X, data.train.Y)
        >>> model.guarantee(data.valid.X, data.valid.Y).risks_.rows
        297
        """
        labels = self._to_labels(X, y)
        self.risks_ = measure_risks(labels, lambda: self._iterate_plain(X), self.hierarchy_, self.evaluated_)
        return self

    def _learn_held_out(self, valid: Rows | None, scores: ScoresLike | None) -> None:
        """Learn from scores of validation rows, by a model that was not trained on them; nothing without scores."""
        self.tuned_thresholds_, self.risks_, self.calibration_ = {}, None, None
        if valid is None or scores is None:
            return
        self.tuned_thresholds_ = tune(valid.y, scores, self.hierarchy_, self.evaluated_)
        self.risks_ = measure_risks(valid.y, scores, self.hierarchy_, self.evaluated_)
        if self.calibration is not None:
            _warn_of_few(len(valid))
            self.calibration_ = self._learn_calibration(valid.y, scores, self.calibration)

    def _learn_calibration(self, labels: csr_array, scores: ScoresLike, method: CalibrationMethod) -> Calibration:
        return learn_calibration(labels, scores, method, self.evaluated_)

    def _require_validation_rows(self, valid: Rows | None) -> None:
        """Refuse settings that validation rows are needed for, if there are none."""
        for name, wanted in (("threshold", isinstance(self.threshold, str)), ("calibration", self.calibration)):
            if wanted and valid is None:
                raise ChmcnnError(
                    f"{name}={getattr(self, name)!r} needs validation rows: pass validation_data=, or a validation= "
                    "above 0."
                )

    def _iterate_plain(self, X: Features) -> Iterator[NDArray[np.float32]]:
        """Yield coherent scores without calibration, of some rows at a time."""
        return (self._correct_plain(torch.from_numpy(raw)).numpy() for raw in self._iterate_uncorrected(X))
