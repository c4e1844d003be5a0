"""Checkpoints of a training: tensors and facts in one safetensors file, which never runs code when it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chmcnn._io.files import atomic
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder with the last state of one training."""

    folder: Path
    fingerprint: dict[str, Any]

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "checkpoint.safetensors"

    def write(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        """Replace the state, all at once."""
        from safetensors.torch import save

        content = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        written = save(content, {"facts": json.dumps(facts), "fingerprint": json.dumps(self.fingerprint)})
        with atomic(self.path) as temporary:
            temporary.write_bytes(written)

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The state, or None where there is none yet. One of another training is refused."""
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                known = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- it is no mapping
            facts, fingerprint = json.loads(known["facts"]), json.loads(known["fingerprint"])
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise ChmcnnError(f"{self.path} is not a whole checkpoint: {error}. Remove it to start anew.") from None
        if fingerprint != json.loads(json.dumps(self.fingerprint)):
            differing = sorted(key for key in self.fingerprint if fingerprint.get(key) != self.fingerprint[key])
            raise ChmcnnError(
                f"{self.path} belongs to a training with other {' and '.join(differing) or 'facts'}. "
                "Name another folder, or remove it to start anew."
            )
        return tensors, facts
