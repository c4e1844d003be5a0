"""What the commands of `chmcnn reproduce` have in common: choosing data sets, running, and showing what was found."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from chmcnn.cli import _output
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from chmcnn.experiments.recipes import Recipe


def benchmark(  # noqa: PLR0913 -- the options of both tables
    folder: Path,
    datasets: Sequence[str],
    *,
    systems: Sequence[str],
    recipe: Recipe,
    seeds: int,
    jobs: int | None,
    reconstructed: Path | None,
    data_dir: Path | None,
    quiet: bool,
) -> None:
    """Run systems on data sets, show how far it is, and tell what failed."""
    from chmcnn.experiments import recipes
    from chmcnn.report.comparison_terminal import ComparisonDisplay

    found, missing = recipes.sources(datasets, data_dir=data_dir, reconstructed=reconstructed, quiet=quiet)
    _tell(missing, quiet=quiet)
    with ComparisonDisplay(systems, len(found) * len(systems) * seeds, quiet=quiet) as progress:
        done = recipes.run(
            folder / "runs",
            found=found,
            systems=systems,
            recipe=recipe,
            seeds=seeds,
            jobs=jobs,
            command=_output.command(),
            progress=progress,
        )
    for run in done:
        if run.figures is None:
            typer.echo(f"{run.spec.system} has no result on {run.spec.dataset}: {run.reason}", err=True)


def _tell(missing: Mapping[str, str], *, quiet: bool) -> None:
    """Say which data sets are left out."""
    for dataset, reason in missing.items():
        _output.notice(f"Without {dataset}: {reason}", quiet=quiet)


def chosen(datasets: str) -> list[str]:
    """Data sets by their names, or by their kind."""
    from chmcnn.datasets.catalogue import catalogue

    known = list(catalogue().entries)
    kinds = {kind: [name for name in known if name.endswith(f"_{kind}")] for kind in ("FUN", "GO")}
    kinds |= {"trees": [name for name in known if "_" not in name], "all": known}
    chosen = [name for given in filter(None, map(str.strip, datasets.split(","))) for name in kinds.get(given, [given])]
    if not chosen:
        raise DatasetError(
            f"--datasets is {datasets!r}; expected names with commas between them, or one of {', '.join(kinds)}."
        )
    return [catalogue()[name].name for name in dict.fromkeys(chosen)]


@contextmanager
def bar(*, quiet: bool) -> Iterator[Callable[[int, int], object]]:
    """Show how many steps of how many are done."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("Running", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def show(name: str, output: Path, *, json: bool, missing: Mapping[str, str] | None = None, quiet: bool = False) -> None:
    """Print a section, and write its pictures into the folder of the experiment."""
    from chmcnn._io.files import atomic
    from chmcnn.report.page import png
    from chmcnn.report.paper import experiments, terminal
    from chmcnn.report.paper.section import facts

    section = experiments.section(name, output)
    if section is None:
        reason = next(iter((missing or {}).values()), "no run has a result; each says why above.")
        raise ChmcnnError(f"There is no result of {name} in {output / name}: {reason}")
    _tell(missing or {}, quiet=quiet)
    for picture in section.pictures:
        with atomic(output / name / f"{picture.name}.png") as temporary:
            temporary.write_bytes(png(picture.figure))
    if json:
        _output.print_json(facts(section))
        return
    terminal.show(section)
    for picture in section.pictures:
        typer.echo(f"Picture: {output / name / picture.name}.png")
