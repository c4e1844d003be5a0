"""`chmcnn demo`: a model of the data set inside the package."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _data, _output
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation


@dataclass(frozen=True)
class _Output(_output.ModelOutput):
    output: _output.ModelFolder = Path("demo")


@expand_groups
def demo(*, output: _Output, compute: ComputeOptions, call: Annotated[Invocation, Omit("data_dir")]) -> None:
    """Train on handwritten digits and the shapes in them, test, explain and draw, in under a minute.

    [bold]Examples[/bold]

    chmcnn demo

    chmcnn demo --output my-first-model --seed 3
    """
    from chmcnn import CHMCNNClassifier, datasets
    from chmcnn.report import digits
    from chmcnn.report.page import png

    output.check()
    data = datasets.load("digits")
    call.notify("Handwritten digits, and the shapes in them: every 8 has a loop above and a loop below.")
    model = CHMCNNClassifier(
        data.hierarchy,
        threshold="tune",
        random_state=compute.seed,
        device=compute.device,
        verbose=not call.quiet,
    )
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    parts = _data.Parts.of(data)
    evaluation = _output.evaluate_test_rows(model, parts, call)
    figure = digits.draw(
        data.hierarchy, data.test.X.to_numpy(), data.test.Y.toarray(), model.predict_proba(data.test.X)
    )
    output.save(model, parts, evaluation, call, {"digits.png": png(figure)})
    first, picture = model.explain(data.test.X.iloc[:1])[0], str(output.output / "digits.png")
    result = output.result(model, evaluation) | {"picture": picture, "first test picture": first.facts()}
    if call.print_json(result):
        return
    typer.echo(f"The first test picture, and the delegate of each class:\n{first}\n")
    output.print(model, evaluation)
    typer.echo(f"Picture: {picture}")
