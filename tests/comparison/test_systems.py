"""Comparisons with systems and measures of the user."""

import importlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.neighbors import KNeighborsClassifier

from chmcnn import ChmcnnError, metrics
from chmcnn._io.strict_json import dumps
from chmcnn.comparison import Execution, Plan, RunSpec, Source, compare, find_system
from chmcnn.comparison._runs import read
from chmcnn.datasets.synthetic import learnable
from chmcnn.report.comparison_page import page
from chmcnn.report.comparison_terminal import score_rows

# Worker processes import it by this name; some installed package has a `tests` of its own.
sys.path.append(str(Path(__file__).parent))
own: Any = importlib.import_module("own_systems")

DATA = learnable(rows=120, features=5, classes=10, depth=3)
MINE = Source("mine", DATA)
KNN = "sklearn.neighbors:KNeighborsClassifier"


def ran(folder: Path, plan: Plan, jobs: int | None = None) -> tuple[Any, list[bool]]:
    """A comparison, in a thread if nothing else is said, and which results were computed just now."""
    flags: list[bool] = []
    with ThreadPoolExecutor(1) as threads:
        executor = None if jobs else threads
        execution = Execution(jobs, progress=lambda _, fresh: flags.append(fresh), executor=executor)
        return compare([MINE], plan, folder, execution), flags


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A comparison in worker processes."""
    folder = tmp_path_factory.mktemp("own")
    systems = (own.Frequencies, KNN, own.Plain, "own_systems:Failing")
    options = {"my frequencies": {"power": 2}, "KNeighborsClassifier": {"n_neighbors": 3}}
    plan = Plan(systems, seeds=1, options=options, metrics=(own.score_error, "auprc", "precision@2"))
    return folder, ran(folder, plan, jobs=2)[0]


def test_worker_processes_run_systems_and_measures_of_the_user(done: tuple[Path, Any]) -> None:
    found = done[1]
    assert found.means.columns.tolist() == ["my frequencies", "KNeighborsClassifier", "Plain", "failing"]
    truth = DATA.test.Y
    shares = own.Frequencies(DATA.hierarchy, power=2).fit(
        DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y)
    )
    scores = shares.predict_proba(DATA.test.X)
    expected = own.score_error(truth, scores, slice(None))
    assert found.mean("mine", "my frequencies") == pytest.approx(expected)
    assert found.mean("mine", "my frequencies", found.measures[1]) == pytest.approx(metrics.auprc(truth, scores))
    assert found.details["violations_after"].dropna().eq(0).all()


def test_an_error_of_a_system_is_its_result_with_the_place_in_its_code(done: tuple[Path, Any]) -> None:
    found = done[1]
    assert found.reasons.keys() == {("mine", "failing")}
    reason = found.reasons["mine", "failing"]
    assert reason.startswith("AttributeError: 'Failing' object has no attribute 'nothing' (own_systems.py, line ")
    assert reason.endswith("in uncorrected_proba)")
    assert "self.nothing[len(X)]" in found.traces["mine", "failing"]
    shown = page(found, "chmcnn compare")
    assert "Traceback" in shown
    assert "self.nothing[len(X)]" in shown


def test_several_measures_are_in_one_table_and_lower_may_be_better(done: tuple[Path, Any]) -> None:
    rows = score_rows(done[1])
    assert [cell.text for cell in rows[0]] == ["mine", "score_error ↓", "AU(PRC)", "precision at 2"]
    assert [row[0].text for row in rows[1:]] == done[1].means.columns.tolist()
    errors = done[1].means.loc["mine"]
    assert done[1].best("mine") == errors.idxmin() != errors.idxmax()
    assert [row[1].best for row in rows[1:]].index(True) == errors.dropna().tolist().index(errors.min())
    facts = json.loads(dumps(done[1].facts()))
    assert [each["name"] for each in facts["measures"]] == ["score_error", "auprc", "precision@2"]
    assert [each["higher is better"] for each in facts["measures"]] == [False, True, True]
    assert facts["results"][0].keys() >= {"auprc", "score_error", "precision@2", "deviation", "deviations"}
    assert "traceback" in facts["results"][3]
    assert "An arrow" in page(done[1], "chmcnn compare")


def test_ranks_follow_the_direction_of_the_first_measure(tmp_path: Path) -> None:
    systems = (own.Frequencies, own.Plain)
    with ThreadPoolExecutor(1) as threads:
        sources = [Source(name, learnable(rows=60, features=3, classes=6, seed=at)) for at, name in enumerate("ab")]
        plan = Plan(systems, seeds=1, metrics=(own.score_error, "auprc"))
        found = compare(sources, plan, tmp_path, Execution(executor=threads))
    means = found.scores["score_error"].means
    assert (means["my frequencies"] < means["Plain"]).all()
    assert found.ranks is not None
    assert found.ranks.to_dict() == {"my frequencies": 1, "Plain": 2}
    assert [row[0].text for row in score_rows(found)] == [
        "data set",
        "a: score_error ↓",
        "a: AU(PRC)",
        "b: score_error ↓",
        "b: AU(PRC)",
        "average rank by score_error",
    ]


def test_a_changed_class_is_run_again_and_the_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan((own.Frequencies, own.Plain), seeds=1)
    assert ran(tmp_path, plan)[1] == [True, True]
    assert ran(tmp_path, plan)[1] == [False, False]
    monkeypatch.setattr(own.Plain, "version", "2", raising=False)
    assert ran(tmp_path, plan)[1] == [False, True]


def test_every_result_has_the_measures_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systems = (own.Frequencies,)
    assert ran(tmp_path, Plan(systems, seeds=1))[1] == [True]
    assert ran(tmp_path, Plan(systems, seeds=1, metrics=("smin", "recall@10", "mistake_severity")))[1] == [False]
    assert ran(tmp_path, Plan(systems, seeds=1, metrics=(own.mean_score,)))[1] == [True], "it lacks this one"
    assert ran(tmp_path, Plan(systems, seeds=1, metrics=(own.score_error,)))[1] == [True]
    assert ran(tmp_path, Plan(systems, seeds=1, metrics=(own.mean_score,)))[1] == [False], "it still has this one"
    monkeypatch.setattr(own.mean_score, "version", "2", raising=False)
    assert ran(tmp_path, Plan(systems, seeds=1, metrics=(own.mean_score,)))[1] == [True], "the measure has changed"


def test_a_result_of_an_earlier_version_has_only_the_main_measure(tmp_path: Path) -> None:
    plan = Plan(("C-HMCNN",), seeds=1, options={"C-HMCNN": {"epochs": 1, "widths": [4]}})
    ran(tmp_path, plan)
    (path,) = (tmp_path / "runs").glob("*.json")
    result = read(path)
    assert result.figures is not None
    before = replace(result.figures, measures=None)
    from chmcnn._io import results

    content = replace(result, figures=before).to_json()
    for name in ("own", "own_version"):
        content["cell"].pop(name)
    content["figures"].pop("measures")
    results.write(path, content)
    assert ran(tmp_path, plan)[1] == [False]
    assert ran(tmp_path, replace(plan, metrics=("fmax",)))[1] == [True]


def test_the_files_of_earlier_results_keep_their_names() -> None:
    spec = RunSpec("cellcycle_FUN", "C-HMCNN", {}, 1)
    stored = {path.name for path in (Path(__file__).parents[2] / "results").glob("*/runs/cellcycle_FUN-C-HMCNN-*")}
    assert spec.path(Path("runs")).name in stored


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"systems": ("C-HMCN",)},
            "Unknown system 'C-HMCN'. Did you mean 'C-HMCNN'.*, or module:Class for one of your",
        ),
        ({"systems": ("none_such:Mine",)}, "there is no module 'none_such'"),
        ({"systems": ("own_systems:mean_score",)}, "is of type function; expected a class"),
        ({"systems": ("pathlib:Path",)}, "'pathlib:Path' is no system: expected a subclass of chmcnn.estimator"),
        ({"systems": (own.Logistic,)}, "is called 'Logistic', like a system of the package; give it another name"),
        ({"systems": (own.Plain, "own_systems:Plain")}, "System 'Plain' is listed twice; list it once, or"),
        ({"systems": (own.Plain,), "options": {"Plain": {"c": 1}}}, r"Plain has no option 'c'.* Its options: constant"),
        ({"systems": (own.Frequencies,), "options": {"my frequencies": {"powr": 1}}}, "Did you mean 'power'?"),
        ({"systems": (own.Plain,), "metrics": ("auprcc",)}, "Unknown measure 'auprcc'. Did you mean 'auprc'?"),
        ({"systems": (own.Closed,)}, r"'own_systems:Closed' has no evaluated, random_state; add \*\*options to it"),
        ({"systems": (own.Plain,), "metrics": ()}, "metrics is empty; expected at least one measure"),
        ({"systems": (own.Plain,), "metrics": ("fmax", "fmax")}, "Measure 'fmax' is listed twice"),
        ({"systems": (own.Plain,), "metrics": (lambda *_: 0,)}, "so worker processes cannot import it"),
    ],
)
def test_a_plan_with_unknown_systems_or_measures_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        Plan(**settings)


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        (
            own.broken,
            r"The measure broken fails on random scores of mine: IndexError: .* \(own_systems.py, line \d+, in broken",
        ),
        (own.undefined, "The measure undefined is not defined on the test rows of mine; use another one"),
        ("precision@20", "The measure precision@20 is not defined on the test rows of mine"),
    ],
)
def test_a_measure_that_fails_is_told_before_anything_is_run(tmp_path: Path, measure: Any, told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        ran(tmp_path, Plan((own.Plain,), seeds=1, metrics=(measure,)))
    assert list(tmp_path.iterdir()) == []


def test_a_class_of_a_prompt_needs_an_executor_that_shares_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn._io.user_code.is_interactive", lambda path: path.endswith(":Plain"))
    with pytest.raises(ChmcnnError, match="own_systems:Plain is defined in a notebook or at a prompt"):
        ran(tmp_path, Plan((own.Plain,), seeds=1), jobs=2)
    assert ran(tmp_path, Plan((own.Plain,), seeds=1))[1] == [True]


def test_a_class_of_the_package_keeps_its_name() -> None:
    from chmcnn import CHMCNNClassifier

    assert find_system(CHMCNNClassifier) == find_system("C-HMCNN")
    assert find_system(KNeighborsClassifier).name == "KNeighborsClassifier"
