"""`chmcnn demo`: a model of the data set inside the package."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli import _data
from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._model_output import REPORT, ModelFolder, ModelOutput, evaluate_test_rows
from chmcnn.cli._options import ComputeOptions, Invocation


@dataclass(frozen=True)
class _Output(ModelOutput):
    output: ModelFolder = Path("demo")


@expand_groups
def demo(
    *,
    output: Annotated[_Output, Omit("restart")],
    compute: ComputeOptions,
    call: Annotated[Invocation, Omit("data_dir")],
) -> None:
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
    evaluation = evaluate_test_rows(model, parts, call)
    truth, scores = data.test.Y.toarray(), model.predict_proba(data.test.X)
    row = digits.choose(data.hierarchy, truth, scores)
    walked, picture = model.explain(data.test.X.iloc[[row]])[0], str(output.output / "digits.png")
    figure = digits.draw(walked, row, data.test.X.to_numpy(), truth, scores)
    output.save(model, parts, evaluation, call, {"digits.png": png(figure)})
    result = output.result(model, evaluation) | {"picture": picture, "a test picture": walked.facts()}
    if call.print_json(result):
        return
    typer.echo(f"A test picture, and the delegate of each class:\n{walked}\n")
    output.print(model, evaluation)
    typer.echo(f"Picture: {picture}\n\nWalk through the hierarchy in a browser: open {output.output / REPORT},")
    typer.echo(f"or serve the model, and predict rows of your own: chmcnn serve {shlex.quote(str(output.output))}")
