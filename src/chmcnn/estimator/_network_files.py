"""Networks in model files: weights and the state of the optimizer in safetensors, the history in JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn.errors import ModelError
from chmcnn.training import Epoch, optimizer_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.estimator._neural import NeuralClassifier
    from chmcnn.hierarchy import Hierarchy

_PREFIX = "network."
_TYPES = {str(kind): kind for kind in (torch.float32, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)}


def network_tensors(model: NeuralClassifier) -> dict[str, Tensor]:
    """Return the weights, and the state that `partial_fit` resumes from."""
    weights = model.network_.state_dict().items()
    tensors = {f"{_PREFIX}{name}": value.detach().cpu().contiguous().clone() for name, value in weights}
    if not model.learned_.is_all:
        tensors["learned"] = torch.from_numpy(model.learned_.mask)
    state = getattr(model, "training_state_", None)
    return tensors if state is None else tensors | optimizer_tensors(state.optimizer)


def describe_network(model: NeuralClassifier) -> dict[str, Any]:
    """Return the form of the inputs, and the history of the training."""
    state = getattr(model, "training_state_", None)
    shape = {"shape": model.feature_shape_, "type": str(model.feature_type_)} if model.streamed_ else {}
    return shape | {
        "sparse network": model.sparse_network_,
        "scaled features": model.scales_features_,
        "epochs of partial_fit": 0 if state is None else state.epoch,
        "own network": model.network is not None,
        "best epoch": model.best_epoch_,
        "best score": model.best_score_,
        "history": [asdict(epoch) for epoch in model.history_],
    }


def restore_network(model: NeuralClassifier, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Give a model its network and its history."""
    _restore_shape(model, facts)
    model.history_ = tuple(Epoch(**{**epoch, "score": _restore_number(epoch["score"])}) for epoch in facts["history"])
    model.best_epoch_, model.best_score_ = facts["best epoch"], _restore_number(facts["best score"])
    if "learned" in tensors:  # otherwise the network has outputs for all classes
        model.learned_ = replace(model.learned_, mask=_check_mask(tensors["learned"], model.hierarchy_))
    weights = {name.removeprefix(_PREFIX): value for name, value in tensors.items() if name.startswith(_PREFIX)}
    if model.network is None:
        _refuse_other_shapes(model, weights)
    network = model.build_network()
    network.load_state_dict(weights)
    model.network_ = network.to(model.device_).eval()
    if facts["epochs of partial_fit"]:
        model.restore_optimizer(facts["epochs of partial_fit"], dict(tensors))


def _refuse_other_shapes(model: NeuralClassifier, weights: Mapping[str, Tensor]) -> None:
    """Refuse a file that claims another network than it has, before the claimed one takes memory."""
    with torch.device("meta"):
        claimed = {name: tuple(value.shape) for name, value in model.build_network().state_dict().items()}
    found = {name: tuple(value.shape) for name, value in weights.items()}
    if claimed != found:
        name = next(name for name in (*claimed, *found) if claimed.get(name) != found.get(name))
        raise ModelError(f"the weights {name} have shape {found.get(name)}; expected {claimed.get(name)}")


def _check_mask(learned: Tensor, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """Return the mask of the classes with outputs; scores are coherent only if it has all their ancestors."""
    mask: NDArray[np.bool_] = learned.numpy()
    if mask.shape != (len(hierarchy),) or mask.dtype != np.bool_ or not mask.any():
        raise ValueError(f"the mask of learned classes has shape {mask.shape} and type {mask.dtype}")
    parents, children = hierarchy.edges.T
    if (mask[children] & ~mask[parents]).any():
        raise ValueError("a class is learned, but not its ancestor")
    return mask


def _restore_shape(model: NeuralClassifier, facts: Mapping[str, Any]) -> None:
    model.sparse_network_ = facts.get("sparse network", False)  # older models have a dense one
    model.scales_features_ = facts.get("scaled features", False)
    if "shape" not in facts:
        model.feature_shape_ = (len(model.preprocessor_.scales_),)
        return
    model.streamed_, model.feature_shape_ = True, tuple(facts["shape"])
    model.feature_type_ = _TYPES[facts.get("type", str(torch.float32))]
    model.n_features_in_ = math.prod(model.feature_shape_)


def _restore_number(value: float | None) -> float:
    """Return a number; JSON stores NaN as null."""
    return math.nan if value is None else value
