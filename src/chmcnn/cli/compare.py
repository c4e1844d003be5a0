"""`chmcnn compare`: several systems on the same data, with the statistics."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chmcnn._io import strict_json
from chmcnn._wording import count
from chmcnn.cli import _cluster, _data, _output, _table
from chmcnn.cli._groups import OptionGroup, expand_groups
from chmcnn.cli._options import Cluster, Invocation, Jobs
from chmcnn.errors import ChmcnnError
from chmcnn.settings import ENSEMBLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from chmcnn._typing import JSONValue
    from chmcnn.comparison import Source

_EVERY = "all"


@dataclass(frozen=True)
class ComparisonOptions(OptionGroup):
    """What to compare, and how."""

    systems: Annotated[
        str,
        typer.Option(
            help="Names separated by commas, or all; module:Class for one of your own. The others are tested against "
            "the first."
        ),
    ] = _EVERY
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of runs of each system. Default: 3.")] = None
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Cross-validate instead of using seeds; the test rows of a data set are left out."),
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter of a system, such as h+:epochs=50 or all:epochs=50 (repeatable); those of a network reach "
            "the one of best, too."
        ),
    ] = None
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure, such as fmax or precision@5, or module:function of your own (repeatable); ranks and tests "
            "use the first. Default: auprc."
        ),
    ] = None
    preset: Annotated[str | None, typer.Option(help="Recipe of all systems that have one: default or paper.")] = None
    missing: Annotated[
        Literal["last", "omit"],
        typer.Option(help="In average ranks, rank a missing result last, or omit its data set."),
    ] = "last"
    jobs: Jobs = None
    cluster: Cluster = None


@expand_groups
def compare(
    data: Annotated[
        list[str], typer.Argument(help="Data sets, or tables of your own: CSV, TSV, Parquet, ARFF, svmlight or .npz.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of results; an unfinished comparison in it resumes.")
    ] = Path("comparison"),
    options: ComparisonOptions,
    table: _table.TableOptions,
    call: Invocation,
) -> None:
    """Run several systems on the same data, and report which is better and whether that may be chance.

    Every result is saved in a file: after an interrupt, the same command resumes the comparison.

    A table of your own is tested on 20 % of its rows, drawn with the seed, or in folds.

    Systems: C-HMCNN, HMCN-F, HMCN-R, HMC-LMLP, Clus-HMC, Clus-Ens, DHN, f+, f+max, g+, h+ (which is f+), h+MCM, the
    ensembles best and fast, KernelRidge, ExtraTrees, Neighbours, Linear, Logistic, hiclass, and module:Class for a
    class of your own in the working folder or an installed package.

    Measures: auprc, auprc_macro, auprc_weighted, fmax, weighted_fmax, smin, hierarchical_precision,
    hierarchical_recall, hierarchical_f, exact_match, hamming, jaccard, r_precision, leaf_accuracy, mistake_severity,
    calibration_error, precision@k and recall@k for any k, and module:function for a function of your own.

    [bold]Examples[/bold]

    chmcnn compare cellcycle_FUN eisen_FUN --systems C-HMCNN,h+,h+MCM --seeds 3 -o comparison/

    chmcnn compare my.csv --hierarchy edges.csv --folds 5 -o comparison/

    chmcnn compare digits --systems C-HMCNN,h+ --option all:epochs=20 --option h+:dropout=0.5

    chmcnn compare digits --systems C-HMCNN,my_system:MySystem --metric auprc --metric leaf_accuracy

    chmcnn compare my.csv --hierarchy edges.csv --folds 5 --cluster tcp://scheduler:8786
    """
    if options.seeds is not None and options.folds is not None:
        raise ChmcnnError("--seeds and --folds exclude each other; use one of them.")
    with _cluster.connect(options.cluster, call) as executor:
        _compare(data, output, options, table, executor, call)


def _compare(
    data: list[str],
    output: Path,
    options: ComparisonOptions,
    table: _table.TableOptions,
    executor: Executor | None,
    call: Invocation,
) -> None:
    from chmcnn import comparison
    from chmcnn._io.strict_json import dumps
    from chmcnn.ensemble import SYSTEMS
    from chmcnn.report.comparison_page import page
    from chmcnn.report.comparison_terminal import ComparisonDisplay, print_comparison

    systems = tuple(filter(None, map(str.strip, options.systems.split(","))))
    if options.systems == _EVERY:
        systems = tuple(name for name in SYSTEMS if name != "h+")  # which is f+ by another name
    parameters = _system_parameters(systems, options.option or [], options.preset, call.notify)
    measures = tuple(options.metric or ("auprc",))
    plan = comparison.Plan(systems, options.seeds or 3, options.folds, parameters, options.missing, measures)
    if not any(map(_data.is_file, data)):
        _data.refuse_table_options(data[0], table)
    sources = [_source(name, table, call) for name in data]
    comparison.prepare(output)
    stored = sum(1 for _ in (output / comparison.RUNS).glob("[!.]*.json"))
    if stored:
        call.notify(
            f"{output} has {count(stored, 'result')}: those of this comparison are not computed again. Delete the "
            "folder to begin anew."
        )
    total = len(sources) * len(systems) * (options.folds or plan.seeds)
    names = [system.name for system in plan.find_systems()]
    with ComparisonDisplay(names, total, measure=plan.find_measures()[0], quiet=call.quiet) as progress:
        try:
            execution = comparison.Execution(options.jobs, call.command, progress, executor)
            result = comparison.compare(sources, plan, output, execution)
        except ChmcnnError:
            with suppress(OSError):  # of a folder with results in it
                (output / comparison.RUNS).rmdir()
                output.rmdir()
            raise
    _output.write(output / "comparison.json", dumps(result.facts()))
    _output.write(output / "comparison.html", page(result, call.command))
    if call.print_json(result.facts()):
        return
    print_comparison(result)
    typer.echo(f"Report:  {output / 'comparison.html'}\nFigures: {output / 'comparison.json'}")


def _source(name: str, table: _table.TableOptions, call: Invocation) -> Source:
    from chmcnn.comparison import Source
    from chmcnn.datasets.catalogue import EMBEDDED, catalogue
    from chmcnn.datasets.registry import locate

    if _data.is_file(name):
        rows = table.read(Path(name), notify=call.notify)
        _data.notify_text(rows, table, call)
        return Source(Path(name).name, rows)
    if name != EMBEDDED:
        locate(catalogue()[name].files.values(), call.data_dir, quiet=call.quiet)  # downloads come first
    return Source(name, data_dir=call.data_dir)


def _system_parameters(
    systems: tuple[str, ...], options: list[str], preset: str | None, notify: Callable[[str], None]
) -> dict[str, dict[str, JSONValue]]:
    """Return parameters by system: the preset, then those for all systems that have them, then those for one."""
    from chmcnn.comparison import find_system

    if preset in ENSEMBLES:
        raise ChmcnnError(f"--preset is {preset!r}, an ensemble, which is a system of its own: name it in --systems.")
    found = {name: find_system(name) for name in systems}
    names = {system.name: system.list_options() for system in found.values()}
    parameters: dict[str, dict[str, JSONValue]] = {
        name: {"preset": preset} if preset and "preset" in names[name] else {} for name in names
    }
    for target, name, value in sorted(map(_parse, options), key=lambda option: option[0] != _EVERY):
        targets = [candidate for candidate in names if name in names[candidate]]
        if target != _EVERY:
            targets = [found[target].name if target in found else target]
        if not targets:
            raise ChmcnnError(f"--option: none of the compared systems has a parameter {name!r}.")
        others = [candidate for candidate in names if candidate not in targets]
        if target == _EVERY and others:
            notify(f"--option all:{name} does not reach {', '.join(others)}: no such parameter.")
        for system_name in targets:
            parameters.setdefault(system_name, {})[name] = value
    return parameters


def _parse(text: str) -> tuple[str, str, JSONValue]:
    match = re.fullmatch(r"([^=]+):(\w+)=(.+)", text)
    if not match:
        raise ChmcnnError(f"--option is {text!r}; expected SYSTEM:name=value, such as h+:epochs=50.")
    target, name, value = match.groups()
    try:
        return target, name, strict_json.loads(value)
    except ValueError:
        if not re.fullmatch(r"[A-Za-z]\w*", value):
            raise ChmcnnError(
                f"--option is {text!r}; {value!r} is not JSON: expected 50, [100, 100] or a word."
            ) from None
        return target, name, value
