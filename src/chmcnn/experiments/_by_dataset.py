"""What the experiments on the benchmark's files share: one result for each data set, and the files that are at hand."""

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

_Result = TypeVar("_Result")


def run_each(
    folder: Path,
    datasets: Sequence[str],
    measure: Callable[[str], dict[str, Any]],
    progress: Callable[[int, int], object] | None,
) -> dict[str, str]:
    """Keep what is measured of each data set in a file of its own; tell which have none, and why.

    One that is there is not measured again, unless parts were missing; and not written over, unless fewer are missing.
    """
    missing = {}
    for name in datasets:
        _ = catalogue()[name]  # refuses an unknown name before any work is done
    for done, name in enumerate(datasets, start=1):
        path = folder / f"{name}.json"
        kept = results.read(path) if path.is_file() else None
        if kept is None or kept.get("missing"):
            try:
                found = measure(name)
            except DownloadError as error:
                if kept is None:
                    missing[name] = str(error)
            else:
                if kept is None or len(found["missing"]) < len(kept["missing"]):
                    results.write(path, found)
        if progress:
            progress(done, len(datasets))
    return missing


def read_each(folder: Path, maker: Callable[[dict[str, Any]], _Result]) -> dict[str, _Result]:
    """All that was kept, by data set, in the order of the benchmark."""
    paths = {name: folder / f"{name}.json" for name in catalogue().entries}
    return {name: results.load(path, maker) for name, path in paths.items() if path.is_file()}


def at_hand(name: str, data_dir: Path | None) -> Iterator[tuple[str, Table]]:
    """Read the parts of a data set, the test part first; one that cannot be had is left out, but not all of them."""
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
