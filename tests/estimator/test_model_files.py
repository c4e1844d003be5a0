from pathlib import Path

import pytest

from chmcnn import CHMCNNClassifier
from chmcnn.estimator import _model_files


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return CHMCNNClassifier(epochs=1, widths=(4,), random_state=0).fit([[0.0], [1.0]] * 5, ["a/b", "a/c"] * 5)


def test_further_files_are_there_before_the_folder_gets_its_name(
    model: CHMCNNClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

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


def test_an_onnx_file_is_written_over_only_if_asked_for(model: CHMCNNClassifier, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_text("mine")
    with pytest.raises(ValueError, match="already exists; choose another file, or use force=True to overwrite it"):
        model.to_onnx(file)
    assert file.read_text() == "mine"
    model.to_onnx(file, force=True)
    assert file.stat().st_size > 100
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
