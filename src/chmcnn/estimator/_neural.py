"""The base class of systems with a network, which differ in network, loss and probabilities."""

from __future__ import annotations

import copy
import math
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from chmcnn import training
from chmcnn.datasets.row_groups import RowGroups
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import _streams
from chmcnn.estimator._class_weights import weigh_classes
from chmcnn.estimator._correction import CountedLogits, correct, delegates_to_uncounted, get_options
from chmcnn.estimator._devices import choose_device
from chmcnn.estimator._network import NetworkBuilder
from chmcnn.estimator._network_files import describe_network, network_tensors, restore_network
from chmcnn.estimator._presets import find_preset
from chmcnn.estimator._row_groups import WindowedRows, learn_preprocessing
from chmcnn.estimator._seeds import agree_on_seed
from chmcnn.estimator._transformer_files import dump_transformer
from chmcnn.estimator._transformers import CustomPreprocessor, create_preprocessor
from chmcnn.training import Batches, Matrix, Rows, load_optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from torch import Tensor, nn

    from chmcnn._typing import Features, LabelsLike, ScoresLike
    from chmcnn.training import Loss, Settings


class NeuralClassifier(NetworkBuilder):
    """An estimator with a network. A system is a subclass with `_create_loss`."""

    feature_type_: torch.dtype = torch.float32  # integers of a stream stay what they are
    training_state_: training.TrainingState  # set by partial_fit only
    history_: tuple[training.Epoch, ...]
    best_epoch_: int
    best_score_: float
    notice_: str = ""  # what `max_minutes` did not suffice for

    # Implemented by each system

    def _create_loss(self, labels: csr_array | None) -> Loss:
        """Return the loss; the labels of the training rows are None for a stream."""
        raise NotImplementedError

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Return probabilities (rows, classes) before the correction, from outputs of the network."""
        return torch.sigmoid(outputs)

    # Training

    def fit(self, X: Features, y: LabelsLike = None, validation_data: Features = None) -> Self:
        """Train.

        Parameters
        ----------
        X
            Features (rows, features): an array, a sparse matrix, a DataFrame or a list of texts; the index of a
            DataFrame has the names of the rows. Or a torch ``Dataset`` or ``DataLoader`` of pairs (features, labels),
            with features of any shape, which are not preprocessed, and labels 0 and 1 in the order of
            ``hierarchy.classes``. Integers stay integers for a network of your own. Or `chmcnn.datasets.RowGroups`:
            Parquet files that need not fit into memory.
        y
            Label sets, or a 0/1 matrix in the order of ``hierarchy.classes``. Ancestors are added.
        validation_data
            Features and labels for early stopping and for tuning thresholds, instead of a share of the rows.

        Notes
        -----
        In a program that ``torchrun`` starts, all processes pass the same data. They train one network together, each
        on its share of each batch, and all get the result. The first one writes checkpoints and shows progress.
        """
        ranks = training.join()
        super().fit(X, y, validation_data)
        if self.notice_ and self.verbose is True and ranks.is_first:
            sys.stderr.write(f"{self.notice_}\n")
        return self

    def partial_fit(self, X: Features, y: LabelsLike, classes: LabelsLike = None) -> Self:
        """Train one more epoch on these rows. The first call fits the preprocessing.

        Without a hierarchy, the first call needs all ``classes`` that occur later, as label paths. Risks from `fit` or
        `guarantee` are forgotten: they were those of another model. Tuned thresholds and a calibration stay as they
        are; `calibrate` learns the latter anew. A call that fails leaves the model unchanged.
        """
        before, state = dict(self.__dict__), getattr(self, "training_state_", None)
        weights = copy.deepcopy(self.network_.state_dict()) if hasattr(self, "network_") else None
        moments = None if state is None else copy.deepcopy(state.optimizer.state_dict())
        epoch = 0 if state is None else state.epoch
        try:
            self._train_more(X, y, classes)
        except BaseException:
            self.__dict__ = before
            if weights is not None:
                self.network_.eval().load_state_dict(weights)
            if state is not None and moments is not None:
                state.optimizer.load_state_dict(moments)
                state.epoch = epoch
            raise
        return self

    def _train_more(self, X: Features, y: LabelsLike, classes: LabelsLike) -> None:
        first = not hasattr(self, "network_")
        if not first and self.streamed_:
            raise ChmcnnError("This model was trained on a Dataset or DataLoader: partial_fit takes tables only.")
        if first and self.hierarchy is None and classes is None:
            raise ChmcnnError("partial_fit needs hierarchy= or classes=: later rows may have other classes.")
        rows = (
            self._fit_transform_rows(X, self._check(X, y, classes))
            if first
            else self._to_rows(X, self._to_labels(X, y))
        )
        if first:
            self.history_, self.best_epoch_, self.best_score_, self.notice_ = (), 0, float("nan"), ""
            self._learn_held_out(None, None)
        settings = replace(self._create_settings(), epochs=1, refit=False, schedule="constant")
        if not hasattr(self, "training_state_"):
            self.training_state_ = self._start(self.build_network if first else self._grow, settings)
        loss = self._create_loss(rows.y)
        epoch = training.Training(self.training_state_, rows, loss, settings, self.device_).run_one()
        self.network_, self.history_ = self.training_state_.network.eval(), (*self.history_, epoch)
        self.risks_ = None

    def _start(self, build: Callable[[], nn.Module], settings: Settings) -> training.TrainingState:
        with training.fork_seed(self.device_):
            return training.start(build, settings, self.device_)

    def restore_optimizer(self, epochs: int, tensors: dict[str, Tensor]) -> None:
        """Let `partial_fit` resume with the optimizer of a saved model."""
        self.training_state_ = self._start(lambda: self.network_, self._create_settings())
        self.training_state_.epoch = epochs
        load_optimizer(self.training_state_.optimizer, tensors)

    def _fit(self, X: Features, y: LabelsLike, validation_data: Features) -> None:
        if isinstance(X, RowGroups):
            self._fit_row_groups(X, y, validation_data)
            return
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
        batch_size = self._get_setting("batch_size", find_preset(self.preset, self.presets))
        stream = _streams.Stream(X, self.hierarchy_, batch_size, floats=self.network is None)
        train, valid = stream.split(validation_data, self.validation, self.seed_)
        self._require_end(valid)
        self.streamed_ = True
        self.feature_shape_, self.feature_type_ = train.describe_features()
        self.n_features_in_ = math.prod(self.feature_shape_)
        if self.network is None and len(self.feature_shape_) != 1:
            raise ChmcnnError(
                f"A row of the data has shape {self.feature_shape_}, but the default network takes one dimension: "
                "pass network=."
            )
        valid = None if valid is None else valid.to(self.device_)
        self._learn_held_out(valid, self._learn(train, valid))

    def _fit_row_groups(self, rows: RowGroups, y: LabelsLike, validation_data: Features) -> None:
        if y is not None:
            raise ChmcnnError("y was passed with RowGroups, which have the labels themselves: omit y.")
        if self.hierarchy != rows.hierarchy:
            raise ChmcnnError("The hierarchy of the model differs from that of the rows: pass the same hierarchy=.")
        self.resolve(None)
        share = 0.0 if validation_data is not None else min(self.validation, rows.window / len(rows))
        held_out = rows.draw(share, self.seed_)
        preprocessor, table = learn_preprocessing(rows, held_out, create_preprocessor(self.preprocess))
        self._take_preprocessor(preprocessor, rows.id_column)
        train = WindowedRows(rows, held_out, preprocessor, lambda part: self._to_rows(part.X, part.Y))
        self.row_groups_ = True
        self._take_sizes(len(train), (len(preprocessor.scales_),))
        pair = validation_data if table is None else (table.X, table.Y)
        valid = None if pair is None else self._to_rows(pair[0], self._to_labels(*pair))
        self._require_end(valid)
        self._learn_held_out(valid, self._learn(train, valid))

    def _require_end(self, valid: Rows | None) -> None:
        """Raise an error, or warn, if nothing ends the training."""
        is_endless = valid is None and self.max_minutes is None
        if (is_endless and self.epochs is None) or (valid is None and isinstance(self.threshold, str)):
            raise ChmcnnError("There are no rows to validate on: pass validation_data, or epochs and a threshold.")
        self._require_validation_rows(valid)
        if is_endless and self.validation:
            warnings.warn(
                f"There are no validation rows: nothing stops the training before epoch {self.epochs}. Pass "
                "validation_data=, or validation=0 to train for all epochs without this warning.",
                UserWarning,
                stacklevel=6,
            )

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        find_preset(self.preset, self.presets)
        super().resolve(y)
        self.streamed_, self.row_groups_, self.n_samples_fit_ = False, False, None
        self.sparse_network_, self.scales_features_ = False, False
        self.feature_type_ = torch.float32
        self.learned_ = self._learn_all()
        self.device_ = choose_device(self.device)
        self.__dict__.pop("training_state_", None)

    def _choose_seed(self) -> int:
        return agree_on_seed(self.random_state)

    def _fit_transform_rows(self, X: Features, labels: csr_array) -> Rows:
        rows = super()._fit_transform_rows(X, labels)
        if isinstance(self.preprocessor_, CustomPreprocessor):
            dump_transformer(self.preprocessor_.transformer_)  # one that cannot be saved is refused before the training
        self._take_sizes(len(rows), tuple(rows.x.shape[1:]))
        return rows

    def _take_sizes(self, rows: int, shape: tuple[int, ...]) -> None:
        """Set what the network depends on: the number of training rows, and the form of their features."""
        self.n_samples_fit_, self.feature_shape_ = rows, shape
        self.sparse_network_ = self._wants_sparse_network() and self.preprocessor_.sparse_
        self.scales_features_ = self._wants_scaled_features()

    def _to_rows(self, X: Features, labels: csr_array) -> Rows:
        return super()._to_rows(X, labels).to(self.device_)

    def _preprocess(self, X: Features) -> Matrix:
        """Preprocess features, in single precision."""
        x = super()._preprocess(X)
        return x.astype(np.float32) if isinstance(x, sparse.csr_array) else x.float().to(self.device_)

    def _learn(self, train: Batches, valid: Rows | None) -> ScoresLike | None:
        labels, build = None, self.build_network
        if isinstance(train, Rows):
            if self._is_by_frequency():
                self.learned_ = self.learned_.restrict(train, valid)
                train = self.learned_.narrow(train)
                build = partial(self._build_started, train.y)
            labels = train.y
        with self._open_display() as progress:
            trained = training.train(
                build,
                train,
                loss=self._create_loss(labels),
                settings=self._create_settings(),
                valid=None if valid is None else self.learned_.narrow(valid),
                scores=self._score_outputs,
                evaluated=self.learned_.evaluated,
                device=self.device_,
                checkpoint=Path(self.checkpoint) if self.checkpoint is not None else None,
                progress=progress,
                ranks=training.join(),
                system=f"{type(self).__name__} {self._get_own_settings()} of {self.hierarchy_.to_json(titles=False)}",
            )
        self.network_, self.history_ = trained.network, trained.history
        self.best_epoch_, self.best_score_, self.notice_ = trained.best_epoch, trained.best_score, trained.notice
        if valid is None:
            return None
        network = copy.deepcopy(self.network_)
        network.load_state_dict(trained.best_weights)
        return self._score_validation_rows(network, valid)

    def _score_validation_rows(self, network: nn.Module, valid: Rows) -> ScoresLike:
        """Return blocks of coherent scores of the validation rows, by a network that was not trained on them."""
        keep_sparse = training.accepts_sparse(network)
        return training.score_blocks(
            lambda x: self._score_all_classes(network(x)), valid, self.device_, keep_sparse=keep_sparse
        )

    # Predicting

    def predict_proba(self, X: Features) -> NDArray[np.float32]:
        """Return coherent probabilities (rows, classes), in the order of ``hierarchy_.classes``."""
        return self._compute(X, lambda outputs: self._calibrate(self._score_all_classes(outputs))).cpu().numpy()

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return probabilities (rows, classes) of the network, before the correction."""
        return self._compute(X, lambda outputs: self.learned_.widen(self.probabilities(outputs))).cpu().numpy()

    def _split_rows(self, X: Features, size: int) -> Iterator[Features]:
        """Yield some rows of X at a time; batches of a Dataset or DataLoader."""
        if not self.streamed_:
            return super()._split_rows(X, size)
        batches = _streams.inputs(X, self.feature_shape_, self.feature_type_)
        return (part for batch in batches for part in batch.split(size))

    def outputs(self, X: Features) -> Tensor:
        """Return the outputs of the network: logits (rows, outputs), one for each learned class for most systems."""
        return self._compute(X, lambda outputs: outputs)

    def _compute(self, X: Features, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Return a function of the outputs of the network, applied to some rows at a time."""
        check_is_fitted(self, "network_")

        def compute(x: Tensor) -> Tensor:
            return function(self.network_(x).float())

        if self.streamed_:
            batches = _streams.inputs(X, self.feature_shape_, self.feature_type_)
            with torch.inference_mode():
                return torch.cat([compute(x.to(self.device_)) for x in batches])
        if _streams.is_stream(X):
            raise ChmcnnError("X is a Dataset or DataLoader, but this model was trained on a table: pass a table.")
        keep_sparse = training.accepts_sparse(self.network_)
        x, classes = self._preprocess(X), len(self.hierarchy_)
        return training.predict(compute, x, self.device_, classes=classes, keep_sparse=keep_sparse)

    def _score_outputs(self, outputs: Tensor) -> Tensor:
        """Return coherent probabilities of the classes that the network has outputs for.

        The sigmoid comes first: it may differ in the last bit for equal logits.
        """
        learned = self.learned_
        options = get_options(learned.hierarchy, self.correction, learned.counted, outputs.device)
        return correct(self.probabilities(outputs.float()), learned.hierarchy, **options)

    def _score_all_classes(self, outputs: Tensor) -> Tensor:
        """Return coherent probabilities (rows, classes): 0 for a class that the network has no output for."""
        return self.learned_.widen(self._score_outputs(outputs))

    # Files

    def learned_tensors(self) -> dict[str, Tensor]:
        """Return the weights, and the state that `partial_fit` resumes from."""
        return network_tensors(self)

    def learned_facts(self) -> dict[str, Any]:
        """Return the form of the inputs, and the history of the training."""
        return describe_network(self)

    def restore(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Take back network and history from a model file."""
        restore_network(self, facts, tensors)

    def to_onnx(self, path: str | Path, *, force: bool = False) -> None:
        """Write an ONNX model that turns features into coherent probabilities.

        Its input has the columns of ``preprocessor_.get_feature_names_out()``: numbers, with NaN for missing ones, 0 or
        1 for categories, TF-IDF for words, and the result of a transformer of your own. The model includes imputation,
        standardisation and the constraint.
        ``force`` overwrites an existing file. Of processes that train together, the first one writes.
        """
        from chmcnn.estimator import _onnx

        check_is_fitted(self, "network_")
        if training.joined().is_first:
            _onnx.export_onnx(self, Path(path), force=force)

    def _separate_uncounted(self, loss: nn.Module) -> nn.Module:
        """Return a loss in which no class delegates to one that does not count, and so has no score of its own."""
        if delegates_to_uncounted(self.learned_.hierarchy, self.learned_.evaluated):
            return CountedLogits(loss, self.learned_.evaluated)
        return loss

    def _weigh_classes(self, labels: csr_array | None) -> NDArray[np.float32] | None:
        return weigh_classes(self.class_weight, self.learned_, labels)

    def _open_display(self) -> AbstractContextManager[Callable[[training.Epoch], object] | None]:
        if not self.verbose or not training.join().is_first:
            return nullcontext()
        return nullcontext(self.verbose) if callable(self.verbose) else training.TrainingDisplay()
