"""What `chmcnn predict` answers: ranked classes, branches, labels at any threshold, and files for CAFA."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cafaeval.parser import gt_parser, obo_parser, pred_parser
from tests.cli.inside import run

from chmcnn import CHMCNNClassifier, Hierarchy
from chmcnn.cli._answers import AnswerOptions
from chmcnn.datasets import read_features
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import Limit

IDS = ("--id-column", "name")
PREDICT = ("predict", "model", "new.csv", *IDS)


def ok(*arguments: str | Path, cwd: Path) -> str:
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(printed: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(printed))


def test_the_long_form_has_the_best_classes_of_each_row_highest_first(folder: Path) -> None:
    long = table(ok(*PREDICT, "--top", "2", cwd=folder))
    wide = table(ok(*PREDICT, cwd=folder)).set_index("name")
    assert list(long) == ["name", "class", "score"]
    assert long["name"].tolist() == np.repeat(wide.index, 2).tolist()
    for name, rows in long.groupby("name"):
        scores = wide.to_numpy()[wide.index.get_loc(str(name))]
        assert rows["score"].tolist() == pytest.approx(sorted(scores, reverse=True)[:2], abs=1e-6)
        of_class = dict(zip(wide.columns, scores.tolist(), strict=True))
        assert rows["score"].tolist() == pytest.approx([of_class[kind] for kind in rows["class"]], abs=1e-6)
    some = table(ok(*PREDICT, "--min-score", "0.5", "--within", "animal", cwd=folder))
    assert len(some) == int((wide[["animal", "cat", "dog"]].to_numpy() >= 0.5).sum())
    leaves = table(ok(*PREDICT, "--format", "long", "--most-specific", cwd=folder))
    assert set(leaves["class"]) == {"cat", "dog"}
    numbered = table(ok("predict", "model", "new.csv", "--id-column", "", "--top", "1", cwd=folder))
    assert list(numbered) == ["row", "class", "score"]
    assert numbered["row"].tolist() == list(range(10))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "json"])
def test_every_kind_of_file_has_the_same_lines_written_in_blocks(
    folder: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = table(ok(*PREDICT, "--min-score", "0.3", cwd=folder))
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 12)
    file = tmp_path / f"long.{suffix}"
    done = run(*PREDICT, "--min-score", "0.3", "-o", file, cwd=folder)
    assert done.stderr == f"10 rows, {len(expected)} lines: {file}\n"
    readers: dict[str, Any] = {
        "csv": pd.read_csv,
        "tsv": pd.read_table,
        "parquet": pd.read_parquet,
        "json": pd.read_json,
    }
    found = readers[suffix](file)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, atol=1e-6)


def test_nothing_above_the_lowest_score_is_an_empty_table(folder: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(folder / "new.csv")
    rows.assign(size=3.0).to_csv(tmp_path / "dogs.csv", index=False)  # no cats
    options = ("predict", folder / "model", "dogs.csv", "--min-score", "1", "--within", "cat")
    assert ok(*options, cwd=tmp_path) == "name,class,score\n"
    assert json.loads(ok(*options, "--json", cwd=tmp_path)) == []
    ok(*options, "-o", "none.parquet", cwd=tmp_path)
    assert list(pd.read_parquet(tmp_path / "none.parquet")) == ["name", "class", "score"]


def test_titles_are_a_column_of_the_long_form(folder: Path) -> None:
    model = CHMCNNClassifier.load(folder / "model")
    model.hierarchy_ = model.hierarchy_.with_titles({"animal": "an animal"})
    features = read_features(folder / "new.csv", columns=list(model.feature_names_in_), categorical=["zone"])
    (block,) = AnswerOptions(top=2).rank(model, features)
    assert list(block) == ["row", "class", "name", "score"]
    (same,) = AnswerOptions(top=2).rank(model, features.rename_axis("name"))  # the name of another column
    assert list(same) == ["row", "class", "name", "score"]
    assert dict(zip(block["class"], block["name"], strict=True))["animal"] == "an animal"


def test_labels_at_any_threshold_and_of_one_branch(folder: Path) -> None:
    wide = table(ok(*PREDICT, cwd=folder)).set_index("name")
    for threshold in ("0.3", "0.9"):
        labels = table(ok(*PREDICT, "--threshold", threshold, cwd=folder)).fillna("")
        expected = [";".join(sorted(row[row >= float(threshold)].index)) for _, row in wide.iterrows()]
        assert labels["labels"].tolist() == expected
    tuned = [ok(*PREDICT, "--threshold", name, cwd=folder) for name in ("tune", "hierarchical_f", "fmax")]
    assert tuned[0] == ok(*PREDICT, "--format", "labels", cwd=folder) == ok(*PREDICT, "--labels", cwd=folder)
    within = table(ok(*PREDICT, "--labels", "--within", "pet", cwd=folder)).fillna("")
    assert set(";".join(within["labels"]).split(";")) <= {"", "pet", "dog"}
    assert ok(*PREDICT, "--within", "pet", cwd=folder).splitlines()[0] == "name,dog,pet"


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ((), {}),
        (("--risk-of", "wrong"), {"risk_of": "wrong"}),
        (("--back-off", "--most-specific"), {"back_off": True, "most_specific": True}),
        (("--confidence", "0.6"), {"confidence": 0.6}),
    ],
)
def test_labels_with_a_limited_risk_are_those_of_the_library(
    folder: Path, options: tuple[str, ...], arguments: dict[str, Any]
) -> None:
    model = CHMCNNClassifier.load(folder / "model")
    features = read_features(folder / "new.csv", columns=list(model.feature_names_in_), categorical=["zone"])
    expected = model.predict_labels(features, risk=0.2, **arguments)
    found = table(ok(*PREDICT, "--risk", "0.2", *options, cwd=folder)).fillna("")
    assert found["labels"].tolist() == [";".join(sorted(names)) for names in expected]


def test_a_limited_risk_says_from_which_score_on_classes_are_answered(folder: Path) -> None:
    model = CHMCNNClassifier.load(folder / "model")
    score = model.find_risk_thresholds(Limit(0.2, "deepest"))[0]
    told = run(*PREDICT, "--risk", "0.2", "--back-off", cwd=folder).stderr
    assert f"19 held-out rows set the limit: classes are answered from a score of {score:.3g} on." in told
    assert not run(*PREDICT, "--risk", "0.2", "--quiet", cwd=folder).stderr


def test_evaluate_and_explain_take_a_threshold(folder: Path) -> None:
    figures = [
        json.loads(ok("evaluate", "model", "test.csv", "--json", "--quiet", "--threshold", threshold, cwd=folder))
        for threshold in ("0", "hierarchical_f")
    ]
    assert figures[0]["figures"]["hierarchical recall"] == 1
    assert figures[0]["auprc"] == figures[1]["auprc"]
    assert figures[0]["figures"]["hierarchical F"] < figures[1]["figures"]["hierarchical F"]
    everything = json.loads(ok("explain", "model", "new.csv", "--threshold", "0", "--json", cwd=folder))
    assert {reason["name"] for reason in everything["0"]} == {"animal", "cat", "dog", "pet"}


def test_a_row_is_explained_by_its_id(folder: Path) -> None:
    by_id = ok("explain", "model", "new.csv", *IDS, "--row", "n123", cwd=folder)
    assert by_id.splitlines()[0] == "row n123"
    assert by_id.splitlines()[1:] == ok("explain", "model", "new.csv", *IDS, "--row", "3", cwd=folder).splitlines()[1:]


def test_an_id_that_is_a_number_wins_over_the_position(folder: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(folder / "new.csv")
    rows["name"] = [str(9 - number) for number in range(10)]
    rows.to_csv(tmp_path / "numbered.csv", index=False)
    first = ok("explain", folder / "model", "numbered.csv", *IDS, "--row", "9", cwd=tmp_path).splitlines()[1:]
    assert first == ok("explain", "model", "new.csv", "--row", "0", cwd=folder).splitlines()[1:]


def test_cafas_evaluator_reads_the_cafa_form(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "predictions.tsv"
    ok(*PREDICT, "--format", "cafa", "--min-score", "0.05", "-o", file, cwd=folder)
    terms = {"animal": [], "pet": [], "cat": ["animal"], "dog": ["animal", "pet"]}
    stanzas = [
        "\n".join(["[Term]", f"id: {name}", f"name: {name}", "namespace: zoo", *(f"is_a: {up}" for up in parents)])
        for name, parents in terms.items()
    ]
    (tmp_path / "zoo.obo").write_text("format-version: 1.2\n\n" + "\n\n".join(stanzas) + "\n")
    (tmp_path / "truth.tsv").write_text("".join(f"n{number}\tdog\n" for number in range(120, 130)))
    ontologies = obo_parser(str(tmp_path / "zoo.obo"))
    truth = gt_parser(str(tmp_path / "truth.tsv"), ontologies)
    (found,) = pred_parser(str(file), ontologies, truth, "max").values()
    wide = table(ok(*PREDICT, cwd=folder)).set_index("name")
    columns = {name: term["index"] for name, term in ontologies["zoo"].terms_dict.items()}
    assert len(found.ids) == 10
    for name, row in found.ids.items():
        for term, column in columns.items():
            score = wide.loc[name, term]
            assert found.matrix[row, column] == pytest.approx(score if score >= 0.05 else 0, abs=0.0006)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--top", "0"), "--top is 0; expected an integer, 1 or more."),
        (("--top", "-3"), "--top is -3; expected"),
        (("--min-score", "1.5"), "--min-score is 1.5; expected a number from 0 to 1."),
        (("--threshold", "high"), "--threshold is 'high'; expected a number from 0 to 1, 'tune'"),
        (("--threshold", "2"), "--threshold is '2'; expected a number from 0 to 1"),
        (("--min-score", "0", "--labels"), "--min-score has no effect on label sets"),
        (("--top", "2", "--labels"), "--top has no effect on label sets (--format labels); use --format long"),
        (("--top", "2", "--format", "wide"), "--top has no effect on a column of scores for each class"),
        (("--min-score", "0.2", "--labels"), "use --format long, or --threshold for label sets."),
        (("--top", "2", "--threshold", "0.2"), "--threshold has no effect on the long form"),
        (("--format", "cafa", "--threshold", "0.2"), "--threshold has no effect on CAFA's form"),
        (("--format", "wide", "--most-specific"), "use --format labels or --format long."),
        (("--format", "long", "--labels"), "--labels and --format long cannot be used together; use one of them."),
        (("--format", "cafa", "--json"), "--json and --format cafa cannot be used together"),
        (("--format", "cafa", "-o", "x.csv"), "x.csv ends in '.csv'; expected .tsv or .txt."),
        (("--risk", "0"), "--risk is 0.0; expected a number above 0 and below 1."),
        (("--risk", "0.1", "--confidence", "90"), "--confidence is 90.0; expected a number above 0 and below 1."),
        (("--risk", "0.1", "--threshold", "0.5"), "--threshold and --risk cannot be used together"),
        (
            ("--risk", "0.1", "--top", "3"),
            "--risk has no effect on the long form (--format long); use --format labels.",
        ),
        (("--risk", "0.01"), "A risk of 0.01 cannot be reached: with 19 held-out rows the least is 0.05."),
        (("--back-off",), "--back-off has no effect without --risk; use --risk too"),
        (("--risk-of", "wrong"), "--risk-of has no effect without --risk"),
        (("--risk", "0.1", "--risk-of", "missed", "--back-off"), "--back-off limits the risk of a wrong answer"),
        (("--within", "dgo"), "--within: Unknown class 'dgo'. Did you mean 'dog'?"),
        (("--format", "tall"), "Invalid value for '--format'"),
    ],
)
def test_what_contradicts_itself_is_told(folder: Path, options: tuple[str, ...], told: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run(*PREDICT, *options, cwd=folder)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_title_in_the_place_of_a_class_is_told_with_its_id() -> None:
    topics = Hierarchy.from_edges([("2", "21")], titles={"21": "tennis"})
    with pytest.raises(ChmcnnError, match=r"--within: Unknown class 'tennis'\. It is the title of '21'; use the id\."):
        AnswerOptions(within="tennis").find_branch(topics)


def test_an_unknown_id_and_a_missing_tuning_are_told(folder: Path, tmp_path: Path) -> None:
    done = run("explain", "model", "new.csv", *IDS, "--row", "n12", cwd=folder)
    assert done.returncode == 2
    assert "--row is 'n12', but no row of new.csv has this id. Did you mean 'n12" in done.stderr
    rows = pd.read_csv(folder / "new.csv")
    rows["name"] = [f"two words {number}" for number in range(10)]
    rows.to_csv(tmp_path / "spaces.csv", index=False)
    done = run("predict", folder / "model", "spaces.csv", *IDS, "--format", "cafa", "-o", "x.tsv", cwd=tmp_path)
    assert "Row 'two words 0' has white space, which separates columns in CAFA's form" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spaces.csv"]
    rows["name"] = [*(f"n{number}" for number in range(9)), "the last"]
    rows.to_csv(tmp_path / "spaces.csv", index=False)
    done = run("predict", folder / "model", "spaces.csv", *IDS, "--format", "cafa", cwd=tmp_path)
    assert not done.stdout  # told before anything is printed
    assert "Row 'the last' has white space" in done.stderr
    model = CHMCNNClassifier(Hierarchy.from_edges([("a", "b")]), epochs=1, widths=(2,), validation=0)
    model.fit(rows[["size"]], [{"b"}] * len(rows)).save(tmp_path / "model")
    done = run("predict", "model", "spaces.csv", "--threshold", "fmax", cwd=tmp_path)
    assert "--threshold is 'fmax', but model was trained without validation rows to tune it on" in done.stderr
