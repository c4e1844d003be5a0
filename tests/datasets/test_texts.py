import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import TfidfVectorizer

from chmcnn import FeatureError
from chmcnn.datasets.texts import TermCounts, TextEncoder, is_list_of_texts, is_text, split_text

DIFFERENT = [f"the {number} red shoes of size {number + 30}" for number in range(40)]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (DIFFERENT, True),
        ([*DIFFERENT, None, *DIFFERENT], True),  # most of them twice
        (["bachelor of science", "master of arts"] * 30, False),  # categories of three words
        ([f"{number} light blue metallic" for number in range(120)] * 5, True),  # too many for categories
        ([f"gene{number}" for number in range(200)], False),  # names of rows
        ([1.0, 2.0], False),
        ([None, None], False),
        ([], False),
    ],
)
def test_running_text_is_found_by_its_words(cells: list[object], text: bool) -> None:
    assert is_text(pd.Series(cells, dtype=object)) is text


def test_the_type_of_a_column_declares_text() -> None:
    words = pd.Series(["red", "blue", "red"])
    assert not is_text(words)
    assert is_text(words.astype("string"))
    assert not is_text(pd.Series(DIFFERENT).astype("category"))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["a", "b"], True),
        (("a", None), True),
        (np.array(["a", "b"]), True),
        (np.array(["a", np.nan], dtype=object), True),
        (pd.Series(["a", "b"]), True),
        (pd.Series(["a", pd.NA], dtype="string"), True),
        ([["a"], ["b"]], False),
        ([1.0, 2.0], False),
        ([None], False),
        ([], False),
        (np.array([["a"]]), False),
        ("a", False),
        (pd.DataFrame({"a": ["b"]}), False),
    ],
)
def test_lists_of_texts(values: object, texts: bool) -> None:
    assert is_list_of_texts(values) is texts


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("A9", ["a9"]),
        ("Blue  T-shirt", ["blue", "t", "shirt", "blue t", "t shirt", "shir-", "-hirt"]),
        ("Öl, größte", ["öl", "größte", "öl größte", "größ-", "-ößte"]),
    ],
)
def test_terms_are_words_pairs_and_how_longer_words_begin_and_end(text: str, terms: list[str]) -> None:
    assert split_text(text) == terms


def test_words_and_pairs_are_those_of_scikit_learn() -> None:
    theirs = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\b\w+\b").build_analyzer()  # noqa: S106 -- a pattern
    for text in [*DIFFERENT, 'das "Öl" der Bäume', "日本 語", "a_b c-d", "it's 9.5"]:
        assert [term for term in split_text(text) if "-" not in term] == theirs(text)


def test_an_encoder_without_parts_of_words_ignores_them() -> None:
    encoder = TextEncoder(["red", "shoes"], np.ones(2))  # as models of earlier versions have it
    assert encoder.transform(["red shoes", "shoe"]).toarray() == pytest.approx(np.array([[0.5, 0.5], [0, 0]]) ** 0.5)


def test_it_is_tf_idf_of_the_terms() -> None:
    encoder = TextEncoder.fit(DIFFERENT)
    theirs = TfidfVectorizer(analyzer=split_text, sublinear_tf=True)
    theirs.fit(DIFFERENT)
    assert list(encoder.terms) == theirs.get_feature_names_out().tolist()
    found = encoder.transform([*DIFFERENT, "", "unknown"])
    assert found.dtype == np.float32
    assert_allclose(found.toarray()[:-2], theirs.transform(DIFFERENT).toarray(), atol=1e-6)
    assert not found.toarray()[-2:].any()


def test_rare_words_need_many_rows() -> None:
    assert "once" in TextEncoder.fit(["once", "often", "often"]).terms
    assert TextEncoder.fit(["once", *["often"] * 60]).terms == ("-ften", "ofte-", "often")
    assert len(TextEncoder.fit([f"w{number}" for number in range(60)]).terms) == 60  # otherwise none would be left
    assert "9" in TextEncoder.fit(["size 9", "size 8"]).terms


@pytest.mark.parametrize("most", [20, 100_000])
def test_counts_choose_and_weigh_the_terms_of_scikit_learn(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.datasets.texts._MOST_TERMS", most)
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in random.zipf(1.5, 12) % 1000) for _ in range(200)]
    options = {"sublinear_tf": True, "dtype": np.float32, "analyzer": split_text}
    theirs = TfidfVectorizer(min_df=2, max_features=most, **options).fit(texts)
    counts = TermCounts(most=5000)
    for start in range(0, 200, 30):
        counts.add(texts[start : start + 30])
    assert 20 < len(counts) < 5000
    for encoder in (counts.create(), TextEncoder.fit(texts)):
        assert list(encoder.terms) == theirs.get_feature_names_out().tolist()
        assert np.array_equal(encoder.idf, theirs.idf_)


def test_rare_terms_are_forgotten_beyond_a_bound() -> None:
    counts = TermCounts(most=50)
    for number in range(300):
        counts.add([f"red red shoes {number}"])
        assert len(counts) <= 50
    found = counts.create()
    assert {"red", "shoes", "red red", "red shoes"} <= {*found.terms}
    known = TermCounts()
    known.add([f"red red shoes {number}" for number in range(300)])
    weights = dict(zip(known.create().terms, known.create().idf, strict=True))
    assert [weights[term] for term in found.terms] == found.idf.tolist()


def test_what_is_written_is_read() -> None:
    encoder = TextEncoder.fit(['das "Öl" der Bäume', "日本 語"])
    again = TextEncoder.from_bytes(encoder.to_bytes(), encoder.idf)
    assert again.terms == encoder.terms
    assert np.array_equal(again.transform(["öl", "語"]).toarray(), encoder.transform(["öl", "語"]).toarray())
    for bad in (b'"a"', b"[1]", b'["a", "a"]', b'["a"]'):
        with pytest.raises(FeatureError):
            TextEncoder.from_bytes(np.frombuffer(bad, dtype=np.uint8), np.ones(2))
