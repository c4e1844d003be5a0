"""HMC-LMLP: a small network for each level of the hierarchy; the predictions of the level above are its inputs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse
from torch import Tensor, nn

from chmcnn import metrics, training
from chmcnn.baselines._losses import BCE
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import NeuralClassifier, Preset
from chmcnn.training import Budget, Epoch, Rows, Settings, Trained, estimate_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features, LabelsLike, ScoresLike

_Phase = Literal["train", "refit"]


class LMLP(NeuralClassifier):
    """HMC-LMLP (Cerri et al. 2016): a network with one hidden layer for each level, trained from the top down.

    The inputs of a network are the features, and the predictions of the network of the level above. The level of a
    class is its depth. The correction lowers the score of a class to at most those of its parents. Classes that are not
    evaluated are not trained.

    Each level is stopped by its own AU(PRC) on the validation rows; a level without positive validation rows is trained
    for as many epochs as the level above it. A refit trains all levels again on all rows, from the top down: every
    network sees predictions of networks that were trained on the same rows. With ``max_minutes``, each level has an
    equal share of the time that is left.

    The parameters are those of `CHMCNNClassifier`. A custom ``network`` is a function of the numbers of inputs and
    classes, called for each level. Settings that are not published were chosen on validation data.

    Attributes
    ----------
    history_ : tuple of Epoch
        Result of each epoch, numbered through all levels; a score is that of the level.
    best_epoch_, best_score_
        Best epoch of the last level, and AU(PRC) of all levels together on validation data.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6, depth=2)
    >>> model = LMLP(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(model.network_.networks), len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    (3, 0)
    """

    correction: ClassVar[Literal["max", "min"]] = "min"
    presets: ClassVar[Mapping[str, Preset]] = {
        # Chosen on validation data of cellcycle_FUN, against a width of 1000 and a dropout of 0.5.
        "default": Preset((500,), 0.7, Settings(batch_size=64, learning_rate=1e-3, patience=10), scaled=True)
    }

    network_: Cascade
    _levels: list[NDArray[np.int64]]  # positions of the classes of each level that is trained

    def partial_fit(self, *_args: Features, **_options: LabelsLike) -> NoReturn:
        """Raise an error: a level can be trained only after the one above it."""
        raise ChmcnnError("HMC-LMLP trains one level after the other, so it has no partial_fit: use fit with all rows.")

    def build_network(self) -> Cascade:
        """Create new networks, one for each level."""
        return self._chain([self._build(level) for level in range(len(self._levels))])

    def _build(self, level: int) -> nn.Module:
        predictions = len(self._levels[level - 1]) if level else 0
        create: Callable[[int, int], nn.Module] = self.network or self._create_default_network
        return create(self._count_inputs() + predictions, len(self._levels[level]))

    def _join(self, networks: Sequence[nn.Module]) -> Cascade:
        return self._chain(networks).to(self.device_).eval()

    def _chain(self, networks: Sequence[nn.Module]) -> Cascade:
        return Cascade(networks, self._levels, len(self.hierarchy_))

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        if isinstance(self.network, nn.Module):
            raise ChmcnnError(
                "network is a module, but HMC-LMLP needs one for each level: pass a function that creates one."
            )
        depths = self.hierarchy_.depths
        levels = (np.flatnonzero((depths == depth) & self.evaluated_) for depth in range(self.hierarchy_.depth + 1))
        self._levels = [level for level in levels if len(level)]
        if len(self._levels) == 1:
            raise ChmcnnError(
                f"HMC-LMLP needs several levels, but all {len(self._levels[0])} classes that count are on one level. "
                "Use C-HMCNN, or f+."
            )

    def _learn(self, data: training.Batches, valid: Rows | None) -> ScoresLike | None:
        if not isinstance(data, Rows):
            raise ChmcnnError("HMC-LMLP needs all rows in memory: pass a table instead of a Dataset or DataLoader.")
        settings = self._create_settings()
        without_refit = replace(settings, refit=False)
        trained = self._train_levels(data, valid, [without_refit] * len(self._levels), "train")
        self.network_, self.history_ = (
            self._join([level.network for level in trained]),
            _number_epochs(trained, "train"),
        )
        self.best_epoch_ = len(self.history_) - len(trained[-1].history) + trained[-1].best_epoch
        self.best_score_ = math.nan
        self.notice_ = self._describe_end(trained)
        if valid is None:
            return None
        scores = self._score_validation_rows(self.network_, valid)
        self.best_score_ = metrics.auprc(valid.y, scores, classes=self.evaluated_)
        if settings.refit and not self.notice_:
            self.notice_ = self._describe_refit(trained, 1 + len(valid) / len(data))
        if settings.refit and not self.notice_:
            best = [replace(without_refit, epochs=level.best_epoch, max_minutes=None) for level in trained]
            refitted = self._train_levels(data.concatenate(valid), None, best, "refit")
            self.network_ = self._join([level.network for level in refitted])
            self.history_ += _number_epochs(refitted, "refit")
        return scores

    def _describe_end(self, trained: Sequence[Trained]) -> str:
        """Return the notice about levels that had no time for more epochs."""
        cut = any(level.notice for level in trained)
        return Budget(self.max_minutes).describe_end(len(self.history_), self.best_epoch_) if cut else ""

    def _describe_refit(self, trained: Sequence[Trained], growth: float) -> str:
        """Return the notice about a refit for which the time does not suffice."""
        seconds = sum(estimate_seconds(level.history, level.best_epoch, growth) for level in trained)
        budget = Budget(self.max_minutes, sum(epoch.seconds for epoch in self.history_))
        if seconds <= budget.seconds_left():
            return ""
        return budget.describe_refit(sum(level.best_epoch for level in trained), seconds, self.best_epoch_)

    def _train_levels(
        self, data: Rows, valid: Rows | None, settings: Sequence[Settings], phase: _Phase
    ) -> list[Trained]:
        """Train a network for each level, from the top down, with the predictions of the one before it as inputs."""
        trained: list[Trained] = []
        for level, whole in enumerate(settings):
            level_settings = _share_time(whole, trained, len(settings) - level)
            if trained and valid is not None and not valid.y[:, self._levels[level]].nnz:
                same_epochs = replace(level_settings, epochs=trained[-1].best_epoch)
                trained.append(self._train_level(level, data, None, same_epochs, phase))
            else:
                trained.append(self._train_level(level, data, valid, level_settings, phase))
            network = trained[-1].network
            data, valid = self._extend(data, network), None if valid is None else self._extend(valid, network)
        return trained

    def _train_level(self, level: int, data: Rows, valid: Rows | None, settings: Settings, phase: _Phase) -> Trained:
        """Train the network of a level."""
        classes = self._levels[level]
        weights = self._weigh_classes(data.y)
        with self._open_display() as progress:
            return training.train(
                partial(self._build, level),
                Rows(data.x, data.y[:, classes]),
                loss=BCE(None, None if weights is None else weights[classes]).to(self.device_),
                settings=settings,
                valid=None if valid is None else Rows(valid.x, valid.y[:, classes]),
                device=self.device_,
                checkpoint=Path(self.checkpoint) / f"{phase}-level-{level + 1}"
                if self.checkpoint is not None
                else None,
                progress=progress,
                system=f"{type(self).__name__} of {self.hierarchy_.to_json(titles=False)}",
            )

    def _extend(self, rows: Rows, network: nn.Module) -> Rows:
        """Return the features followed by the predictions of a network, without those of the level above."""
        classes = len(self.hierarchy_)
        predictions = training.predict(
            lambda x: torch.sigmoid(network(x)), rows.x, self.device_, classes=classes
        ).clone()
        features: Any = rows.x[:, : self._count_inputs()]
        if isinstance(features, Tensor):
            return Rows(torch.cat([features, predictions], dim=1), rows.y)
        return Rows(sparse.hstack([features, sparse.csr_array(predictions.cpu().numpy())], format="csr"), rows.y)


class Cascade(nn.Module):
    """A chain of networks: the inputs of each are the features and the probabilities of the one before it.

    >>> network = Cascade([nn.Linear(5, 1), nn.Linear(6, 2)], [np.array([1]), np.array([0, 3])], classes=4)
    >>> network(torch.zeros(8, 5)).shape  # the third class is on no level: its logit is infinite
    torch.Size([8, 4])
    """

    order: Tensor

    def __init__(self, networks: Sequence[nn.Module], levels: Sequence[NDArray[np.int64]], classes: int) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        trained = np.concatenate(levels)
        order = np.full(classes, len(trained))
        order[trained] = np.arange(len(trained))
        self.register_buffer("order", torch.tensor(order), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits (rows, classes) of all classes."""
        inputs, outputs = x, []
        for network in self.networks:
            outputs.append(network(inputs))
            inputs = torch.cat([x, torch.sigmoid(outputs[-1])], dim=-1)
        return F.pad(torch.cat(outputs, dim=-1), (0, 1), value=math.inf)[..., self.order]


def _share_time(settings: Settings, trained: Sequence[Trained], levels: int) -> Settings:
    """Return the settings of a level: it has an equal share of the time that the levels above it have left."""
    if settings.max_minutes is None:
        return settings
    used = sum(epoch.seconds for level in trained for epoch in level.history) / 60
    return replace(settings, max_minutes=max(settings.max_minutes - used, 1e-9) / levels)


def _number_epochs(levels: Sequence[Trained], phase: _Phase) -> tuple[Epoch, ...]:
    """Return the epochs of all levels, numbered through."""
    epochs: list[Epoch] = []
    for level in levels:
        before = len(epochs)
        for epoch in level.history:
            best = epoch.best and epoch.best + before
            epochs.append(replace(epoch, phase=phase, number=epoch.number + before, of=epoch.of + before, best=best))
    return tuple(epochs)
