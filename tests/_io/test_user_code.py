"""Classes and functions of the user."""

import sys
from pathlib import Path

import numpy as np
import pytest

from chmcnn import ChmcnnError
from chmcnn._io.user_code import describe_error, find_object, get_path, get_version, is_interactive


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder from which modules can be imported, and nowhere else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def write(folder: Path, content: str, name: str = "mine_for_test") -> None:
    (folder / f"{name}.py").write_text(content)
    sys.modules.pop(name, None)


def test_a_module_of_the_working_folder_is_found(folder: Path) -> None:
    write(folder, "class Mine:\n    class Inner: pass\n")
    assert find_object("mine_for_test:Mine").__name__ == "Mine"
    assert find_object("mine_for_test:Mine.Inner").__name__ == "Inner"
    assert str(folder) in sys.path, "worker processes inherit it"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("mine_for_test:Mi ne", "'mine_for_test:Mi ne' is not the name of a class or function; expected module:Name"),
        ("mine_for_test:", "is not the name of a class or function"),
        ("mine.py:Mine", r"'mine.py:Mine': there is no module 'mine.py', neither installed nor in the working folder"),
        ("none_such:Mine", "there is no module 'none_such'"),
        ("mine_for_test:Mime", "the module 'mine_for_test' has no 'Mime'. Did you mean 'Mine'?"),
        ("broken_for_test:Mine", r"fails: ZeroDivisionError: .* \(broken_for_test.py, line 2, in <module>\)"),
        ("lacking_for_test:Mine", "the import of 'lacking_for_test' fails: ModuleNotFoundError: .*none_such_either"),
    ],
)
def test_what_is_not_there_is_told_with_a_way_out(folder: Path, path: str, told: str) -> None:
    write(folder, "class Mine: pass\n")
    write(folder, "\n1 / 0\n", "broken_for_test")
    write(folder, "import none_such_either\n", "lacking_for_test")
    with pytest.raises(ChmcnnError, match=told):
        find_object(path)


def test_a_changed_class_has_another_version(folder: Path) -> None:
    write(folder, "class Mine: pass\ndef measure(): pass\n")
    before = [get_version(find_object(f"mine_for_test:{name}")) for name in ("Mine", "measure")]
    write(folder, "class Mine: size = 3\ndef measure(): pass\n")
    after = [get_version(find_object(f"mine_for_test:{name}")) for name in ("Mine", "measure")]
    assert before[0] != after[0]
    assert before[1] == after[1], "a measure is its function only"
    write(folder, "class Mine:\n    version = 2\ndef measure(): return 1\n")
    assert get_version(find_object("mine_for_test:Mine")) == "2"
    assert get_version(find_object("mine_for_test:measure")) != before[1]


def test_a_change_of_a_base_class_is_noticed(folder: Path) -> None:
    write(folder, "class Base: pass\n", "base_for_test")
    write(folder, "from base_for_test import Base\nclass Mine(Base): pass\n")
    before = get_version(find_object("mine_for_test:Mine"))
    write(folder, "class Base: size = 3\n", "base_for_test")
    sys.modules.pop("mine_for_test")
    assert get_version(find_object("mine_for_test:Mine")) != before


def test_an_installed_class_has_the_version_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = find_object("sklearn.neighbors:KNeighborsClassifier")
    before = get_version(kind)
    monkeypatch.setattr("sklearn.__version__", "99")
    assert get_version(kind) != before


def test_what_other_processes_cannot_import_is_refused() -> None:
    class Local:
        pass

    assert get_path(Path) == "pathlib:Path"
    for thing in (Local, lambda: 0):
        with pytest.raises(
            ChmcnnError, match="is defined inside a function, or has no name, so worker processes cannot"
        ):
            get_path(thing)
    assert not is_interactive("pathlib:Path")


def test_an_error_is_told_with_the_place_in_the_code_of_the_user() -> None:
    def fail() -> None:
        np.linalg.inv(np.zeros((2, 2)))

    with pytest.raises(np.linalg.LinAlgError) as caught:
        fail()
    line = fail.__code__.co_firstlineno + 1
    assert describe_error(caught.value) == f"LinAlgError: Singular matrix (test_user_code.py, line {line}, in fail)"
