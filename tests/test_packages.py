"""The rule that import-linter has no contract for: a private module is imported only inside its own package."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "chmcnn"


def private_imports(path: Path) -> list[str]:
    """Private modules of other packages that a file imports."""
    package = path.relative_to(SOURCE).parts[0] if path.is_relative_to(SOURCE) else ""
    imported = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("chmcnn."):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            imported += [name for name in names if is_private(name.split(".")[1:], package)]
    return imported


def is_private(parts: list[str], package: str) -> bool:
    """Whether a module is private to a package other than this one; ``_io`` and the like are private to all of us."""
    return parts[0] != package and any(part.startswith("_") and part != "__version__" for part in parts[1:])


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_imports_no_private_module_of_another(path: Path) -> None:
    assert private_imports(path) == []


def test_a_private_import_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from chmcnn.training._loop import train\nfrom chmcnn.training import _loop\n")
    assert private_imports(tmp_path / "mine.py") == ["chmcnn.training._loop.train", "chmcnn.training._loop"]
