"""Errors for bad input. All are ValueErrors, and one ``except ChmcnnError`` catches them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


class ChmcnnError(ValueError):
    """Unusable input. The message names the value, the place and the solution."""


class HierarchyError(ChmcnnError):
    """A hierarchy that cannot be built, or a class that it does not have."""


class LabelError(ChmcnnError):
    """Labels that do not fit the hierarchy."""


class ScoreError(ChmcnnError):
    """Scores that do not fit the hierarchy, or that cannot be compared."""


class FileError(ChmcnnError):
    """An unusable file: its path, and the line and column of the problem, counted from 1."""

    def __init__(
        self, problem: str, path: Path | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.problem, self.path, self.line, self.column = problem, path, line, column
        place = [str(path)] if path else []
        place += [f"line {line}"] if line else []
        place += [f"column {column}"] if column else []
        end = "" if problem.endswith((".", "?")) else "."
        super().__init__(f"{', '.join(place)}: {problem}{end}" if place else f"{problem}{end}")

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Pickle the arguments: process pools send errors between processes."""
        return type(self), (self.problem, self.path, self.line, self.column)

    def at(self, path: Path, line: int) -> Self:
        """Return the same error with file and line."""
        return type(self)(self.problem, path, line, self.column)


class ArffError(FileError):
    """An ARFF file that cannot be read or written."""


class TableError(FileError):
    """A table of features and labels that cannot be read."""


class OntologyError(FileError):
    """An OBO ontology, or a file of annotations with its terms, that cannot be read."""


class FeatureError(ChmcnnError):
    """Features that do not match those of the training, or that are not valid numbers or categories."""


class ModelError(FileError):
    """A model folder or file that cannot be written or read."""


class CheckpointError(ChmcnnError):
    """The state of a training that cannot be read, or that belongs to another training."""


class DatasetError(ChmcnnError):
    """A data set that does not exist, or whose parts do not fit together."""


class DownloadError(DatasetError):
    """A file that could not be downloaded, or that fails verification."""
