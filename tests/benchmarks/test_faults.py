"""What was tried to break is enough, nothing failed, and the tools notice what they look for."""

import pickle

import pytest
from benchmarks import audit
from benchmarks.altered import Watch, alter_models
from benchmarks.fuzz_readers import READERS
from benchmarks.measure import load
from tests.test_crash_points import WRITERS


def test_nothing_failed() -> None:
    assert {row["reader"] for row in load("fuzz")["rows"]} == set(READERS)
    assert not [row for row in load("fuzz")["rows"] if row["faults"]]
    (altered,) = load("altered")["rows"]
    assert altered["models"] >= 1000
    assert altered["code run"] == altered["unclear"] == altered["hangs"] == altered["loaded with the key"] == 0
    assert {row["writer"] for row in load("crash_points")["rows"]} == set(WRITERS)
    assert not [row for row in load("crash_points")["rows"] if row["faults"]]


@pytest.mark.parametrize(("task", "killed"), [("train", 100), ("compare", 50), ("search", 50), ("predict", 20)])
def test_nothing_was_lost(task: str, killed: int) -> None:
    (row,) = [row for row in load("soak")["rows"] if row["task"] == task]
    assert row["killed"] >= killed
    assert row["lost"] == row["different"] == row["unclear"] == row["hangs"] == 0


def test_altered_models_are_read_or_refused() -> None:
    counts = alter_models(range(12))
    assert counts["read"] + counts["refused"] == counts["refused with the key"] == counts["models"] == 12


def test_the_watch_notices_a_pickle() -> None:
    watch = Watch()
    content = pickle.dumps(Watch.watching)
    with watch.watching() as noticed:
        pickle.loads(content)  # noqa: S301 -- of this test
    assert noticed
    assert noticed[0].startswith("pickle.find_class")


def test_an_audit_says_what_is_known() -> None:
    vulnerable = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}
    assert audit.read({"dependencies": [vulnerable]}).describe().endswith("a 1: CVE-1")
    assert "NOT CHECKED" in audit.read({"dependencies": [{"name": "a", "skip_reason": "no network"}]}).describe()
    checked = audit.read({"dependencies": [{"name": "a", "version": "1", "vulns": []}]})
    assert checked.describe() == "pip-audit: 1 packages without a known vulnerability, 0 could not be checked."
