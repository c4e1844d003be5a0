"""`chmcnn rectangles`: the paper's two rectangles, with a picture of when a network delegates."""

from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation
from chmcnn.cli._output import PictureOutput

_POSITIONS = {1: "outside", 5: "half-way", 9: "inside"}


@expand_groups
def rectangles(
    *,
    output: PictureOutput,
    epochs: Annotated[int, typer.Option(min=1, help="Number of training steps.")] = 20_000,
    compute: Annotated[ComputeOptions, Omit("device")],
    call: Annotated[Invocation, Omit("json", "data_dir")],
) -> None:
    """Train on the paper's two rectangles, and draw where the network delegates.

    [bold]Examples[/bold]

    chmcnn rectangles

    chmcnn rectangles --output boundaries.png --seed 3
    """
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from chmcnn._io import files

    path = output.path(Path("rectangles.png"))
    with files.atomic(path) as temporary:  # before the training, so that an unwritable folder fails at once
        from chmcnn.experiments import boundaries, two_rectangles

        with Progress(console=Console(stderr=True), disable=call.quiet) as progress:
            task = progress.add_task("Training", total=epochs)
            results = two_rectangles.run(
                list(_POSITIONS), epochs=epochs, seed=compute.seed, progress=lambda: progress.advance(task)
            )
        boundaries.draw(results).savefig(temporary, dpi=110)
    table = Table("A lies", "B delegated to A", "violations of h", "constrained", "both right")
    for result in results:
        raw, constrained = result.violations
        table.add_row(
            _POSITIONS[result.step],
            f"{result.delegated:.0%} of A",
            str(raw),
            str(constrained),
            f"{result.accuracy:.1%}",
        )
    console = Console()
    console.print("Two classes: A is a small rectangle; B is A and a larger rectangle, so A is a subclass of B.")
    console.print("Three networks h with 4 hidden units, each on 2500 test points:")
    console.print(table)
    console.print(f"Decision boundaries: {path}")
