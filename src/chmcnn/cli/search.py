"""`chmcnn search`: the best settings for a data set or a table, on validation rows alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chmcnn.cli import _cluster, _data, _output, _table
from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import RUNNING, Cluster, ComputeOptions, Data, Invocation
from chmcnn.cli._settings import SearchedOptions
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from chmcnn.datasets import Dataset, Table
    from chmcnn.search import SearchResult


@dataclass(frozen=True)
class SearchOptions(OptionGroup):
    """What to search, and how."""

    space: Annotated[
        Path | None,
        typer.Option(
            help='JSON file with a list of values or a range for each setting, such as {"dropout": \\[0.5, 0.7], '
            '"learning_rate": {"low": 1e-5, "high": 1e-2, "log": true}}. Default: the space of the paper.'
        ),
    ] = None
    sampler: Annotated[
        Literal["tpe", "grid"],
        typer.Option(help="tpe learns from earlier trials; grid tries all combinations."),
    ] = "tpe"
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Number of settings to try. Default: 50, or the whole grid."),
    ] = None
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="From epoch 20 on, stop a training whose score is below the median of earlier ones at that epoch; "
            "unfair to settings that learn slowly. Default: with tpe, not with grid.",
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trials at once; processes of this machine share the cores. Default: 1, or one for each "
            "thread of the cluster.",
            rich_help_panel=RUNNING,
        ),
    ] = None
    cluster: Cluster = None
    storage: Annotated[
        str | None,
        typer.Option(
            help="To search on several machines: URL of a database that Optuna supports, such as postgresql://... "
            "(install its driver), or a file on a shared disk. Commands with different folders may now and then try "
            "the same settings. Default: study.db in the folder.",
            rich_help_panel=RUNNING,
        ),
    ] = None


@expand_groups
def search(  # noqa: PLR0913 -- the groups of its options
    data: Data,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of results; an unfinished search in it resumes.")
    ] = Path("search"),
    options: SearchOptions,
    hold_out: Annotated[_data.HoldOutOptions, Omit("test")],
    training: SearchedOptions,
    table: _table.TableOptions,
    compute: ComputeOptions,
    call: Invocation,
) -> None:
    """Search for the best settings of a training by the AU(PRC) on validation rows. It never uses test rows.

    Every trial is saved: after an interrupt, the same command resumes the search, and several may run at once. The
    best settings so far are in best.json.

    In a table of your own, the search leaves out the rows that [bold]chmcnn train[/bold] tests on with the same --seed
    and --test-share. Use the same values there, or --test-share 0 if you test on another table.

    The space of the paper has 576 settings, some of them slow: batches of 4 rows, and layers of up to 10,000 units. The
    second example is the search of the paper's appendix on one data set; the paper chose the settings that were best on
    most of its FunCat data sets.

    [bold]Examples[/bold]

    chmcnn search cellcycle_FUN -o search/ --trials 50 --jobs 2

    chmcnn search cellcycle_FUN -o search/ --sampler grid --preset paper

    chmcnn search my.csv --hierarchy edges.csv --space space.json -o search/

    chmcnn search cellcycle_FUN -o search/ --cluster tcp://scheduler:8786

    chmcnn train my.csv --hierarchy edges.csv --config search/best.json
    """
    with _cluster.connect(options.cluster, call) as executor:
        _search(
            data,
            output,
            options=options,
            hold_out=hold_out,
            training=training,
            table=table,
            compute=compute,
            executor=executor,
            call=call,
        )


def _search(  # noqa: PLR0913 -- what the command is given
    data: str,
    output: Path,
    *,
    options: SearchOptions,
    hold_out: _data.HoldOutOptions,
    training: SearchedOptions,
    table: _table.TableOptions,
    compute: ComputeOptions,
    executor: Executor | None,
    call: Invocation,
) -> None:
    from chmcnn.report.search_terminal import SearchDisplay, failure_reasons, print_search
    from chmcnn.search import APPENDIX, SearchPlan, Space, search
    from chmcnn.settings import read

    space = read(options.space) if options.space else APPENDIX
    Space.of(space, options.space)  # an error names the file
    plan = SearchPlan(
        space, options.sampler, options.trials, training.settings(), compute.seed, options.prune, compute.device
    )
    rows: Dataset | Table
    if _data.is_file(data):
        rows = hold_out.split(Path(data), table, compute.seed, call.notify).train
        _data.notify_text(rows, table, call)
    else:
        training.refuse_validation_share(data)
        rows = _data.load(data, call, hold_out, table, seed=compute.seed)
    if options.storage is None and (output / "study.db").is_file():
        call.notify(f"{output} has trials of this search, which count among --trials; delete the folder to begin anew.")
    run = partial(search, rows, plan, output, title=Path(data).name, storage=options.storage)
    try:
        with SearchDisplay(quiet=call.quiet) as progress:
            result = run(jobs=options.jobs, executor=executor, progress=progress)
    except KeyboardInterrupt:
        _write(run(jobs=0), output, call)
        raise
    except ChmcnnError:
        with suppress(OSError):  # of a folder with something in it
            output.rmdir()
        raise
    _write(result, output, call)
    if not result.best:
        reason = next(iter(failure_reasons(result)), "other processes are still running them.")
        raise ChmcnnError(f"No trial has finished: {reason} Delete {output} to start again.")
    if call.print_json(result.facts() | {"config": str(output / "best.json")}):
        return
    print_search(result)
    typer.echo(f"Best:   {output / 'best.json'}\nReport: {output / 'search.html'}\nTrials: {output / 'trials.csv'}")


def _write(result: SearchResult, output: Path, call: Invocation) -> None:
    """Write the trials, the picture and the page."""
    from chmcnn._io.files import atomic
    from chmcnn.report.page import png
    from chmcnn.report.search_page import draw, page

    _output.write(output / "trials.csv", result.trials.to_csv(index=False))
    _output.write(output / "search.html", page(result, call.command))
    with atomic(output / "search.png") as temporary:
        temporary.write_bytes(png(draw(result)))
