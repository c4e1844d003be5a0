"""A moving average of the weights of a network."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch.optim.swa_utils import get_ema_multi_avg_fn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor, nn


_LARGE, _STEPS_OF_LARGE = 10_000_000, 8
"""With more weights than this, one of so many steps is averaged: with sparse features, a step changes few of them."""


@dataclass(slots=True)
class WeightAverage:
    """Moving average of the parameters of a network, over fewer steps at the beginning.

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
        decay = min(self.decay, self.steps / (9 + self.steps))
        if self._skips_steps(decay):
            if self.steps % _STEPS_OF_LARGE:
                return
            decay **= _STEPS_OF_LARGE
        names, values = zip(*network.named_parameters(), strict=True)
        get_ema_multi_avg_fn(decay)([self.weights[name] for name in names], values, self.steps)

    def _skips_steps(self, decay: float) -> bool:
        """Return whether to average only some steps: of a large network, and over many steps in all."""
        return decay > 1 - 1 / (4 * _STEPS_OF_LARGE) and sum(each.numel() for each in self.weights.values()) > _LARGE

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
