import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.estimator.models import fitted

from chmcnn import CHMCNNClassifier, ModelError
from chmcnn.estimator import _model_files
from chmcnn.estimator._model_folder import read_file


def test_further_files_are_there_before_the_folder_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted()
    seen: list[str] = []

    def kill(folder: Path, _: Path) -> None:
        seen.extend(sorted(path.name for path in folder.iterdir()))
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", kill)
    with pytest.raises(KeyboardInterrupt):
        _model_files.save_model(model, tmp_path / "model", force=False, extra_files={"report.html": b"<html>"})
    assert seen == ["model.json", "model.safetensors", "report.html"]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    _model_files.save_model(model, tmp_path / "model", force=False, extra_files={"report.html": b"<html>"})
    assert (tmp_path / "model" / "report.html").read_bytes() == b"<html>"
    CHMCNNClassifier.load(tmp_path / "model")


def test_writing_over_a_model_must_be_asked_for(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match="already exists"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(ModelError, match="not a model folder, so it is not overwritten"):
        model.save(tmp_path / "mine", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=": cannot be written"):
        model.save(tmp_path / "file" / "model")


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir(mode=0o700)
    model = fitted()
    model.save(tmp_path / "model")
    assert CHMCNNClassifier.load(tmp_path / "model").seed_ == model.seed_
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o700
    with pytest.raises(ModelError, match="already exists"):
        model.save(tmp_path / "model")


def test_a_model_is_written_over_its_own_files_only(tmp_path: Path) -> None:
    old, new = fitted(), fitted(random_state=1)
    old.save(tmp_path / "far")
    (tmp_path / "far" / "notes.txt").write_text("mine")
    (tmp_path / "model").symlink_to(tmp_path / "far")
    for model in (new, old, new):
        model.save(tmp_path / "model", force=True)
        assert (tmp_path / "model").is_symlink()
        assert CHMCNNClassifier.load(tmp_path / "model").seed_ == model.seed_
        names = sorted(path.name for path in (tmp_path / "far").iterdir())
        assert len(names) == 3
        assert names[1:] == ["model.json", "notes.txt"]
        assert re.fullmatch(r"model-[0-9a-f]{12}\.safetensors", names[0])
    assert (tmp_path / "far" / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "model"]


def test_old_files_of_a_killed_save_are_deleted(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    for name in ("model-0123456789ab.safetensors", "preprocessing-0123456789ab.skops", "model-mine.safetensors"):
        (tmp_path / "model" / name).touch()
        os.utime(tmp_path / "model" / name, (0, 0))
    fitted(random_state=1).save(tmp_path / "model", force=True)
    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names[1:] == ["model-mine.safetensors", "model.json"]
    assert CHMCNNClassifier.load(tmp_path / "model").seed_ == 1


def test_a_model_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted().save(tmp_path / "model")
    new = fitted(random_state=1)

    def replace_first(path: Path, name: str, facts: dict[str, Any]) -> bytes:
        monkeypatch.undo()
        new.save(path, force=True)
        return read_file(path, name, facts)

    monkeypatch.setattr(_model_files, "read_file", replace_first)
    assert CHMCNNClassifier.load(tmp_path / "model").seed_ == 1
