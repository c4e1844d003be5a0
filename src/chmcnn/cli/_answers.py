"""What `chmcnn predict` answers: which classes, and in which form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chmcnn.cli._groups import OptionGroup, flag
from chmcnn.cli._options import Threshold
from chmcnn.cli._spreadsheets import Spreadsheet, guard_formulas
from chmcnn.errors import ChmcnnError, HierarchyError
from chmcnn.settings import ABOVE_ZERO, BETWEEN_ZERO_AND_ONE, PROBABILITY

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from chmcnn import Hierarchy
    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier, Ranked, Ranker


class Format(StrEnum):
    """Forms of predictions."""

    WIDE = "wide"
    LONG = "long"
    LABELS = "labels"
    CAFA = "cafa"


class RiskOf(StrEnum):
    """What may go wrong with label sets."""

    MISSED = "missed"
    WRONG = "wrong"


_DOMAINS = {
    "top": ABOVE_ZERO,
    "min_score": PROBABILITY,
    "risk": BETWEEN_ZERO_AND_ONE,
    "confidence": BETWEEN_ZERO_AND_ONE,
}
_ALLOWED = {
    Format.WIDE: ("within",),
    Format.LONG: ("top", "min_score", "within", "most_specific", "disagreement"),
    Format.LABELS: ("within", "most_specific", "threshold", "risk"),
    Format.CAFA: ("top", "min_score", "within", "most_specific"),
}
"""Options that each form has."""


@dataclass(frozen=True)
class AnswerOptions(OptionGroup):
    """Which classes are shown, and in which form."""

    format: Annotated[
        Format | None,
        typer.Option(
            help="wide: a column of scores for each class. long: a line for each row and class, with the score. "
            "labels: label sets. cafa: lines of target, term and score for CAFA's evaluators. Default: wide, or the "
            "form that the other options are for."
        ),
    ] = None
    top: Annotated[
        int | None, typer.Option(help="Number of classes of each row, highest scores first; implies --format long.")
    ] = None
    min_score: Annotated[
        float | None, typer.Option(help="Lowest score to show, from 0 to 1; implies --format long.")
    ] = None
    within: Annotated[str | None, typer.Option(help="Show this class and its descendants only.")] = None
    most_specific: Annotated[
        bool, typer.Option("--most-specific", help="Leave out ancestors of classes that are shown.")
    ] = False
    disagreement: Annotated[
        bool,
        typer.Option(
            "--disagreement", help="Show how much the members of an ensemble disagree; implies --format long."
        ),
    ] = False
    labels: Annotated[bool, typer.Option("--labels", help="The same as --format labels.")] = False
    threshold: Threshold = None
    risk: Annotated[
        float | None,
        typer.Option(
            help="How much of an answer may go wrong, as a mean over rows, above 0 and below 1. The threshold follows, "
            "from the held-out rows of the training. Implies --format labels."
        ),
    ] = None
    risk_of: Annotated[
        RiskOf | None,
        typer.Option(
            help="What may go wrong. missed: the share of the true classes that are missed. wrong: the share of the "
            "answered classes that are wrong. Default: missed."
        ),
    ] = None
    back_off: Annotated[
        bool,
        typer.Option(
            "--back-off",
            help="Answer one path, down to the deepest class that is safe enough: --risk is how often that is wrong.",
        ),
    ] = False
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Keep the risk with this probability over the choice of the held-out rows, above 0 and below 1."
        ),
    ] = None

    spreadsheet: Spreadsheet = False

    def resolve(self) -> Format:
        """Return the form; refuse wrong values, and options that contradict each other or have no effect."""
        for name, domain in _DOMAINS.items():
            value = getattr(self, name)
            if value is not None and not domain.allows(value):
                raise ChmcnnError(f"{flag(name)} is {value!r}; expected {domain.expected}.")
        self._check_risk()
        if self.labels and self.format not in {None, Format.LABELS}:
            raise ChmcnnError(f"--labels and --format {self.format} cannot be used together; use one of them.")
        chosen = Format.LABELS if self.labels else self.format or self._infer()
        for name in ("top", "min_score", "most_specific", "disagreement", "threshold", "risk"):
            value = getattr(self, name)
            if value is not None and value is not False and name not in _ALLOWED[chosen]:
                raise ChmcnnError(f"{flag(name)} has no effect on {_FORMS[chosen]}; {_WAYS_OUT[name]}.")
        return chosen

    def _infer(self) -> Format:
        if self.top is not None or self.min_score is not None or self.disagreement:
            return Format.LONG
        decided = self.threshold is not None or self.risk is not None
        return Format.LABELS if self.most_specific or decided else Format.WIDE

    def _check_risk(self) -> None:
        """Refuse options of a risk that contradict each other or have no effect."""
        for name in ("risk_of", "back_off", "confidence"):
            if self.risk is None and getattr(self, name):
                raise ChmcnnError(f"{flag(name)} has no effect without --risk; use --risk too, such as --risk 0.1.")
        if self.risk is not None and self.threshold is not None:
            raise ChmcnnError("--threshold and --risk cannot be used together; a risk decides the threshold.")
        if self.back_off and self.risk_of is RiskOf.MISSED:
            raise ChmcnnError(
                "--back-off limits the risk of a wrong answer, not of missed classes; leave out --risk-of."
            )

    def predict_labels(self, model: HierarchicalClassifier, features: Features) -> list[set[str]]:
        """Return the label sets of all rows, by a threshold or a risk."""
        return model.predict_labels(features, most_specific=self.most_specific, **self._ask_for_risk())

    def describe_risk(self, model: HierarchicalClassifier) -> str:
        """Return from which score on the model answers a class so that the risk is kept; nothing without a risk."""
        from chmcnn._wording import count
        from chmcnn.estimator import read_limit

        limit = read_limit(**self._ask_for_risk())
        if limit is None:
            return ""
        score, risks = model.find_risk_thresholds(limit)[0], model.risks_
        rows = f"{count(risks.rows, 'held-out row')} set the limit: " if risks else ""
        return f"{rows}classes are answered from a score of {score:.3g} on."

    def _ask_for_risk(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "risk_of": None if self.risk_of is None else self.risk_of.value,
            "back_off": self.back_off,
            "confidence": self.confidence,
        }

    def find_branch(self, hierarchy: Hierarchy) -> list[str]:
        """Return the classes to show, in column order."""
        if self.within is None:
            return list(hierarchy.classes)
        try:
            kept = {self.within, *hierarchy.descendants(self.within)}
        except HierarchyError as error:
            titled = [repr(name) for name, title in hierarchy.titles.items() if title == self.within]
            hint = f" It is the title of {' and '.join(titled)}; use the id." if titled else ""
            raise ChmcnnError(f"--within: {error}{hint}") from None
        return [name for name in hierarchy.classes if name in kept]

    def rank(self, model: HierarchicalClassifier, features: Features, first_row: int = 0) -> Iterator[pd.DataFrame]:
        """Yield the long form of some rows at a time: the id of the row, the class, its title and the score.

        Without titles there is no column of them. The first column has the name of the id column of the table, or
        "row" if another column has that name.
        """
        import numpy as np
        import pandas as pd

        from chmcnn.estimator import Ranker

        ids, classes = row_ids(features, first_row), np.array(model.hierarchy_.classes, dtype=object)
        titles = model.hierarchy_.titles
        named = np.array([titles.get(name, "") for name in model.hierarchy_.classes], dtype=object)
        start = 0
        ranker = Ranker(
            model.hierarchy_,
            self.top,
            min_score=self.min_score or 0.0,
            within=self.within,
            most_specific=self.most_specific,
        )
        for rows, (row, column, score), further in self._iterate_top(model, features, ranker):
            frame = pd.DataFrame({"class": classes[column], "name": named[column], "score": score, **further})
            frame = frame if titles else frame.drop(columns="name")
            frame.insert(0, "row" if ids.name in frame else ids.name, ids[start : start + rows][row])
            yield self.guard(frame)
            start += rows

    def guard(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table without formulas, if it is for a spreadsheet."""
        return guard_formulas(frame) if self.spreadsheet else frame

    def _iterate_top(
        self, model: HierarchicalClassifier, features: Features, ranker: Ranker
    ) -> Iterator[tuple[int, Ranked, dict[str, NDArray[np.float32]]]]:
        """Yield the best classes of some rows at a time, with further columns that were asked for."""
        from chmcnn import CoherentEnsemble

        if not self.disagreement:
            return ((*found, {}) for found in model.iterate_top(features, ranker))
        if not isinstance(model, CoherentEnsemble):
            raise ChmcnnError("--disagreement is for ensembles: this model has no members that could disagree.")
        if len(model.members_) == 1:
            raise ChmcnnError(
                f"--disagreement is for several members, but this ensemble has one, {next(iter(model.members_))!r}."
            )
        blocks = model.iterate_disagreement(features, ranker)
        return ((rows, ranked, {"disagreement": values}) for rows, ranked, values in blocks)


_FORMS = {
    Format.WIDE: "a column of scores for each class (--format wide)",
    Format.LONG: "the long form (--format long)",
    Format.LABELS: "label sets (--format labels)",
    Format.CAFA: "CAFA's form (--format cafa)",
}
_WAYS_OUT = {
    "top": "use --format long or leave it out",
    "min_score": "use --format long, or --threshold for label sets",
    "most_specific": "use --format labels or --format long",
    "disagreement": "use --format long",
    "threshold": "use --min-score, or --format labels",
    "risk": "use --format labels",
}


def row_ids(features: Features, first_row: int = 0) -> pd.Index[Any]:
    """Return the ids of the rows: the index of a table, or numbers from that of the first row."""
    import pandas as pd

    index = features.index if isinstance(features, pd.DataFrame) else pd.RangeIndex(features.shape[0])
    if isinstance(index, pd.RangeIndex) and index.name is None:
        index = index + first_row
    return index.rename("row" if index.name is None else index.name)
