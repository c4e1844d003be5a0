"""Data that a command is given: a data set by name, or a table of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.datasets import Dataset, Table


class Reading(NamedTuple):
    """How to read a table of the user's own: the options of `chmcnn.datasets.read_table`."""

    hierarchy: Path | None = None
    labels: str = "labels"
    class_column: list[str] | None = None
    separator: str = ";"
    path_separator: str = "/"
    id_column: str | None = None
    categorical: list[str] | None = None
    delimiter: str | None = None

    def table(self, path: Path, hierarchy: Any = None) -> Table:  # noqa: ANN401 -- a Hierarchy, or None
        """Read features and labels."""
        from chmcnn.datasets import read_table

        known = hierarchy or self.hierarchy
        if path.suffix == ".arff":
            return read_table(path, known)
        return read_table(
            path,
            known,
            labels=self.class_column or self.labels,
            separator=self.separator,
            path_separator=self.path_separator,
            id_column=self.id_column,
            categorical=self.categorical or (),
            delimiter=self.delimiter,
        )

    def refuse(self, name: str) -> None:
        """Refuse options that are for tables, where the data is none."""
        for option, value in self._asdict().items():
            if value != self._field_defaults[option]:
                raise DatasetError(f"{name} is no file of your own; it takes no --{option.replace('_', '-')}.")


def is_file(name: str) -> bool:
    """Whether a name is that of a file, and not of a data set."""
    return bool(Path(name).suffix) or Path(name).is_file()


class Job(NamedTuple):
    """What to train on, and to test on."""

    title: str
    train: Table
    valid: Table | None
    test: Table | None
    evaluated: NDArray[np.bool_] | None

    def never_seen(self) -> list[str]:
        """Classes that no training row has."""
        seen = self.train.Y.any(axis=0)
        return [name for name, has in zip(self.train.hierarchy.classes, seen, strict=True) if not has]


def known(  # noqa: PLR0913 -- what a data set is found by
    name: str,
    data_dir: Path | None,
    reading: Reading,
    named: Mapping[str, Path] | None = None,
    *,
    seed: int = 0,
    quiet: bool = False,
) -> Dataset:
    """A data set by name."""
    from chmcnn.datasets import load

    reading.refuse(name)
    return load(name, data_dir=data_dir, named=named, seed=seed, quiet=quiet)


def known_job(data: Dataset) -> Job:
    """A data set, with the parts that it has."""
    return Job(data.title, data.train, data.valid, data.test, data.evaluated)


def own_job(path: Path, reading: Reading, test: Path | None, share: float, seed: int) -> Job:
    """A table of the user's own, tested on another one, or on a share of its rows."""
    from chmcnn.datasets import Dataset, split

    table = reading.table(path)
    if test is not None:
        tested = reading.table(test, table.hierarchy)
        Dataset(path.name, table, tested, tested)  # refuses other columns before the training
        return Job(path.name, table, None, tested, None)
    if share == 0:
        return Job(path.name, table, None, None, None)
    held_in, held_out = split(table, 1 - share, share, seed=seed)
    return Job(path.name, held_in, None, held_out, None)


def features_for(model: CHMCNNClassifier, name: str, data_dir: Path | None, reading: Reading, *, quiet: bool) -> Any:  # noqa: ANN401
    """Features to predict: the test part of a data set, or the columns of a table that the model was trained with."""
    from chmcnn.datasets import arff, read_features

    if not is_file(name):
        return known(name, data_dir, reading, quiet=quiet).test.X
    path = Path(name)
    if path.suffix == ".arff":
        return arff.read(path).features
    columns = list(getattr(model, "feature_names_in_", []))
    kinds = dict(zip(columns, model.preprocessor_.categories_, strict=False))
    categorical = [column for column in columns if kinds[column] is not None]
    return read_features(
        path,
        id_column=reading.id_column,
        categorical=[*categorical, *(reading.categorical or ())],
        delimiter=reading.delimiter,
        columns=columns or None,
    )


def labelled_for(
    model: CHMCNNClassifier, name: str, data_dir: Path | None, reading: Reading, *, quiet: bool
) -> tuple[Any, NDArray[np.bool_]]:
    """Features and labels to evaluate on."""
    if not is_file(name):
        data = known(name, data_dir, reading, quiet=quiet)
        if data.hierarchy != model.hierarchy_:
            raise DatasetError(f"{name} has other classes than the model was trained with.")
        return data.test.X, data.test.Y
    known_to_model = zip(getattr(model, "feature_names_in_", ()), model.preprocessor_.categories_, strict=False)
    categorical = [str(column) for column, categories in known_to_model if categories is not None]
    table = reading._replace(categorical=[*categorical, *(reading.categorical or ())]).table(
        Path(name), model.hierarchy_
    )
    names = list(getattr(model, "feature_names_in_", table.X.columns))
    missing = [column for column in names if column not in table.X.columns]
    if missing:
        raise DatasetError(f"{name} has no column {missing[0]!r}, which the model was trained with.")
    return table.X[names], table.Y
