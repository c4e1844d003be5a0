"""The network of a system: how it is built, how its outputs begin, and the settings of its training."""

from __future__ import annotations

import copy
import math
import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from scipy import sparse

from chmcnn import training
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ChmcnnError
from chmcnn.estimator._learned import LearnedClasses
from chmcnn.estimator._parameters import TRAINING, NetworkParameters
from chmcnn.estimator._presets import find_preset
from chmcnn.nn import MLP, SparseMLP

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from torch import Tensor, nn

    from chmcnn.training import Settings


class NetworkBuilder(NetworkParameters):
    """An estimator that builds networks from its parameters and its data."""

    has_sparse_network: ClassVar[bool] = False
    """Whether the default network for sparse features is a `SparseMLP`."""

    network_: nn.Module
    device_: str
    streamed_: bool
    row_groups_: bool = False  # whether the training rows came from files, a window at a time
    learned_: LearnedClasses  # that the network has outputs for
    sparse_network_: bool = False  # whether the default network is a `SparseMLP`
    scales_features_: bool = False  # whether the default network begins with a `FeatureScaling`
    feature_shape_: tuple[int, ...]
    n_samples_fit_: int | None = None  # number of training rows; None for a stream and for a loaded model

    def build_network(self) -> nn.Module:
        """Create a new network, as for each training."""
        if isinstance(self.network, torch.nn.Module):
            return copy.deepcopy(self.network)
        size = self._count_inputs(), self._count_outputs()
        if self.network is not None:
            return self.network(*size)
        with torch.device("meta"):  # which takes no memory
            _refuse_large(self._create_default_network(*size))
        return self._create_default_network(*size)

    def _create_default_network(self, features: int, classes: int) -> nn.Module:
        kind = SparseMLP if self.sparse_network_ else MLP
        return kind(features, classes, **self._list_network_options())

    def _list_network_options(self) -> dict[str, Any]:
        scaling = {"scale_features": True} if self.scales_features_ else {}
        return self.architecture() | scaling

    def architecture(self) -> dict[str, Any]:
        """Return the options of the default network."""
        settings = self.resolve_settings(self._count_inputs(), self.n_samples_fit_, sparse=self.sparse_network_)
        return {name: settings[name] for name in ("widths", "dropout", "output_rank")}

    def settings_to_save(self) -> dict[str, Any]:
        """Return the resolved settings that model files store: later presets do not change a saved model."""
        return self.architecture()

    def _count_inputs(self) -> int:
        """Return the number of inputs of the network."""
        return math.prod(self.feature_shape_)

    def _count_outputs(self) -> int:
        """Return the number of outputs of the network."""
        return len(self.learned_.hierarchy)

    def _wants_sparse_network(self) -> bool:
        preset = find_preset(self.preset, self.presets)
        return self.has_sparse_network and self.network is None and preset.sparse is not None

    def _wants_scaled_features(self) -> bool:
        """Whether the default network begins with a `FeatureScaling`, which is for standardised dense features."""
        preprocessor = self.preprocessor_
        if self.network is not None or not isinstance(preprocessor, Preprocessor) or preprocessor.sparse_:
            return False
        standardised = preprocessor.standardise or self.is_given_standardised
        return standardised and find_preset(self.preset, self.presets).scales_features

    # Classes

    def _learn_all(self) -> LearnedClasses:
        return LearnedClasses(self.hierarchy_, self.evaluated_, np.ones(len(self.hierarchy_), dtype=np.bool_))

    def _is_by_frequency(self) -> bool:
        """Whether only classes with a row have outputs, which begin with their frequencies."""
        return self.network is None and self._find_preset(sparse=self.sparse_network_).by_frequency

    def _build_started(self, labels: csr_array) -> nn.Module:
        """Create a network whose outputs begin with the frequencies of the classes."""
        network = self.build_network()
        if isinstance(network, MLP | SparseMLP):
            network.start_from(self._count_frequencies(labels))
        return network

    def _count_frequencies(self, labels: csr_array) -> Tensor:
        """Return the share of the rows for which an output is to be 1 (outputs,)."""
        return torch.from_numpy(labels.sum(axis=0, dtype=np.float32) / labels.shape[0])

    def _grow(self) -> nn.Module:
        """Give the trained network an output for every class, and return it: later rows may have other classes."""
        if not self.learned_.is_all:
            learned, self.learned_ = self.learned_, self._learn_all()
            no_rows = sparse.csr_array((1, len(self.hierarchy_)), dtype=np.bool_)
            self.network_ = learned.grow(self.network_, self._build_started(no_rows).to(self.device_))
        return self.network_

    # Training

    def _create_settings(self) -> Settings:
        custom = self.network is not None or self.streamed_
        columns = None if custom else self._count_inputs()
        settings = self.resolve_settings(columns, self.n_samples_fit_, sparse=self.sparse_network_)
        if (self.streamed_ or self.row_groups_) and self.refit is None:
            settings["refit"] = False  # rows of a stream cannot be concatenated with validation rows
        options = {name: settings[name] for name in TRAINING}
        return training.Settings(**options, precision=self.precision, seed=self.seed_)


def _refuse_large(network: nn.Module) -> None:
    """Raise an error for a network whose weights do not fit into memory twice: with gradients, or beside their file."""
    needed = sum(weights.numel() * weights.element_size() for weights in network.parameters())
    if hasattr(os, "sysconf") and 2 * needed > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise ChmcnnError(
            f"The weights of the network need {needed / 2**30:,.0f} GiB, and as much again while they are learnt "
            "or loaded, more than this machine has; use smaller widths=, or an output_rank= for very many classes."
        )
