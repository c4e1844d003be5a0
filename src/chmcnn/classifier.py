"""`CHMCNNClassifier`: the scikit-learn estimator."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from chmcnn import _targets, metrics, thresholds, training
from chmcnn._explain import Explanation, explain
from chmcnn.constraint import delegates, max_constraint
from chmcnn.datasets.dataset import ROOTS
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ChmcnnError, LabelError
from chmcnn.hierarchy import Hierarchy
from chmcnn.nn import MLP, MaxConstraint, MCLoss
from chmcnn.presets import PresetName, preset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags
    from torch import Tensor, nn

    from chmcnn.training import Settings


class CHMCNNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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
    epochs, batch_size, learning_rate, weight_decay, patience, refit, schedule
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
        Whether to show progress.

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
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]] * 10
    >>> y = [{"dog"}, {"cat"}, {"dog"}, {"cat"}] * 10
    >>> model = CHMCNNClassifier(hierarchy=hierarchy, random_state=0, epochs=5).fit(X, y)
    >>> sorted(model.predict_labels([[0.0, 1.0]])[0])
    ['animal', 'dog', 'pet']
    """

    hierarchy_: Hierarchy
    network_: nn.Module
    preprocessor_: Preprocessor
    device_: str
    evaluated_: NDArray[np.bool_]
    thresholds_: NDArray[np.float64]
    history_: tuple[training.Epoch, ...]
    best_epoch_: int
    best_score_: float

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        preset: PresetName = "default",
        network: nn.Module | Callable[[int, int], nn.Module] | None = None,
        widths: Sequence[int] | None = None,
        dropout: float | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        patience: int | None = None,
        refit: bool | None = None,
        schedule: Literal["constant", "cosine"] | None = None,
        precision: Literal["float32", "bfloat16"] = "float32",
        class_weight: Mapping[str, float] | Literal["balanced"] | None = None,
        validation: float = 0.2,
        threshold: float | Literal["tune"] = 0.5,
        preprocess: bool = True,
        evaluated: ArrayLike | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        checkpoint: str | Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.preset = preset
        self.network = network
        self.widths = widths
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.refit = refit
        self.schedule = schedule
        self.precision = precision
        self.class_weight = class_weight
        self.validation = validation
        self.threshold = threshold
        self.preprocess = preprocess
        self.evaluated = evaluated
        self.device = device
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    # Training

    def fit(self, X: Any, y: Any, validation_data: tuple[Any, Any] | None = None) -> Self:  # noqa: ANN401, N803
        """Train.

        Parameters
        ----------
        X
            Features (rows, features): an array, a sparse matrix or a DataFrame.
        y
            Label sets of names, or a 0/1 matrix in the order of ``hierarchy.classes``. Ancestors are added.
        validation_data
            Features and labels to stop by and to tune thresholds on, in place of a share of the rows.
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, validation_data)
        except BaseException:
            self.__dict__ = before  # a model that could not be trained is the one it was
            raise

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: ANN401, N803
        """Train one epoch more on these rows. The first call decides the preprocessing.

        Without a hierarchy, the first call needs all ``classes`` that will come, as label paths.
        """
        first = not hasattr(self, "network_")
        if first and self.hierarchy is None and classes is None:
            raise ChmcnnError("partial_fit needs hierarchy= or classes=: later rows may have classes not seen so far.")
        truth = self._check(X, y, classes) if first else _targets.matrix(y, self.hierarchy_)
        if first:
            self._learn_features(X)
        rows = self._rows(X, truth)
        _refuse_lengths(X, truth)
        if not hasattr(self, "_drawn"):  # a model that was loaded
            self._drawn = _seed(self.random_state)
        settings = replace(self._settings(), epochs=1, refit=False)
        if first:
            self.history_ = ()
            self.best_epoch_, self.best_score_ = 0, float("nan")
            self.thresholds_ = np.full(len(self.hierarchy_), 0.5 if self.threshold == "tune" else float(self.threshold))
        if not hasattr(self, "_going"):
            with torch.random.fork_rng():
                self._going = training.start(
                    self.build_network if first else lambda: self.network_, settings, self.device_
                )
        done = training.one_more(self._going, rows, self._loss(truth), settings, self.device_)
        self.network_, self.history_ = self._going.network.eval(), (*self.history_, done)
        return self

    # Predicting

    def predict_proba(self, X: Any) -> NDArray[np.float32]:  # noqa: ANN401, N803
        """Probabilities (rows, classes), in the order of ``hierarchy_.classes``; never incoherent."""
        return self._constrained(self.logits(X)).cpu().numpy()

    def predict(self, X: Any) -> NDArray[np.int8]:  # noqa: ANN401, N803
        """Predicted labels as a 0/1 matrix (rows, classes), closed under ancestors."""
        return (self.predict_proba(X) >= self.thresholds_).astype(np.int8)

    def predict_labels(self, X: Any, *, most_specific: bool = False) -> list[set[str]]:  # noqa: ANN401, N803
        """Predicted label sets, with all ancestors; or only the most specific classes."""
        return self.hierarchy_.decode(self.predict(X), most_specific=most_specific)

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:  # noqa: ANN401, N803
        """AU(PRC) of all rows and the classes that count, the measure of the paper."""
        if sample_weight is not None:
            raise ChmcnnError("sample_weight is not supported: the AU(PRC) counts all rows alike.")
        scores = self.predict_proba(X)
        return metrics.auprc(_targets.matrix(y, self.hierarchy_), scores, classes=self.evaluated_)

    def explain(self, X: Any) -> list[Explanation]:  # noqa: ANN401, N803
        """For each row the predicted part of the hierarchy, with scores and who decided each class."""
        raw = torch.sigmoid(self.logits(X))
        scores = max_constraint(raw, self.hierarchy_).cpu().numpy()
        deciders = delegates(raw, self.hierarchy_).cpu().numpy()
        return [explain(self.hierarchy_, row, by, self.thresholds_) for row, by in zip(scores, deciders, strict=True)]

    # Files

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a folder: safetensors and JSON, all at once."""
        from chmcnn import _model_files

        check_is_fitted(self, "network_")
        _model_files.save(self, Path(path), force=force)

    @classmethod
    def load(cls, path: str | Path, *, network: Any = None, device: str = "auto") -> Self:  # noqa: ANN401
        """Read what `save` wrote. Reading never runs code: a model with a network of your own needs ``network=``."""
        from chmcnn import _model_files

        return _model_files.load(cls, Path(path), network=network, device=device)

    def to_onnx(self, path: str | Path, *, force: bool = False) -> None:
        """Write an ONNX model that turns features into coherent probabilities; ``force`` writes over one that exists.

        Its input has the columns of ``preprocessor_.get_feature_names_out()``: numbers with NaN where one is missing,
        and 0 and 1 for categories. Imputation, standardisation and the constraint are inside.
        """
        from chmcnn import _onnx

        check_is_fitted(self, "network_")
        _onnx.export(self, Path(path), force=force)

    def __sklearn_tags__(self) -> Tags:
        """Say what it takes: several labels, missing values, sparse matrices."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # the score is no accuracy
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    # How it is done

    def _fit(self, X: Any, y: Any, validation_data: tuple[Any, Any] | None) -> Self:  # noqa: ANN401, N803
        X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X  # noqa: N806
        truth = self._check(X, y)
        if validation_data is not None:
            held_x, held_y = validation_data[0], _targets.matrix(validation_data[1], self.hierarchy_)
            _refuse_lengths(held_x, held_y)
            self._learn_features(X)
            rows: training.Rows = self._rows(X, truth)
            valid: training.Rows | None = self._rows(held_x, held_y)
        else:
            rows, valid = self._divided(X, truth)
        if self.threshold == "tune" and valid is None:
            raise ChmcnnError("threshold='tune' needs validation data: give validation_data, or a validation share.")
        with self._display() as progress:
            trained = training.train(
                self.build_network,
                rows,
                loss=self._loss(rows.y.cpu().numpy()),
                settings=self._settings(),
                valid=valid,
                scores=MaxConstraint(self.hierarchy_).to(self.device_),
                evaluated=self.evaluated_,
                device=self.device_,
                checkpoint=Path(self.checkpoint) if self.checkpoint is not None else None,
                progress=progress,
            )
        self.network_, self.history_ = trained.network, trained.history
        self.best_epoch_, self.best_score_ = trained.best_epoch, trained.best_score
        self.thresholds_ = self._thresholds(valid, trained.best_weights)
        return self

    def _check(self, X: Any, y: Any, classes: Any = None) -> NDArray[np.bool_]:  # noqa: ANN401, N803
        """Decide everything that the labels decide, and return them as a matrix."""
        if y is None:
            raise LabelError("CHMCNNClassifier requires y to be passed, but the target y is None.")
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            kind = type(self.hierarchy).__name__
            raise ChmcnnError(f"hierarchy is of type {kind}; expected a Hierarchy, such as Hierarchy.from_edges makes.")
        if self.threshold != "tune" and not (isinstance(self.threshold, numbers.Real) and 0 <= self.threshold <= 1):
            raise ChmcnnError(f"threshold is {self.threshold!r}; expected a number from 0 to 1, or 'tune'.")
        if not 0 <= self.validation < 1:
            raise ChmcnnError(f"validation is {self.validation!r}; expected a share of the rows, from 0 to below 1.")
        if any(getattr(getattr(part, "dtype", None), "kind", "") == "c" for part in (X, y)):
            raise ChmcnnError("Complex data not supported: give X and y as numbers that are not complex.")
        self._drawn = _seed(self.random_state)
        self.hierarchy_ = self.hierarchy or _targets.hierarchy_of(y if classes is None else classes)
        self.classes_ = np.array(self.hierarchy_.classes, dtype=object)
        self.device_ = device_of(self.device)
        self.evaluated_ = _evaluated(self.evaluated, self.hierarchy_)
        self.__dict__.pop("_going", None)
        truth = _targets.matrix(y, self.hierarchy_)
        _refuse_lengths(X, truth)
        if not truth[:, self.evaluated_].any():
            raise LabelError("No row has any of the classes that count: there is nothing to learn.")
        return truth

    def _learn_features(self, X: Any) -> None:  # noqa: ANN401, N803
        """Fit the preprocessing on training rows."""
        self.preprocessor_ = Preprocessor(standardise=self.preprocess).fit(X)
        self.n_features_in_ = self.preprocessor_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.preprocessor_, "feature_names_in_"):
            self.feature_names_in_ = self.preprocessor_.feature_names_in_

    def _divided(self, X: Any, truth: NDArray[np.bool_]) -> tuple[training.Rows, training.Rows | None]:  # noqa: ANN401, N803
        """Training and validation rows, drawn by the seed; none to validate on where they would have no label."""
        size = round(self.validation * len(truth))
        order = np.random.default_rng(self._drawn).permutation(len(truth))
        train, held = np.sort(order[size:]), np.sort(order[:size])
        parts = [truth[rows][:, self.evaluated_] for rows in (train, held)]
        if not size or not all(part.any() for part in parts):
            self._learn_features(X)
            return self._rows(X, truth), None
        self._learn_features(_safe_indexing(X, train))
        return (
            self._rows(_safe_indexing(X, train), truth[train]),
            self._rows(_safe_indexing(X, held), truth[held]),
        )

    def _rows(self, X: Any, truth: NDArray[np.bool_]) -> training.Rows:  # noqa: ANN401, N803
        return training.Rows(self._features(X), torch.tensor(truth, device=self.device_))

    def _features(self, X: Any) -> Tensor | sparse.csr_array:  # noqa: ANN401, N803
        numbers = self.preprocessor_.transform(X)
        if isinstance(numbers, sparse.csr_array):
            return numbers.astype(np.float32)
        narrow = numbers.astype(np.float32)
        if not np.isfinite(narrow).all():
            raise ChmcnnError("X has values beyond the range of single precision; scale them down.")
        return torch.from_numpy(narrow).to(self.device_)

    def logits(self, X: Any) -> Tensor:  # noqa: ANN401, N803
        """What the network says, before the constraint (rows, classes)."""
        check_is_fitted(self, "network_")
        return training.predict(self.network_, self._features(X), self.device_).float()

    def build_network(self) -> nn.Module:
        """Make a new network, as one is made for every training."""
        chosen = preset(self.preset)
        features, classes = len(self.preprocessor_.get_feature_names_out()), len(self.hierarchy_)
        if isinstance(self.network, torch.nn.Module):
            return copy.deepcopy(self.network)
        if self.network is not None:
            return self.network(features, classes)
        dropout = chosen.dropout if self.dropout is None else self.dropout
        return MLP(features, classes, widths=tuple(self.widths or chosen.widths), dropout=dropout)

    def _settings(self) -> Settings:
        names = ("epochs", "batch_size", "learning_rate", "weight_decay", "patience", "refit", "schedule")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        chosen = preset(self.preset)
        given.setdefault("learning_rate", chosen.learning_rate(len(self.preprocessor_.get_feature_names_out())))
        return replace(chosen.settings, **given, precision=self.precision, seed=self._drawn)

    def _loss(self, truth: NDArray[np.bool_]) -> MCLoss:
        mask = None if self.evaluated_.all() else self.evaluated_
        loss = MCLoss(self.hierarchy_, mask=mask, weight=self._class_weights(truth), validate=False)
        return loss.to(self.device_)

    def _class_weights(self, truth: NDArray[np.bool_]) -> NDArray[np.float32] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            rarity = np.sqrt(len(truth) / np.maximum(truth.sum(axis=0), 1))
            balanced: NDArray[np.float32] = (rarity / rarity[self.evaluated_].mean()).astype(np.float32)
            return balanced
        if not isinstance(self.class_weight, Mapping):
            raise ChmcnnError(f"class_weight is {self.class_weight!r}; expected 'balanced', or weights by class name.")
        weights = np.ones(len(self.hierarchy_), dtype=np.float32)
        for name, weight in self.class_weight.items():
            weights[self.hierarchy_.index(name)] = weight
        return weights

    def _thresholds(self, valid: training.Rows | None, weights: dict[str, Tensor]) -> NDArray[np.float64]:
        """One threshold, or those tuned on validation rows with a network that has not seen them."""
        if self.threshold != "tune" or valid is None:
            return np.full(len(self.hierarchy_), float(self.threshold))
        network = copy.deepcopy(self.network_)
        network.load_state_dict(weights)
        logits = training.predict(network.eval(), valid.x, self.device_).float()
        return thresholds.tune(valid.y.cpu().numpy(), self._constrained(logits).cpu().numpy(), self.hierarchy_)

    def _constrained(self, logits: Tensor) -> Tensor:
        """Coherent probabilities. The sigmoid comes first: of equal logits it may differ in the last bit."""
        return max_constraint(torch.sigmoid(logits), self.hierarchy_)

    def _display(self) -> AbstractContextManager[Callable[[training.Epoch], object] | None]:
        if not self.verbose:
            return nullcontext()
        from chmcnn.report.progress import Display

        return Display()


def device_of(name: str) -> str:
    """The device to use, after a look at what there is."""
    if name != "auto":
        try:
            torch.empty(0, device=name)
        except (RuntimeError, AssertionError) as error:
            raise ChmcnnError(f"device is {name!r}, which cannot be used here: {str(error).splitlines()[0]}") from None
        return name
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def _evaluated(given: ArrayLike | None, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    mask = np.array([name not in ROOTS for name in hierarchy]) if given is None else np.asarray(given)
    if mask.shape != (len(hierarchy),) or mask.dtype != np.bool_ or not mask.any():
        raise ChmcnnError(
            f"evaluated has shape {mask.shape} and type {mask.dtype}; expected a mask of the {len(hierarchy)} classes "
            "with at least one true value."
        )
    return mask


def _refuse_lengths(X: Any, truth: NDArray[np.bool_]) -> None:  # noqa: ANN401, N803
    rows = _num_samples(X)
    if rows != len(truth):
        raise LabelError(f"X has {rows} rows, however y has labels of {len(truth)}.")


def _seed(state: Any) -> int:  # noqa: ANN401 -- what scikit-learn takes
    if isinstance(state, int | np.integer):
        if not 0 <= state < 2**32:
            raise ChmcnnError(f"random_state is {state}; expected a number from 0 to {2**32 - 1}.")
        return int(state)
    return int(check_random_state(state).randint(2**31 - 1))
