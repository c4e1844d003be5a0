"""A trained model, and rows with the columns that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.cli._data import is_file, load
from chmcnn.cli._options import Invocation, LoadingOptions
from chmcnn.cli._table import TableOptions
from chmcnn.errors import ChmcnnError, DatasetError, FileError, TableError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier


def load_model(path: Path, loading: LoadingOptions, threshold: str | None = None) -> HierarchicalClassifier:
    """Load a model, with another threshold if one is given."""
    from chmcnn import ensemble
    from chmcnn.settings import THRESHOLD_TEXT, read_threshold

    if threshold is not None and not THRESHOLD_TEXT.allows(threshold):
        raise ChmcnnError(f"--threshold is {threshold!r}; expected {THRESHOLD_TEXT.expected}.")
    model = ensemble.load_model(path, device=loading.device, verify_key=loading.verify_key)
    if threshold is None:
        return model
    value = read_threshold(threshold)
    if isinstance(value, str) and value not in model.tuned_thresholds_:
        raise ChmcnnError(
            f"--threshold is {value!r}, but {path} was trained without validation rows to tune it on; use a number "
            "from 0 to 1, or train with validation rows."
        )
    model.set_params(threshold=value)
    return model


def read_features(model: HierarchicalClassifier, name: str, table_options: TableOptions, call: Invocation) -> Features:
    """Return features to predict: the test part of a data set, or the columns of a table that the model needs."""
    from chmcnn.datasets import read_features

    if not is_file(name):
        found = load(name, call, table_options).test.X
        if hasattr(model, "feature_names_in_") and list(getattr(found, "columns", ())) != _list_columns(model):
            raise DatasetError(f"{name} has other columns than the table that the model was trained on.")
        return found
    read = partial(read_features, Path(name), delimiter=table_options.delimiter)
    return fit_features(model, table_options, read, name)


def notify_unseen(model: HierarchicalClassifier, features: Features, call: Invocation) -> None:
    """Say which cells mean nothing to the model."""
    from chmcnn.datasets import Preprocessor
    from chmcnn.datasets.unseen import describe_unseen

    preprocessor = getattr(model, "preprocessor_", None)
    if isinstance(preprocessor, Preprocessor) and hasattr(features, "columns"):
        told = describe_unseen(preprocessor, features)
        if told:
            call.notify(told)


def fit_features(
    model: HierarchicalClassifier, table_options: TableOptions, read: Callable[..., Features], name: str
) -> Features:
    """Return the columns that a model needs, as a reader of features returns them."""
    known = _known_kinds(model, table_options)
    remembered = model.id_column_ if table_options.id_column is None else None
    try:
        features = read(
            id_column=remembered or table_options.id_column or None,
            categorical=known.categorical or (),
            text=known.text or (),
            columns=_list_columns(model),
            features=model.n_features_in_,
        )
    except TableError as error:
        if not _lacks(error, remembered):
            raise _explain(error, model) from None
        raise DatasetError(
            f"{name} has no column {remembered!r}, which had the names of the rows in training; name another with "
            "--id-column, or use --id-column '' to number the rows."
        ) from None
    _refuse_texts(model, features, name)
    return features


def _refuse_texts(model: HierarchicalClassifier, features: Features, name: str) -> None:
    """Refuse a column of texts where the model was trained on numbers."""
    from chmcnn.datasets.columns import list_kinds

    if not hasattr(features, "select_dtypes"):
        return
    expected, others = _list_kinds(model), features.select_dtypes(exclude=["number", "bool"])
    for column, kind in list_kinds(others).items():
        cells = others[column].dropna()
        if expected.get(column) == "numbers" != kind and len(cells):
            raise TableError(
                f"column {column!r} has {kind}, such as {str(cells.iloc[0])!r}, but the model was trained on numbers "
                "there; correct it",
                Path(name),
            )


def list_needed_columns(model: HierarchicalClassifier, table_options: TableOptions) -> list[str] | None:
    """Return the columns of features and names of rows that a model needs; None if they have no names."""
    columns = _list_columns(model)
    names = table_options.id_column or model.id_column_
    return None if columns is None else [*columns, *([names] if names else [])]


def read_labelled(
    model: HierarchicalClassifier, name: str, table_options: TableOptions, call: Invocation
) -> tuple[Features, csr_array]:
    """Return features and labels to evaluate on."""
    if not is_file(name):
        data = load(name, call, table_options)
        if data.hierarchy != model.hierarchy_:
            raise DatasetError(f"{name} has different classes than the model.")
        return data.test.X, data.test.Y
    if table_options.hierarchy is not None and table_options.annotations is None:
        raise DatasetError("--hierarchy is only for --annotations: the model has its own hierarchy.")
    options = replace(_known_kinds(model, table_options), path_separator=model.path_separator)
    remembered = model.id_column_ if options.id_column is None else None
    read = partial(
        TableOptions.read,
        path=Path(name),
        hierarchy=model.hierarchy_,
        columns=_list_columns(model),
        notify=call.notify,
        features=model.n_features_in_,
    )
    try:
        table = read(replace(options, id_column=remembered or options.id_column))
    except TableError as error:
        if not _lacks(error, remembered):
            raise _explain(error, model) from None
        table = read(options)  # measures need no names
    _refuse_texts(model, table.X, name)
    notify_unseen(model, table.X, call)
    return table.X, table.Y


def _lacks(error: TableError, column: str | None) -> bool:
    """Return whether an error says that a table has no such column."""
    return column is not None and error.problem.startswith(f"there is no column {column!r}")


def _explain(error: TableError, model: HierarchicalClassifier) -> FileError:
    from chmcnn.datasets.feature_columns import explain_to_trained

    return explain_to_trained(error, _list_kinds(model))


def _known_kinds(model: HierarchicalClassifier, table_options: TableOptions) -> TableOptions:
    """Return the options with the kinds of columns that the model was trained on."""
    return table_options.name_kinds(_list_kinds(model))


def _list_kinds(model: HierarchicalClassifier) -> dict[str, str]:
    """Return the kinds of the columns that the model was trained on."""
    preprocessor = getattr(model, "preprocessor_", None)  # a model of a stream has none
    return {} if preprocessor is None else preprocessor.list_kinds()


def _list_columns(model: HierarchicalClassifier) -> list[str] | None:
    """Return the columns that the model was trained on; None if they had no names."""
    return list(getattr(model, "feature_names_in_", ())) or None
