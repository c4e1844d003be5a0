"""The page of the service, and what it asks for."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import requests
from tests.serving.models import HOSTILE, create_model
from tests.serving.running import serving

from chmcnn import CHMCNNClassifier
from chmcnn.report.explorer import ClassFacts
from chmcnn.serving import create_app

ROW: dict[str, Any] = {"size": 3.0, "zone": "1", "day": "2026-01-01", "note": "a dog was here"}
FACTS = ClassFacts(
    counted="training rows",
    rows=[40, 20, 30, 50],
    evaluation={"title": "test part", "rows": 9, "auprc": 0.5, "figures": {}},
    test_rows=[5, 0, 4, 6],
    auprc=[0.5, None, 0.75, 1.0],
    precision=[0.5, None, 0.75, 1.0],
    recall=[0.5, None, 0.75, 1.0],
    f=[0.5, None, 0.75, 1.0],
    curves=[[100, 50, 0], None, [100, 100, 50], [100, 100, 100]],
    delegates=[[2, 4, 0, 1], [], [2, 4], []],
    replaced_by=[[], [], [1, 3], []],
    replaces=[[], [2, 3], [], []],
)


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return create_model()


@pytest.fixture(scope="module")
def address(model: CHMCNNClassifier) -> Iterator[str]:
    with serving(create_app(model, facts=FACTS, token="secret")) as place:  # noqa: S106 -- of this test
        yield place


def get(address: str, path: str) -> Any:
    return requests.get(f"{address}{path}", headers={"Authorization": "Bearer secret"}, timeout=300).json()


def test_the_page_needs_no_token_has_no_data_and_a_strict_policy(address: str) -> None:
    kinds = {"/": "text/html", "/explorer.js": "text/javascript", "/explorer.css": "text/css"}
    for path, kind in kinds.items():
        response = requests.get(f"{address}{path}", timeout=300)
        assert (response.status_code, response.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert HOSTILE not in response.text
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';")
        assert "unsafe" not in policy
    page = requests.get(address, timeout=300).text
    assert "<script>" not in page
    assert "style=" not in page
    assert requests.get(f"{address}/hierarchy/class?class=dog", timeout=300).status_code == 401
    assert not set(kinds) & get(address, "/openapi.json")["paths"].keys()


def test_all_that_is_known_about_a_class(address: str, model: CHMCNNClassifier) -> None:
    assert model.hierarchy_.classes == ("animal", "cat", "dog", "pet")
    found = get(address, "/hierarchy/class?class=dog")
    assert [each["name"] for each in found.pop("above")] == ["animal", "pet"]
    assert found == {
        "name": "dog",
        "title": HOSTILE,
        "depth": 1,
        "parents": ["animal", "pet"],
        "children": 0,
        "rows": 30,
        "auprc": 0.75,
        "threshold": 0.5,
        "counted": "training rows",
        "tested": {"title": "test part", "rows": 4},
        "measures": {"auprc": 0.75, "precision": 0.75, "recall": 0.75, "f": 0.75},
        "curve": [100, 100, 50],
        "delegates": [{"name": "dog", "title": HOSTILE, "rows": 4}],
        "replaced_by": [{"name": "cat", "title": "A cat", "rows": 3}],
        "replaces": [],
    }
    untested = get(address, "/hierarchy/class?class=cat")
    assert (untested["tested"]["rows"], untested["measures"], untested["curve"]) == (0, None, None)
    assert get(address, "/hierarchy/class?class=dgo")["detail"] == "Unknown class 'dgo'. Did you mean 'dog'?"
    assert get(address, "/model")["evaluation"]["title"] == "test part"


def test_a_service_without_facts_shows_the_hierarchy_all_the_same(model: CHMCNNClassifier) -> None:
    with serving(create_app(model)) as place:
        found = get(place, "/hierarchy/class?class=animal")
        about = get(place, "/model")
    assert (about["title"], about["counted"], about["evaluation"]) == ("CHMCNNClassifier", None, None)
    assert (found["children"], found["rows"], found["measures"], found["delegates"]) == (2, None, None, [])


def test_an_explanation_has_parents_thresholds_and_only_the_best_classes(address: str) -> None:
    def explain(**options: Any) -> list[dict[str, Any]]:
        headers = {"Authorization": "Bearer secret"}
        response = requests.post(
            f"{address}/explain", params=options, json={"rows": [ROW]}, headers=headers, timeout=30
        )
        found: list[dict[str, Any]] = response.json()["rows"][0]["reasons"]
        return found

    every = explain(threshold=0)
    assert {each["name"]: each["parents"] for each in every}["dog"] == ["animal", "pet"]
    assert {each["threshold"] for each in every} == {0.5}
    for top in (1, 2, 3):
        best = explain(threshold=0, top=top)
        names = {each["name"] for each in best}
        assert len(names) == top
        assert all(set(each["parents"]) <= names for each in best), "a class has its parents with it"
        lowest = min(each["score"] for each in best)
        assert all(each["score"] <= lowest for each in every if each["name"] not in names)
    assert np.isclose(max(each["score"] for each in every), explain(threshold=0, top=1)[0]["score"])
