"""`chmcnn reproduce`: the paper's tables and figures, run again and put beside the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chmcnn.cli import _experiments, _output
from chmcnn.cli._options import DataDir, Json, Quiet

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run the paper's experiments, and put ours beside the published figures. What is finished is not run again.",
)

Output = Annotated[
    Path, typer.Option("--output", "-o", help="The folder of results; each experiment has a folder in it.")
]
Epochs = Annotated[int, typer.Option(min=1, help="Steps of training on all points; the paper has 20000.")]
Runs = Annotated[int, typer.Option(min=1, help="How often to run each; the paper has 10.")]
Datasets = Annotated[str, typer.Option(help="Names with commas between them, FUN, GO, trees, or all.")]
Seeds = Annotated[int, typer.Option(min=1, help="How often to run each, with seeds from 0 on; the paper has 10.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes at once; by default one for each core.")]
RecipeName = Annotated[
    Literal["default", "paper"],
    typer.Option(help="That of CHMCNNClassifier, or the paper's: batches of 4, and the settings of each data set."),
]
Reconstructed = Annotated[
    Path | None,
    typer.Option(help="A folder with train files for data sets whose own is not to be had; results are marked."),
]
_FOLDER = Path("results")


@app.command()
def figure1(*, output: Output = _FOLDER, epochs: Epochs = 20_000, json: Json = False, quiet: Quiet = False) -> None:
    """Draw what f, g and h learn of two rectangles in three positions, and how much h delegates.

    [bold]Examples[/bold]

    chmcnn reproduce figure1

    chmcnn reproduce figure1 --epochs 2000 -o quick/
    """
    from chmcnn.experiments import figure1 as experiment

    with _experiments.bar(quiet=quiet) as progress:
        experiment.run(output / "figure1", epochs=epochs, command=_output.command(), progress=progress)
    _experiments.show("figure1", output, json=json)


@app.command()
def figure2(
    *,
    output: Output = _FOLDER,
    runs: Runs = 10,
    epochs: Epochs = 20_000,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Move one rectangle into the other in 9 steps: AU(PRC) of C-HMCNN, f+ and g+ at each.

    [bold]Examples[/bold]

    chmcnn reproduce figure2
    """
    from chmcnn.experiments import figure2 as experiment

    with _experiments.bar(quiet=quiet) as progress:
        experiment.run(output / "figure2", runs=runs, epochs=epochs, command=_output.command(), progress=progress)
    _experiments.show("figure2", output, json=json)


@app.command(name="nine-rectangles")
def nine_rectangles(
    *,
    output: Output = _FOLDER,
    runs: Runs = 10,
    epochs: Epochs = 20_000,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the paper's loss with plain cross-entropy on nine rectangles.

    [bold]Examples[/bold]

    chmcnn reproduce nine-rectangles
    """
    from chmcnn.experiments import nine_rectangles as experiment

    with _experiments.bar(quiet=quiet) as progress:
        experiment.run(
            output / "nine-rectangles", runs=runs, epochs=epochs, command=_output.command(), progress=progress
        )
    _experiments.show("nine-rectangles", output, json=json)


@app.command()
def table1(
    *,
    output: Output = _FOLDER,
    datasets: Datasets = "all",
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the 20 data sets from their files.

    [bold]Examples[/bold]

    chmcnn reproduce table1

    chmcnn reproduce table1 --datasets enron,diatoms --data-dir HMC_data/
    """
    from chmcnn.experiments import table1 as experiment

    chosen = _experiments.chosen(datasets)
    with _experiments.bar(quiet=quiet) as progress:
        missing = experiment.run(
            output / "table1", datasets=chosen, data_dir=data_dir, command=_output.command(), progress=progress
        )
    _experiments.show("table1", output, json=json, missing=missing, quiet=quiet)


@app.command()
def table2(  # noqa: PLR0913 -- one for each option
    *,
    output: Output = _FOLDER,
    datasets: Datasets = "all",
    recipe: RecipeName = "default",
    seeds: Seeds = 10,
    jobs: Jobs = None,
    reconstructed: Reconstructed = None,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train and test on the 20 data sets, beside all published systems, with the statistics.

    By the default recipe, unless --recipe paper is given, which takes about ten times as long. Each result is kept in
    a file: the same command goes on after an interrupt.

    [bold]Examples[/bold]

    chmcnn reproduce table2 --seeds 1

    chmcnn reproduce table2 --datasets FUN --recipe paper --seeds 3 --jobs 2
    """
    _experiments.benchmark(
        output / "table2",
        _experiments.chosen(datasets),
        systems=("C-HMCNN",),
        recipe=recipe,
        seeds=seeds,
        jobs=jobs,
        reconstructed=reconstructed,
        data_dir=data_dir,
        quiet=quiet,
    )
    _experiments.show("table2", output, json=json)


@app.command()
def table3(  # noqa: PLR0913 -- one for each option
    *,
    output: Output = _FOLDER,
    datasets: Datasets = "FUN",
    recipe: RecipeName = "default",
    seeds: Seeds = 1,
    jobs: Jobs = None,
    reconstructed: Reconstructed = None,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare h+, h+MCM and C-HMCNN on the validation rows of the FunCat data sets, by either recipe.

    [bold]Examples[/bold]

    chmcnn reproduce table3 --recipe paper
    """
    from chmcnn.experiments.table3 import SYSTEMS, refuse_others

    chosen = _experiments.chosen(datasets)
    refuse_others(chosen)
    _experiments.benchmark(
        output / "table3",
        chosen,
        systems=SYSTEMS,
        recipe=recipe,
        seeds=seeds,
        jobs=jobs,
        reconstructed=reconstructed,
        data_dir=data_dir,
        quiet=quiet,
    )
    _experiments.show("table3", output, json=json)


@app.command()
def table4(
    *,
    output: Output = _FOLDER,
    datasets: Datasets = "all",
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the time of a prediction on each data set, against the paper's dense formula.

    [bold]Examples[/bold]

    chmcnn reproduce table4 --datasets cellcycle_FUN,cellcycle_GO
    """
    from chmcnn.experiments import table4 as experiment

    chosen, known = _experiments.chosen(datasets), experiment.collect(output / "table4")
    if known and known.inferences.keys() >= set(chosen):
        _output.notice(
            f"Nothing is measured now: {output / 'table4'} has all times already, maybe those of another machine; "
            "remove it to measure on this one.",
            quiet=quiet,
        )
    with _experiments.bar(quiet=quiet) as progress:
        missing = experiment.run(
            output / "table4", datasets=chosen, data_dir=data_dir, command=_output.command(), progress=progress
        )
    _experiments.show("table4", output, json=json, missing=missing, quiet=quiet)


@app.command()
def significance(*, output: Output = _FOLDER, json: Json = False) -> None:
    """Compute the statistics of the published table.

    [bold]Examples[/bold]

    chmcnn reproduce significance --json
    """
    _experiments.show("significance", output, json=json)


@app.command(name="all")
def everything(
    *,
    output: Output = _FOLDER,
    page: Annotated[Path | None, typer.Option(help="Where to write the page; by default in the folder.")] = None,
    json: Json = False,
) -> None:
    """Make one HTML page of all results that are there; nothing is run.

    [bold]Examples[/bold]

    chmcnn reproduce all

    chmcnn reproduce all -o my-results/ --page paper.html
    """
    from chmcnn.report.paper import experiments
    from chmcnn.report.paper.page import page as made
    from chmcnn.report.paper.section import counted, facts

    found = {name: experiments.section(name, output) for name in experiments.NAMES}
    sections = [section for section in found.values() if section]
    missing = [(name, f"chmcnn reproduce {name}") for name, section in found.items() if section is None]
    target = page or output / "reproduction.html"
    _output.write(target, made(sections, missing, facts=experiments.versions(output)))
    if json:
        _output.print_json({section.name: facts(section) for section in sections})
        return
    typer.echo(f"{counted([check for section in sections for check in section.checks])}.")
    for name, command in missing:
        typer.echo(f"Not run yet: {name}. Run it by: {command}")
    typer.echo(f"Page: {target}")
