"""Model folders that somebody changes who knows the format: all checksums fit."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from chmcnn.estimator import _model_files


def change_facts(folder: Path, changed: dict[str, Any], without: Collection[str] = ()) -> None:
    """Replace facts of a model, and omit some."""
    file = folder / "model.json"
    facts = json.loads(file.read_text()) | changed
    content = {name: fact for name, fact in facts.items() if name not in without}
    file.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))


def change_tensors(folder: Path, changed: dict[str, torch.Tensor]) -> None:
    """Replace tensors of a model."""
    file = folder / "model.safetensors"
    save_file(load_file(file) | changed, file)
    change_facts(folder, {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()})
