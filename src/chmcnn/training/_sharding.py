"""Networks that no process has as a whole: torch's FSDP2 divides weights, gradients and the state of the optimizer.

A layer becomes whole for its own computation only. Tensors of such a network are divided as well, until `whole`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from chmcnn.errors import ChmcnnError
from chmcnn.training._optimizer import has_sparse_gradients

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.training._loop import Trained


def shard(network: nn.Module, device: torch.device | str) -> None:
    """Divide the parameters of a network among all processes, which start with those of the first."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    if any(map(has_sparse_gradients, network.modules())):
        raise ChmcnnError("sharded=True is not for the network for sparse features, whose gradients are sparse.")
    for parameter in network.parameters():
        torch.distributed.broadcast(parameter.data, 0)
    mesh = init_device_mesh(torch.device(device).type, (torch.distributed.get_world_size(),))
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh, reshard_after_forward=True)
    fully_shard(network, mesh=mesh, reshard_after_forward=True)


def is_sharded(network: nn.Module) -> bool:
    """Return whether any parameter is divided among processes."""
    return any(map(_is_divided, network.parameters()))


def whole(tensor: Any) -> Tensor:  # noqa: ANN401 -- importing the type of a divided tensor takes seconds
    """Return a tensor as a whole: all processes call this in the same order."""
    full: Tensor = tensor.full_tensor() if _is_divided(tensor) else tensor
    return full


def divide_like(tensor: Tensor, example: Any) -> Tensor:  # noqa: ANN401 -- as above
    """Return a tensor, divided as another one is."""
    if not _is_divided(example):
        return tensor.to(example.device)
    from torch.distributed.tensor import distribute_tensor

    divided: Tensor = distribute_tensor(tensor.to(example.device), example.device_mesh, example.placements)
    return divided


def gather(trained: Trained, build: Callable[[], nn.Module], device: torch.device | str) -> Trained:
    """Return the result of a training with a network that each process has as a whole."""
    if not is_sharded(trained.network):
        return trained
    network = build().to(device)
    network.load_state_dict({name: whole(value) for name, value in trained.network.state_dict().items()})
    best = {name: whole(value) for name, value in trained.best_weights.items()}
    return replace(trained, network=network.eval(), best_weights=best)


def _is_divided(tensor: Any) -> bool:  # noqa: ANN401 -- as above
    return hasattr(tensor, "full_tensor")
