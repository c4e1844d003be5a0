"""Training: one loop with batches, validation after every epoch, early stopping, refit, checkpoints and progress."""

from chmcnn.training._budget import Budget, estimate_seconds
from chmcnn.training._display import TrainingDisplay
from chmcnn.training._loop import Loss, Trained, Training, train
from chmcnn.training._ranks import Ranks, join, joined
from chmcnn.training._rows import (
    Batches,
    Matrix,
    Rows,
    accepts_sparse,
    as_loader,
    divide,
    join_blocks,
    predict,
    score_blocks,
)
from chmcnn.training._settings import Settings
from chmcnn.training._state import Epoch, Phase, TrainingState, load_optimizer, optimizer_tensors, start

__all__ = [
    "Batches",
    "Budget",
    "Epoch",
    "Loss",
    "Matrix",
    "Phase",
    "Ranks",
    "Rows",
    "Settings",
    "Trained",
    "Training",
    "TrainingDisplay",
    "TrainingState",
    "accepts_sparse",
    "as_loader",
    "divide",
    "estimate_seconds",
    "join",
    "join_blocks",
    "joined",
    "load_optimizer",
    "optimizer_tensors",
    "predict",
    "score_blocks",
    "start",
    "train",
]
