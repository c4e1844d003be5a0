"""Systems that are a network under the one training loop: they differ in network, loss and what is made of outputs."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
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
from chmcnn.estimator._base import HierarchicalClassifier, Part
from chmcnn.estimator._presets import PRESETS, Preset, PresetName, preset
from chmcnn.nn import MLP
from chmcnn.training import load_optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor, nn

    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Loss, Settings


class NeuralClassifier(HierarchicalClassifier):
    """A network, trained. A system is a subclass with `_loss`; its parameters are those of `CHMCNNClassifier`."""

    network_: nn.Module
    device_: str
    streamed_: bool
    feature_shape_: tuple[int, ...]
    n_samples_fit_: int | None = None  # how many rows it was trained on; None of a stream, and of a model from a file
    history_: tuple[training.Epoch, ...]
    best_epoch_: int
    best_score_: float

    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    """What the parameters that are None stand for."""
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that only this system has, which model files keep."""

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

    # What a system has of its own

    def _loss(self, truth: NDArray[np.bool_] | None) -> Loss:
        """What compares outputs of the network with labels; the labels of the training are None for a stream."""
        raise NotImplementedError

    def _default_network(self, features: int, classes: int) -> nn.Module:
        return MLP(features, classes, **self.shape())

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities (rows, classes), not coherent yet, from outputs of the network."""
        return torch.sigmoid(outputs)

    # Training

    def fit(self, X: Any, y: Any = None, validation_data: Any = None) -> Self:  # noqa: ANN401
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

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: ANN401
        """Train one epoch more on these rows. The first call decides the preprocessing.

        Without a hierarchy, the first call needs all ``classes`` that will come, as label paths.
        """
        first = not hasattr(self, "network_")
        if not first and self.streamed_:
            raise ChmcnnError("This model was trained on a Dataset or DataLoader: partial_fit takes tables only.")
        if first and self.hierarchy is None and classes is None:
            raise ChmcnnError("partial_fit needs hierarchy= or classes=: later rows may have classes not seen so far.")
        part = self._learnt(X, self._check(X, y, classes)) if first else self._part(X, self._truth(X, y))
        if first:
            self.history_, self.best_epoch_, self.best_score_ = (), 0, float("nan")
            self.thresholds_ = self._thresholds(None, None)
        settings = replace(self._settings(), epochs=1, refit=False)
        if not hasattr(self, "_going"):
            self._going = self._started(self.build_network if first else lambda: self.network_, settings)
        done = training.one_more(self._going, self._rows(part), self._loss(part.y), settings, self.device_)
        self.network_, self.history_ = self._going.network.eval(), (*self.history_, done)
        return self

    def _started(self, build: Callable[[], nn.Module], settings: Settings) -> training.Run:
        with torch.random.fork_rng():
            return training.start(build, settings, self.device_)

    def go_on_from(self, epochs: int, tensors: dict[str, Tensor]) -> None:
        """Let `partial_fit` go on with the optimizer of a model that was saved."""
        self._going = self._started(lambda: self.network_, self._settings())
        self._going.epoch = epochs
        load_optimizer(self._going.optimizer, tensors)

    def _fit(self, X: Any, y: Any, validation_data: Any) -> None:  # noqa: ANN401
        if not _streams.is_stream(X):
            super()._fit(X, y, validation_data)
            return
        if y is not None:
            raise ChmcnnError("y is given beside a Dataset or DataLoader, which has the labels itself: leave y out.")
        if self.hierarchy is None:
            raise ChmcnnError("A Dataset or DataLoader has labels by position: give hierarchy=.")
        self._decide(None)
        self._fit_stream(X, validation_data)

    def _fit_stream(self, X: Any, validation_data: Any) -> None:  # noqa: ANN401
        stream = _streams.Stream(X, self.hierarchy_, self._of_preset("batch_size"))
        train, valid = stream.divided(validation_data, self.validation, self._drawn)
        if valid is None and (self.epochs is None or self.threshold == "tune"):
            raise ChmcnnError("There are no rows to validate on: give validation_data, or epochs and a threshold.")
        self.streamed_, self.feature_shape_ = True, train.feature_shape()
        self.n_features_in_ = math.prod(self.feature_shape_)
        if self.network is None and len(self.feature_shape_) != 1:
            raise ChmcnnError(
                f"A row of the data has shape {self.feature_shape_}, however the default network takes one dimension: "
                "give network=."
            )
        held = self._train(train, valid and valid.to(self.device_))
        self.thresholds_ = self._thresholds(None if valid is None else valid.y.numpy(), held)

    def _decide(self, y: Any) -> None:  # noqa: ANN401
        super()._decide(y)
        self.streamed_, self.n_samples_fit_ = False, None
        self.device_ = device_of(self.device)
        self.__dict__.pop("_going", None)

    def _learnt(self, X: Any, truth: NDArray[np.bool_]) -> Part:  # noqa: ANN401
        part = super()._learnt(X, truth)
        self.n_samples_fit_, self.feature_shape_ = part.x.shape[0], part.x.shape[1:]
        return part

    def _learn(self, train: Part, valid: Part | None) -> NDArray[np.floating] | None:
        return self._train(self._rows(train), valid and self._rows(valid))

    def _train(self, data: training.Batches, valid: training.Rows | None) -> NDArray[np.floating] | None:
        labels = data.y.cpu().numpy() if isinstance(data, training.Rows) else None
        with self._display() as progress:
            trained = training.train(
                self.build_network,
                data,
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
        return self._held(network, valid)

    def _held(self, network: nn.Module, valid: training.Rows) -> NDArray[np.floating]:
        """Coherent scores of the validation rows by a network that has not trained on them."""
        scores: NDArray[np.floating]
        scores = training.predict(lambda x: self._scores(network(x)), valid.x, self.device_).cpu().numpy()
        return scores

    # Predicting

    def uncorrected_proba(self, X: Any) -> NDArray[np.float32]:  # noqa: ANN401
        """Probabilities (rows, classes) as the network gives them, before they are made coherent."""
        return self.probabilities(self.outputs(X)).cpu().numpy()

    def outputs(self, X: Any) -> Tensor:  # noqa: ANN401
        """What the network says: logits (rows, classes), for most systems."""
        check_is_fitted(self, "network_")
        if self.streamed_:
            batches = _streams.inputs(X, self.feature_shape_)
            with torch.inference_mode():
                return torch.cat([self.network_(x.to(self.device_)).float() for x in batches])
        if _streams.is_stream(X):
            raise ChmcnnError("X is a Dataset or DataLoader, however this model was trained on a table: give a table.")
        return training.predict(self.network_, self._features(self.preprocessor_.transform(X)), self.device_).float()

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
    def load(cls, path: str | Path, *, network: Any = None, device: str = "auto") -> Self:  # noqa: ANN401
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

    def shape(self) -> dict[str, Any]:
        """What the default network is made of, whatever a later version's preset may say."""
        chosen = self.chosen(self._columns(), self.n_samples_fit_)
        return {name: chosen[name] for name in ("widths", "dropout")}

    def chosen(self, columns: int | None, rows: int | None) -> dict[str, Any]:
        """All that a training on a table of that size is done with, where given or else by the preset.

        None stands for a network of one's own, and for rows that nobody has counted.
        """
        scaled = preset(self.preset, self.presets)
        by_size = {
            "widths": scaled.layers(columns or 0),
            "dropout": scaled.share(rows),
            "learning_rate": scaled.rate(columns),
        }
        names = ("epochs", "batch_size", "weight_decay", "patience", "refit", "schedule", "averaging")
        given = {name: getattr(self, name) for name in by_size if getattr(self, name) is not None}
        others = {name: self._of_preset(name) for name in names}
        return {"columns": columns, "rows": rows} | by_size | given | others | self._own()

    def _own(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.own_settings}

    def _columns(self) -> int:
        """How many numbers the network is given for a row."""
        return math.prod(self.feature_shape_)

    def _width(self) -> int:
        """How many numbers the network gives for a row."""
        return len(self.hierarchy_)

    def _of_preset(self, name: str) -> Any:  # noqa: ANN401
        """A parameter as it is given, or else as the preset has it."""
        given, chosen = getattr(self, name), preset(self.preset, self.presets)
        if given is not None:
            return given
        return getattr(chosen, name) if hasattr(chosen, name) else getattr(chosen.settings, name)

    def _settings(self) -> Settings:
        own = self.network is not None or self.streamed_
        chosen = self.chosen(None if own else self._columns(), self.n_samples_fit_)
        if self.streamed_ and self.refit is None:
            chosen["refit"] = False  # rows of a stream cannot be joined with those that were validated on
        names = ("epochs", "batch_size", "learning_rate", "weight_decay", "patience", "refit", "schedule", "averaging")
        named = {name: chosen[name] for name in names}
        return training.Settings(**named, precision=self.precision, seed=self._drawn)

    def _mask(self) -> NDArray[np.bool_] | None:
        """Which classes count in a loss; None where all do."""
        return None if self.evaluated_.all() else self.evaluated_

    def _class_weights(self, truth: NDArray[np.bool_] | None) -> NDArray[np.float32] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            if truth is None:
                raise ChmcnnError("class_weight='balanced' needs labels in memory; give weights by class name.")
            rarity = np.sqrt(len(truth) / np.maximum(truth.sum(axis=0), 1))
            balanced: NDArray[np.float32] = (rarity / rarity[self.evaluated_].mean()).astype(np.float32)
            return balanced
        if not isinstance(self.class_weight, Mapping):
            raise ChmcnnError(f"class_weight is {self.class_weight!r}; expected 'balanced', or weights by class name.")
        weights = np.ones(len(self.hierarchy_), dtype=np.float32)
        for name, weight in self.class_weight.items():
            weights[self.hierarchy_.index(name)] = weight
        return weights

    def _rows(self, part: Part) -> training.Rows:
        return training.Rows(self._features(part.x), torch.tensor(part.y, device=self.device_))

    def _features(self, x: NDArray[np.float64] | sparse.csr_array) -> Tensor | sparse.csr_array:
        narrow = x.astype(np.float32)
        if isinstance(narrow, sparse.csr_array):
            return narrow
        if not np.isfinite(narrow).all():
            raise ChmcnnError("X has values beyond the range of single precision; scale them down.")
        return torch.from_numpy(narrow).to(self.device_)

    def _display(self) -> AbstractContextManager[Callable[[training.Epoch], object] | None]:
        if not self.verbose:
            return nullcontext()
        if callable(self.verbose):
            return nullcontext(self.verbose)
        from chmcnn.training import Display

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
