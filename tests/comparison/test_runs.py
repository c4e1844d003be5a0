"""One result in one file."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import filelock
import pytest
from tests.results import write_runs

from chmcnn import CHMCNNClassifier, ChmcnnError, metrics
from chmcnn._io import results
from chmcnn.comparison import _runs
from chmcnn.comparison._figures import Figures, measure_system
from chmcnn.comparison._runs import PlannedRun, Run, RunSpec, collect, find_finished, read, store
from chmcnn.comparison._splits import Source
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import _presets

ROOT = Path(__file__).parents[2]

SOURCE = Source("mine", learnable(rows=100, features=5, classes=10, depth=3))
SPEC = RunSpec("mine", "C-HMCNN", {"epochs": 2, "widths": [8]})


def run(spec: RunSpec, source: Source, folder: Path, **options: Any) -> Run | None:
    return _runs.run(PlannedRun(spec, source, source.digest()), folder, **options)


def figures_of(seed: int) -> tuple[float, float | None, int | None, int]:
    """The figures of the run with another seed that do not depend on the machine."""
    found = measure_system(replace(SPEC, seed=seed), SOURCE.split(seed))
    return found.auprc, found.validation_auprc, found.best_epoch, found.violations_before


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[RunSpec]:
    """The runs that were executed; each takes a moment, and is not really trained."""
    done: list[RunSpec] = []

    def measure(spec: RunSpec, _parts: object, _measures: object) -> Figures:
        done.append(spec)
        time.sleep(0.2)
        return Figures(0.5, None, None, 3, 0.1, 0, 1.0, 0.1, None, None, 1)

    monkeypatch.setattr(_runs, "measure_system", measure)
    return done


def test_a_result_is_kept_with_all_that_it_depends_on(tmp_path: Path) -> None:
    done = run(SPEC, SOURCE, tmp_path, threads=1, command="chmcnn compare mine")
    assert done is not None
    assert done.figures is not None
    assert done == read(SPEC.path(tmp_path)) == run(SPEC, SOURCE, tmp_path)
    content = json.loads(SPEC.path(tmp_path).read_text())
    assert content["cell"]["options"] == SPEC.options
    assert content["data"] == SOURCE.digest()
    assert content["versions"].keys() == {"chmcnn", "torch", "numpy", "python"}
    assert content["command"] == "chmcnn compare mine"
    assert 0 < done.figures.auprc <= 1
    assert done.figures.violations_before >= done.figures.violations_after == 0
    assert done.figures.parameters == 5 + 5 * 8 + 8 + 8 * 10 + 10
    assert done.figures.best_epoch in (1, 2)
    assert done.figures.threads == 1
    assert done.figures.settings == {
        "columns": 5,
        "rows": len(SOURCE.split(0).train.X),
        "by_frequency": True,
        "scales_features": True,
        "widths": [8],
        "dropout": 0.7,
        "learning_rate": 0.002,
        "epochs": 2,
        "batch_size": 64,
        "weight_decay": 1e-5,
        "patience": 10,
        "patience_growth": 0.2,
        "refit": True,
        "schedule": "constant",
        "averaging": 4,
        "max_minutes": None,
        "validation_sample": None,
        "sharded": False,
        "output_rank": None,
    }
    table = collect(tmp_path)
    assert table[["dataset", "system", "seed"]].to_numpy().tolist() == [["mine", "C-HMCNN", 0]]
    assert table["auprc"].tolist() == [done.figures.auprc]


def test_the_seed_decides(tmp_path: Path) -> None:
    first = run(SPEC, SOURCE, tmp_path / "a")
    again = run(SPEC, SOURCE, tmp_path / "b")
    assert first is not None
    assert again is not None
    assert first.figures is not None
    assert again.figures is not None
    assert first.figures.auprc == again.figures.auprc
    assert figures_of(0) != figures_of(1)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_figures_are_those_of_a_fit_with_its_seed_stopped_by_the_validation_rows(seed: int) -> None:
    parts = SOURCE.split(seed)
    assert parts.valid is not None
    model = CHMCNNClassifier(parts.train.hierarchy, random_state=seed, **SPEC.options)
    model.fit(parts.train.X, parts.train.Y, validation_data=(parts.valid.X, parts.valid.Y))
    raw, scores = model.uncorrected_proba(parts.test.X), model.predict_proba(parts.test.X)
    violations = metrics.violations(raw, parts.train.hierarchy).number
    assert figures_of(seed) == (metrics.auprc(parts.test.Y, scores), model.best_score_, model.best_epoch_, violations)


def test_a_result_of_other_settings_of_the_preset_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(SPEC, SOURCE, tmp_path)
    default = _presets.PRESETS["default"]
    monkeypatch.setitem(_presets.PRESETS, "default", replace(default, dropout=0.6))
    with pytest.raises(ChmcnnError, match=r"changed since \(dropout 0\.7, now 0\.6\); delete it to run it again"):
        run(SPEC, SOURCE, tmp_path)


def test_a_result_of_an_ensemble_is_refused_if_the_preset_of_its_network_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = RunSpec("mine", "best", {"network_settings": {"epochs": 1, "widths": [8]}})
    done = run(spec, SOURCE, tmp_path)
    assert done is not None
    assert done.figures is not None
    assert done.figures.settings is not None
    assert (done.figures.settings["columns"], done.figures.settings["epochs"]) == (5, 1)
    assert run(spec, SOURCE, tmp_path) == done
    with monkeypatch.context() as later:
        later.setitem(_presets.PRESETS, "default", replace(_presets.PRESETS["default"], dropout=0.6))
        with pytest.raises(ChmcnnError, match=r"changed since \(dropout 0\.7, now 0\.6\); delete it to run it again"):
            run(spec, SOURCE, tmp_path)
    store(replace(done, figures=replace(done.figures, settings=None)), tmp_path)
    with pytest.raises(ChmcnnError, match="a result of an earlier version, without its settings; delete it to run it"):
        run(spec, SOURCE, tmp_path)


@pytest.mark.parametrize(
    ("before", "now", "best_epoch", "alike"),
    [
        ((200, 10, 0.0), (400, 10, 0.2), 50, True),
        ((200, 10, 0.0), (400, 10, 0.2), 51, False),  # would be waited for longer
        ((200, 10, 0.0), (400, 10, 0.0), 190, True),
        ((200, 10, 0.0), (400, 10, 0.0), 191, False),  # ended by the number of epochs
        ((200, 10, 0.0), (400, 5, 0.2), 50, False),  # may have ended before
        ((200, None, 0.0), (400, None, 0.2), 50, False),
        ((200, 10, 0.0), (400, 10, 0.0), 0, False),  # without validation rows
    ],
)
def test_a_result_is_of_other_limits_too_if_its_training_would_have_been_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any, now: Any, best_epoch: int, *, alike: bool
) -> None:
    def limit(epochs: int, patience: int | None, growth: float) -> None:
        settings = replace(
            _presets.PRESETS["default"].settings, epochs=epochs, patience=patience, patience_growth=growth
        )
        monkeypatch.setitem(_presets.PRESETS, "default", replace(_presets.PRESETS["default"], settings=settings))

    done, spec = run(SPEC, SOURCE, tmp_path), RunSpec("mine", "C-HMCNN", {"widths": [8]})
    assert done is not None
    assert done.figures is not None
    limits = dict(zip(("epochs", "patience", "patience_growth"), before, strict=True))
    figures = replace(done.figures, best_epoch=best_epoch, settings={**(done.figures.settings or {}), **limits})
    earlier = store(replace(done, spec=spec, figures=figures), tmp_path)
    limit(*now)
    with nullcontext() if alike else pytest.raises(ChmcnnError, match="settings that have changed since"):
        assert find_finished(PlannedRun(spec, SOURCE, done.data), tmp_path) == earlier


@pytest.mark.parametrize(
    "path", sorted((ROOT / "results/table2/runs").glob("*seed0*.json")), ids=lambda path: path.stem
)
def test_the_results_of_table_2_are_of_the_present_settings(path: Path) -> None:
    done = read(path)
    assert find_finished(PlannedRun(done.spec, SOURCE, done.data), path.parent) == done


def test_a_finished_run_is_not_repeated(tmp_path: Path, count: list[RunSpec]) -> None:
    other = RunSpec("mine", "C-HMCNN", {"epochs": 3})
    for spec in (SPEC, SPEC, other, SPEC, other):
        run(spec, SOURCE, tmp_path)
    assert count == [SPEC, other]
    assert len(collect(tmp_path)) == 2


def test_two_at_once_execute_a_run_once(tmp_path: Path, count: list[RunSpec]) -> None:
    barrier = threading.Barrier(4)

    def at_once(_: int) -> Any:
        barrier.wait()
        return run(SPEC, SOURCE, tmp_path)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(at_once, range(4)))
    assert count == [SPEC]
    assert done == [done[0]] * 4


def test_a_run_that_another_process_executes_is_left_to_it(tmp_path: Path, count: list[RunSpec]) -> None:
    (tmp_path / ".locks").mkdir()
    with filelock.FileLock(tmp_path / ".locks" / f"{SPEC.path(tmp_path).stem}.lock"):
        assert run(SPEC, SOURCE, tmp_path, wait=False) is None
    assert count == []
    assert run(SPEC, SOURCE, tmp_path, wait=False) is not None


@pytest.mark.usefixtures("count")
def test_a_file_that_was_changed_is_noticed(tmp_path: Path) -> None:
    run(SPEC, SOURCE, tmp_path)
    path = SPEC.path(tmp_path)
    path.write_text(path.read_text().replace('"auprc": 0.5', '"auprc": 0.9'))
    told = f"{path}: the file was changed after it was written: its checksum does not match; delete it"
    for reading in (lambda: run(SPEC, SOURCE, tmp_path), lambda: collect(tmp_path)):
        with pytest.raises(ChmcnnError) as caught:
            reading()
        assert str(caught.value).startswith(told)
    path.write_text("[]")
    with pytest.raises(ChmcnnError, match="not a result file; delete it"):
        read(path)


def test_other_data_under_the_same_name_is_noticed(tmp_path: Path, count: list[RunSpec]) -> None:
    run(SPEC, SOURCE, tmp_path)
    other = Source("mine", learnable(rows=100, features=5, classes=10, depth=3, seed=1))
    with pytest.raises(ChmcnnError, match="a result of other data that are also called 'mine'; choose another folder"):
        run(SPEC, other, tmp_path)
    assert len(count) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [({"preset": "none"}, "preset is 'none'; expected 'default' or 'paper'"), ({"network": "x"}, "TypeError: ")],
)
def test_what_a_system_cannot_do_is_told_and_tried_again(
    tmp_path: Path, options: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = RunSpec("mine", "h+", options)
    done = run(spec, SOURCE, tmp_path)
    assert done is not None
    assert done.figures is None
    assert done.reason.startswith(told)
    assert bool(done.trace) == told.startswith("TypeError")
    assert collect(tmp_path)["reason"].tolist() == [done.reason]
    monkeypatch.setattr(
        _runs, "measure_system", lambda *_: Figures(0.5, None, None, 0, 0.0, 0, 1.0, 0.1, None, None, 1)
    )
    again = run(spec, SOURCE, tmp_path)
    assert again is not None
    assert again.reason == ""


def test_what_is_half_written_is_no_result(tmp_path: Path) -> None:
    (tmp_path / ".mine-x.json").write_text("{")
    assert len(collect(tmp_path)) == 0


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, count: list[RunSpec]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ChmcnnError, match="the folder is not writable: Not a directory; choose another one"):
        run(SPEC, SOURCE, tmp_path / "file")
    assert count == []


def test_the_file_is_called_as_the_run() -> None:
    fold = RunSpec("my table/1.csv", "h+", {}, fold=2, folds=5)
    assert fold.path(Path("runs")).name.startswith("my_table_1.csv-h+-fold2of5-")


def test_a_copied_result_does_not_count_twice(tmp_path: Path) -> None:
    write_runs(tmp_path, {"mine": [0.5]})
    (path,) = tmp_path.glob("*.json")
    (tmp_path / "mine-again.json").write_bytes(path.read_bytes())
    with pytest.raises(
        ChmcnnError, match=f"mine-again.json: a copy of {path.name}, which would count twice; delete it"
    ):
        collect(tmp_path)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (None, {"reason": 3}),
        (None, {"versions": {"torch": []}}),
        ("cell", {"options": "x"}),
        ("figures", {"auprc": "high"}),
        ("figures", {"measures": {"auprc": []}}),
        ("figures", {"settings": {"columns": "x", "rows": {}}}),
    ],
)
def test_values_of_another_kind_are_no_result(tmp_path: Path, part: str | None, change: dict[str, Any]) -> None:
    figures = Figures(0.5, None, None, 3, 0.1, 0, 1.0, 0.1, None, None, 1)
    content = Run(SPEC, SOURCE.digest(), figures).to_json()
    (content if part is None else content[part]).update(change)
    results.write(SPEC.path(tmp_path), content)
    with pytest.raises(ChmcnnError, match=r"json: not a result file; delete it, and run the command that wrote it"):
        run(SPEC, SOURCE, tmp_path)


def test_a_file_of_another_version_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = SPEC.path(tmp_path)
    results.write(path, {"cell": {"dataset": "mine"}, "figures": {"auprc": 0.5}, "data": ""})
    with pytest.raises(ChmcnnError, match="not a result file; delete it, and run the command"):
        read(path)
