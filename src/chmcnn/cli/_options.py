"""Options that several commands have, and those of a training, each said once."""

from pathlib import Path
from typing import Annotated

import typer

_OWN = "Your own table"
_RUN = "Running"
_HOW = "How to train"
_STOP = "When to stop"
_CLASSES = "Classes"
_NETWORK = "The network"

Model = Annotated[Path, typer.Argument(help="The folder of a model.")]
Rows = Annotated[str, typer.Argument(help="A table with the columns of the training, or a data set's name.")]
ModelFolder = Annotated[Path, typer.Option("--output", "-o", help="The folder of the model.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        envvar="CHMCNN_DATA", help="A folder that has the benchmark's files; looked into before the user's cache."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Write over what exists.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices.", rich_help_panel=_RUN)]
Device = Annotated[str, typer.Option(help="Where to compute, such as cpu or cuda.", rich_help_panel=_RUN)]
Seed = Annotated[
    int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same model.", rich_help_panel=_RUN)
]

Hierarchy = Annotated[
    Path | None, typer.Option(help="The hierarchy: edges (CSV), OBO, JSON or ARFF.", rich_help_panel=_OWN)
]
Labels = Annotated[str, typer.Option(help="The column of labels.", rich_help_panel=_OWN)]
ClassColumn = Annotated[
    list[str] | None,
    typer.Option(help="A column of 0 and 1 for a class; may be given again.", rich_help_panel=_OWN),
]
Separator = Annotated[str, typer.Option(help="What stands between two labels.", rich_help_panel=_OWN)]
PathSeparator = Annotated[
    str, typer.Option(help="What joins the parts of a label that is a path.", rich_help_panel=_OWN)
]
IdColumn = Annotated[str | None, typer.Option(help="A column that names the rows.", rich_help_panel=_OWN)]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of categories; may be given again.", rich_help_panel=_OWN)
]
Delimiter = Annotated[str | None, typer.Option(help="What stands between two cells.", rich_help_panel=_OWN)]

# None where an option was not given: then the file of settings decides, and after it the preset.
Config = Annotated[
    Path | None,
    typer.Option(
        help='JSON with settings by the names of the estimator, such as {"widths": \\[500, 500], "epochs": 50}. '
        "Options win over it.",
        rich_help_panel=_HOW,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(help="The recipe for what is not given: default (by default) or paper.", rich_help_panel=_HOW),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="At most so many.", rich_help_panel=_HOW)]
BatchSize = Annotated[int | None, typer.Option(min=1, help="Rows of a step.", rich_help_panel=_HOW)]
LearningRate = Annotated[float | None, typer.Option(help="Of Adam.", rich_help_panel=_HOW)]
WeightDecay = Annotated[float | None, typer.Option(min=0, help="Of Adam.", rich_help_panel=_HOW)]
Schedule = Annotated[
    str | None, typer.Option(help="How the learning rate goes on: constant or cosine.", rich_help_panel=_HOW)
]
Averaging = Annotated[
    float | None, typer.Option(min=0, help="Epochs to average the weights over; 0: none.", rich_help_panel=_HOW)
]
Precision = Annotated[str | None, typer.Option(help="float32, or bfloat16 for half precision.", rich_help_panel=_HOW)]
Patience = Annotated[
    int | None, typer.Option(min=0, help="Epochs without progress to stop after.", rich_help_panel=_STOP)
]
ValidationShare = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=0.9,
        help="Share of the training rows to stop by, 0.2 by default; 0 trains all epochs.",
        rich_help_panel=_STOP,
    ),
]
Refit = Annotated[
    bool | None,
    typer.Option(
        "--refit/--no-refit",
        help="Train anew on all rows for the best number of epochs, or keep the best epoch.",
        rich_help_panel=_STOP,
    ),
]
TuneThresholds = Annotated[
    bool | None,
    typer.Option(
        "--tune-thresholds/--no-tune-thresholds",
        help="A threshold for each class, or 0.5 for all.",
        rich_help_panel=_CLASSES,
    ),
]
Balanced = Annotated[
    bool | None,
    typer.Option("--balanced/--no-balanced", help="Weigh rare classes more, or all alike.", rich_help_panel=_CLASSES),
]
Width = Annotated[
    int | None, typer.Option(min=1, help="Units of each of the two hidden layers.", rich_help_panel=_NETWORK)
]
Dropout = Annotated[
    float | None, typer.Option(min=0, max=0.99, help="Dropout after each hidden layer.", rich_help_panel=_NETWORK)
]
