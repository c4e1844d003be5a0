"""What a training tells while it goes on."""

import pytest

from chmcnn.training import TrainingDisplay, _display
from chmcnn.training._state import Epoch


@pytest.mark.parametrize(("seconds", "told"), [(0, True), (60, False)])
def test_a_log_file_has_lines_of_progress_once_in_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seconds: int, told: bool
) -> None:
    monkeypatch.setattr(_display, "_SECONDS", seconds)
    with TrainingDisplay() as display:
        for number in (1, 2):
            display(Epoch("train", number, 5, 0.25, 0.5, 1, 0.1))
        lines = capsys.readouterr().err.splitlines()
    assert ("Training 1/5 loss 0.2500 AU(PRC) 0.500 best: 1" in lines) == told


def test_a_quiet_training_tells_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_display, "_SECONDS", 0)
    with TrainingDisplay(quiet=True) as display:
        display(Epoch("train", 1, 5, 0.25, 0.5, 1, 0.1))
    assert not capsys.readouterr().err
