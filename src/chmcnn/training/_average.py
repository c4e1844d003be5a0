"""A moving average of the weights of a network."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch.optim.swa_utils import get_ema_multi_avg_fn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor, nn


_LARGE = 10_000_000
"""Weights above which only some steps are averaged: with sparse features, a step changes few of them."""
_STEPS_OF_LARGE = 8


@dataclass(slots=True)
class WeightAverage:
    """Moving average of the parameters of a network, over fewer steps at the beginning; large ones after each 8 steps.

    `torch.optim.swa_utils.AveragedModel` with the same formula is not shorter, and slower, as `python -m
    benchmarks.ratios` shows. It also copies the network, which a lazy module does not allow before its first batch, and
    a module that stores its last output does not allow afterwards.
    """

    decay: float = 0.0  # share of the average that a step keeps; 0 averages nothing
    weights: dict[str, Tensor] = field(default_factory=dict)  # by name of the parameter; empty before the first step
    steps: int = 0

    def update(self, network: nn.Module) -> None:
        """Add the weights after one more step."""
        if not self.decay:
            return
        self.steps += 1
        if not self.weights:
            self.weights = {name: value.detach().clone() for name, value in network.named_parameters()}
            return
        every = _STEPS_OF_LARGE if sum(value.numel() for value in self.weights.values()) > _LARGE else 1
        if self.steps % every:
            return
        names, values = zip(*network.named_parameters(), strict=True)
        decay = min(self.decay, self.steps / (9 + self.steps)) ** every
        get_ema_multi_avg_fn(decay)([self.weights[name] for name in names], values, self.steps)

    def apply(self, network: nn.Module) -> None:
        """Give the network the averaged weights; without an average it keeps its own."""
        network.load_state_dict(self.weights, strict=False)

    @contextmanager
    def applied(self, network: nn.Module) -> Iterator[None]:
        """Give the network the averaged weights for the length of a block."""
        state = network.state_dict()
        own = {name: state[name].clone() for name in self.weights}
        self.apply(network)
        try:
            yield
        finally:
            network.load_state_dict(own, strict=False)
