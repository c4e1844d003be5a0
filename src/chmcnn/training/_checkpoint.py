"""Checkpoints of a training: tensors and facts in one safetensors file. Reading one never runs code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from chmcnn._io import strict_json
from chmcnn._io.files import atomic
from chmcnn.errors import CheckpointError
from chmcnn.training._ranks import ALONE
from chmcnn.training._sharding import divide_like, is_sharded, whole
from chmcnn.training._state import Epoch, TrainingState, load_optimizer, optimizer_tensors, select_tensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

    from chmcnn.training._ranks import Ranks
    from chmcnn.training._state import Phase

_FACTS = ("phase", "epoch", "best_epoch", "best_score")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder with the last state of one training."""

    folder: Path
    fingerprint: dict[str, Any]  # of the training that it belongs to

    @property
    def path(self) -> Path:
        """The file with the state."""
        return self.folder / "checkpoint.safetensors"

    def save(self, state: TrainingState, ranks: Ranks = ALONE) -> None:
        """Replace the stored state, atomically. The first process writes; others help it if the network is divided."""
        if not ranks.is_first and not is_sharded(state.network):
            return
        tensors = {f"network.{name}": value for name, value in state.network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in state.best_weights.items()}
        tensors |= {f"averaged.{name}": value for name, value in state.average.weights.items()}
        tensors |= optimizer_tensors(state.optimizer)
        facts = {name: getattr(state, name) for name in _FACTS}
        facts |= {"seconds": state.seconds, "steps": state.average.steps}
        facts |= {"history": [asdict(epoch) for epoch in state.history]}
        content = {}
        for name, value in tensors.items():
            tensor = whole(value)
            if ranks.is_first:
                content[name] = tensor.detach().cpu().contiguous().clone()
        if ranks.is_first:
            self._write(content, facts)

    def restore(self, start: Callable[[Phase], TrainingState], ranks: Ranks = ALONE) -> TrainingState | None:
        """Return the stored state, or None where there is none. ``start`` makes a new state of a phase.

        The first process reads it for all, which need not have the same disk.
        """
        content = ranks.from_first(self._read)
        if content is None:
            return None
        tensors, facts = content
        try:
            state = start(facts["phase"])
            _load(state, tensors, facts)
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise CheckpointError(
                f"{self.path} does not fit this training: {reason}. Delete it to start again."
            ) from None
        return state

    def _write(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        from safetensors.torch import save

        data = save(tensors, {"facts": json.dumps(facts), "fingerprint": json.dumps(self.fingerprint)})
        with atomic(self.path) as temporary:
            temporary.write_bytes(data)

    def _read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}
                names = file.keys()
                tensors = {name: file.get_tensor(name) for name in names}
            facts, fingerprint = strict_json.loads(metadata["facts"]), strict_json.loads(metadata["fingerprint"])
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise CheckpointError(
                f"{self.path} is not a complete checkpoint: {error}. Delete it to start again."
            ) from None
        self._check(fingerprint)
        return tensors, facts

    def _check(self, fingerprint: dict[str, Any]) -> None:
        """Refuse the state of another training."""
        expected = json.loads(json.dumps(self.fingerprint))
        missing = [name for name in expected if name not in fingerprint]
        if missing:
            raise CheckpointError(
                f"{self.path} was written by another version of chmcnn, which did not record the "
                f"{' and the '.join(missing)}. Choose another folder, or delete it to start again."
            )
        differing = sorted(name for name in expected if fingerprint[name] != expected[name])
        if differing:
            raise CheckpointError(
                f"{self.path} belongs to a training with other {' and '.join(differing)}. Repeat that "
                "one as it was to resume it, choose another folder, or delete the file to start again."
            )


def _load(state: TrainingState, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    own = state.network.state_dict()

    def select(prefix: str) -> dict[str, Tensor]:
        return {name: divide_like(value, own[name]) for name, value in select_tensors(prefix, tensors).items()}

    state.network.load_state_dict(select("network."))
    state.best_weights, state.average.weights = select("best."), select("averaged.")
    state.average.steps = facts["steps"]
    load_optimizer(state.optimizer, tensors)
    for name in _FACTS:
        setattr(state, name, facts[name])
    state.seconds = facts.get("seconds", 0.0)  # an earlier version did not record them
    state.history = [Epoch(**epoch) for epoch in facts["history"]]
