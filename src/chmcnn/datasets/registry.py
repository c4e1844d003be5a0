"""`load`: a data set by name, of the benchmark or the one in the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.datasets import arff, digits, download
from chmcnn.datasets.catalogue import EMBEDDED, ROOTS, catalogue
from chmcnn.datasets.dataset import Dataset, Table, split
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.progress import Progress

    from chmcnn.datasets.catalogue import Entry, File

VALIDATION_SHARE = 0.3
"""Share of the training rows that become validation rows if a data set has none."""


def load(
    name: str,
    *,
    data_dir: str | Path | None = None,
    named: Mapping[str, str | Path] | None = None,
    seed: int = 0,
    quiet: bool = False,
) -> Dataset:
    """Load one of the paper's 20 data sets, or ``"digits"``, the small one in the package.

    The files come from ``data_dir`` or else the folder ``CHMCNN_DATA``, then the user's cache, and otherwise from the
    authors' repository; downloads are verified.

    Parameters
    ----------
    name
        One of `names`, such as ``"cellcycle_FUN"``.
    data_dir
        A copy of the authors' repository, or of its folder ``HMC_data``.
    named
        Your own files instead of the benchmark's: ``{"train": "expr_FUN.train.arff"}``. They are not verified, and the
        data set's ``title`` says so.
    seed
        Seed of the split of the four data sets without validation rows, which get 30 % of the training rows.
    quiet
        Whether to hide the progress of downloads.

    Examples
    --------
    >>> load("digits")
    Dataset(digits: 1,000 + 297 + 500 rows, 64 features, Hierarchy(19 classes, 23 edges, 3 roots, depth 2))
    """
    own = {part: Path(path) for part, path in (named or {}).items()}
    if name == EMBEDDED:
        if own:
            raise DatasetError(f"The data set {name!r} has no files; its part {next(iter(own))!r} cannot be named.")
        return digits.load()
    entry = catalogue()[name]
    _refuse_other_parts(entry, own)
    missing = [file for part, file in entry.files.items() if part not in own]
    located = locate(missing, Path(data_dir).expanduser() if data_dir else None, quiet=quiet)
    paths = {part: own.get(part) or located[file] for part, file in entry.files.items()}
    tables = {
        part: _read_part(path, verified=part not in own or download.is_verified(path, entry.files[part]))
        for part, path in paths.items()
    }
    if "valid" not in tables:
        shares = (1 - VALIDATION_SHARE, VALIDATION_SHARE)  # drawn at random: recorded results have these rows
        tables["train"], tables["valid"] = split(tables["train"], *shares, seed=seed, stratified=False)
    evaluated = np.array([name not in ROOTS for name in tables["train"].hierarchy])
    return Dataset(name, tables["train"], tables["valid"], tables["test"], evaluated)


def locate(wanted: Iterable[File], data_dir: Path | None = None, *, quiet: bool = False) -> dict[File, Path]:
    """Return the path of each file; download those that do not exist."""
    located = {file: download.find(file, data_dir) for file in wanted}
    missing = [file for file, path in located.items() if path is None]
    if missing:
        with _show_progress(quiet=quiet) as progress:
            located |= {file: download.fetch(file, progress) for file in missing}
    return {file: path for file, path in located.items() if path}


def is_here(name: str, data_dir: Path | None = None) -> bool:
    """Whether this machine has all files of a data set, in a folder, in ``CHMCNN_DATA`` or in the cache; verified.

    >>> is_here("digits")
    True
    """
    wanted = () if name == EMBEDDED else catalogue()[name].files.values()
    try:
        return all(download.find(file, data_dir) for file in wanted)
    except DatasetError:  # a folder without the files, or with others of their names
        return False


def _read_part(path: Path, *, verified: bool) -> Table:
    content = arff.read(path)
    return Table(content.features, content.labels, content.hierarchy, source=str(path), verified=verified)


def _refuse_other_parts(entry: Entry, own: Mapping[str, Path]) -> None:
    for part, path in own.items():
        if part not in entry.files:
            raise DatasetError(f"{entry.name} has no part {part!r}; its parts are {', '.join(entry.files)}.")
        if not path.is_file():
            raise DatasetError(f"{path}, named as the {part} part of {entry.name}, does not exist.")


def _show_progress(*, quiet: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), disable=quiet)
