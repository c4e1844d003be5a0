"""The benchmark's data sets and recipes, without their files."""

from pathlib import Path
from typing import Any

import pytest
from tests.results import write_runs
from tests.untyped import untyped

from chmcnn.comparison._splits import Source
from chmcnn.datasets.synthetic import learnable
from chmcnn.errors import ChmcnnError, DatasetError, DownloadError
from chmcnn.experiments import recipes
from chmcnn.experiments.context import Context
from chmcnn.experiments.recipes import Benchmark


def small() -> Source:
    return Source("spo_FUN", learnable(rows=60, features=4, classes=6))


def test_the_paper_has_settings_of_its_own_for_each_data_set() -> None:
    assert recipes.options("default", "enron") == {}
    assert recipes.options("paper", "enron") == {
        "preset": "paper",
        "widths": [1000, 1000],
        "learning_rate": 1e-5,
    }
    assert recipes.options("paper", "expr_FUN" + recipes.RECONSTRUCTED)["widths"] == [1000, 1000]
    with pytest.raises(ChmcnnError, match="recipe is 'quick'; expected one of 'default', 'paper'"):
        recipes.options(untyped("quick"), "enron")


def find_sources(name: str, *names: str, reconstructed: Path | None = None) -> tuple[list[Source], dict[str, str]]:
    """Find the files of data sets."""
    return recipes._find_sources(Context(Path()), Benchmark([name, *names], reconstructed=reconstructed))


def test_a_data_set_that_is_not_available_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def locate(files: Any, *_: object, **__: object) -> None:
        if any("expr" in file.path for file in files):
            raise DownloadError("expr_FUN.train.arff is not here.")

    monkeypatch.setattr(recipes, "locate", locate)
    sources, missing = find_sources("expr_FUN", "spo_FUN")
    assert [source.name for source in sources] == ["spo_FUN"]
    assert missing == {"expr_FUN": "expr_FUN.train.arff is not here."}
    with pytest.raises(DatasetError, match="not here"):
        find_sources("expr_FUN")
    with pytest.raises(DatasetError, match="Did you mean 'spo_FUN'"):
        find_sources("spo_FUM")


def test_a_train_file_that_is_not_the_benchmarks_marks_the_data_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: dict[str, Any] = {}

    def load(name: str, **options: object) -> object:
        given[name] = options["named"]
        return small().data

    monkeypatch.setattr(recipes, "load", load)
    (tmp_path / "expr_FUN.train.arff").touch()
    (source,), _ = find_sources("expr_FUN", reconstructed=tmp_path)
    assert source.name == "expr_FUN (reconstructed train)"
    assert given == {"expr_FUN": {"train": tmp_path / "expr_FUN.train.arff"}}
    assert recipes.plain(source.name) == "expr_FUN"
    with pytest.raises(DatasetError, match=r"reconstructed files, .*, does not exist"):
        find_sources("expr_FUN", reconstructed=tmp_path / "nowhere")


def test_what_is_finished_is_not_run_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recipes, "options", lambda recipe, _: {"preset": recipe, "epochs": 2, "widths": [4]})
    monkeypatch.setattr(recipes, "_find_sources", lambda *_: ([small()], {}))
    context = Context(tmp_path, jobs=1)
    recipes.run(context, Benchmark(["spo_FUN"], "paper", seeds=1), ["C-HMCNN"])
    (first,) = (tmp_path / "runs").glob("*.json")
    before = first.stat().st_mtime_ns
    recipes.run(context, Benchmark(["spo_FUN"], "paper", seeds=2), ["C-HMCNN"])
    assert first.stat().st_mtime_ns == before
    table = recipes.collect(tmp_path / "runs", ["C-HMCNN"])
    assert table is not None
    assert table[["recipe", "dataset", "seed"]].to_numpy().tolist() == [
        ["paper", "spo_FUN", 0],
        ["paper", "spo_FUN", 1],
    ]


def test_results_come_in_the_order_of_the_published_tables(tmp_path: Path) -> None:
    write_runs(tmp_path, {"enron": [0.7], "expr_FUN (reconstructed train)": [0.3], "cellcycle_FUN": [0.25, 0.26]})
    table = recipes.collect(tmp_path, ["C-HMCNN"])
    assert table is not None
    assert table["dataset"].unique().tolist() == ["cellcycle_FUN", "expr_FUN (reconstructed train)", "enron"]
    means = recipes.means(table, "auprc").set_index("dataset").loc["cellcycle_FUN"]
    assert means["mean"] == pytest.approx(0.255)
    assert means["seeds"] == 2


def test_a_folder_without_results_gives_none(tmp_path: Path) -> None:
    assert recipes.collect(tmp_path / "nothing", ["C-HMCNN"]) is None


@pytest.mark.parametrize(
    ("dataset", "system", "options"),
    [
        ("mine", "C-HMCNN", {}),
        ("enron", "h+", {}),
        ("enron", "C-HMCNN", {"epochs": 1}),
        ("enron", "C-HMCNN", {"preset": "paper"}),
        ("enron", "C-HMCNN", {"preset": "mine"}),
    ],
)
def test_results_of_anything_else_are_refused_by_name(
    tmp_path: Path, dataset: str, system: str, options: dict[str, Any]
) -> None:
    write_runs(tmp_path, {dataset: [0.7]}, system, options)
    (path,) = tmp_path.glob("*.json")
    with pytest.raises(ChmcnnError, match="follows no recipe of this table; move it elsewhere") as caught:
        recipes.collect(tmp_path, ["C-HMCNN"])
    assert str(caught.value).startswith(f"{path}: the result of {system} on {dataset!r} with {options}")
