import builtins
import gzip
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chmcnn import ChmcnnError, FileError, OntologyError
from chmcnn.datasets import read_hierarchy, read_table, skos

HEAD = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <https://example.org/t/> .\n"
SMALL = (
    HEAD
    + """@prefix owl: <http://www.w3.org/2002/07/owl#> .
<https://example.org/t> a skos:ConceptScheme ; skos:hasTopConcept :sport .
:sport a skos:Concept ; skos:prefLabel "Sport"@de, "sport"@en-GB, "sports"@en ; skos:narrower :tennis .
:tennis a skos:Concept ; skos:prefLabel "Tennis"@fr, "tennis" ; skos:altLabel "lawn tennis"@en .
:chess skos:broader :sport, :games ; skos:prefLabel "Schach"@de, "échecs"@fr .
:alone a skos:Concept .
:old a skos:Concept ; owl:deprecated true ; skos:broader :sport .
"""
)


def write(folder: Path, text: str, name: str = "my.ttl") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_concepts_edges_and_labels(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write(tmp_path, SMALL))
    assert hierarchy.classes == ("alone", "chess", "games", "sport", "tennis")
    assert hierarchy.parents("chess") == ("games", "sport")
    assert hierarchy.parents("tennis") == ("sport",)
    assert hierarchy.titles == {"chess": "Schach", "sport": "sports", "tennis": "tennis"}


@pytest.mark.parametrize(
    ("language", "title"), [("de", "Sport"), ("EN", "sports"), ("en-gb", "sport"), ("it", "Sport")]
)
def test_titles_are_in_the_language_asked_for(tmp_path: Path, language: str, title: str) -> None:
    assert read_hierarchy(write(tmp_path, SMALL), language=language).title("sport") == title


def test_of_two_labels_in_one_language_the_first_is_taken(tmp_path: Path) -> None:
    for labels in ('"b"@en, "a"@en', '"a"@en, "b"@en'):
        assert skos.read(write(tmp_path, f"{HEAD}:x a skos:Concept ; skos:prefLabel {labels} .")).title("x") == "a"


def test_n_triples_and_gzip(tmp_path: Path) -> None:
    broader = "<http://www.w3.org/2004/02/skos/core#broader>"
    path = write(tmp_path, f"<https://e.org/a#b> {broader} <https://e.org/a#c> .\n", "my.nt")
    assert read_hierarchy(path).parents("b") == ("c",)
    (tmp_path / "my.ttl.gz").write_bytes(gzip.compress(SMALL.encode()))
    assert len(read_hierarchy(tmp_path / "my.ttl.gz")) == 5


def test_transitive_relations_make_edges_only_where_there_are_no_others(tmp_path: Path) -> None:
    more = ":tennis skos:broaderTransitive :games .\n"
    assert read_hierarchy(write(tmp_path, SMALL + more)).parents("tennis") == ("sport",)
    only = f"{HEAD}:a skos:broaderTransitive :b . :c skos:narrowerTransitive :b ."
    assert skos.read(write(tmp_path, only)).ancestors("a") == ("b", "c")


@pytest.mark.parametrize(
    ("notations", "expected"),
    [(("1", "2"), ("1", "2")), (("1", "1"), ("https://a.org/x", "https://b.org/x")), (("1",), ("https://a.org/x",))],
)
def test_names_that_are_not_unique_are_notations_or_whole_iris(
    tmp_path: Path, notations: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    iris = ("https://a.org/x", "https://b.org/x")
    lines = [f"<{iri}> a skos:Concept ." for iri in iris]
    lines += [f'<{iri}> skos:notation "{number}" .' for iri, number in zip(iris, notations, strict=False)]
    assert skos.read(write(tmp_path, HEAD + "\n".join(lines))).classes[: len(expected)] == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": there is no concept: nothing is a skos:Concept, or has a skos:broader"),
        (f"{HEAD}:x a :y .", ": there is no concept"),
        (f"{HEAD}\n:x a unknown:y .", ', line 4: the file is not valid Turtle: Prefix "unknown:" not bound.'),
        (f"{HEAD}:x a <y>\n:z", ", line 4: the file is not valid Turtle: expected '.'"),
        (f'{HEAD}:x a "text', ": the file is not valid Turtle: Quote expected"),
        ("[" * 5000, ": the file is nested too deeply to be a vocabulary."),
        (
            f"{HEAD}:a skos:broader :b . :c skos:narrower :b . :a skos:narrower :c .",
            ": The edges form a cycle, from parent to child: ",
        ),
        (f'{HEAD}[ a skos:Concept ; skos:prefLabel "x" ] .', ": the concept 'x' has no IRI; give it one."),
        ("\udcff", ", line 1, column 1: the file is not text in UTF-8; save it in that encoding."),
    ],
)
def test_bad_files_are_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "my.ttl"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(OntologyError) as caught:
        read_hierarchy(path)
    assert str(caught.value).startswith(f"{path}{told}")


@settings(max_examples=60)
@given(position=st.integers(0, len(SMALL)), insert=st.sampled_from(['"', "<", "[", ".", ";", "\\u", "{", "(", "@", ""]))
def test_a_corrupted_file_is_read_or_refused(tmp_path: Path, position: int, insert: str) -> None:
    path = write(tmp_path, SMALL[:position] + insert + SMALL[position + 1 :])
    try:
        skos.read(path)
    except ChmcnnError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 -- a corrupted file may be read or refused


def test_nothing_is_fetched_and_malformed_dates_are_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    more = """<https://example.org/t> owl:imports <https://example.org/other> .
    :sport skos:note "99-99"^^<http://www.w3.org/2001/XMLSchema#date> ."""
    with caplog.at_level(logging.WARNING):
        assert len(skos.read(write(tmp_path, SMALL + more))) == 5
    assert not caplog.records


def test_without_rdflib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name == "rdflib":
            raise ModuleNotFoundError(name)
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(OntologyError, match=r'SKOS needs rdflib: pip install "chmcnn\[skos\]"'):
        skos.read(write(tmp_path, SMALL))


def test_a_table_with_labels_of_a_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,labels\n1,tennis\n2,chess;alone\n")
    table = read_table(tmp_path / "my.csv", write(tmp_path, SMALL))
    assert table.hierarchy.decode(table.Y)[0] == {"tennis", "sport"}
    assert table.take([1]).hierarchy.title("chess") == "Schach"
    for ending, hint in {"rdf": "rdfpipe -o turtle", "jsonld": "rdfpipe -o turtle", "owl": "robot convert"}.items():
        with pytest.raises(FileError, match=rf"unknown ending '\.{ending}'; expected one of .*\.ttl, \.nt\. .*{hint}"):
            read_hierarchy(write(tmp_path, "", f"my.{ending}"))
