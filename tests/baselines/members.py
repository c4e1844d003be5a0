"""What all members of ensembles are tested with."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy import sparse
from tests.changed_models import change_facts

from chmcnn import ModelError, load_model
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import HierarchicalClassifier

DATA = learnable(rows=200, features=6, classes=12, depth=3, noise=0.3)
SPARSE_X = sparse.csr_array(np.where(np.abs(DATA.train.X) > 1, DATA.train.X, 0))


def refused(folder: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """Change the arrays of a model folder, sign it again, and return why it is refused."""
    file, facts = folder / "model.safetensors", folder / "model.json"
    before, described = load_file(file), facts.read_text()
    arrays = {name: array.copy() for name, array in before.items()}
    change(arrays)
    save_file(arrays, file)
    change_facts(folder, {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()})
    with pytest.raises(ModelError, match="the model is inconsistent") as caught:
        load_model(folder)
    save_file(before, file)
    facts.write_text(described)
    return str(caught.value)


def saved(model: HierarchicalClassifier, folder: Path) -> HierarchicalClassifier:
    """Save a model, and load it again."""
    model.save(folder)
    return load_model(folder)
