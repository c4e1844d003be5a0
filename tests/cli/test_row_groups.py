"""predict with a folder: one file for each row group."""

import json
from pathlib import Path
from typing import Any

import filelock
import pandas as pd
import pytest
from tests.cli.inside import run
from tests.packed import PackedExecutor

from chmcnn import CHMCNNClassifier
from chmcnn.cli import _row_groups


@pytest.fixture(scope="module")
def big(folder: Path) -> Path:
    """Two Parquet files of the rows to predict, with three row groups and one."""
    place = folder / "big"
    place.mkdir()
    rows = pd.read_csv(folder / "test.csv", dtype={"zone": str})
    rows.iloc[:25].to_parquet(place / "a.parquet", row_group_size=10, index=False)
    rows.iloc[25:].to_parquet(place / "b.parquet", index=False)
    return folder


def names(output: Path) -> list[str]:
    return sorted(path.name for path in output.iterdir() if not path.name.startswith((".", "_")))


FILES = ["a-00000.parquet", "a-00001.parquet", "a-00002.parquet", "b-00000.parquet"]


def read(output: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(output / name) for name in names(output)])


@pytest.mark.parametrize("options", [(), ("--top", "2"), ("--labels",)])
def test_the_files_have_the_predictions_of_all_rows(big: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    done = run("predict", "model", "big/*.parquet", *options, "-o", tmp_path / "scores", cwd=big)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"30 rows, 4 files: {tmp_path / 'scores'}\n")
    assert names(tmp_path / "scores") == FILES
    assert run("predict", "model", "test.csv", *options, "-o", tmp_path / "whole.parquet", cwd=big).returncode == 0
    parts, whole = read(tmp_path / "scores"), pd.read_parquet(tmp_path / "whole.parquet")
    if "score" in whole:  # the long form has no index
        parts = parts.reset_index(drop=True)
    pd.testing.assert_frame_equal(parts, whole, atol=1e-6)


def test_a_cluster_gives_the_same(big: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.cluster.ClusterExecutor", PackedExecutor)
    words = ("predict", "model", "big", "--top", "2", "-o")
    done = run(*words, tmp_path / "cluster", "--cluster", "tcp://packed:8786", cwd=big)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("The cluster at tcp://packed:8786 executes 1 run at once.\n")
    assert run(*words, tmp_path / "here", cwd=big).returncode == 0
    pd.testing.assert_frame_equal(read(tmp_path / "cluster"), read(tmp_path / "here"))


def test_rows_without_names_are_numbered_in_their_file(big: Path, tmp_path: Path) -> None:
    done = run("predict", "model", "big", "--id-column", "", "--top", "1", "-o", tmp_path / "scores", cwd=big)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "scores")["row"].tolist() == [*range(25), *range(5)]


def test_it_resumes_where_it_was_stopped(big: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("predict", "model", "big", "-o", tmp_path / "scores")
    predict, calls = CHMCNNClassifier.predict_proba, list[Any]()

    def stop(self: CHMCNNClassifier, X: Any) -> Any:
        calls.append(X)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return predict(self, X)

    monkeypatch.setattr(CHMCNNClassifier, "predict_proba", stop)
    assert run(*words, cwd=big).returncode == 130
    assert names(tmp_path / "scores") == FILES[:2]
    (tmp_path / "scores" / ".a-00002-x.parquet").write_bytes(b"half")
    cut_off = tmp_path / "scores" / FILES[1]
    whole = cut_off.read_bytes()
    cut_off.write_bytes(whole[:50])  # as by a copy that was interrupted
    assert run(*words, cwd=big).returncode == 0
    assert len(calls) == 3 + 3
    assert names(tmp_path / "scores") == FILES
    assert cut_off.read_bytes() == whole
    assert not list((tmp_path / "scores").glob(".a-*")), "what a killed command left is deleted"


def test_a_folder_of_other_predictions_is_kept_unless_forced(big: Path, tmp_path: Path) -> None:
    words = ("predict", "model", "big/b.parquet", "-o", tmp_path / "scores")
    assert run(*words, cwd=big).returncode == 0
    before = (tmp_path / "scores" / "b-00000.parquet").read_bytes()
    done = run(*words, "--top", "2", cwd=big)
    assert done.returncode == 2
    assert done.stderr == (
        f"chmcnn: {tmp_path / 'scores'}: a folder of predictions with other answers; choose another folder, or use "
        "--force to overwrite it.\n"
    )
    assert (tmp_path / "scores" / "b-00000.parquet").read_bytes() == before
    assert run(*words, "--top", "2", "--force", cwd=big).returncode == 0
    assert len(read(tmp_path / "scores")) == 10
    facts = json.loads((tmp_path / "scores" / "_predictions.json").read_text())
    assert (facts["answers"], list(facts["tables"])) == ({"top": 2}, ["b.parquet"])


def test_what_needs_a_folder_or_another_one_is_told(big: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "a.parquet").write_bytes((big / "big" / "a.parquet").read_bytes())
    output = tmp_path / "scores"
    for words, told in {
        (
            "test.csv",
            "new.csv",
        ): "There are 2 tables, test.csv, new.csv; name a folder, such as -o scores/, to predict several",
        ("new.csv", "--cluster", "tcp://x:1"): "--cluster predicts the row groups of Parquet files, one file for each;",
        ("new.csv", "-o", str(output)): "new.csv: only Parquet files can be streamed; convert the table to Parquet.",
        ("big", "-o", str(tmp_path / "mine")): "mine: not a folder of predictions, so nothing is written to it",
        ("big", str(tmp_path / "again"), "-o", str(output)): "has the same name, so their predictions would be in the",
        ("big", "-o", str(tmp_path / "mine" / "file")): "file: the folder is not writable: File exists; choose another",
        ("big", "--within", "no", "-o", str(output)): "--within: Unknown class 'no'",
    }.items():
        done = run("predict", "model", *words, cwd=big)
        assert done.returncode == 2
        assert told in done.stderr
    assert not output.exists()


def test_two_commands_do_not_write_to_one_folder(big: Path, tmp_path: Path) -> None:
    words = ("predict", "model", "big/b.parquet", "-o", tmp_path)
    with filelock.FileLock(tmp_path / _row_groups._LOCK):
        assert "another command writes to this folder" in run(*words, cwd=big).stderr
    assert run(*words, cwd=big).returncode == 0


def test_a_killed_process_is_told_with_its_row_group(
    big: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> bytes:
        from chmcnn._workers import KilledError

        raise KilledError(-9)

    monkeypatch.setattr(_row_groups, "predict_group", die)
    done = run("predict", "model", "big/b.parquet", "-o", tmp_path, cwd=big)
    assert "b.parquet, row group 1: the process was killed by signal 9" in done.stderr
    assert "Write the file with smaller row groups." in done.stderr
