"""`chmcnn rectangles`: the paper's two rectangles, with a picture of when a network delegates."""

from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli._options import Force, Quiet, Seed

_POSITIONS = {1: "outside", 5: "half-way", 9: "inside"}


def rectangles(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the picture.")] = Path(
        "rectangles.png"
    ),
    epochs: Annotated[int, typer.Option(min=1, help="Training steps.")] = 20_000,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Train the paper's two-rectangle problem, and draw when the network delegates.

    [bold]Examples[/bold]

    chmcnn rectangles

    chmcnn rectangles --output boundaries.png --seed 3
    """
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from chmcnn._io import files
    from chmcnn.report import refuse_format

    files.refuse_existing(output, force=force)
    refuse_format(output)
    with files.atomic(output) as temporary:  # before the training: a folder that cannot be written to shows at once
        from chmcnn.experiments import two_rectangles
        from chmcnn.report import boundaries

        with Progress(console=Console(stderr=True), disable=quiet) as progress:
            task = progress.add_task("Training", total=epochs)
            results = two_rectangles.run(
                list(_POSITIONS), epochs=epochs, seed=seed, progress=lambda: progress.advance(task)
            )
        boundaries.draw(results).savefig(temporary, dpi=110)
    table = Table("A lies", "B delegated to A", "violations of h", "constrained", "both right")
    for result in results:
        raw, constrained = result.violations
        table.add_row(
            f"{_POSITIONS[result.step]}",
            f"{result.delegated:.0%} of A",
            str(raw),
            str(constrained),
            f"{result.accuracy:.1%}",
        )
    console = Console()
    console.print("Two classes: A is a small rectangle, B is that one and a bigger one. A is a subclass of B.")
    console.print("Of 2500 test points each, for three networks h of 4 hidden units:")
    console.print(table)
    console.print(f"Decision boundaries: {output}")
