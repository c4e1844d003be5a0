import importlib
import os
from pathlib import Path

import pytest
import torch

from chmcnn import Hierarchy
from chmcnn.datasets.arff import read_hierarchy

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _same_random_numbers_every_time() -> None:
    torch.manual_seed(0)


@pytest.fixture(params=["compiled", "torch"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on the compiled loop, and on torch alone."""
    if request.param == "torch":
        monkeypatch.setattr("chmcnn._plan._kernel", None)
    else:
        importlib.import_module("numba")  # one of the development dependencies
    return str(request.param)


@pytest.fixture(scope="session")
def gene_ontology() -> Hierarchy:
    """The hierarchy of cellcycle_GO, where the benchmark's files are at hand."""
    folder = Path(os.environ.get("CHMCNN_DATA", ROOT.parent / "shared" / "HMC_data"))
    file = folder / "datasets_GO" / "cellcycle_GO" / "cellcycle_GO.valid.arff"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    return read_hierarchy(file)
