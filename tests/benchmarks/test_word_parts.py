"""Tests of the features that the benchmark of word parts compares."""

import pytest
from benchmarks.word_parts import CANDIDATES, split

from chmcnn.datasets.texts import split_text


@pytest.mark.parametrize(
    ("candidate", "parts"),
    [
        ("words and pairs", []),
        ("first and last 3 letters", ["sho-", "-oes"]),
        ("first and last 5 letters", []),
        ("all pieces of 4 letters", ["-red", "red-", "-sho", "shoe", "hoes", "oes-"]),
    ],
)
def test_a_candidate_has_words_pairs_and_its_parts(candidate: str, parts: list[str]) -> None:
    assert split("Red shoes", candidate) == ["red", "shoes", "red shoes", *parts]


def test_what_is_built_in_is_a_candidate() -> None:
    text = "A quick brown fox jumps over the lazy dog, the quickest one"
    assert any(sorted(split(text, name)) == sorted(split_text(text)) for name in CANDIDATES)
