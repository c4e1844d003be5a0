"""The base class of systems that train a network: they differ in network, loss and probabilities."""

from __future__ import annotations

import copy
import math
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from chmcnn import training
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import _streams
from chmcnn.estimator._base import HierarchicalClassifier
from chmcnn.estimator._class_weights import weigh_classes
from chmcnn.estimator._devices import choose_device
from chmcnn.estimator._presets import PRESETS, Preset, PresetName, find_preset
from chmcnn.nn import MLP
from chmcnn.settings import check
from chmcnn.training import Batches, Matrix, Rows, load_optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor, nn

    from chmcnn._typing import Features, JSONValue, LabelsLike
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Loss, Settings

    NetworkLike = nn.Module | Callable[[int, int], nn.Module] | None

_TRAINING = ("epochs", "batch_size", "learning_rate", "weight_decay", "patience", "refit", "schedule", "averaging")
"""The settings of a training that a preset decides."""


class NeuralClassifier(HierarchicalClassifier):
    """A network, trained. A system is a subclass with `_loss`; its parameters are those of `CHMCNNClassifier`."""

    network_: nn.Module
    device_: str
    streamed_: bool
    feature_shape_: tuple[int, ...]
    n_samples_fit_: int | None = None  # number of training rows; None for a stream and for a loaded model
    training_state_: training.TrainingState  # of partial_fit only
    history_: tuple[training.Epoch, ...]
    best_epoch_: int
    best_score_: float

    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    """Values of the parameters that are None."""
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that only this system has, which model files store."""

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        preset: PresetName = "default",
        network: NetworkLike = None,
        widths: Sequence[int] | None = None,
        dropout: float | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        patience: int | None = None,
        refit: bool | None = None,
        schedule: Literal["constant", "cosine"] | None = None,
        averaging: float | None = None,
        precision: Literal["float32", "bfloat16"] = "float32",
        class_weight: Mapping[str, float] | Literal["balanced"] | None = None,
        validation: float = 0.2,
        threshold: float | Literal["tune"] = 0.5,
        preprocess: bool = True,
        evaluated: ArrayLike | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        checkpoint: str | Path | None = None,
        verbose: bool | Callable[[training.Epoch], object] = False,
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
        self.averaging = averaging
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

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Name all parameters: the constructor of a system names only its own, and passes the others on."""
        if cls.own_settings:
            return sorted([*NeuralClassifier._get_param_names(), *cls.own_settings])
        names: list[str] = super()._get_param_names()
        return names

    # Implemented by each system

    def _loss(self, labels: NDArray[np.bool_] | None) -> Loss:
        """Return the loss; the labels of the training rows are None for a stream."""
        raise NotImplementedError

    def _default_network(self, features: int, classes: int) -> nn.Module:
        return MLP(features, classes, **self.architecture())

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities (rows, classes), not coherent yet, from outputs of the network."""
        return torch.sigmoid(outputs)

    # Training

    def fit(self, X: Features, y: LabelsLike = None, validation_data: Features = None) -> Self:
        """Train.

        Parameters
        ----------
        X
            Features (rows, features): an array, a sparse matrix or a DataFrame. Or a torch ``Dataset`` or
            ``DataLoader`` of pairs (features, labels): features go to the network as they are, of any shape, and labels
            are 0 and 1 in the order of ``hierarchy.classes``.
        y
            Label sets of names, or a 0/1 matrix in the order of ``hierarchy.classes``. Ancestors are added.
        validation_data
            Features and labels to stop by and to tune thresholds on, in place of a share of the rows.
        """
        return super().fit(X, y, validation_data)

    def partial_fit(self, X: Features, y: LabelsLike, classes: LabelsLike = None) -> Self:
        """Train one epoch more on these rows. The first call decides the preprocessing.

        Without a hierarchy, the first call needs all ``classes`` that will come, as label paths.
        """
        first = not hasattr(self, "network_")
        if not first and self.streamed_:
            raise ChmcnnError("This model was trained on a Dataset or DataLoader: partial_fit takes tables only.")
        if first and self.hierarchy is None and classes is None:
            raise ChmcnnError("partial_fit needs hierarchy= or classes=: later rows may have other classes.")
        rows = self._first_rows(X, self._check(X, y, classes)) if first else self._rows(X, self._labels(X, y))
        if first:
            self.history_, self.best_epoch_, self.best_score_ = (), 0, float("nan")
            self.thresholds_ = self._thresholds(None, None)
        settings = replace(self._settings(), epochs=1, refit=False, schedule="constant")
        if not hasattr(self, "training_state_"):
            self.training_state_ = self._start(self.build_network if first else lambda: self.network_, settings)
        loss = self._loss(rows.y.numpy(force=True))
        epoch = training.Training(self.training_state_, rows, loss, settings, self.device_).run_one()
        self.network_, self.history_ = self.training_state_.network.eval(), (*self.history_, epoch)
        return self

    def _start(self, build: Callable[[], nn.Module], settings: Settings) -> training.TrainingState:
        with torch.random.fork_rng():
            return training.start(build, settings, self.device_)

    def restore_optimizer(self, epochs: int, tensors: dict[str, Tensor]) -> None:
        """Let `partial_fit` resume with the optimizer of a saved model."""
        self.training_state_ = self._start(lambda: self.network_, self._settings())
        self.training_state_.epoch = epochs
        load_optimizer(self.training_state_.optimizer, tensors)

    def _fit(self, X: Features, y: LabelsLike, validation_data: Features) -> None:
        if not _streams.is_stream(X):
            super()._fit(X, y, validation_data)
            return
        if y is not None:
            raise ChmcnnError("y was passed with a Dataset or DataLoader, which has the labels itself: omit y.")
        if self.hierarchy is None:
            raise ChmcnnError("A Dataset or DataLoader has labels by position: pass hierarchy=.")
        self.resolve(None)
        self._fit_stream(X, validation_data)

    def _fit_stream(self, X: Features, validation_data: Features) -> None:
        stream = _streams.Stream(X, self.hierarchy_, self._setting("batch_size"))
        train, valid = stream.split(validation_data, self.validation, self.seed_)
        if valid is None and (self.epochs is None or self.threshold == "tune"):
            raise ChmcnnError("There are no rows to validate on: pass validation_data, or epochs and a threshold.")
        self.streamed_, self.feature_shape_ = True, train.feature_shape()
        self.n_features_in_ = math.prod(self.feature_shape_)
        if self.network is None and len(self.feature_shape_) != 1:
            raise ChmcnnError(
                f"A row of the data has shape {self.feature_shape_}, but the default network takes one dimension: "
                "pass network=."
            )
        valid = None if valid is None else valid.to(self.device_)
        self.thresholds_ = self._thresholds(valid, self._learn(train, valid))

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        find_preset(self.preset, self.presets)
        super().resolve(y)
        self.streamed_, self.n_samples_fit_ = False, None
        self.device_ = choose_device(self.device)
        self.__dict__.pop("training_state_", None)

    def _first_rows(self, X: Features, labels: NDArray[np.bool_]) -> Rows:
        rows = super()._first_rows(X, labels)
        self.n_samples_fit_, self.feature_shape_ = rows.x.shape[0], tuple(rows.x.shape[1:])
        return rows

    def _rows(self, X: Features, labels: NDArray[np.bool_]) -> Rows:
        return super()._rows(X, labels).to(self.device_)

    def _features(self, X: Features) -> Matrix:
        """Preprocess features, in single precision."""
        x = super()._features(X)
        if isinstance(x, sparse.csr_array):
            return x.astype(np.float32)
        narrow = x.float()
        if not torch.isfinite(narrow).all():
            raise ChmcnnError("X has values beyond the range of single precision; scale them down.")
        return narrow.to(self.device_)

    def _learn(self, train: Batches, valid: Rows | None) -> NDArray[np.floating] | None:
        labels = train.y.numpy(force=True) if isinstance(train, Rows) else None
        with self._display() as progress:
            trained = training.train(
                self.build_network,
                train,
                loss=self._loss(labels),
                settings=self._settings(),
                valid=valid,
                scores=self._scores,
                evaluated=self.evaluated_,
                device=self.device_,
                checkpoint=Path(self.checkpoint) if self.checkpoint is not None else None,
                progress=progress,
                system=f"{type(self).__name__} {self._own()} of {self.hierarchy_.to_json()}",
            )
        self.network_, self.history_ = trained.network, trained.history
        self.best_epoch_, self.best_score_ = trained.best_epoch, trained.best_score
        if valid is None:
            return None
        network = copy.deepcopy(self.network_)
        network.load_state_dict(trained.best_weights)
        return self._validation_scores(network, valid)

    def _validation_scores(self, network: nn.Module, valid: Rows) -> NDArray[np.floating]:
        """Return coherent scores of the validation rows by a network that was not trained on them."""
        scores: NDArray[np.floating]
        scores = training.predict(lambda x: self._scores(network(x)), valid.x, self.device_).cpu().numpy()
        return scores

    # Predicting

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Probabilities (rows, classes) as the network gives them, before they are made coherent."""
        return self.probabilities(self.outputs(X)).cpu().numpy()

    def outputs(self, X: Features) -> Tensor:
        """What the network says: logits (rows, classes), for most systems."""
        check_is_fitted(self, "network_")
        if self.streamed_:
            batches = _streams.inputs(X, self.feature_shape_)
            with torch.inference_mode():
                return torch.cat([self.network_(x.to(self.device_)).float() for x in batches])
        if _streams.is_stream(X):
            raise ChmcnnError("X is a Dataset or DataLoader, but this model was trained on a table: pass a table.")
        return training.predict(self.network_, self._features(X), self.device_).float()

    def _scores(self, outputs: Tensor) -> Tensor:
        """Coherent probabilities. The sigmoid comes first: of equal logits it may differ in the last bit."""
        return self.correct(self.probabilities(outputs.float()))

    # Files

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a folder: safetensors and JSON, all at once."""
        from chmcnn.estimator import _model_files

        check_is_fitted(self, "network_")
        _model_files.save(self, Path(path), force=force)

    @classmethod
    def load(cls, path: str | Path, *, network: NetworkLike = None, device: str = "auto") -> Self:
        """Read what `save` wrote. Reading never runs code: a model with a network of your own needs ``network=``."""
        from chmcnn.estimator import _model_files

        return _model_files.load(cls, Path(path), network=network, device=device)

    def to_onnx(self, path: str | Path, *, force: bool = False) -> None:
        """Write an ONNX model that turns features into coherent probabilities.

        Its input has the columns of ``preprocessor_.get_feature_names_out()``: numbers with NaN where one is missing,
        and 0 and 1 for categories. Imputation, standardisation and the constraint are inside.
        A file that exists is written over only with ``force``.
        """
        from chmcnn.estimator import _onnx

        check_is_fitted(self, "network_")
        _onnx.export(self, Path(path), force=force)

    # How it is done

    def build_network(self) -> nn.Module:
        """Make a new network, as one is made for every training."""
        if isinstance(self.network, torch.nn.Module):
            return copy.deepcopy(self.network)
        make = self._default_network if self.network is None else self.network
        return make(self._columns(), self._width())

    def architecture(self) -> dict[str, Any]:
        """Return the options of the default network."""
        chosen = self.resolve_settings(self._columns(), self.n_samples_fit_)
        return {name: chosen[name] for name in ("widths", "dropout")}

    def settings_to_save(self) -> dict[str, Any]:
        """Return settings as they were resolved, so that later presets do not change a saved model."""
        return self.architecture()

    def resolve_settings(self, columns: int | None, rows: int | None) -> dict[str, Any]:
        """Return all settings of a training on a table of that size, from the parameters or else from the preset.

        None stands for a custom network, and for an unknown number of rows.
        """
        preset = find_preset(self.preset, self.presets)
        by_size = {"widths": preset.layers(columns or 0), "dropout": preset.share(rows)}
        by_size["learning_rate"] = preset.rate(columns)
        own = {name: self._setting(name) for name in by_size if getattr(self, name) is not None}
        others = {name: self._setting(name) for name in _TRAINING if name not in by_size}
        return {"columns": columns, "rows": rows} | by_size | own | others | self._own()

    def _own(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.own_settings}

    def _columns(self) -> int:
        """Count the inputs of the network."""
        return math.prod(self.feature_shape_)

    def _width(self) -> int:
        """Count the outputs of the network."""
        return len(self.hierarchy_)

    def _setting(self, name: str) -> JSONValue:
        """Return a parameter, or else the value of the preset."""
        value = getattr(self, name)
        return getattr(find_preset(self.preset, self.presets).settings, name) if value is None else check(name, value)

    def _settings(self) -> Settings:
        custom = self.network is not None or self.streamed_
        chosen = self.resolve_settings(None if custom else self._columns(), self.n_samples_fit_)
        if self.streamed_ and self.refit is None:
            chosen["refit"] = False  # rows of a stream cannot be concatenated with validation rows
        options = {name: chosen[name] for name in _TRAINING}
        return training.Settings(**options, precision=self.precision, seed=self.seed_)

    def _mask(self) -> NDArray[np.bool_] | None:
        """Return which classes count in a loss; None where all do."""
        return None if self.evaluated_.all() else self.evaluated_

    def _class_weights(self, labels: NDArray[np.bool_] | None) -> NDArray[np.float32] | None:
        return weigh_classes(self.class_weight, self.hierarchy_, labels, self.evaluated_)

    def _display(self) -> AbstractContextManager[Callable[[training.Epoch], object] | None]:
        if not self.verbose:
            return nullcontext()
        return nullcontext(self.verbose) if callable(self.verbose) else training.TrainingDisplay()
