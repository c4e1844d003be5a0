"""`chmcnn` in the environment of torchrun."""

import json
import os
import signal
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tests import processes
from tests.cli.inside import run, run_to_file

from chmcnn import CHMCNNClassifier
from chmcnn.training import Epoch, Training

pytestmark = pytest.mark.usefixtures("without_pictures")

TRAIN = (
    *("train", "my.csv", "--hierarchy", "edges.csv", "--id-column", "name"),
    *("--categorical", "zone", "--test-share", "0.2"),
)
SMALL = (*TRAIN, "--epochs", "5", "--dropout", "0", "--width", "8", "--batch-size", "16", "--no-refit", "--quiet")
KILLED_AT = 3


def train_as(place: dict[str, str], folder: Path, output: Path, file: Path) -> None:
    """Train as one of two processes; the second one is killed in the middle."""
    os.environ |= place
    original = Training.run_epoch

    def run_epoch(training: Training, of: int) -> Epoch:
        if place["RANK"] == "1" and training.state.epoch == KILLED_AT - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(training, of)

    with mock.patch.object(Training, "run_epoch", run_epoch):
        run_to_file((*SMALL, "-o", output), folder, file)


def test_if_one_process_is_killed_the_other_ends_and_any_number_resumes(folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / str(rank) for rank in range(2)]
    killed, places = tmp_path / "killed", processes.find_places(2)
    started = [
        processes.start(train_as, place, folder, killed, file) for place, file in zip(places, files, strict=True)
    ]
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0, -signal.SIGKILL]
    code, printed, errors = json.loads(files[0].read_text())
    assert (code, printed) == (2, "")
    assert "chmcnn (process 1 of 2): Another process of this training has ended, or does not answer" in errors
    assert not killed.exists()
    epochs = []
    original = Training.run_epoch

    def run_epoch(training: Training, of: int) -> Epoch:
        epochs.append(training.state.epoch + 1)
        return original(training, of)

    with mock.patch.object(Training, "run_epoch", run_epoch):
        assert run(*SMALL, "-o", killed, cwd=folder).returncode == 0
    assert epochs == list(range(KILLED_AT, 6))
    assert run(*SMALL, "-o", tmp_path / "whole", cwd=folder).returncode == 0
    resumed, whole = (CHMCNNClassifier.load(tmp_path / name) for name in ("killed", "whole"))
    for one, other in zip(resumed.history_, whole.history_, strict=True):
        np.testing.assert_allclose(one.loss, other.loss, rtol=1e-5)
    assert resumed.best_epoch_ == whole.best_epoch_


def test_only_trainings_run_under_torchrun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    done = run("predict", "model", "new.csv", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "chmcnn (process 2 of 2): Several processes of torchrun cannot share the command 'pre"
    )


def test_half_an_environment_of_torchrun_matters_to_trainings_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "0")
    assert run("predict", "model", "new.csv", cwd=folder).returncode == 0
    done = run(*TRAIN, "-o", "half", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "chmcnn: The environment has RANK, but not WORLD_SIZE and MASTER_ADDR and MASTER_PORT"
    )
    assert not (folder / "half").exists()
