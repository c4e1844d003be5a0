"""`chmcnn search`: the best settings for a data set or a table, on validation rows alone."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chmcnn.cli import _data, _output, _settings
from chmcnn.cli._options import (
    Categorical,
    ClassColumn,
    Config,
    DataDir,
    Delimiter,
    Device,
    Epochs,
    Hierarchy,
    IdColumn,
    Json,
    Labels,
    PathSeparator,
    Preset,
    Quiet,
    Seed,
    Separator,
    ValidationShare,
)
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    from chmcnn.datasets import Dataset, Table
    from chmcnn.search import Found


def search(  # noqa: PLR0913 -- one for each option
    data: Annotated[str, typer.Argument(help="A data set, or a table of your own: CSV, TSV, Parquet or ARFF.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of results; a search that is there goes on.")
    ] = Path("search"),
    space: Annotated[
        Path | None,
        typer.Option(
            help='JSON with a list of values or a range for each setting, such as {"dropout": \\[0.5, 0.7], '
            '"learning_rate": {"low": 1e-5, "high": 1e-2, "log": true}}; by default the space of the paper.'
        ),
    ] = None,
    sampler: Annotated[
        Literal["tpe", "grid"],
        typer.Option(help="tpe learns from what it has tried; grid tries all combinations."),
    ] = "tpe",
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="How many settings to try in all: 50 by default, or the whole grid."),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="Stop a training, from epoch 20 on, whose score is below the median of earlier ones at that epoch; "
            "this is unfair to settings that learn slowly. By default with tpe, not with grid.",
        ),
    ] = None,
    json: Json = False,
    data_dir: DataDir = None,
    test_share: Annotated[
        float | None,
        typer.Option(min=0, max=0.9, help="Share of the rows not to look at, as train has it: 0.2."),
    ] = None,
    config: Config = None,
    preset: Preset = None,
    epochs: Epochs = None,
    validation_share: ValidationShare = None,
    hierarchy: Hierarchy = None,
    labels: Labels = "labels",
    class_column: ClassColumn = None,
    separator: Separator = ";",
    path_separator: PathSeparator = "/",
    id_column: IdColumn = None,
    categorical: Categorical = None,
    delimiter: Delimiter = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes at once; each has its share of the cores.", rich_help_panel="Running")
    ] = 1,
    storage: Annotated[
        str | None,
        typer.Option(
            help="To search on several machines: the URL of a database that Optuna can use, such as "
            "postgresql://..., whose driver is to be installed, or a file on a shared disk, in place of study.db. "
            "Commands with different folders may now and then try the same settings.",
            rich_help_panel="Running",
        ),
    ] = None,
    seed: Seed = 0,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Search for the best settings of a training, by the AU(PRC) on validation rows. Test rows are never looked at.

    Each trial is kept: the same command goes on after an interrupt, and may be given several times at once. The best
    setting is in best.json, also while the search is going on.

    Of a table of your own, the rows that [bold]chmcnn train[/bold] tests on with the same --seed and --test-share are
    left out: give it the same, or search with --test-share 0 if you test on another table.

    The space of the paper has 576 settings, some of them slow: batches of 4 rows, and layers of up to 10,000 units. The
    second example is the search of the paper's appendix on one data set; the paper took what was best on most of its
    FunCat data sets.

    [bold]Examples[/bold]

    chmcnn search cellcycle_FUN -o search/ --trials 50 --jobs 2

    chmcnn search cellcycle_FUN -o search/ --sampler grid --preset paper

    chmcnn search my.csv --hierarchy edges.csv --space space.json -o search/

    chmcnn train my.csv --hierarchy edges.csv --config search/best.json
    """
    from chmcnn.report.search_terminal import SearchDisplay, failure_reasons, print_search
    from chmcnn.search import APPENDIX, Plan, Space
    from chmcnn.search import search as run
    from chmcnn.settings import read

    searched = read(space) if space else APPENDIX
    Space.of(searched, space)  # tells the file of what is wrong
    fixed = _settings.merged(
        config,
        preset=preset,
        epochs=epochs,
        validation_share=validation_share,
        width=None,
        tune_thresholds=None,
        balanced=None,
    )
    plan = Plan(searched, sampler, trials, fixed, seed, prune)
    reading = _data.Reading(
        hierarchy, labels, class_column, separator, path_separator, id_column, categorical, delimiter
    )
    if validation_share is not None and not _data.is_file(data):
        raise DatasetError(f"{data} is no file of your own; it takes no --validation-share.")
    rows = _rows(data, data_dir, reading, test_share, seed=seed, quiet=quiet)
    ready = partial(run, rows, plan, output, title=Path(data).name, storage=storage, device=device)
    try:
        with SearchDisplay(quiet=quiet) as progress:
            found = ready(jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        _write(ready(jobs=0), output)
        raise
    except ChmcnnError:
        with suppress(OSError):  # of a folder with something in it
            output.rmdir()
        raise
    _write(found, output)
    if not found.best:
        reason = next(iter(failure_reasons(found)), "others are still at them")
        raise ChmcnnError(f"No trial was finished: {reason} Remove {output} to start anew.")
    if json:
        _output.print_json(found.facts() | {"config": str(output / "best.json")})
        return
    print_search(found)
    typer.echo(f"Best:   {output / 'best.json'}\nReport: {output / 'search.html'}\nTrials: {output / 'trials.csv'}")


def _rows(  # noqa: PLR0913 -- what the rows are found by
    name: str,
    data_dir: Path | None,
    reading: _data.Reading,
    test_share: float | None,
    *,
    seed: int,
    quiet: bool,
) -> Dataset | Table:
    """What to search on: the rows of a table that a training with the same options would not test on."""
    if _data.is_file(name):
        return _data.own_job(Path(name), reading, None, 0.2 if test_share is None else test_share, seed).train
    if test_share is not None:
        raise DatasetError(f"{name} is no file of your own; it takes no --test-share.")
    return _data.known(name, data_dir, reading, seed=seed, quiet=quiet)


def _write(found: Found, output: Path) -> None:
    """Write the trials, the picture and the page."""
    from chmcnn._io.files import atomic
    from chmcnn.report.page import png
    from chmcnn.report.search_page import draw, page

    _output.write(output / "trials.csv", found.trials.to_csv(index=False))
    _output.write(output / "search.html", page(found, _output.command()))
    with atomic(output / "search.png") as temporary:
        temporary.write_bytes(png(draw(found)))
