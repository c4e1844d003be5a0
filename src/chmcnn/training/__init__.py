"""Training: one loop with batches, validation after every epoch, early stopping, refit, checkpoints and progress."""

from chmcnn.training._loop import Batches, Loss, Rows, Settings, Trained, one_more, predict, train
from chmcnn.training._progress import Display
from chmcnn.training._state import Epoch, Run, load_optimizer, optimizer_tensors, start

__all__ = [
    "Batches",
    "Display",
    "Epoch",
    "Loss",
    "Rows",
    "Run",
    "Settings",
    "Trained",
    "load_optimizer",
    "one_more",
    "optimizer_tensors",
    "predict",
    "start",
    "train",
]
