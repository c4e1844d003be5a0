"""`CHMCNNClassifier`: the scikit-learn estimator of C-HMCNN(h)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MCLoss

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from chmcnn.training import Loss


class CHMCNNClassifier(NeuralClassifier):
    """Hierarchical multi-label classification with C-HMCNN(h): predictions never contradict the hierarchy.

    Parameters
    ----------
    hierarchy
        The classes. By default they come from the labels, which are paths such as ``"sport/tennis"``.
    preset
        ``"default"``, or ``"paper"`` for the settings of the paper. It has the values of the parameters that are None.
    network
        A torch module that returns one logit per class, or a function that creates one from the numbers of features and
        classes. A module is copied for each training. By default fully connected layers. With the default preset they
        have outputs only for classes with a row: the score of the others is 0. Dense features that ``preprocess=True``
        standardises pass a `chmcnn.nn.FeatureScaling` first.
    widths, dropout
        Sizes of the hidden layers of the default network, and the dropout after each. Where features are scaled, they
        are omitted less often than hidden units.
    output_rank
        Rank of the weights of the last layer: it becomes two, with that many units between them and no activation. For
        very many classes, this takes far less time and memory. By default the rank is full.
    epochs, batch_size, learning_rate, weight_decay, patience, patience_growth, refit, schedule, averaging
        See `chmcnn.training.Settings`.
    max_minutes, validation_sample, sharded
        See `chmcnn.training.Settings`.
    precision
        ``"float32"``, or ``"bfloat16"`` for half precision by torch's autocast.
    class_weight
        Weights by class name, or ``"balanced"`` for weights by the square root of the rarity of a class.
    validation
        Share of the rows for early stopping and tuning thresholds, if ``fit`` gets no validation data. 0 trains all
        epochs.
    threshold
        Lowest score at which a class is predicted: a number, or tuned on validation rows. ``"tune"`` has a threshold
        for each class, with its best F1; ``"hierarchical_f"`` and ``"fmax"`` have one for all classes, with the best
        hierarchical F or Fmax. ``set_params`` and the argument of ``predict`` change it after training: all three are
        tuned in every training with validation rows.
    calibration
        How scores become probabilities, learnt on validation rows: ``"temperature"``, ``"isotonic"`` or
        ``"venn-abers"``. None leaves them as they are. `calibrate` does the same after training.
    preprocess
        Whether to standardise the features, which the default network then scales. Categories, dates and texts are
        always encoded and missing numbers imputed: see `chmcnn.datasets.Preprocessor`. Or any scikit-learn transformer
        or pipeline that a model folder can keep, such as a ``ColumnTransformer``; it gets X as it is. Preprocessing is
        fitted to training rows only.
    path_separator
        Separator in labels that are paths; spaces around it do not count.
    evaluated
        Mask of the classes that count in the loss and in measures; by default all. A class that does not count has no
        output of its own: its score is the highest of the classes below it that count, or 0 if there are none.
    device
        Torch device; ``"auto"`` is an accelerator if one is available.
    random_state
        Seed; the same seed gives the same weights, unless ``max_minutes`` ends the training.
    checkpoint
        Folder for the state of the training after each epoch. An interrupted training resumes from it.
    verbose
        Whether to show progress; or a function that is called with each `Epoch`. An error in it ends the training.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The classes, in column order.
    network_ : torch module
        The trained network.
    thresholds_ : (classes,) array
        Lowest score at which each class is predicted, by ``threshold``.
    tuned_thresholds_ : dict
        The thresholds of each way to tune them, of scores before the calibration; empty without validation rows.
    calibration_ : Calibration or None
        The map from scores to probabilities.
    risks_ : RiskCurves or None
        What went wrong on validation rows at each threshold: what a ``risk`` of ``predict_labels`` relies on.
    history_ : tuple of Epoch
        Result of each epoch.
    best_epoch_, best_score_
        Epoch with the best AU(PRC) on validation data, and its AU(PRC): of all rows, or of a ``validation_sample``.
    notice_ : str
        What ``max_minutes`` did not suffice for; empty if the training ended by itself.

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

    has_sparse_network = True

    def _create_loss(self, labels: csr_array | None) -> Loss:
        learned, weight = self.learned_, self._weigh_classes(labels)
        loss = MCLoss(learned.hierarchy, mask=learned.counted, weight=weight, validate=False)
        return self._separate_uncounted(loss).to(self.device_)
