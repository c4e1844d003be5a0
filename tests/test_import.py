"""Importing the package: quick, and complete."""

import subprocess
import sys

import pytest

import chmcnn


def test_torch_is_imported_only_where_it_is_used() -> None:
    code = (
        "import sys, chmcnn.cli, chmcnn.datasets; dir(chmcnn); "
        "heavy = 'torch scipy matplotlib networkx pandas sklearn requests'; "
        "print([name for name in heavy.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


MODULES = ["baselines", "comparison", "datasets", "evaluation", "experiments", "metrics", "nn", "report", "search"]


@pytest.mark.parametrize("name", [*MODULES, "constraint", "significance", "training"])
def test_every_public_module_is_an_attribute(name: str) -> None:
    code = f"import chmcnn; assert {name!r} in dir(chmcnn); print(chmcnn.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"chmcnn.{name}"


def test_dir_lists_every_public_name() -> None:
    assert set(chmcnn.__all__) <= set(dir(chmcnn))
    assert chmcnn.CHMCNNClassifier.__name__ == "CHMCNNClassifier"
    with pytest.raises(AttributeError, match="module 'chmcnn' has no attribute 'loud'"):
        getattr(chmcnn, "loud".strip())
