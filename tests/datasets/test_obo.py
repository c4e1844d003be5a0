from pathlib import Path

import obonet
import pytest
from tests.untyped import untyped

from chmcnn import OntologyError
from chmcnn.datasets import obo, read_hierarchy
from chmcnn.datasets.synthetic import random_hierarchy

SMALL = """format-version: 1.2
data-version: made by hand
subsetdef: x "a [Term] of no importance"

[Term]
id: GO:1
name: process ! with a mark
namespace: biological_process
def: "All of it: everything." [here:there]

[Term]
id: GO:2
name: digestion
namespace: biological_process
alt_id: GO:20
alt_id: GO:21
is_a: GO:1 {source="x"} ! process

! a comment
[Term]
id: GO:3
namespace: cellular_component
relationship: part_of GO:2 ! digestion
relationship: regulates GO:1 ! process

[Term]
id: GO:4
is_obsolete: true
replaced_by: GO:2

[Term]
id: GO:5
is_obsolete: true
consider: GO:2

[Typedef]
id: part_of
name: part of
"""


def write(folder: Path, text: str) -> Path:
    (folder / "my.obo").write_text(text)
    return folder / "my.obo"


def test_terms_and_what_became_of_old_ones(tmp_path: Path) -> None:
    found = obo.read(write(tmp_path, SMALL))
    assert found.hierarchy.classes == ("GO:1", "GO:2", "GO:3")
    assert found.hierarchy.edges.tolist() == [[0, 1]]
    assert found.names["GO:1"] == "process ! with a mark"
    assert found.namespaces["GO:3"] == "cellular_component"
    assert found.moved == {"GO:20": "GO:2", "GO:21": "GO:2", "GO:4": "GO:2"}
    assert found.obsolete == {"GO:5"}
    assert [found.current(term) for term in ("GO:2", "GO:21", "GO:4", "GO:5")] == ["GO:2", "GO:2", "GO:2", None]
    with pytest.raises(OntologyError, match=r"Unknown class 'GO:9'.*not in the ontology"):
        found.current("GO:9")


def test_parts_are_below_their_wholes_if_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    assert obo.read(path, part_of=True).hierarchy.edges.tolist() == [[0, 1], [1, 2]]
    assert read_hierarchy(path, part_of=True) == obo.read(path, part_of=True).hierarchy
    assert read_hierarchy(path) == obo.read(path).hierarchy


def test_old_ids_are_followed_to_a_term_in_use(tmp_path: Path) -> None:
    stanzas = [
        "default-namespace: all\n",
        '[Term] ! with a comment\nid: a{x="y"}\nalt_id: a1\n',
        "[Term]\nid: old1\nis_obsolete: TRUE\nreplaced_by: old2\nalt_id: older\n",
        "[Term]\nid: old2\nis_obsolete: true\nreplaced_by: a1\n",
        "[Term]\nid: loop1\nis_obsolete: true\nreplaced_by: loop2\n",
        "[Term]\nid: loop2\nis_obsolete: true\nreplaced_by: loop1\n",
        "[Term]\nid: b\nname: x\\, y \\! z\nis_a: a\t! behind\nrelationship: BFO:0000050  c\nis_a: FOREIGN:1\n",
        "[Term]\nid: c\nnamespace: other\n",
    ]
    found = obo.read(write(tmp_path, "\n".join(stanzas)), part_of=True)
    assert [found.current(old) for old in ("a1", "old1", "old2", "older", "loop1")] == ["a", "a", "a", "a", None]
    assert found.hierarchy.parents("b") == ("a", "c")
    assert found.names["b"] == "x, y ! z"
    assert found.namespaces == {"a": "all", "b": "all", "c": "other"}
    with pytest.raises(TypeError):
        untyped(found.names)["b"] = "other"


def test_one_namespace(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    found = obo.read(path, part_of=True, namespace="cellular_component")
    assert found.hierarchy.classes == ("GO:3",)
    assert found.current("GO:2") is None
    assert found.current("GO:20") is None
    with pytest.raises(
        OntologyError, match="no term is in the namespace 'cells'; the file has biological_process, cellular_"
    ):
        obo.read(path, namespace="cells")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": there is no [Term]; expected an OBO file."),
        ("[Term]\nname: x\n", ", line 1: the term has no id."),
        ("[Term]\nid: a\n\n[Term]\nid: a\n", ", line 4: the term 'a' appears twice, first on line 1."),
        (
            "[Term]\nid: a\nis_a: b\n",
            ", line 3: 'b', a parent of 'a', is obsolete or not in the file; remove the line",
        ),
        ("[Term]\nid: a\nid: b\n", ", line 3: the term 'a' has a second id."),
        ("[term]\nid: a\n", ", line 1: expected [Term] or another stanza, but the line is '[term]'."),
        ("[Term\nid: a\n", ", line 1: expected [Term] or another stanza, but the line is '[Term'."),
        ("[Term]\nid: a\nis_obsolete: yes\n", ", line 3: is_obsolete is 'yes'; expected true or false."),
        ("[Term]\nid: a\nwhat\n", ", line 3: expected 'tag: value', but the line is 'what'."),
        (
            "[Term]\nid: a\nis_a: b\n[Term]\nid: b\nis_a: a\n",
            ": The edges form a cycle, from parent to child: a -> b -> a",
        ),
        ("[Term]\nid: a\nis_a: a\n", ": Class 'a' is its own parent; remove that edge."),
        ("[Term]\nid: a\nis_obsolete: true\n", ": The hierarchy is empty"),
    ],
)
def test_bad_files_are_told_with_their_line(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(OntologyError) as caught:
        obo.read(path)
    assert str(caught.value).startswith(f"{path}{told}")


def generated(folder: Path) -> Path:
    """An ontology of the shape of the Gene Ontology, with obsolete terms, alternative ids and definitions."""
    hierarchy = random_hierarchy(5000, edges=9000, depth=16)
    lines = ["format-version: 1.2"]
    for number, name in enumerate(hierarchy.classes):
        lines += ["", "[Term]", f"id: GO:{name}", f"name: term {name}", "namespace: biological_process"]
        lines += [f'def: "A process that is the {number}th of many, and has a definition as long as this." [GOC:x]']
        lines += [f"alt_id: GO:alt{number}"] if number % 20 == 0 else []
        for position, parent in enumerate(hierarchy.parents(name)):
            kind = "is_a: " if position == 0 else "relationship: part_of "
            lines.append(f"{kind}GO:{parent} ! term {parent}")
    for number in range(300):
        lines += [
            "",
            "[Term]",
            f"id: GO:old{number}",
            "is_obsolete: true",
            f"replaced_by: GO:{hierarchy.classes[number]}",
        ]
    return write(folder, "\n".join([*lines, ""]))


def test_an_ontology_of_5000_terms_agrees_with_obonet(tmp_path: Path) -> None:
    path = generated(tmp_path)
    found = obo.read(path, part_of=True)
    assert len(found.hierarchy) == 5000
    assert len(found.hierarchy.edges) == 9000
    assert len(found.moved) == 250 + 300
    theirs = obonet.read_obo(path)
    edges = {(parent, child) for child, parent, kind in theirs.edges(keys=True) if kind in {"is_a", "part_of"}}
    names = found.hierarchy.classes
    assert {(names[parent], names[child]) for parent, child in found.hierarchy.edges.tolist()} == edges


def test_an_alternative_id_of_two_terms_has_no_replacement(tmp_path: Path) -> None:
    ontology = obo.read(write(tmp_path, "[Term]\nid: a\nalt_id: x\nalt_id: y\n[Term]\nid: b\nalt_id: x\n"))
    assert ontology.current("x") is None
    assert ontology.current("y") == "a"
