"""What a checkpoint must agree with."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scipy.sparse import csr_array
from torch import nn

from chmcnn import ChmcnnError, Hierarchy
from chmcnn.nn import MaxConstraint, MCLoss
from chmcnn.training import Rows, Settings, Trained, TrainingDisplay, train

CHAIN = Hierarchy(["a", "b", "c"], [(0, 1), (1, 2)])
STAR = Hierarchy(["a", "b", "c"], [(0, 1), (0, 2)])
ROWS = Rows(
    torch.randn(8, 2, generator=torch.Generator().manual_seed(0)), csr_array(np.array([[True, False, False]] * 8))
)


def run(
    folder: Path, hierarchy: Hierarchy, constraint: Hierarchy = CHAIN, display: TrainingDisplay | None = None
) -> Trained:
    return train(
        lambda: nn.Linear(2, 3),
        ROWS,
        loss=MCLoss(hierarchy),
        settings=Settings(epochs=1),
        scores=MaxConstraint(constraint),
        checkpoint=folder,
        progress=display,
    )


def test_a_training_that_goes_on_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = f"The training goes on after epoch 1, where it was interrupted; delete {tmp_path} to begin anew."
    for is_resumed in (False, True):
        with TrainingDisplay() as display:
            run(tmp_path, CHAIN, display=display)
        assert (told in capsys.readouterr().err) is is_resumed


def test_a_checkpoint_of_another_hierarchy_is_refused(tmp_path: Path) -> None:
    run(tmp_path, CHAIN)
    run(tmp_path, CHAIN)
    for hierarchies in ((STAR, CHAIN), (CHAIN, STAR)):
        with pytest.raises(ChmcnnError, match="belongs to a training with other hierarchy"):
            run(tmp_path, *hierarchies)


def test_a_checkpoint_that_does_not_record_the_hierarchy_is_refused(tmp_path: Path) -> None:
    run(tmp_path, CHAIN)
    file = tmp_path / "checkpoint.safetensors"
    with safe_open(file, framework="pt") as content:
        metadata = content.metadata()
    fingerprint = json.loads(metadata["fingerprint"])
    del fingerprint["hierarchy"]
    save_file(load_file(file), file, metadata | {"fingerprint": json.dumps(fingerprint)})
    with pytest.raises(ChmcnnError, match="another version of chmcnn, which did not record the hierarchy"):
        run(tmp_path, CHAIN)
