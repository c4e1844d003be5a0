"""`CHMCNNClassifier`: the scikit-learn estimator of C-HMCNN(h)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MCLoss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CHMCNNClassifier(NeuralClassifier):
    """Hierarchical multi-label classification with C-HMCNN(h): predictions never contradict the hierarchy.

    Parameters
    ----------
    hierarchy
        The classes. Without it the labels given to ``fit`` are paths such as ``"sport/tennis"``.
    preset
        ``"default"``, or ``"paper"``: batches of 4 as in the paper, to reproduce. The parameters below that are None
        come from it.
    network
        A torch module that gives one logit a class, or a function of the numbers of features and classes that makes
        one. A module is copied for every training. By default fully connected layers.
    widths, dropout
        Of the default network: the sizes of its hidden layers, and the dropout after each.
    epochs, batch_size, learning_rate, weight_decay, patience, refit, schedule, averaging
        How to train: see `chmcnn.training.Settings`.
    precision
        ``"bfloat16"`` trains in half precision where torch's autocast allows it.
    class_weight
        ``"balanced"`` weighs rare classes more, by the square root of their rarity; or weights by name of the class.
    validation
        Share of the rows to stop by and to tune thresholds on, where ``fit`` is not given any. 0 trains all epochs.
    threshold
        From which score on a class is predicted: a number, or ``"tune"`` for the best F1 of each class.
    preprocess
        Whether to standardise the features; categories are encoded and missing numbers imputed in any case: see
        `chmcnn.datasets.Preprocessor`. All of it is learnt from training rows only.
    evaluated
        Which classes count in the loss and in scores; by default all but the roots of the field's benchmarks.
    device
        Where to train and predict; ``"auto"`` takes an accelerator if there is one.
    random_state
        A seed; the same one gives the same weights.
    checkpoint
        A folder to write the state of a training to after every epoch. A training that was killed goes on from there.
    verbose
        Whether to show progress; or a function that is called with each `Epoch`, and ends the training by an error.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The classes, in column order.
    network_ : torch module
        What was trained.
    thresholds_ : (classes,) array
        From which score on each class is predicted.
    history_ : tuple of Epoch
        What each epoch gave.
    best_epoch_, best_score_
        The epoch with the best AU(PRC) on validation data, and that figure.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]] * 10
    >>> y = [{"dog"}, {"cat"}, {"dog"}, {"cat"}] * 10
    >>> model = CHMCNNClassifier(hierarchy=hierarchy, random_state=0, epochs=5).fit(X, y)
    >>> sorted(model.predict_labels([[0.0, 1.0]])[0])
    ['animal', 'dog', 'pet']
    """

    def _loss(self, labels: NDArray[np.bool_] | None) -> MCLoss:
        loss = MCLoss(self.hierarchy_, mask=self._mask(), weight=self._class_weights(labels), validate=False)
        return loss.to(self.device_)
