"""`chmcnn reproduce`: the tables and figures of the paper, beside the published results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chmcnn.cli import _cluster, _output
from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import Cluster, Invocation, Jobs
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from chmcnn.experiments.context import Context
    from chmcnn.experiments.recipes import Benchmark

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run the experiments of the paper, and compare the results with the published ones. Finished runs are not "
    "repeated.",
)

Epochs = Annotated[int, typer.Option(min=1, help="Training steps on all points; 20,000 in the paper.")]
Runs = Annotated[int, typer.Option(min=1, help="Number of runs; 10 in the paper.")]
Datasets = Annotated[str, typer.Option(help="Names with commas between them, FUN, GO, trees, or all.")]
Synthetic = Annotated[Invocation, Omit("data_dir")]


@dataclass(frozen=True)
class Results(OptionGroup):
    """The folder of results."""

    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the results, with one folder per experiment.")
    ] = Path("results")

    def context(
        self, name: str, call: Invocation, jobs: int | None = None, executor: "Executor | None" = None
    ) -> "Context":
        """Return how an experiment is run."""
        from chmcnn._io.files import require_writable
        from chmcnn.experiments.context import Context

        require_writable(self.output / name / "run.json")
        return Context(self.output / name, call.data_dir, call.command, jobs, call.quiet, executor)

    def show(self, name: str, call: Invocation, missing: Mapping[str, str] | None = None) -> None:
        """Print the section of an experiment, and write its pictures to its folder."""
        from chmcnn._io.files import atomic
        from chmcnn.experiments import registry, terminal
        from chmcnn.experiments.section import facts
        from chmcnn.report.page import png

        folder = self.output / name
        section = registry.read_section(name, self.output)
        if section is None:
            reason = next(iter((missing or {}).values()), "no run has finished; the reasons are printed above.")
            raise ChmcnnError(f"There are no results of {name} in {folder}: {reason}")
        for dataset, reason in (missing or {}).items():
            call.notify(f"No result for {dataset}: {reason}")
        for picture in section.pictures:
            with atomic(folder / f"{picture.name}.png") as temporary:
                temporary.write_bytes(png(picture.figure))
        if call.print_json(facts(section)):
            return
        terminal.show(section)
        for picture in section.pictures:
            typer.echo(f"Picture: {folder / picture.name}.png")


@dataclass(frozen=True)
class BenchmarkOptions(OptionGroup):
    """What tables 2 and 3 are run on."""

    recipe: Annotated[
        Literal["default", "paper", "best"],
        typer.Option(
            help="That of CHMCNNClassifier; the paper's, with batches of 4 and its settings for each data set; or, for "
            "table 2, the best ensemble."
        ),
    ] = "default"
    reconstructed: Annotated[
        Path | None,
        typer.Option(help="Folder with train files for data sets whose own is not available; results are marked."),
    ] = None
    jobs: Jobs = None
    cluster: Cluster = None

    def benchmark(self, datasets: str, seeds: int) -> "Benchmark":
        """Return the data sets and how they are run."""
        from chmcnn.experiments.recipes import Benchmark

        return Benchmark(_parse_datasets(datasets), self.recipe, seeds, self.reconstructed)


Seeds = Annotated[int, typer.Option(min=1, help="Number of runs per data set, with seeds from 0; 10 in the paper.")]


@app.command()
@expand_groups
def figure1(*, epochs: Epochs = 20_000, results: Results, call: Synthetic) -> None:
    """Draw what f, g and h learn from two rectangles in three positions, and how often h delegates.

    [bold]Examples[/bold]

    chmcnn reproduce figure1

    chmcnn reproduce figure1 --epochs 2000 -o quick/
    """
    from chmcnn.experiments import figure1

    figure1.run(results.context("figure1", call), epochs=epochs)
    results.show("figure1", call)


@app.command()
@expand_groups
def figure2(*, runs: Runs = 10, epochs: Epochs = 20_000, results: Results, call: Synthetic) -> None:
    """Move one rectangle into the other in 9 steps, and measure C-HMCNN, f+ and g+ at each.

    [bold]Examples[/bold]

    chmcnn reproduce figure2
    """
    from chmcnn.experiments import figure2

    figure2.run(results.context("figure2", call), runs=runs, epochs=epochs)
    results.show("figure2", call)


@app.command(name="nine-rectangles")
@expand_groups
def nine_rectangles(*, runs: Runs = 10, epochs: Epochs = 20_000, results: Results, call: Synthetic) -> None:
    """Compare the paper's loss with plain cross-entropy on nine rectangles.

    [bold]Examples[/bold]

    chmcnn reproduce nine-rectangles
    """
    from chmcnn.experiments import nine_rectangles

    nine_rectangles.run(results.context("nine-rectangles", call), runs=runs, epochs=epochs)
    results.show("nine-rectangles", call)


@app.command()
@expand_groups
def table1(*, datasets: Datasets = "all", results: Results, call: Invocation) -> None:
    """Count rows, features and classes in the files of the 20 data sets.

    [bold]Examples[/bold]

    chmcnn reproduce table1

    chmcnn reproduce table1 --datasets enron,diatoms --data-dir HMC_data/
    """
    from chmcnn.experiments import table1

    names = _parse_datasets(datasets)
    results.show("table1", call, table1.run(results.context("table1", call), datasets=names))


@app.command()
@expand_groups
def table2(
    *, datasets: Datasets = "all", seeds: Seeds = 10, options: BenchmarkOptions, results: Results, call: Invocation
) -> None:
    """Train and test on the 20 data sets, and compare with all published systems.

    The default recipe takes a small part of the time of --recipe paper. Each run is stored in a file: repeat the
    command to resume.

    [bold]Examples[/bold]

    chmcnn reproduce table2 --seeds 1

    chmcnn reproduce table2 --datasets FUN --recipe paper --seeds 3 --jobs 2

    chmcnn reproduce table2 --cluster tcp://scheduler:8786
    """
    with _cluster.connect(options.cluster, call) as executor:
        from chmcnn.experiments import table2

        context = results.context("table2", call, options.jobs, executor)
        table2.run(context, options.benchmark(datasets, seeds))
    results.show("table2", call)


@app.command()
@expand_groups
def table3(
    *, datasets: Datasets = "FUN", seeds: Seeds = 1, options: BenchmarkOptions, results: Results, call: Invocation
) -> None:
    """Compare h+, h+MCM and C-HMCNN on the validation rows of the FunCat data sets.

    [bold]Examples[/bold]

    chmcnn reproduce table3 --recipe paper
    """
    with _cluster.connect(options.cluster, call) as executor:
        from chmcnn.experiments import table3

        context = results.context("table3", call, options.jobs, executor)
        table3.run(context, options.benchmark(datasets, seeds))
    results.show("table3", call)


@app.command()
@expand_groups
def table4(*, datasets: Datasets = "all", results: Results, call: Invocation) -> None:
    """Measure the time of inference on each data set, and compare it with the paper's dense formula.

    [bold]Examples[/bold]

    chmcnn reproduce table4 --datasets cellcycle_FUN,cellcycle_GO
    """
    from chmcnn.experiments import table4

    names = _parse_datasets(datasets)
    results.show("table4", call, table4.run(results.context("table4", call), datasets=names))


@app.command()
@expand_groups
def significance(*, results: Results, call: Annotated[Invocation, Omit("data_dir", "quiet")]) -> None:
    """Compute the statistics of the published table.

    [bold]Examples[/bold]

    chmcnn reproduce significance --json
    """
    results.show("significance", call)


@app.command(name="all")
@expand_groups
def everything(
    *,
    page: Annotated[Path | None, typer.Option(help="Page to write. Default: reproduction.html in the folder.")] = None,
    results: Results,
    call: Annotated[Invocation, Omit("data_dir", "quiet")],
) -> None:
    """Write one HTML page of all stored results; nothing is run.

    [bold]Examples[/bold]

    chmcnn reproduce all

    chmcnn reproduce all -o my-results/ --page paper.html
    """
    from chmcnn.experiments import registry
    from chmcnn.experiments.page import page as make_page
    from chmcnn.experiments.section import facts, headline

    sections = {name: registry.read_section(name, results.output) for name in registry.EXPERIMENTS}
    path = page or results.output / "reproduction.html"
    _output.write(path, make_page(sections, versions=registry.read_versions(results.output)))
    if call.print_json({name: facts(section) for name, section in sections.items() if section}):
        return
    typer.echo(headline(list(sections.values())))
    for name, section in sections.items():
        if section is None:
            typer.echo(f"No results: {name}. Run: chmcnn reproduce {name}")
    typer.echo(f"Page: {path}")


def _parse_datasets(datasets: str) -> list[str]:
    """Return data sets by their names, or by their kind."""
    from chmcnn.datasets.catalogue import catalogue

    entries = list(catalogue().entries)
    kinds = {kind: [name for name in entries if name.endswith(f"_{kind}")] for kind in ("FUN", "GO")}
    kinds |= {"trees": [name for name in entries if "_" not in name], "all": entries}
    words = filter(None, map(str.strip, datasets.split(",")))
    names = [name for word in words for name in kinds.get(word, [word])]
    if not names:
        raise DatasetError(
            f"--datasets is {datasets!r}; expected names with commas between them, or one of {', '.join(kinds)}."
        )
    return [catalogue()[name].name for name in dict.fromkeys(names)]
