import errno
import json
import re
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import optuna
import pytest
from optuna.exceptions import StorageInternalError
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.exc import IntegrityError, OperationalError
from tests.search.searching import DATA, FIXED, run_search

from chmcnn import ChmcnnError, search
from chmcnn.errors import FileError
from chmcnn.search import SearchPlan
from chmcnn.search._space import Space

GRID = SearchPlan({"dropout": [0.1, 0.5]}, "grid", settings=FIXED)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file on a shared disk, with the trials of a search."""
    folder = tmp_path_factory.mktemp("journal")
    run_search(folder, GRID, storage=str(folder / "journal.log"))
    assert not (folder / "search" / "study.db").exists()
    return folder / "journal.log"


def test_a_file_on_a_shared_disk_can_hold_the_trials(journal: Path, tmp_path: Path) -> None:
    one = run_search(journal.parent, GRID, storage=str(journal))
    other = run_search(tmp_path / "other", GRID, storage=str(journal))
    assert one.trials.equals(other.trials)
    assert json.loads((tmp_path / "other" / "search" / "best.json").read_text()) == one.best
    with pytest.raises(ChmcnnError, match=r"^The storage cannot be opened: Can't load plugin: .*nonsense"):
        run_search(tmp_path / "bad", GRID, storage="nonsense://")


def test_a_database_that_another_machine_is_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    make = optuna.storages.RDBStorage.__init__

    def clash(self: optuna.storages.RDBStorage, *arguments: Any) -> None:
        if len(waits) < 2:
            raise IntegrityError("CREATE TABLE", None, Exception("it is there"))
        make(self, *arguments)

    monkeypatch.setattr(optuna.storages.RDBStorage, "__init__", clash)
    monkeypatch.setattr("chmcnn.search._storage.time.sleep", waits.append)
    plan, storage = SearchPlan({"dropout": [0.1]}, "grid", settings=FIXED), f"sqlite:///{tmp_path / 'shared.db'}"
    assert run_search(tmp_path, plan, storage=storage).trials["state"].tolist() == ["finished"]
    assert waits == [1, 1]
    waits.clear()
    monkeypatch.setattr("chmcnn.search._storage._TRIES", 2)
    with pytest.raises(ChmcnnError, match=r"The storage cannot be opened: .*it is there"):
        run_search(tmp_path, plan, storage=storage)


def test_the_driver_of_a_database_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ChmcnnError, match=r"^The storage needs psycopg, which is not installed: pip install it\.$"):
        run_search(tmp_path, SearchPlan(), storage="postgresql://nobody@localhost/search")


def test_a_database_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "study.db").write_text("no database, whatever its name says" * 100)
    with pytest.raises(ChmcnnError, match=r"study.db cannot be opened: .*file is not a database"):
        run_search(tmp_path, SearchPlan())


@pytest.mark.parametrize(
    ("good", "altered", "told"),
    [
        ('"op_code": ?0', '"op_code": null', "it is no study of Optuna, or damaged"),
        ('"worker": ?"[0-9a-f]{32}"', '"worker": "../../x"', "trial 0 has another worker than a search writes"),
        ('"dropout": ?0.1', '"dropout": 7.1', "trial . has another settings than a search writes"),
        ('"values": ?[^ ]+?]', '"values": [NaN]', "trial . has another score than a search writes"),
    ],
)
def test_a_damaged_study_is_told(journal: Path, tmp_path: Path, good: str, altered: str, told: str) -> None:
    damaged, count = re.subn(good, altered, journal.read_text())
    assert count
    (tmp_path / "damaged.log").write_text(damaged)
    with pytest.raises(ChmcnnError, match=f"^The storage cannot be opened: .*{told}"):
        run_search(tmp_path, GRID, storage=str(tmp_path / "damaged.log"), jobs=0)


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = r"search: the folder is not writable: .*; choose another one"
    mkdir = Path.mkdir

    def refused(self: Path, *arguments: Any, **options: Any) -> None:
        if self.name == ".locks":
            raise PermissionError(errno.EACCES, "Permission denied")
        mkdir(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refused)
        with pytest.raises(FileError, match=told):
            run_search(tmp_path, SearchPlan())
    (tmp_path / "search" / "study.db").touch()
    (tmp_path / "search" / ".locks").touch()
    with pytest.raises(FileError, match=told):
        run_search(tmp_path, SearchPlan())


@pytest.mark.parametrize("others", [True, False])
def test_a_search_that_cannot_be_opened_leaves_the_lock_of_others_alone(tmp_path: Path, others: bool) -> None:
    lock = tmp_path / "search" / ".locks" / "study.lock"
    if others:
        lock.parent.mkdir(parents=True)
        lock.touch()
    with pytest.raises(ChmcnnError, match="The storage cannot be opened"):
        run_search(tmp_path, SearchPlan(), storage="nonsense://")
    assert lock.exists() == lock.parent.exists() == others


def test_a_trial_that_another_machine_has_only_just_drawn_is_left_to_it(tmp_path: Path) -> None:
    shared = str(tmp_path / "journal.log")
    plan = SearchPlan({"dropout": [0.1, 0.5]}, trials=2, settings=FIXED)
    run_search(tmp_path, SearchPlan({"dropout": [0.1, 0.5]}, trials=1, settings=FIXED), storage=shared, title="mine")
    storage = optuna.storages.JournalStorage(JournalFileBackend(shared))
    optuna.load_study(study_name="chmcnn search of mine", storage=storage).ask(Space.of(plan.space).distributions())
    assert run_search(tmp_path, plan, storage=shared, title="mine").trials["state"].tolist() == ["finished", "running"]


@pytest.mark.parametrize("error", [OperationalError("SELECT", None, Exception("disk full")), StorageInternalError("?")])
def test_a_database_that_fails_during_the_search_is_told(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    error.__cause__ = Exception("disk full")
    monkeypatch.setattr(optuna.Study, "ask", mock.Mock(side_effect=error))
    told = r"^The database of .*search cannot be read or written: disk full\. .* it resumes the search\.$"
    with pytest.raises(ChmcnnError, match=told):
        run_search(tmp_path, SearchPlan({"dropout": [0.1]}, "grid", settings=FIXED))


def test_optuna_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ChmcnnError, match=r'needs optuna: pip install "chmcnn\[search\]"'):
        run_search(tmp_path, SearchPlan())


def test_other_folders_are_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="not the folder of a search, so nothing is written to it"):
        run_search(tmp_path, SearchPlan())
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="the folder is not writable"):
        search.search(DATA, SearchPlan(), tmp_path / "file" / "search")
