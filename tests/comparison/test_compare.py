"""Several systems on several data sets."""

import json
import math
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.packed import PackedExecutor
from tests.results import WHY, summed_up
from tests.untyped import untyped

from chmcnn import ChmcnnError, significance
from chmcnn._io.strict_json import dumps
from chmcnn._workers import InlineExecutor, ProcessExecutor
from chmcnn.comparison import Execution, Plan, Run, RunSpec, compare, prepare
from chmcnn.comparison._splits import Source
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=120, features=5, classes=10, depth=3)
QUICK = {"epochs": 2, "widths": [8]}
PLAN = Plan(("C-HMCNN", "h+"), seeds=2, options={"C-HMCNN": QUICK, "h+": QUICK})
MANY = [f"data{number}" for number in range(6)]


def ran(folder: Path, plan: Plan, *sources: Source) -> tuple[Any, list[bool]]:
    """A comparison, and which results were computed just now."""
    flags: list[bool] = []
    result = compare(sources, plan, folder, Execution(2, progress=lambda _, fresh: flags.append(fresh)))
    return result, flags


def test_it_runs_what_is_not_there_and_nothing_twice(tmp_path: Path) -> None:
    first, fresh = ran(tmp_path, PLAN, Source("mine", DATA))
    assert fresh == [True] * 4
    assert first.means.shape == (1, 2)
    assert first.means.notna().all(axis=None)
    more = Plan(PLAN.systems, seeds=3, options=PLAN.options)
    second, fresh = ran(tmp_path, more, Source("mine", DATA))
    assert fresh == [False] * 4 + [True] * 2
    assert len(second.runs) == 6
    again, fresh = ran(tmp_path, PLAN, Source("mine", DATA))
    assert fresh == [False] * 4
    assert again.facts() == first.facts()


def test_settings_of_a_network_reach_that_of_best_and_runs_without_them_keep_their_files() -> None:
    by_name = Plan(("best",), seeds=1, options={"best": {"epochs": 3, "threshold": 0.3}})
    in_one = {"network_settings": {"epochs": 3}, "threshold": 0.3}
    assert list(by_name.specify("mine")) == [RunSpec("mine", "best", in_one)]
    assert list(Plan(("best",), seeds=1).specify("mine")) == [RunSpec("mine", "best")]
    with pytest.raises(ChmcnnError, match="fast has no option 'epochs'"):
        Plan(("fast",), options={"fast": {"epochs": 3}})


def test_a_system_that_cannot_run_is_told_beside_the_others(tmp_path: Path) -> None:
    plan = Plan(("C-HMCNN", "h+"), folds=2, options={"C-HMCNN": QUICK, "h+": {"preset": "none"}})
    found, _ = ran(tmp_path, plan, Source("mine", DATA.train))
    assert found.reasons == {("mine", "h+"): "preset is 'none'; expected 'default' or 'paper'."}
    assert found.means.notna().to_numpy().tolist() == [[True, False]]
    assert found.runs["folds"].tolist() == [2] * 4
    with pytest.raises(ChmcnnError, match=r"No run has a result. h\+ on mine: preset is 'none'"):
        ran(tmp_path, Plan(("h+",), folds=2, options={"h+": {"preset": "none"}}), Source("mine", DATA.train))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"systems": ("C-HMCNN", "h++")}, r"Unknown system 'h\+\+'. Did you mean 'h\+'\? Systems: C-HMCNN, HMCN-F"),
        ({"systems": ()}, "systems is empty; choose from C-HMCNN"),
        ({"systems": "h+"}, r"systems is 'h\+'; expected several, such as \('h\+',\)"),
        ({"systems": ("h+", "h+")}, r"System 'h\+' is listed twice"),
        ({"systems": ("h+",), "seeds": 0}, "seeds is 0; expected 1 or more"),
        ({"systems": ("h+",), "folds": 1}, "folds is 1; expected 2 or more"),
        (
            {"systems": ("h+",), "options": {"f+": {}}},
            r"Options are set for 'f\+', which is not among the systems: h\+",
        ),
        ({"systems": ("h+",), "options": {"h+": {"epoch": 1}}}, r"h\+ has no option 'epoch'. Did you mean 'epochs'\?"),
        ({"systems": ("h+",), "options": {"h+": {"random_state": 1}}}, r"h\+ has no option 'random_state'"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        Plan(**settings)


def test_data_that_cannot_be_compared_on_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    plan = Plan(PLAN.systems, folds=50)
    with pytest.raises(ChmcnnError, match="mine has 96 rows, too few for 50 folds"):
        compare([Source("mine", DATA)], plan, tmp_path)
    with pytest.raises(ChmcnnError, match="Two data sets are called 'mine'"):
        compare([Source("mine", DATA), Source("mine", DATA.train)], PLAN, tmp_path)
    for wrong in (Source("mine", DATA), ["mine"]):
        with pytest.raises(ChmcnnError, match=r"no Source; expected a list, such as \[Source\('digits'\)\]"):
            compare(untyped(wrong), PLAN, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(ChmcnnError, match="not the folder of a comparison, so nothing is written to it"):
        prepare(tmp_path)
    with pytest.raises(ChmcnnError, match="the folder is not writable: Not a directory"):
        prepare(tmp_path / "mine.txt" / "inside")
    prepare(tmp_path / "new")
    prepare(tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["runs"]


def test_over_enough_data_sets_each_counts_once() -> None:
    found = summed_up(MANY, repeats=3)
    assert found.ranks is not None
    assert found.ranks.to_dict() == {"C-HMCNN": 1.0, "h+": 2.0, "f+": 3.0}
    assert found.friedman is not None
    assert found.nemenyi is not None
    assert found.friedman.datasets == found.nemenyi.datasets == 6
    assert [(pair.dataset, pair.system) for pair in found.pairs] == [(None, "h+"), (None, "f+")]
    assert [pair.p for pair in found.pairs] == pytest.approx([2 * 2 / 2**6] * 2), "exact, and corrected by Holm"
    assert found.notes[0].startswith("Friedman over 6 data sets: p = ")
    assert "Wilcoxon over data sets" in found.notes[1]


def test_two_systems_need_no_friedman() -> None:
    found = summed_up(MANY, ("C-HMCNN", "h+"))
    assert (found.friedman, found.nemenyi) == (None, None)
    assert found.differs(None, "h+")


def test_seeds_on_the_same_test_rows_are_not_tested() -> None:
    found = summed_up()
    assert found.pairs == ()
    assert len(found.notes) == 1
    assert found.notes[0].startswith(
        "No test on mine: all seeds share the same test rows, so they say nothing about other"
    )


def test_folds_are_tested_by_the_corrected_test() -> None:
    found = summed_up(folds=True)
    scores = found.runs.pivot_table(index="fold", columns="system", values="auprc")
    p = [significance.resampled(scores["C-HMCNN"], scores[name], test_share=1 / 5) for name in ("h+", "f+")]
    assert [pair.p for pair in found.pairs] == significance.holm(p)
    assert found.differs("mine", "f+")
    assert not found.differs("mine", "C-HMCNN")
    assert not summed_up(folds=True, apart=0).differs("mine", "h+")
    assert found.notes[0].startswith("*: differs from C-HMCNN (t-test over splits, corrected for the rows that they")
    assert summed_up(folds=True, apart=0).notes[0].startswith("No system differs significantly from C-HMCNN (t-test")
    assert "it needs at least 3 folds" in summed_up(folds=True, repeats=2).notes[0]


def test_seeds_that_draw_their_own_test_rows_are_tested_by_the_corrected_test() -> None:
    found = summed_up(drawn={"mine": True})
    scores = found.runs.pivot_table(index="seed", columns="system", values="auprc")
    p = [significance.resampled(scores["C-HMCNN"], scores[name], test_share=0.2) for name in ("h+", "f+")]
    assert [(pair.dataset, pair.system) for pair in found.pairs] == [("mine", "h+"), ("mine", "f+")]
    assert [pair.p for pair in found.pairs] == significance.holm(p)
    held_out = len(Source("mine", DATA.train).split().test) / len(DATA.train)
    assert held_out == pytest.approx(0.2, abs=0.01), "the share that the test is corrected for is the one drawn"


def test_few_data_sets_are_not_tested_together() -> None:
    found = summed_up(MANY[:2], folds=True)
    assert found.notes[0] == "No test over data sets: 2 data sets can be ranked, but the test needs at least 6."
    assert {pair.dataset for pair in found.pairs} == {"data0", "data1"}
    assert found.ranks is not None


def test_a_missing_result_is_last_or_its_data_set_is_left_out() -> None:
    lacking = {("data0", "C-HMCNN")}
    last, omitted = (summed_up([*MANY, "data6"], lacking=lacking, missing=missing) for missing in ("last", "omit"))
    assert math.isnan(last.mean("data0", "C-HMCNN")), "a mean of some of the seeds is none"
    assert last.reasons == {("data0", "C-HMCNN"): WHY}
    assert last.ranks is not None
    assert omitted.ranks is not None
    assert last.ranks["C-HMCNN"] == pytest.approx((3 + 6) / 7)
    assert omitted.ranks["C-HMCNN"] == 1
    assert last.friedman is not None
    assert omitted.friedman is not None
    assert (last.friedman.datasets, omitted.friedman.datasets) == (7, 6)
    fewer = summed_up(MANY, lacking=lacking, missing="omit")
    assert fewer.notes[0] == "No test over data sets: 5 data sets can be ranked, but the test needs at least 6."


def test_a_system_without_any_result_does_not_stop_the_tests_of_the_others() -> None:
    lacking = {(name, "f+") for name in MANY}
    omitted = summed_up(MANY, lacking=lacking, missing="omit")
    assert omitted.ranks is not None
    assert omitted.ranks.index.tolist() == ["C-HMCNN", "h+"]
    assert [pair.system for pair in omitted.pairs] == ["h+"]
    assert summed_up(folds=True, lacking={("mine", "C-HMCNN")}).pairs == (), "there is no control"


def test_one_system_is_not_tested() -> None:
    assert (
        summed_up(systems=("h+",)).notes
        == summed_up(MANY, ("h+",)).notes
        == ("There is only one system, so there is nothing to compare it with.",)
    )


def test_mixed_versions_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    several = iter([{"chmcnn": "0.1"}] * 7 + [{"chmcnn": "0.2"}] * 8)
    monkeypatch.setattr("tests.results.versions", lambda: next(several))
    found = summed_up()
    assert found.versions == ({"chmcnn": "0.1"}, {"chmcnn": "0.2"})
    assert found.notes[-1].startswith("The results come from several versions")


def test_a_machine_reads_it_all() -> None:
    facts = json.loads(dumps(summed_up(MANY, lacking={("data0", "h+")}).facts()))
    assert len(facts["results"]) == 18
    lacking = next(row for row in facts["results"] if (row["dataset"], row["system"]) == ("data0", "h+"))
    assert (lacking["auprc"], lacking["reason"]) == (None, WHY)
    assert facts["friedman"]["p"] < 0.05
    assert facts["nemenyi"]["critical difference"] > 1
    assert facts["control"] == "C-HMCNN"


class Deadly(ProcessExecutor):
    """An executor whose processes are all killed."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        del fn, args, kwargs
        return super().submit(signal.raise_signal, signal.SIGKILL)


def test_a_killed_process_is_a_missing_result(tmp_path: Path) -> None:
    ran(tmp_path, Plan(("C-HMCNN",), seeds=1, options={"C-HMCNN": QUICK}), Source("mine", DATA))
    seen: list[Run] = []
    plan = Plan(("C-HMCNN", "h+"), seeds=1, options=PLAN.options)
    with Deadly(1) as executor:
        execution = Execution(executor=executor, progress=lambda run, **_: seen.append(run))
        result = compare([Source("mine", DATA)], plan, tmp_path, execution)
    reason = "the process was killed by signal 9; the memory may have been too small"
    assert result.reasons == {("mine", "h+"): reason}
    assert [run.figures is None for run in seen] == [False, True]


def test_any_executor_can_run_a_comparison(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        result = compare([Source("mine", DATA)], PLAN, tmp_path, Execution(executor=executor))
        assert executor.submit(abs, -1).result() == 1, "it stays open"
    expected, fresh = ran(tmp_path / "processes", PLAN, Source("mine", DATA))
    assert fresh == [True] * 4
    assert result.means.equals(expected.means)


def test_the_rows_are_those_in_use(tmp_path: Path) -> None:
    plan = Plan(("h+",), folds=2, options={"h+": QUICK})
    result, _ = ran(tmp_path, plan, Source("mine", DATA))
    assert result.facts()["data"]["mine"]["rows"] == len(DATA.train) + len(DATA.valid) < 120
    plan = Plan(("h+",), seeds=1, options={"h+": QUICK})
    assert ran(tmp_path, plan, Source("mine", DATA))[0].sizes["mine"]["rows"] == 120


@pytest.mark.parametrize("name", ["spo_FUN", "enron"])
def test_a_worker_without_the_files_of_the_benchmark_gets_the_rows(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(("h+",), seeds=2, options={"h+": QUICK})
    source, executor = Source(name, data_dir=data), PackedExecutor()
    here = compare([source], plan, tmp_path / "here", Execution(executor=executor))
    assert executor.calls == 2
    monkeypatch.setattr("chmcnn.comparison._splits.is_here", lambda *_: False)
    sent = compare([source], plan, tmp_path / "sent", Execution(executor=executor))
    assert executor.calls == 2 + 1 + 2, "one says that there are no files"
    assert sent.runs["auprc"].tolist() == here.runs["auprc"].tolist()


def test_a_folder_of_another_machine_is_not_looked_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHMCNN_DATA", str(data))
    assert Source("spo_FUN", data_dir=Path("/no/such/folder")).find() == Source("spo_FUN")
    monkeypatch.delenv("CHMCNN_DATA")
    assert Source("spo_FUN", data_dir=Path("/no/such/folder")).find() is None


def test_locks_are_released_after_an_error(tmp_path: Path) -> None:
    class Broken(InlineExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            del fn, args, kwargs
            raise ChmcnnError("no cluster")

    with pytest.raises(ChmcnnError, match="no cluster"):
        compare([Source("mine", DATA)], PLAN, tmp_path, Execution(executor=Broken()))
    result = compare([Source("mine", DATA)], PLAN, tmp_path, Execution(executor=InlineExecutor()))
    assert len(result.runs) == 4
