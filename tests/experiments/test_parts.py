import re
from pathlib import Path

import pytest
from tests.experiments.recording import RecordingContext

from chmcnn import ChmcnnError
from chmcnn.datasets.synthetic import two_rectangles
from chmcnn.experiments import _parts, figure1, figure2, nine_rectangles
from chmcnn.experiments.context import Context

SETTINGS = {"epochs": 2, "runs": 1}


def run(folder: Path, ran: list[str], **settings: int) -> list[tuple[int, int]]:
    """Run two parts of two steps each; return the progress, and add those that ran to a list."""
    context = RecordingContext(folder, command="mine")

    def part(name: str) -> "_parts.Part":
        def work(advance: "_parts.Advance") -> dict[str, str]:
            ran.append(name)
            advance()
            advance()
            return {"name": name}

        return work

    parts = {name: part(name) for name in ("first", "second")}
    _parts.run(context, parts, settings=SETTINGS | settings, steps=2)
    return context.steps


def test_parts_run_in_their_order_and_record_what_made_them(tmp_path: Path) -> None:
    ran: list[str] = []
    assert run(tmp_path, ran) == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert ran == ["first", "second"]
    kept = _parts.collect(tmp_path, ["first", "second"], {})
    assert kept["second"]["result"] == {"name": "second"}
    assert kept["first"]["command"] == "mine"
    assert kept["first"]["settings"] == SETTINGS
    assert "torch" in kept["first"]["versions"]


def test_a_finished_part_is_not_run_again(tmp_path: Path) -> None:
    ran: list[str] = []
    run(tmp_path, ran)
    (tmp_path / "first.json").unlink()
    assert run(tmp_path, ran) == [(3, 4), (4, 4)]
    assert ran == ["first", "second", "first"]


def test_files_of_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    run(tmp_path, [])
    message = f"{tmp_path / 'first.json'}: it has results for epochs 2, runs 1, not for epochs 3, runs 1"
    with pytest.raises(ChmcnnError, match=re.escape(message)):
        run(tmp_path, [], epochs=3)
    (tmp_path / "second.json").unlink()
    (tmp_path / "first.json").rename(tmp_path / "second.json")
    run(tmp_path / "other", [], runs=5)
    (tmp_path / "other" / "first.json").rename(tmp_path / "first.json")
    with pytest.raises(
        ChmcnnError, match=r"second\.json: it has results for epochs 2, runs 1, not for epochs 2, runs 5"
    ):
        _parts.collect(tmp_path, ["first", "second"], {})


def test_results_of_other_coordinates_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure1.run(Context(tmp_path), epochs=1)
    assert figure1.collect(tmp_path) is not None
    monkeypatch.setattr(figure1, "two_rectangles", lambda step, **_: two_rectangles(10 - step, rows=1))
    with pytest.raises(ChmcnnError, match=r"step9\.json: it has results for coordinates \w+, epochs 1, seed 0, not"):
        figure1.collect(tmp_path)


def test_an_experiment_that_was_not_run_has_no_result(tmp_path: Path) -> None:
    for experiment in (figure1, figure2, nine_rectangles):
        assert experiment.collect(tmp_path / "nowhere") is None
