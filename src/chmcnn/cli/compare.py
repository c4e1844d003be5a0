"""`chmcnn compare`: several systems on the same data, with the statistics."""

from __future__ import annotations

import json as json_
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    DataDir,
    Delimiter,
    Hierarchy,
    IdColumn,
    Json,
    Labels,
    PathSeparator,
    Quiet,
    Separator,
)
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from chmcnn.comparison import Source

_EVERY = "all"


def compare(  # noqa: PLR0913 -- one for each option
    data: Annotated[list[str], typer.Argument(help="Data sets, or tables of your own: CSV, TSV, Parquet or ARFF.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of results; a comparison that is there goes on.")
    ] = Path("comparison"),
    systems: Annotated[
        str, typer.Option(help="Names with commas between them, or all; the others are tested against the first.")
    ] = _EVERY,
    seeds: Annotated[int | None, typer.Option(min=1, help="How often to run each; 3 by default.")] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="In place of seeds: cross-validation, of a data set by name without its test rows."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="A parameter of a system, such as h+:epochs=50 or all:epochs=50; may be given again."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="The recipe of all systems that have one: default or paper.")
    ] = None,
    missing: Annotated[
        Literal["last", "omit"],
        typer.Option(help="In average ranks, a missing result is last, or its data set is left out."),
    ] = "last",
    json: Json = False,
    data_dir: DataDir = None,
    hierarchy: Hierarchy = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    path_separator: PathSeparator = "/",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Processes at once; by default one for each core.", rich_help_panel="Running"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run several systems on the same data, and tell which is better, and whether that may be chance.

    Each result is kept in a file: the same command goes on after an interrupt.

    A table of your own is tested on 20 % of its rows, drawn with the seed, or in folds.

    Systems: C-HMCNN, HMCN-F, HMCN-R, HMC-LMLP, Clus-HMC, Clus-Ens, DHN, f+, f+max, g+, h+ (which is f+), h+MCM,
    Logistic and hiclass.

    [bold]Examples[/bold]

    chmcnn compare cellcycle_FUN eisen_FUN --systems C-HMCNN,h+,h+MCM --seeds 3 -o comparison/

    chmcnn compare my.csv --hierarchy edges.csv --folds 5 -o comparison/

    chmcnn compare digits --systems C-HMCNN,h+ --option all:epochs=20 --option h+:dropout=0.5
    """
    if seeds is not None and folds is not None:
        raise ChmcnnError("--seeds and --folds are both given; give one of them.")

    from chmcnn import comparison
    from chmcnn._io.strict_json import dumps
    from chmcnn.baselines import SYSTEMS
    from chmcnn.report.comparison_page import page
    from chmcnn.report.comparison_terminal import ComparisonDisplay, print_comparison

    different = tuple(name for name in SYSTEMS if name != "h+")  # which is f+ by another name
    chosen = different if systems == _EVERY else tuple(filter(None, map(str.strip, systems.split(","))))
    plan = comparison.Plan(chosen, seeds or 3, folds, _options(chosen, option or [], preset))
    reading = _data.Reading(
        hierarchy, labels, class_column, separator, path_separator, id_column, categorical, delimiter
    )
    if not any(map(_data.is_file, data)):
        reading.refuse(data[0])
    sources = [_source(name, data_dir, reading, quiet=quiet) for name in data]
    comparison.prepare(output)
    command = _output.command()
    total = len(sources) * len(chosen) * (folds or plan.seeds)
    with ComparisonDisplay(chosen, total, quiet=quiet) as progress:
        try:
            found = comparison.compare(
                sources, plan, output, jobs=jobs, missing=missing, command=command, progress=progress
            )
        except ChmcnnError:
            with suppress(OSError):  # of a folder with results in it
                (output / comparison.RUNS).rmdir()
                output.rmdir()
            raise
    _output.write(output / "comparison.json", dumps(found.facts()))
    _output.write(output / "comparison.html", page(found, command))
    if json:
        _output.print_json(found.facts())
        return
    print_comparison(found)
    typer.echo(f"Report:  {output / 'comparison.html'}\nFigures: {output / 'comparison.json'}")


def _source(name: str, data_dir: Path | None, reading: _data.Reading, *, quiet: bool) -> Source:
    from chmcnn.comparison import Source
    from chmcnn.datasets.catalogue import EMBEDDED, catalogue
    from chmcnn.datasets.registry import locate

    if _data.is_file(name):
        return Source(Path(name).name, reading.table(Path(name)))
    if name != EMBEDDED:
        locate(catalogue()[name].files.values(), data_dir, quiet=quiet)  # downloads what is not here, before all else
    return Source(name, data_dir=data_dir)


def _options(systems: tuple[str, ...], given: list[str], preset: str | None) -> dict[str, dict[str, Any]]:
    """Parameters by system: the preset, then those for all that have them, then those for one."""
    from chmcnn.baselines import system

    known = {name: set(system(name)().get_params()) for name in systems}
    found: dict[str, dict[str, Any]] = {
        name: {"preset": preset} if preset and "preset" in known[name] else {} for name in systems
    }
    parsed = [_parsed(each) for each in given]
    for whose, name, value in sorted(parsed, key=lambda each: each[0] != _EVERY):
        takers = [each for each in systems if name in known[each]] if whose == _EVERY else [whose]
        if not takers:
            raise ChmcnnError(f"No system that is compared has an option {name!r}.")
        for each in takers:
            found.setdefault(each, {})[name] = value
    return found


def _parsed(text: str) -> tuple[str, str, Any]:
    matched = re.fullmatch(r"([^:]+):(\w+)=(.+)", text)
    if not matched:
        raise ChmcnnError(f"--option is {text!r}; expected SYSTEM:name=value, such as h+:epochs=50.")
    whose, name, value = matched.groups()
    try:
        return whose, name, json_.loads(value)
    except json_.JSONDecodeError:
        if not re.fullmatch(r"[A-Za-z]\w*", value):
            raise ChmcnnError(f"--option {text!r}: {value!r} is no JSON, such as 50, [100, 100] or a word.") from None
        return whose, name, value
