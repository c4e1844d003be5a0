"""The paper's Table 1: how large the 20 data sets are, as their files have it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from chmcnn.datasets.catalogue import catalogue
from chmcnn.datasets.dataset import ROOTS, split
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.datasets.registry import VALIDATION_SHARE
from chmcnn.experiments import _by_dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sizes:
    """What was counted in the files of a data set."""

    dataset: str
    features: int  # attributes of the files
    encoded: int  # columns after one-hot encoding
    classes: int  # without the roots
    rows: Mapping[str, int]  # of each part whose file was there
    drawn: int | None  # rows of the training file, where validation rows are drawn from it
    missing: tuple[str, ...]  # parts whose file could not be had
    command: str = ""


@dataclass(frozen=True, slots=True)
class Table1:
    """What was counted, by data set."""

    sizes: Mapping[str, Sizes]


def run(
    folder: Path,
    *,
    datasets: Sequence[str],
    data_dir: Path | None = None,
    command: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, str]:
    """Read the files of each data set, and keep what is counted in a file of its own.

    Parameters
    ----------
    folder
        Where results are kept; a data set whose files were all there is not read again.
    datasets
        Names of the benchmark's data sets.
    data_dir
        Where their files are, as for `chmcnn.datasets.load`.
    command
        What the user typed, for the record.
    progress
        Called after each data set with how many are done, and of how many.

    Returns
    -------
    Data sets without a result, because no file of them could be had, with the reason.
    """

    def measure(name: str) -> dict[str, Any]:
        return asdict(_measured(name, data_dir, command))

    return _by_dataset.run_each(folder, datasets, measure, progress)


def collect(folder: Path) -> Table1 | None:
    """Read what is in the folder; None where nothing is."""
    sizes = _by_dataset.read_each(folder, lambda kept: Sizes(**kept | {"missing": tuple(kept["missing"])}))
    return Table1(sizes) if sizes else None


def _measured(name: str, data_dir: Path | None, command: str) -> Sizes:
    files = catalogue()[name].files
    tables = dict(_by_dataset.at_hand(name, data_dir))
    drawn = None
    if "train" in tables and "valid" not in files:
        drawn = len(tables["train"])
        tables["train"], tables["valid"] = split(tables["train"], 1 - VALIDATION_SHARE, VALIDATION_SHARE)
    some = next(iter(tables.values()))
    return Sizes(
        dataset=name,
        features=len(some.feature_names),
        encoded=len(Preprocessor().fit(some.X).get_feature_names_out()),
        classes=len(set(some.hierarchy) - ROOTS),
        rows={part: len(tables[part]) for part in ("train", "valid", "test") if part in tables},
        drawn=drawn,
        missing=tuple(part for part in files if part not in tables),
        command=command,
    )
