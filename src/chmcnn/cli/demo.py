"""`chmcnn demo`: the whole story on the data set inside the package."""

from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli._options import Force, Quiet, Seed


def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the model.")] = Path("demo"),
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Train on handwritten digits and the shapes in them, test, explain, and draw: the main job in under a minute.

    [bold]Examples[/bold]

    chmcnn demo

    chmcnn demo --output my-first-model --seed 3
    """
    from chmcnn import CHMCNNClassifier, datasets
    from chmcnn._files import atomic
    from chmcnn.cli.train import Job, finish, refuse_folder, show
    from chmcnn.report import digits

    refuse_folder(output, force=force)
    data = datasets.load("digits")
    typer.echo("Handwritten digits, and the shapes in them: every 8 has a loop above and a loop below.", err=quiet)
    model = CHMCNNClassifier(data.hierarchy, threshold="tune", random_state=seed, verbose=not quiet)
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    job = Job(data.title, data.train, data.valid, data.test, data.evaluated)
    evaluation = finish(model, job, output, force=force, quiet=quiet)
    picture = output / "digits.png"
    with atomic(picture) as temporary:
        digits.draw(data.hierarchy, data.test.X.to_numpy(), data.test.Y, model.predict_proba(data.test.X)).savefig(
            temporary, dpi=110
        )
    typer.echo(f"The first test picture, and who decided each class:\n{model.explain(data.test.X.iloc[:1])[0]}\n")
    show(model, evaluation, output, json=False)
    typer.echo(f"Picture: {picture}")
