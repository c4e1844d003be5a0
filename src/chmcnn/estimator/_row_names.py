"""The names of rows, by which features and labels in tables of pandas can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chmcnn.errors import LabelError

if TYPE_CHECKING:
    from chmcnn._typing import Features, LabelsLike


def refuse_other_order(X: Features, y: LabelsLike) -> None:
    """Refuse tables with the same names of rows in another order: rows are matched by position, as in scikit-learn."""
    of_x, of_y = _find_names(X), _find_names(y)
    if of_x is None or of_y is None or len(of_x) != len(of_y) or of_x.equals(of_y):
        return
    if not (of_x.is_unique and of_y.is_unique):
        return
    if (of_x.get_indexer(of_y) >= 0).all():
        row = int((of_x != of_y).argmax())
        raise LabelError(
            f"y has the rows of X in another order: row {row} is {of_x[row]!r} in X, and {of_y[row]!r} in y. "
            "Pass y.loc[X.index]."
        )


def _find_names(table: Features | LabelsLike) -> Any:  # noqa: ANN401 -- pandas is not imported here
    """Return the names of the rows of a table of pandas; None where they are only numbered, perhaps anew."""
    index = getattr(table, "index", None)
    return index if hasattr(index, "get_indexer") and not hasattr(index, "step") else None
