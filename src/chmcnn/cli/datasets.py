"""`chmcnn datasets`: which data sets there are, fetching their files, and looking at one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    DataDir,
    Delimiter,
    Force,
    Hierarchy,
    IdColumn,
    Json,
    Labels,
    PathSeparator,
    Quiet,
    Separator,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.datasets import Table
    from chmcnn.datasets.catalogue import Entry

app = typer.Typer(no_args_is_help=True, help="Data sets: list them, fetch their files, look at one.")

_COUNTS = ("train", "valid", "test", "features", "classes", "edges", "depth")


@app.command("list")
def list_(*, data_dir: DataDir = None, json: Json = False) -> None:
    """List the data sets: their size, and whether their files are here.

    [bold]Examples[/bold]

    chmcnn datasets list

    chmcnn datasets list --data-dir ~/C-HMCNN --json
    """
    rows = [_embedded(), *(_listed(entry, data_dir) for entry in _catalogue())]
    if json:
        _output.print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(box=None, padding=(0, 1, 0, 0), header_style="bold underline")  # 80 columns are enough
    shown.add_column("name", no_wrap=True)
    for name in _COUNTS:
        shown.add_column(name, justify="right")
    shown.add_column("files", no_wrap=True)
    for row in rows:
        counts = (row[name] for name in _COUNTS)
        shown.add_row(row["name"], *("-" if count is None else f"{count:,}" for count in counts), row["files"])
    Console().print(shown)
    typer.echo("Classes without the roots, which no measure counts. '-' for rows: drawn from train, or not known.")


@app.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets; see `chmcnn datasets list`.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All of them, some 75 MB.")] = False,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Download the files of data sets into the user's cache, and verify them. Those that are here are kept.

    [bold]Examples[/bold]

    chmcnn datasets fetch cellcycle_FUN enron

    chmcnn datasets fetch --all
    """
    from chmcnn.datasets.catalogue import EMBEDDED, catalogue
    from chmcnn.datasets.registry import locate
    from chmcnn.errors import DatasetError

    if everything == bool(names):
        raise DatasetError("Name the data sets to fetch, or use --all; not both.")
    known = catalogue()
    wanted = list(known.entries) if everything else [name for name in names or () if name != EMBEDDED]
    for entry in [known[name] for name in wanted]:
        found = locate(entry.files.values(), data_dir, quiet=quiet)
        typer.echo(f"{entry.name}: {', '.join(str(path) for path in found.values())}")
    if EMBEDDED in (names or ()):
        typer.echo(f"{EMBEDDED}: inside the package")


@app.command()
def show(  # noqa: PLR0913 -- one for each option
    name: Annotated[str, typer.Argument(help="A data set, or a file of your own: CSV, TSV, Parquet or ARFF.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the picture; NAME.png by default.")
    ] = None,
    force: Force = False,
    json: Json = False,
    data_dir: DataDir = None,
    train: Annotated[Path | None, typer.Option(help="A train file of your own; not verified.")] = None,
    valid: Annotated[Path | None, typer.Option(help="A validation file of your own; not verified.")] = None,
    test: Annotated[Path | None, typer.Option(help="A test file of your own; not verified.")] = None,
    hierarchy: Hierarchy = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    path_separator: PathSeparator = "/",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
) -> None:
    """Describe a data set, and draw its hierarchy and the sizes of its classes.

    [bold]Examples[/bold]

    chmcnn datasets show digits

    chmcnn datasets show cellcycle_GO -o cellcycle.png

    chmcnn datasets show expr_FUN --train expr_FUN.train.arff

    chmcnn datasets show my.csv --hierarchy edges.csv --separator "|"
    """
    from chmcnn._io import files
    from chmcnn.report import overview, refuse_format

    target = output or Path(f"{Path(name).stem}.png")
    files.refuse_existing(target, force=force)
    refuse_format(target)
    named = {part: path for part, path in {"train": train, "valid": valid, "test": test}.items() if path}
    reading = _data.Reading(
        hierarchy, labels, class_column, separator, path_separator, id_column, categorical, delimiter
    )
    shown = _own(Path(name), reading, named) if _data.is_file(name) else _known(name, data_dir, reading, named)
    described = _describe(shown) | {"picture": str(target)}
    with files.atomic(target) as temporary:
        overview.draw(overview.overview(shown.title, shown.train, shown.evaluated)).savefig(temporary, dpi=110)
    if json:
        _output.print_json(described)
    else:
        _print_described(described)


def _catalogue() -> list[Entry]:
    from chmcnn.datasets.catalogue import catalogue

    return list(catalogue().entries.values())


def _listed(entry: Entry, data_dir: Path | None) -> dict[str, Any]:
    rows = {part: entry.files[part].rows if part in entry.files else None for part in ("train", "valid", "test")}
    size = {"features": entry.features, "classes": entry.evaluated, "edges": entry.edges, "depth": entry.depth}
    return {"name": entry.name, **rows, **size, "files": _where(entry, data_dir)}


def _where(entry: Entry, data_dir: Path | None) -> str:
    """Where the files are: here, in part, or not."""
    from chmcnn.datasets.files import find
    from chmcnn.errors import DownloadError

    here = 0
    for file in entry.files.values():
        try:
            here += find(file, data_dir) is not None
        except DownloadError:
            return f"altered: {file.name}"
    return "here" if here == len(entry.files) else f"{here} of {len(entry.files)}" if here else "to fetch"


def _embedded() -> dict[str, Any]:
    from chmcnn.datasets import load

    data = load("digits")
    rows = {part: len(table) for part, table in data.parts.items()}
    size = {"features": len(data.train.feature_names), "classes": len(data.hierarchy)}
    shape = {"edges": len(data.hierarchy.edges), "depth": data.hierarchy.depth}
    return {"name": data.name, **rows, **size, **shape, "files": "in package"}


class _Shown(NamedTuple):
    """What `show` looks at: a data set, or a table of the user's own."""

    title: str
    parts: Mapping[str, Table]
    evaluated: NDArray[np.bool_]
    unverified: tuple[str, ...] = ()

    @property
    def train(self) -> Table:
        return next(iter(self.parts.values()))


def _known(name: str, data_dir: Path | None, reading: _data.Reading, named: Mapping[str, Path]) -> _Shown:
    data = _data.known(name, data_dir, reading, named)
    return _Shown(data.title, data.parts, data.evaluated, data.unverified)


def _own(path: Path, reading: _data.Reading, named: Mapping[str, Path]) -> _Shown:
    import numpy as np

    from chmcnn.datasets.dataset import ROOTS
    from chmcnn.errors import DatasetError

    if named:
        raise DatasetError(f"{path} is a file of your own; it has no part --{next(iter(named))}.")
    table = reading.table(path)
    return _Shown(path.name, {"rows": table}, np.array([name not in ROOTS for name in table.hierarchy]))


def _describe(shown: _Shown) -> dict[str, Any]:
    import numpy as np
    import pandas as pd

    hierarchy, features = shown.train.hierarchy, pd.DataFrame(cast("Any", shown.train.X))
    sizes = np.asarray(shown.train.Y.sum(axis=0)).ravel() * shown.evaluated
    most = np.argsort(-sizes, kind="stable")[:5]
    return {
        "name": shown.title,
        "rows": {part: len(table) for part, table in shown.parts.items()},
        "features": features.shape[1],
        "categorical features": len(features.select_dtypes("category").columns),
        "missing values": float(features.isna().to_numpy().mean()),
        "classes": int(shown.evaluated.sum()),
        "edges": len(hierarchy.edges),
        "depth": hierarchy.depth,
        "classes a row": float(sizes.sum() / len(shown.train)),
        "classes without a row": int((shown.evaluated & (sizes == 0)).sum()),
        "most frequent": {hierarchy.classes[at]: int(sizes[at]) for at in most},
        "not verified": list(shown.unverified),
    }


def _print_described(described: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    shown = RichTable(title=escape(described["name"]), show_header=False)
    for name, value in described.items():
        if name not in {"name", "picture"} and value not in ([], {}):
            shown.add_row(name, escape(_in_words(name, value)))
    Console().print(shown)
    typer.echo(f"Hierarchy and class sizes: {described['picture']}")


def _in_words(name: str, value: Any) -> str:  # noqa: ANN401 -- what JSON can hold
    if isinstance(value, dict):
        return ", ".join(f"{key} {count:,}" for key, count in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if name == "missing values":
        return f"{value:.1%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
