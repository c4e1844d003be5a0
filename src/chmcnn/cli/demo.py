"""`chmcnn demo`: the whole story on the data set inside the package."""

from pathlib import Path

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._options import Device, Force, Json, ModelFolder, Quiet, Seed


def demo(  # noqa: PLR0913 -- one for each option
    *,
    output: ModelFolder = Path("demo"),
    force: Force = False,
    json: Json = False,
    seed: Seed = 0,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train on handwritten digits and the shapes in them, test, explain, and draw: the main job in under a minute.

    [bold]Examples[/bold]

    chmcnn demo

    chmcnn demo --output my-first-model --seed 3
    """
    from chmcnn import CHMCNNClassifier, datasets
    from chmcnn.report import digits
    from chmcnn.report.page import png

    _output.refuse_folder(output, force=force)
    data = datasets.load("digits")
    _output.notice(
        "Handwritten digits, and the shapes in them: every 8 has a loop above and a loop below.", quiet=quiet
    )
    model = CHMCNNClassifier(data.hierarchy, threshold="tune", random_state=seed, device=device, verbose=not quiet)
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    job = _data.known_job(data)
    evaluation = _output.tested(model, job, quiet=quiet)
    drawn = digits.draw(data.hierarchy, data.test.X.to_numpy(), data.test.Y, model.predict_proba(data.test.X))
    _output.save(model, job, evaluation, output, force=force, further={"digits.png": png(drawn)})
    first, picture = model.explain(data.test.X.iloc[:1])[0], str(output / "digits.png")
    if json:
        found = _output.outcome(model, evaluation, output) | {"picture": picture, "first test picture": first.facts()}
        _output.print_json(found)
        return
    typer.echo(f"The first test picture, with scores and delegates:\n{first}\n")
    _output.show(evaluation, output)
    typer.echo(f"Picture: {picture}")
