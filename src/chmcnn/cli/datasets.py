"""`chmcnn datasets`: list data sets, download their files, describe and export one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli import _data, _table
from chmcnn.cli._export import export
from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import Invocation
from chmcnn.cli._output import PictureOutput
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from chmcnn._typing import Features, JSONValue
    from chmcnn.datasets.catalogue import Entry

app = typer.Typer(no_args_is_help=True, help="List data sets, download their files, describe and export one.")
app.command()(export)

_COUNTS = ("train", "valid", "test", "features", "classes", "edges", "depth")


@app.command("list")
@expand_groups
def list_(*, call: Annotated[Invocation, Omit("quiet")]) -> None:
    """List the data sets with their sizes, and say whether their files are available.

    [bold]Examples[/bold]

    chmcnn datasets list

    chmcnn datasets list --data-dir ~/C-HMCNN --json
    """
    rows = [_embedded(), *(_row(entry, call.data_dir) for entry in _catalogue())]
    if call.print_json(rows):
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
    typer.echo(
        "Classes do not include the roots, which are not evaluated. '-': the rows are drawn from train, or not known."
    )


@app.command()
@expand_groups
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets; see `chmcnn datasets list`.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All data sets, about 75 MB.")] = False,
    call: Annotated[Invocation, Omit("json")],
) -> None:
    """Download the files of data sets into the user's cache, and verify them. Available files are not downloaded again.

    [bold]Examples[/bold]

    chmcnn datasets fetch cellcycle_FUN enron

    chmcnn datasets fetch --all
    """
    from chmcnn.datasets.catalogue import EMBEDDED, catalogue
    from chmcnn.datasets.registry import locate

    if everything == bool(names):
        raise DatasetError("Name the data sets to fetch, or use --all; not both.")
    entries = catalogue()
    wanted = list(entries.entries) if everything else [name for name in names or () if name != EMBEDDED]
    for entry in [entries[name] for name in wanted]:
        paths = locate(entry.files.values(), call.data_dir, quiet=call.quiet)
        typer.echo(f"{entry.name}: {', '.join(map(str, paths.values()))}")
    if EMBEDDED in (names or ()):
        typer.echo(f"{EMBEDDED}: inside the package")


@dataclass(frozen=True)
class PartFiles(OptionGroup):
    """Files of the user's own in place of those of a data set."""

    train: Annotated[Path | None, typer.Option(help="Train file of your own; not verified.")] = None
    valid: Annotated[Path | None, typer.Option(help="Validation file of your own; not verified.")] = None
    test: Annotated[Path | None, typer.Option(help="Test file of your own; not verified.")] = None

    def paths(self) -> dict[str, Path]:
        """Return the files that were given, by part."""
        return {part: path for part, path in asdict(self).items() if path}


@app.command()
@expand_groups
def show(
    name: Annotated[
        str, typer.Argument(help="Data set, or a table of your own: CSV, TSV, Parquet, ARFF, svmlight or .npz.")
    ],
    *,
    output: PictureOutput,
    files: PartFiles,
    table: _table.TableOptions,
    call: Annotated[Invocation, Omit("quiet")],
) -> None:
    """Describe a data set, and draw its hierarchy and the sizes of its classes, to NAME.png in this folder.

    [bold]Examples[/bold]

    chmcnn datasets show digits

    chmcnn datasets show cellcycle_GO -o cellcycle.png

    chmcnn datasets show expr_FUN --train expr_FUN.train.arff

    chmcnn datasets show my.csv --hierarchy edges.csv --separator "|"
    """
    import numpy as np

    from chmcnn._io.files import atomic
    from chmcnn.report import overview

    default = Path(f"{Path(name).stem}.png")
    is_kept = output.output is None and default.exists() and not output.force
    path = default if is_kept else output.path(default)
    if _data.is_file(name):
        parts = _read(Path(name), table, files, call)
    else:
        parts = _data.Parts.of(_data.load(name, call, table, files=files.paths()))
    description = _describe(parts) | {"picture": str(path)}
    if is_kept:
        call.notify(f"{path} already exists and is kept; draw it again with --force, or another one with -o.")
    else:
        with atomic(path) as temporary:
            figure = overview.draw(overview.overview(parts.title, parts.train, np.asarray(parts.evaluated)))
            figure.savefig(temporary, dpi=110)
    if not call.print_json(description):
        _print_description(description)


def _catalogue() -> list[Entry]:
    from chmcnn.datasets.catalogue import catalogue

    return list(catalogue().entries.values())


def _row(entry: Entry, data_dir: Path | None) -> dict[str, JSONValue]:
    rows = {part: entry.files[part].rows if part in entry.files else None for part in ("train", "valid", "test")}
    size = {"features": entry.features, "classes": entry.evaluated, "edges": entry.edges, "depth": entry.depth}
    return {"name": entry.name, **rows, **size, "files": _where(entry, data_dir)}


def _where(entry: Entry, data_dir: Path | None) -> str:
    """Say whether the files are here, in part, or not."""
    from chmcnn.datasets.download import find
    from chmcnn.errors import DownloadError

    here = 0
    for file in entry.files.values():
        try:
            here += find(file, data_dir) is not None
        except DownloadError:
            return f"altered: {file.name}"
    return "here" if here == len(entry.files) else f"{here} of {len(entry.files)}" if here else "to fetch"


def _embedded() -> dict[str, JSONValue]:
    from chmcnn.datasets import load

    data = load("digits")
    rows = {part: len(table) for part, table in data.parts.items()}
    size = {"features": len(data.train.feature_names), "classes": len(data.hierarchy)}
    shape = {"edges": len(data.hierarchy.edges), "depth": data.hierarchy.depth}
    return {"name": data.name, **rows, **size, **shape, "files": "in package"}


def _read(path: Path, table_options: _table.TableOptions, files: PartFiles, call: Invocation) -> _data.Parts:
    import numpy as np

    if files.paths():
        raise DatasetError(f"{path} is a file; --{next(iter(files.paths()))} is only for the name of a data set.")
    table = table_options.read(path, notify=call.notify)
    return _data.Parts(path.name, {"rows": table}, np.ones(len(table.hierarchy), dtype=np.bool_))


def _describe(parts: _data.Parts) -> dict[str, JSONValue]:
    import numpy as np

    hierarchy = parts.train.hierarchy
    evaluated = np.asarray(parts.evaluated)
    sizes = np.asarray(parts.train.Y.sum(axis=0)).ravel() * evaluated
    most = np.argsort(-sizes, kind="stable")[:5]
    return {
        "name": parts.title,
        "rows": {part: len(table) for part, table in parts.tables.items()},
        **_describe_features(parts.train.X),
        "classes": int(evaluated.sum()),
        "edges": len(hierarchy.edges),
        "depth": hierarchy.depth,
        "classes a row": float(sizes.sum() / len(parts.train)),
        "classes without a row": int((evaluated & (sizes == 0)).sum()),
        "most frequent": {hierarchy.classes[at]: int(sizes[at]) for at in most},
        "titles": {name: title for at in most if (title := hierarchy.titles.get(name := hierarchy.classes[at]))},
        "not verified": [table.source for table in parts.tables.values() if not table.verified],
        "without checksums": [table.source for table in parts.tables.values() if _lacks_checksums(table.source)],
    }


def _lacks_checksums(source: str) -> bool:
    """Return whether a Parquet file lacks checksums of its pages, so that damage of it may not be noticed."""
    from chmcnn.datasets.parquet import has_checksums

    return source.endswith((".parquet", ".pq")) and not has_checksums(Path(source))


def _describe_features(X: Features) -> dict[str, JSONValue]:
    import numpy as np
    import pandas as pd

    if hasattr(X, "tocsr"):
        missing = float(np.isnan(X.data).sum() / max(np.prod(X.shape), 1))
        return {"features": X.shape[1], "features a row": X.nnz / X.shape[0], "missing values": missing}
    features = pd.DataFrame(X)
    return {
        "features": features.shape[1],
        "categorical features": len(features.select_dtypes("category").columns),
        "text": list(features.select_dtypes("string")),
        "dates": list(features.select_dtypes("datetime")),
        "missing values": float(features.isna().to_numpy().mean()),
    }


def _print_description(description: dict[str, JSONValue]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    from chmcnn._wording import escape_markup

    table = RichTable(title=escape_markup(description["name"]), show_header=False)
    for name, value in description.items():
        if name == "most frequent" and description["titles"]:
            table.add_row(name, escape_markup(_format_titled(value, description["titles"])))
        elif name not in {"name", "picture", "titles"} and value not in ([], {}):
            table.add_row(name, escape_markup(_format(name, value)))
    Console().print(table)
    typer.echo(f"Picture of the hierarchy and the class sizes: {description['picture']}")


def _format_titled(counts: dict[str, int], titles: dict[str, str]) -> str:
    """Return classes with their titles and numbers of rows, one on each line."""
    return "\n".join(f"{name} {titles.get(name, '')}".rstrip() + f"  {count:,}" for name, count in counts.items())


def _format(name: str, value: JSONValue) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count:,}" for key, count in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if name == "missing values":
        return f"{value:.1%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
