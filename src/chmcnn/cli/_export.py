"""`chmcnn datasets export`: a table as a file, with its hierarchy beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from chmcnn.cli import _data, _output, _table
from chmcnn.cli._annotations import named_options
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import Invocation
from chmcnn.errors import DatasetError


@dataclass(frozen=True)
class _Output(_output.FileOutput):
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="CSV, TSV or Parquet file to write, with NAME.hierarchy.json."),
    ] = Path("table.csv")

    @property
    def hierarchy(self) -> Path:
        """The file of the hierarchy."""
        return self.output.with_suffix(".hierarchy.json")

    def list_files(self) -> list[Path]:
        """Return the files that are written."""
        return [self.output, self.hierarchy]


@expand_groups
def export(
    name: Annotated[
        str, typer.Argument(help="Data set, or a table of your own: CSV, TSV, Parquet, ARFF, svmlight or .npz.")
    ],
    *,
    output: _Output,
    part: Annotated[
        Literal["train", "valid", "test"] | None, typer.Option(help="Part of a data set. Default: train.")
    ] = None,
    table: _table.TableOptions,
    call: Annotated[Invocation, Omit("json")],
) -> None:
    """Write features, ids and labels to one file, and the hierarchy to another: both can be read again.

    [bold]Examples[/bold]

    chmcnn datasets export genes.csv --hierarchy go.obo --annotations goa.gaf.gz -o annotated.csv

    chmcnn datasets export cellcycle_FUN --part test -o cellcycle.parquet

    chmcnn train annotated.csv --hierarchy annotated.hierarchy.json --id-column gene
    """
    from chmcnn._io.files import refuse_existing
    from chmcnn._wording import count

    output.check(".csv", ".tsv", ".parquet")
    path, hierarchy = output.output, output.hierarchy
    refuse_existing(hierarchy, force=output.force)
    if _data.is_file(name):
        if part is not None:
            raise DatasetError(f"{name} is a file; --part is only for the name of a data set.")
        content = table.read(Path(name), notify=call.notify)
    else:
        content = _data.load(name, call, table).parts[part or "train"]
    with named_options():
        (content.to_parquet if path.suffix.lower() == ".parquet" else content.to_csv)(path, force=output.force)
    _output.write(hierarchy, content.hierarchy.to_json())
    typer.echo(f"{count(len(content), 'row')}: {path}\n{count(len(content.hierarchy), 'class')}: {hierarchy}")
