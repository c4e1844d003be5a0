"""A short run of what `make fuzz` does at length."""

import pytest
from benchmarks.fuzz import fuzz
from benchmarks.fuzz_readers import READERS


@pytest.mark.parametrize("name", READERS)
def test_an_altered_file_is_read_or_refused(name: str) -> None:
    found = fuzz(READERS[name], inputs=10)
    assert found["fault"] == ""
    assert found["read"] + found["refused"] == found["files"] > 0
