"""Training: one loop with batches, validation after every epoch, early stopping, refit, checkpoints and progress."""

from chmcnn.training._budget import Budget, estimate_seconds
from chmcnn.training._display import TrainingDisplay
from chmcnn.training._loop import Loss, Trained, Training, train
from chmcnn.training._ranks import ALONE, Ranks, join, joined
from chmcnn.training._rows import (
    Batches,
    Matrix,
    Rows,
    RowSource,
    accepts_sparse,
    as_loader,
    divide,
    join_blocks,
    join_rows,
    predict,
    score_blocks,
)
from chmcnn.training._seeding import fork_seed, seed_torch
from chmcnn.training._settings import Settings
from chmcnn.training._state import Epoch, Phase, TrainingState, load_optimizer, optimizer_tensors, start

__all__ = [
    "ALONE",
    "Batches",
    "Budget",
    "Epoch",
    "Loss",
    "Matrix",
    "Phase",
    "Ranks",
    "RowSource",
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
    "fork_seed",
    "join",
    "join_blocks",
    "join_rows",
    "joined",
    "load_optimizer",
    "optimizer_tensors",
    "predict",
    "score_blocks",
    "seed_torch",
    "start",
    "train",
]
