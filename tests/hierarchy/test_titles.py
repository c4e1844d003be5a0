import copy
import json
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies
from tests.untyped import untyped

from chmcnn import Hierarchy, HierarchyError
from chmcnn.datasets import Dataset, Table, obo, read_hierarchy

SPORT = Hierarchy.from_edges(
    [("2", "21"), ("2", "22")], titles={"2": "sport", "21": "tennis\n\t\x1b double", "22": " \0"}
)


def test_a_class_has_a_title_or_its_name() -> None:
    assert dict(SPORT.titles) == {"2": "sport", "21": "tennis double"}
    assert [SPORT.title(name) for name in SPORT] == ["sport", "tennis double", "22"]
    assert [SPORT.describe(name) for name in SPORT] == ["2 sport", "21 tennis double", "22"]
    assert Hierarchy.from_paths(["a"]).titles == {}
    assert Hierarchy(["a"], [], {"a": "a"}).describe("a") == "a"
    with pytest.raises(HierarchyError, match="Unknown class '3'"):
        SPORT.title("3")


def test_titles_are_immutable() -> None:
    given_titles = {"2": "sport"}
    hierarchy = Hierarchy(["2"], [], given_titles)
    given_titles["2"] = "other"
    assert hierarchy.title("2") == "sport"
    with pytest.raises(TypeError):
        untyped(hierarchy.titles)["2"] = "other"


def test_titles_do_not_count_in_comparisons() -> None:
    plain = SPORT.with_titles({})
    assert plain == SPORT
    assert hash(plain) == hash(SPORT)
    assert plain.to_json() == SPORT.to_json(titles=False)
    tables = [Table(np.eye(1), [{"21"}], hierarchy) for hierarchy in (plain, SPORT)]
    assert Dataset("both", tables[0], tables[1], tables[0]).hierarchy == SPORT


@given(hierarchies(), st.dictionaries(st.integers(0, 13), st.text(st.characters(exclude_categories=["Cs"]))))
def test_titles_survive_every_way_of_copying(hierarchy: Hierarchy, titles: dict[int, str]) -> None:
    titled = hierarchy.with_titles({hierarchy.classes[at]: text for at, text in titles.items() if at < len(hierarchy)})
    copies = [
        Hierarchy.from_json(titled.to_json()),
        Hierarchy.from_networkx(titled.to_networkx()),
        pickle.loads(pickle.dumps(titled)),
        copy.deepcopy(titled),
        titled.reversed,
        titled.restrict(titled.classes),
        titled.with_titles(titled.titles),
    ]
    assert all(other.titles == titled.titles for other in copies)
    root = titled.roots[0]
    assert dict(titled.restrict([root]).titles) == {name: titled.titles[name] for name in titled.titles if name == root}


def test_titles_in_a_file_of_edges(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("parent,child,name\n,2,sport\n2,21,tennis\n2,22,\n,3,art\n3,21,tennis\n")
    assert dict(Hierarchy.from_csv(path).titles) == {"2": "sport", "21": "tennis", "3": "art"}
    path.write_text("parent,child,name,title,label\n2,21,a,b,c\n")
    assert read_hierarchy(path).titles == {"21": "b"}
    assert read_hierarchy(path, title="label").titles == {"21": "c"}
    assert Hierarchy.from_csv(path, child="title").titles == {"b": "a"}
    path.write_text("parent,name\n2,21\n")
    assert Hierarchy.from_csv(path, child="name").titles == {}


def test_titles_of_other_sources(tmp_path: Path) -> None:
    graph: nx.DiGraph[str] = nx.DiGraph([("2", "21"), ("2", "22")])
    graph.nodes["2"]["name"] = "sport"
    graph.nodes["21"].update(title="tennis", name="other")
    graph.nodes["22"]["title"] = None
    assert Hierarchy.from_networkx(graph).titles == {"2": "sport", "21": "tennis"}
    (tmp_path / "my.obo").write_text("[Term]\nid: GO:1\nname: process\n\n[Term]\nid: GO:2\nis_a: GO:1\n")
    assert obo.read(tmp_path / "my.obo").hierarchy.titles == {"GO:1": "process"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("parent,child,title\n2,21,a\n3,21,b\n", "line 3: Class '21' has two titles, 'a' and 'b'; remove one of them"),
        ("parent,child\n2,21\n", r"line 1: Expected one column 'label' of titles, but the columns are \['parent'"),
    ],
)
def test_bad_files_are_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(HierarchyError, match=told):
        Hierarchy.from_csv(path, title="label" if "label" in told else None)


def test_bad_titles_are_told() -> None:
    with pytest.raises(HierarchyError, match=r"Unknown class '23'\. .*It is in the titles: remove it\."):
        SPORT.with_titles({"23": "golf"})
    with pytest.raises(HierarchyError, match=r"The title of class '2' is 5, of type int; expected text\."):
        SPORT.with_titles(untyped({"2": 5}))
    content = json.loads(SPORT.to_json()) | {"titles": ["sport"]}
    with pytest.raises(HierarchyError, match=r"Titles are of type list; expected a mapping"):
        Hierarchy.from_json(json.dumps(content))
