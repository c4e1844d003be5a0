"""A short run of what `make fuzz` does at length."""

import pytest
from benchmarks.fuzz import fuzz
from benchmarks.fuzz_readers import READERS


@pytest.mark.parametrize("name", READERS)
def test_an_altered_file_is_read_or_refused(name: str) -> None:
    found = fuzz(name, range(15))
    assert found["faults"] == []
    assert found["read"] + found["refused"] == found["files"] == 15
