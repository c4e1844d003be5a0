"""Importing the package: quick, and complete."""

import os
import subprocess
import sys

import pytest

import chmcnn


def test_torch_is_imported_only_where_it_is_used() -> None:
    code = (
        "import sys, chmcnn.cli, chmcnn.datasets; dir(chmcnn); "
        "heavy = 'numpy torch scipy matplotlib networkx pandas sklearn requests'; "
        "print([name for name in heavy.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


MODULES = ["baselines", "comparison", "datasets", "evaluation", "experiments", "metrics", "nn", "report", "search"]
MODULES += ["cluster", "constraint", "ensemble", "hierarchy", "significance", "training"]

# A process for each module, which imports the package anew; what this needs is imported once, before they part.
FRESH = """
import os, sys
import numba, pandas, rich.progress, scipy.stats, sklearn.compose, sklearn.ensemble, torch
assert "chmcnn" not in sys.modules
for name in sys.argv[1:]:
    process = os.fork()
    if not process:
        import chmcnn
        assert name in dir(chmcnn)
        print(name, getattr(chmcnn, name).__name__, "torch._dynamo" in sys.modules, flush=True)
        os._exit(0)
    os.waitpid(process, 0)
"""


@pytest.fixture(scope="module")
def attributes() -> dict[str, list[str]]:
    """The full name of each module that is an attribute of the package, and whether it imports torch's compiler."""
    done = subprocess.run([sys.executable, "-c", FRESH, *MODULES], capture_output=True, text=True, check=False)
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_is_an_attribute_and_imports_no_compiler(
    attributes: dict[str, list[str]], name: str
) -> None:
    assert attributes.get(name) == [f"chmcnn.{name}", "False"]


def test_dir_lists_every_public_name() -> None:
    assert set(chmcnn.__all__) <= set(dir(chmcnn))
    assert chmcnn.CHMCNNClassifier.__name__ == "CHMCNNClassifier"
    with pytest.raises(AttributeError, match="module 'chmcnn' has no attribute 'loud'"):
        getattr(chmcnn, "loud".strip())
