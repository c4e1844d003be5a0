import pytest
import torch
from benchmarks import shapes

from chmcnn import Hierarchy, _plan


@pytest.fixture(autouse=True)
def _same_random_numbers_every_time() -> None:
    torch.manual_seed(0)


@pytest.fixture(params=["compiled", "torch"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on the compiled loop, and on torch alone."""
    if request.param == "torch":
        monkeypatch.setattr("chmcnn._plan._kernel", None)
    else:
        assert vars(_plan)["_kernel"] is not None, "numba is one of the development dependencies"
    return str(request.param)


@pytest.fixture(scope="session")
def gene_ontology() -> Hierarchy:
    """The hierarchy of cellcycle_GO, where the benchmark's files are at hand."""
    hierarchy, origin = shapes.load("GO")
    if origin != "real":
        pytest.skip("the files of the benchmark are not there")
    return hierarchy
