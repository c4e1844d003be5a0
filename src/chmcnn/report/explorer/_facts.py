"""What is known about each class of a model, from training and test rows: ``class_facts.json`` of a model folder."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from chmcnn._io import strict_json
from chmcnn.errors import ModelError
from chmcnn.estimator import read_class_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn._typing import JSONValue
    from chmcnn.evaluation import Evaluation, Frequent
    from chmcnn.hierarchy import Hierarchy

_MEASURES = ("auprc", "precision", "recall", "f")
_PARTNERS = ("delegates", "replaced_by", "replaces")


class Confusion(NamedTuple):
    """A class that has to do with another one, by its position, and in how many rows."""

    at: int
    rows: int


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """Columns with one entry for each class, in the order of the hierarchy; None where nothing is known.

    Those from ``test_rows`` on are empty if the model was not evaluated.
    """

    counted: str  # which rows are counted, such as "training rows"
    rows: list[int]
    evaluation: dict[str, JSONValue] | None  # its title, its number of rows, and the measures of all classes
    test_rows: list[int]
    auprc: list[float | None]
    precision: list[float | None]
    recall: list[float | None]
    f: list[float | None]
    curves: list[list[int] | None]  # precision in percent at equal steps of recall, from 0 to 1
    delegates: list[list[int]]  # who decides the score: position, number of rows, position, ...
    replaced_by: list[list[int]]  # predicted in its place
    replaces: list[list[int]]  # missed where the class is predicted wrongly

    def to_json(self) -> bytes:
        """Return the content of the file."""
        return dump(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return all columns by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def measures(self, at: int) -> dict[str, float | None] | None:
        """Return the measures of a class; None if no test row has it, or it is not evaluated."""
        if self.evaluation is None or self.auprc[at] is None:
            return None
        return {name: getattr(self, name)[at] for name in _MEASURES}

    def partners(self, kind: str, at: int) -> list[Confusion]:
        """Return the most frequent ``delegates``, ``replaced_by`` or ``replaces`` of a class."""
        flat: list[int] = getattr(self, kind)[at] if self.evaluation else []
        return [Confusion(*pair) for pair in zip(flat[::2], flat[1::2], strict=True)]


def dump(content: dict[str, Any]) -> bytes:
    """Return plain values as JSON without spaces."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def create_facts(
    hierarchy: Hierarchy, sizes: NDArray[np.int64], counted: str, evaluation: Evaluation | None
) -> ClassFacts:
    """Return the facts; ``sizes`` are the rows of each class, and ``counted`` says which rows these are."""
    rows = sizes.tolist()
    if evaluation is None or evaluation.profiles is None:
        return ClassFacts(counted, rows, None, *([] for _ in range(9)))  # empty columns
    found = [evaluation.by_class.get(name) for name in hierarchy.classes]
    measures = {name: [_round(getattr(each, name)) if each else None for each in found] for name in _MEASURES}
    profiles, count = evaluation.profiles, len(rows)
    percents = (profiles.curves * 100).round()
    return ClassFacts(
        counted=counted,
        rows=rows,
        evaluation={
            "title": evaluation.title,
            "rows": evaluation.rows,
            "auprc": _round(evaluation.auprc.value),
            "figures": {name: _round(value) for name, value in evaluation.figures.items()},
        },
        test_rows=profiles.rows.tolist(),
        **measures,
        curves=[None if math.isnan(each[0]) else each.astype(int).tolist() for each in percents],
        delegates=_flatten(profiles.delegates, count),
        replaced_by=_flatten(profiles.replaced_by, count),
        replaces=_flatten(profiles.replaces, count),
    )


def read_facts(folder: Path, hierarchy: Hierarchy, verify_key: str | Path | None = None) -> ClassFacts | None:
    """Return the facts of a model folder, which may be a stranger's; None if it has none."""
    content = read_class_facts(folder, verify_key)
    if content is None:
        return None
    try:
        facts = ClassFacts(**strict_json.loads(content))
        _check(facts, len(hierarchy))
    except (TypeError, ValueError) as error:
        problem = str(error).partition("\n")[0]
        raise ModelError(f"the facts about the classes cannot be used: {problem}", folder) from None
    return facts


def _flatten(frequent: Frequent, classes: int) -> list[list[int]]:
    flat: list[list[int]] = [[] for _ in range(classes)]
    for at, partner, rows in zip(*(part.tolist() for part in frequent), strict=True):
        flat[at] += (partner, rows)
    return flat


def _check(facts: ClassFacts, classes: int) -> None:
    """Raise a `ValueError` or a `TypeError` for columns that do not fit the hierarchy or each other."""
    kinds: dict[str, Callable[[Any], bool]] = {"rows": _is_count}
    if not isinstance(facts.counted, str):
        raise TypeError("counted is not text")
    if facts.evaluation is not None:
        _check_evaluation(facts.evaluation)
        kinds |= {"test_rows": _is_count, "curves": _is_curve} | dict.fromkeys(_MEASURES, _is_share)
        kinds |= dict.fromkeys(_PARTNERS, lambda entry: _are_partners(entry, classes))
    for name, is_valid in kinds.items():
        column = getattr(facts, name)
        if not isinstance(column, list) or len(column) != classes or not all(map(is_valid, column)):
            raise ValueError(f"{name} is not a list of {classes:,} entries of its kind")


def _check_evaluation(evaluation: JSONValue) -> None:
    if not isinstance(evaluation, dict) or not isinstance(evaluation.get("title"), str):
        raise TypeError("evaluation has no title")
    rows, figures = evaluation.get("rows"), evaluation.get("figures")
    if not _is_count(rows) or not _is_share(evaluation.get("auprc")) or not isinstance(figures, dict):
        raise ValueError("evaluation has no measures")
    if not all(value is None or _is_finite(value) for value in figures.values()):
        raise ValueError("evaluation has no measures that are numbers")
    if unknown := evaluation.keys() - {"title", "rows", "auprc", "figures"}:
        raise ValueError(f"evaluation has also {min(unknown)!r}")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_share(value: object) -> bool:
    return value is None or (type(value) in {int, float} and 0 <= value <= 1)  # type: ignore[operator]  # a number


def _is_curve(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(_is_count(each) and each <= 100 for each in value))


def _are_partners(value: object, classes: int) -> bool:
    if not isinstance(value, list) or len(value) % 2 or not all(map(_is_count, value)):
        return False
    return all(at < classes for at in value[::2])


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)
