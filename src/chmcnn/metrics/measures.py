"""All measures by name, and measures of the user: functions of labels and scores that return a number."""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn._io import user_code
from chmcnn._wording import count, nearest
from chmcnn.errors import ChmcnnError, ScoreError
from chmcnn.metrics import at_k, cafa, calibration, leaves, ranking, sets
from chmcnn.metrics._inputs import as_rows, is_matrix, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

COMMON_K = (1, 3, 5, 10)
"""The k of ``precision@k`` and ``recall@k`` that results of comparisons always have."""
CELLS_IN_MEMORY = 1 << 26
"""Most cells (rows, classes) of scores that are kept in memory, for what needs all at once or reads them often."""
_LOSSES = ("_error", "_loss", "_distance")
"""Names of functions end like this if lower is better, as in scikit-learn."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a measure may look at."""

    Y: LabelsLike  # (rows, classes) 0/1 matrix of true labels with all ancestors, dense or sparse
    scores: ScoresLike  # (rows, classes) coherent: a matrix, or a function that returns its blocks
    predicted: LabelsLike  # (rows, classes) at or above the thresholds, in the same form
    hierarchy: Hierarchy
    classes: NDArray[np.bool_] | None = None  # which classes count; None: all
    information: ArrayLike | None = None  # of each class
    known: LabelsLike | None = None  # labels that were known before, which do not count


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its names, and what it needs."""

    name: str  # as users write it
    title: str  # as tables show it
    function: Callable[[Outcome], float] = field(repr=False, compare=False)
    higher_is_better: bool = True
    help: str = ""
    needs_information: bool = False
    path: str | None = None  # module:function of a measure of the user
    version: str | None = None  # of that function

    @property
    def key(self) -> str:
        """The name under which results are stored: a changed function of the user has another one."""
        return self.name if self.path is None else f"{self.path}#{self.version}"

    def compute(self, outcome: Outcome) -> float:
        """Return the value; NaN where the measure is not defined."""
        if self.needs_information and outcome.information is None:
            raise ScoreError(f"{self.name} needs the information of the classes: pass information=.")
        return self.function(outcome)


def _call(measure: Callable[..., Any], outcome: Outcome, **options: Any) -> Any:  # noqa: ANN401 -- any measure
    return measure(outcome.Y, outcome.scores, classes=outcome.classes, **options)


def _call_sets(measure: Callable[..., Any], outcome: Outcome) -> Any:  # noqa: ANN401
    return measure(outcome.Y, outcome.predicted, classes=outcome.classes)


def _leaves(measure: Callable[..., float], outcome: Outcome) -> float:
    return measure(outcome.Y, outcome.scores, outcome.hierarchy, classes=outcome.classes)


def _at_k(measure: Callable[..., float], k: int, outcome: Outcome) -> float:
    """Measure at k; NaN where there are fewer classes."""
    number = outcome.Y.shape[1] if outcome.classes is None else int(outcome.classes.sum())
    return math.nan if k > number else _call(measure, outcome, k=k)


def _fmax(outcome: Outcome) -> float:
    return float(_call(cafa.fmax, outcome, known=outcome.known).value)


def _weighted_fmax(outcome: Outcome) -> float:
    return float(_call(cafa.fmax, outcome, information=outcome.information, known=outcome.known).value)


def _smin(outcome: Outcome) -> float:
    return float(_call(cafa.smin, outcome, information=outcome.information, known=outcome.known).value)


def _hierarchical(part: str, outcome: Outcome) -> float:
    return float(getattr(_call_sets(sets.hierarchical, outcome), part))


_TABLE = (
    Measure("auprc", "AU(PRC)", partial(_call, ranking.auprc), help="area under the precision-recall curve, micro"),
    Measure("auprc_macro", "AU(PRC), macro", partial(_call, ranking.auprc, average="macro"), help="mean over classes"),
    Measure(
        "auprc_weighted",
        "AU(PRC), weighted",
        partial(_call, ranking.auprc, average="weighted"),
        help="mean over classes, weighted by their rows",
    ),
    Measure("fmax", "Fmax", _fmax, help="CAFA's best F over all thresholds"),
    Measure(
        "weighted_fmax",
        "weighted Fmax",
        _weighted_fmax,
        help="the same, classes weighted by their information",
        needs_information=True,
    ),
    Measure("smin", "Smin", _smin, False, "CAFA's smallest semantic distance", needs_information=True),  # noqa: FBT003
    Measure(
        "hierarchical_precision",
        "hierarchical precision",
        partial(_hierarchical, "precision"),
        help="of predicted labels, micro",
    ),
    Measure(
        "hierarchical_recall",
        "hierarchical recall",
        partial(_hierarchical, "recall"),
        help="of predicted labels, micro",
    ),
    Measure("hierarchical_f", "hierarchical F", partial(_hierarchical, "f"), help="of predicted labels, micro"),
    Measure("exact_match", "exact match", partial(_call_sets, sets.exact_match), help="rows with all labels right"),
    Measure("hamming", "Hamming loss", partial(_call_sets, sets.hamming), False, "share of wrong labels"),  # noqa: FBT003
    Measure("jaccard", "Jaccard", partial(_call_sets, sets.jaccard), help="overlap of label sets, mean over rows"),
    Measure("r_precision", "R-precision", partial(_call, at_k.r_precision), help="precision at the number of labels"),
    Measure("leaf_accuracy", "leaf accuracy", partial(_leaves, leaves.leaf_accuracy), help="best leaf is a true one"),
    Measure(
        "mistake_severity",
        "mistake severity",
        partial(_leaves, leaves.mistake_severity),
        higher_is_better=False,
        help="edges from the true leaf to the lowest common ancestor, mean over mistakes",
    ),
    Measure(
        "calibration_error",
        "calibration error",
        partial(_call, calibration.calibration_error),
        higher_is_better=False,
        help="difference between scores and frequencies",
    ),
)
_FAMILIES: dict[str, Callable[..., float]] = {"precision": at_k.precision_at_k, "recall": at_k.recall_at_k}

MEASURES = {measure.name: measure for measure in _TABLE}
"""The measures with fixed names; ``precision@k`` and ``recall@k`` exist for any k."""
MEASURE_NAMES = (*MEASURES, *(f"{name}@5" for name in _FAMILIES))
"""All names, with 5 as an example of k."""


def find_measure(wanted: str | Callable[..., float] | Measure) -> Measure:
    """Return a measure by its name, by ``module:function``, or of a function.

    A function of the user is called with the true labels and the scores (rows, classes), as arrays. If its second
    parameter is called ``y_pred`` or ``predicted``, it gets the predicted labels instead. Parameters called
    ``hierarchy``, ``classes`` (a mask of the classes that count), ``information`` and ``known`` get these. It returns a
    number. Higher is better, unless it has the attribute ``higher_is_better = False``, or its name ends in ``_error``,
    ``_loss`` or ``_distance``. Its attribute ``title`` is its name in tables.

    Examples
    --------
    >>> find_measure("precision@3").title
    'precision at 3'
    >>> find_measure("sklearn.metrics:coverage_error")
    Measure(name='coverage_error', title='coverage_error', higher_is_better=False, ...
    >>> find_measure("auprcc")
    Traceback (most recent call last):
    chmcnn.errors.ChmcnnError: Unknown measure 'auprcc'. Did you mean 'auprc'? ...
    """
    if isinstance(wanted, Measure):
        return wanted
    if callable(wanted):
        return _wrap(wanted, user_code.get_path(wanted))
    if wanted in MEASURES:
        return MEASURES[wanted]
    match = re.fullmatch(r"(precision|recall)@([1-9]\d*)", wanted)
    if match:
        name, k = match[1], int(match[2])
        return Measure(wanted, f"{name} at {k}", partial(_at_k, _FAMILIES[name], k), help="of the k highest scores")
    if ":" in wanted:
        function = user_code.find_object(wanted)
        if not callable(function) or inspect.isclass(function):
            raise ChmcnnError(f"{wanted!r} is of type {type(function).__name__}; expected a function.")
        return _wrap(function, wanted)
    near = nearest(wanted, MEASURE_NAMES)
    hint = f" Did you mean {near!r}?" if near else ""
    raise ChmcnnError(
        f"Unknown measure {wanted!r}.{hint} Measures: {', '.join(MEASURE_NAMES)} (or any other k), or module:function "
        "of your own."
    )


def find_measures(wanted: Iterable[str | Callable[..., float] | Measure]) -> tuple[Measure, ...]:
    """Return several measures; refuse two with the same name."""
    found: list[Measure] = []
    for measure in map(find_measure, wanted):
        if measure.name in (other.name for other in found):
            raise ChmcnnError(f"Measure {measure.name!r} is listed twice; list it once, or rename one of them.")
        found.append(measure)
    return tuple(found)


def list_stored() -> tuple[Measure, ...]:
    """Return the measures that every result of a comparison has: all, with the common values of k."""
    at = [find_measure(f"{name}@{k}") for name in _FAMILIES for k in COMMON_K]
    return (*_TABLE, *at)


def _wrap(function: Callable[..., Any], path: str) -> Measure:
    name = str(getattr(function, "__name__", path.rpartition(":")[2]))
    return Measure(
        name=name,
        title=str(getattr(function, "title", name)),
        function=_adapt(function, path),
        higher_is_better=bool(getattr(function, "higher_is_better", not name.endswith(_LOSSES))),
        path=path,
        version=user_code.get_version(function),
    )


def _adapt(function: Callable[..., Any], path: str) -> Callable[[Outcome], float]:
    """Return a function of an outcome that passes what the function of the user asks for."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        raise ChmcnnError(f"{path!r} does not tell its parameters; wrap it in a function.") from None
    named = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    second = named[1].name if len(named) > 1 else ""
    keywords = [each.name for each in named[2:] if each.name in ("hierarchy", "classes", "information", "known")]
    required = [each.name for each in named[2:] if each.default is each.empty and each.name not in keywords]
    if len(named) < 2 or required:
        names = ", ".join(each.name for each in named) or "none"
        raise ChmcnnError(
            f"{path!r} has the parameters {names}; expected the true labels and the scores, and then only hierarchy, "
            "classes, information, known, or parameters with a default."
        )

    def compute(outcome: Outcome) -> float:
        answers = outcome.predicted if second in ("y_pred", "predicted") else outcome.scores
        arrays = _as_array(outcome.Y, outcome, path), _as_array(answers, outcome, path)
        value = function(*arrays, **{name: getattr(outcome, name) for name in keywords})
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ChmcnnError(f"{path!r} returns a {type(value).__name__}; expected a number.")
        return float(value)

    return compute


def _as_array(values: LabelsLike | ScoresLike, outcome: Outcome, path: str) -> NDArray[Any]:
    """Return labels or scores as an array for a function of the user; refuse to put too many blocks together."""
    rows, classes = outcome.Y.shape
    if not is_matrix(outcome.scores) and rows * classes > CELLS_IN_MEMORY:
        raise ChmcnnError(
            f"{path!r} needs all scores at once, but {count(rows, 'row')} of {count(classes, 'class')} are more than "
            f"the {CELLS_IN_MEMORY:,} cells that are kept in memory; evaluate fewer rows, or leave this measure out."
        )
    matrix = as_rows(values)
    array: NDArray[Any] = matrix.toarray() if is_sparse(matrix) else matrix
    return array
