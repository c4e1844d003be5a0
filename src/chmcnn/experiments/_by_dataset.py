"""What tables 1 and 4 share: one result for each data set, from those of its files that are available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from chmcnn._io import results
from chmcnn.datasets import arff, registry
from chmcnn.datasets.catalogue import catalogue
from chmcnn.datasets.dataset import Table
from chmcnn.errors import DownloadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chmcnn.experiments.context import Context

_Result = TypeVar("_Result")


def run(context: Context, datasets: Sequence[str], measure: Callable[[str], dict[str, Any]]) -> dict[str, str]:
    """Measure each data set, and store its result in a file of its own.

    A stored result is measured again only if files were missing, and replaced only if fewer are missing now.

    Returns
    -------
    Data sets without a result, because none of their files is available, with the reason.
    """
    for name in datasets:
        _ = catalogue()[name]  # refuses an unknown name before any work is done
    reasons = {}
    with context.show_progress() as progress:
        for number, name in enumerate(datasets, start=1):
            reason = _run_one(context.folder / f"{name}.json", name, measure)
            if reason:
                reasons[name] = reason
            progress(number, len(datasets))
    return reasons


def _run_one(path: Path, name: str, measure: Callable[[str], dict[str, Any]]) -> str:
    """Measure one data set if its file lacks something; return why there is no result."""
    stored = results.read(path) if path.is_file() else None
    if stored is not None and not stored.get("missing"):
        return ""
    try:
        result = measure(name)
    except DownloadError as error:
        return "" if stored else str(error)
    if stored is None or len(result["missing"]) < len(stored["missing"]):
        results.write(path, result)
    return ""


def collect(folder: Path, make: Callable[[dict[str, Any]], _Result]) -> dict[str, _Result]:
    """Read all stored results, by data set, in the order of the benchmark."""
    paths = {name: folder / f"{name}.json" for name in catalogue().entries}
    return {name: results.made(path, make) for name, path in paths.items() if path.is_file()}


def read_parts(name: str, data_dir: Path | None) -> Iterator[tuple[str, Table]]:
    """Read the parts of a data set whose files are available, the test part first; raise if there is none."""
    some, reason = False, None
    for part, file in reversed(list(catalogue()[name].files.items())):
        try:
            path = registry.locate([file], data_dir, quiet=True)[file]
        except DownloadError as error:
            reason = error
            continue
        content, some = arff.read(path), True
        yield part, Table(content.features, content.labels, content.hierarchy, source=str(path))
    if reason and not some:
        raise reason
