import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import requests
from tests.serving.asking import ask
from tests.serving.models import HOSTILE, create_model
from tests.serving.running import serving

from chmcnn import CHMCNNClassifier
from chmcnn.serving import Limits, create_app
from chmcnn.serving._answers import Answerer, read_options

INFINITE = b'{"rows": [{"size": 1e999, "zone": null, "day": null, "note": null}]}'
ROW: dict[str, Any] = {"size": 3.0, "zone": "1", "day": "2026-01-01", "note": "a dog was here"}


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return create_model()


@pytest.fixture(scope="module")
def address(model: CHMCNNClassifier) -> Iterator[str]:
    with serving(create_app(model, limits=Limits(rows=5, body_bytes=5000))) as place:
        yield place


def predict(address: str, rows: list[Any], **options: Any) -> list[dict[str, Any]]:
    response = requests.post(f"{address}/predict", params=options, json={"rows": rows}, timeout=300)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["rows"]
    return found


def test_scores_are_those_of_the_model(address: str, model: CHMCNNClassifier) -> None:
    expected = model.predict_proba(pd.DataFrame([ROW]).assign(day=pd.to_datetime("2026-01-01")))[0]
    (row,) = predict(address, [ROW])
    found = {each["name"]: each["score"] for each in row["classes"]}
    assert [found[name] for name in model.hierarchy_.classes] == pytest.approx(expected.tolist())
    assert [each["score"] for each in row["classes"]] == sorted(found.values(), reverse=True)


def test_labels_have_all_ancestors_and_may_be_the_most_specific(address: str) -> None:
    (row,) = predict(address, [ROW], threshold=0)
    assert {each["name"] for each in row["classes"]} == {"animal", "dog", "cat", "pet"}
    (row,) = predict(address, [ROW], threshold=0, most_specific=True)
    assert {each["name"] for each in row["classes"]} == {"dog", "cat"}
    (row,) = predict(address, [ROW])
    scores = {each["name"]: each["score"] for each in row["classes"]}
    (row,) = predict(address, [ROW], labels=True)
    assert {each["name"] for each in row["classes"]} == {name for name, score in scores.items() if score >= 0.5}


def test_a_threshold_is_compared_as_the_model_compares_it(model: CHMCNNClassifier) -> None:
    single = float(np.float32(0.9))
    scores = np.array([[single, single, 0.1, 0.1]], dtype=np.float32)
    answerer = Answerer(model, Limits())
    assert answerer.rank(read_options(b"threshold=0.9"), scores) == [[]], "0.9 in single precision is below 0.9"
    assert len(answerer.rank(read_options(f"threshold={single!r}".encode()), scores)[0]) == 2


def test_a_risk_decides_as_in_python(address: str, model: CHMCNNClassifier) -> None:
    frame = pd.DataFrame([ROW]).assign(day=pd.to_datetime("2026-01-01"))
    for options in ({"risk": 0.3}, {"risk": 0.4, "risk_of": "wrong"}, {"risk": 0.5, "back_off": True}):
        (row,) = predict(address, [ROW], **options)
        assert {each["name"] for each in row["classes"]} == model.predict_labels(frame, **options)[0]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("risk=1", "risk is '1': Input should be less than 1."),
        ("risk=0.001", "A risk of 0.001 cannot be reached: with 12 held-out rows the least is"),
        ("risk=0.1&threshold=0.5", "threshold and risk were both passed"),
        ("back_off=true", "back_off was passed without a risk; pass risk= too, such as risk=0.1."),
        ("risk=0.5&back_off=true&risk_of=missed", "back_off limits the risk of a wrong answer"),
    ],
)
def test_a_risk_that_cannot_be_kept_is_refused(model: CHMCNNClassifier, query: str, problem: str) -> None:
    headers, body = {"Content-Type": "application/json"}, [b"rows that are not read"]
    found = ask(create_app(model), "POST", f"/predict?{query}", headers, body)
    assert found.status == 422
    assert found.json()["detail"].startswith(problem)


@pytest.mark.parametrize("path", ["/predict?top=4", "/predict?threshold=0", "/explain?threshold=0"])
def test_an_answer_that_is_too_long_is_refused(model: CHMCNNClassifier, path: str) -> None:
    app = create_app(model, limits=Limits(classes=7))
    headers, body = {"Content-Type": "application/json"}, json.dumps({"rows": [ROW, ROW]}).encode()
    found = ask(app, "POST", path, headers, [body])
    assert found.status == 413
    assert found.json()["detail"].startswith("The answer would have more than 7 classes; send fewer rows at a time")
    assert ask(app, "POST", path, headers, [json.dumps({"rows": [ROW]}).encode()]).status == 200


def test_a_client_that_goes_away_is_no_fault_of_the_service(model: CHMCNNClassifier) -> None:
    found = ask(create_app(model), "POST", "/predict", {"Content-Type": "application/json"}, [b'{"rows": [...', None])
    assert found.status == 400


def test_a_branch_and_a_number_of_classes(address: str) -> None:
    (row,) = predict(address, [ROW], within="pet")
    assert {each["name"] for each in row["classes"]} == {"pet", "dog"}
    assert len(predict(address, [ROW, ROW], top=1)[1]["classes"]) == 1
    assert predict(address, [ROW], min_score=1)[0]["classes"] == []


def test_a_csv_table_gives_the_same_answer_as_json(address: str) -> None:
    body = "size,zone,day,note,unused\n3.0,1,2026-01-01,a dog was here,x\n"
    response = requests.post(f"{address}/predict", data=body, headers={"Content-Type": "text/csv"}, timeout=300)
    assert response.status_code == 200, response.text
    assert response.json()["rows"] == predict(address, [ROW])


def test_a_date_with_a_zone_is_taken_in_utc(address: str) -> None:
    assert predict(address, [ROW | {"day": "2026-01-01T02:00:00+02:00"}]) == predict(address, [ROW])


def test_missing_values_are_null(address: str) -> None:
    (row,) = predict(address, [dict.fromkeys(ROW)])
    assert len(row["classes"]) == 4


def test_an_explanation_names_delegates(address: str) -> None:
    response = requests.post(f"{address}/explain?threshold=0", json={"rows": [ROW]}, timeout=300)
    reasons = {each["name"]: each for each in response.json()["rows"][0]["reasons"]}
    assert reasons["animal"]["delegate"] in {"animal", "dog", "cat"}
    assert reasons["dog"]["title"] == HOSTILE
    assert response.headers["content-type"] == "application/json"  # a browser does not read it as a page
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("top=0", 422, "top is '0': Input should be greater than or equal to 1."),
        ("min_score=nan", 422, "min_score is 'nan'"),
        ("tops=3", 422, "tops is '3': Extra inputs are not permitted."),
        ("within=dgo", 404, "Unknown class 'dgo'. Did you mean 'dog'?"),
    ],
)
def test_a_wrong_option_is_named(address: str, path: str, status: int, told: str) -> None:
    response = requests.post(f"{address}/predict?{path}", json={"rows": [ROW]}, timeout=300)
    assert (response.status_code, response.json()["detail"][: len(told)]) == (status, told)


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"rows": []}, 422, "rows is empty; expected at least one row."),
        ({"row": [ROW]}, 422, 'The body has no list "rows"; expected {"rows": [...]}.'),
        ({"rows": [[1]]}, 422, "rows[0] is [1]; expected an object with the columns of the model."),
        ({"rows": [ROW, {"size": 1}]}, 422, "rows[1] has no 'zone'; use null for a missing value."),
        ({"rows": [ROW | {"size": "big"}]}, 422, 'rows[0].size is "big"; expected a number or null.'),
        ({"rows": [ROW | {"size": True}]}, 422, "rows[0].size is true; expected a number or null."),
        ({"rows": [ROW | {"size": 10**400}]}, 422, "rows[0].size is 1000000000"),
        ({"rows": [ROW | {"zone": 1.5}]}, 422, "rows[0].zone is 1.5; expected a category as text or null."),
        ({"rows": [ROW | {"note": 3}]}, 422, "rows[0].note is 3; expected text or null."),
        ({"rows": [ROW | {"day": "soon"}]}, 422, 'rows[0].day is "soon"; expected a date such as 2026-12-31, from'),
        ({"rows": [ROW | {"day": "0169-08-26"}]}, 422, 'rows[0].day is "0169-08-26"; expected a date such as'),
        ({"rows": [ROW | {"day": "NaT"}]}, 422, 'rows[0].day is "NaT"; expected a date such as 2026-12-31, from 1678'),
        ({"rows": [ROW] * 6}, 413, "The request has 6 rows; expected at most 5 at a time."),
        (
            {"rows": [ROW | {"note": "x" * 6000}]},
            413,
            "The body is larger than 5,000 bytes; send fewer rows at a time.",
        ),
    ],
)
def test_a_wrong_row_is_named(address: str, body: Any, status: int, told: str) -> None:
    response = requests.post(f"{address}/predict", json=body, timeout=300)
    assert (response.status_code, response.json()["detail"][: len(told)]) == (status, told)


@pytest.mark.parametrize(
    ("body", "kind", "status", "told"),
    [
        (b"{", "application/json", 422, "The body is not JSON that can be read: EOF while parsing an object"),
        (b"[" * 4000, "application/json", 422, "The body is not JSON that can be read: recursion limit exceeded"),
        (b"\xff\xfe", "application/json", 422, "The body is not JSON that can be read: expected value at line 1"),
        (
            INFINITE,
            "application/json",
            422,
            "rows[0].size is Infinity; expected a finite number, or null for a missing one.",
        ),
        (b"", "text/csv", 422, "rows.csv: the file is empty; expected a header and rows."),
        (b"size\rzone", "text/csv", 422, "rows.csv"),
        (b"size,zone\n1,1\n", "text/csv", 422, "rows.csv: there is no column 'day'"),
        (b"size,zone,day,note\nx,1,2026-01-01,a\n", "text/csv", 422, "Column 'size' had numbers in fit"),
        (b"size\rzone,day\n1,1\n", "text/csv", 422, "rows.csv, line 1: "),
        (b"x", "image/png", 415, "The content type is 'image/png'; expected application/json or text/csv."),
    ],
)
def test_a_wrong_body_is_told(address: str, body: bytes, kind: str, status: int, told: str) -> None:
    response = requests.post(f"{address}/predict", data=body, headers={"Content-Type": kind}, timeout=300)
    assert (response.status_code, response.json()["detail"][: len(told)]) == (status, told)


def test_a_wrong_cell_is_told_without_advice_to_train(address: str) -> None:
    body, headers = b"size,zone,day,note\nx,1,2026-01-01,a\n1,1,2026-01-01,a\n", {"Content-Type": "text/csv"}
    told = requests.post(f"{address}/predict", data=body, headers=headers, timeout=300).json()["detail"]
    assert told.startswith("rows.csv, line 2, column 1: column 'size': 'x' is not a finite number")
    assert told.endswith("; correct it, as the model was trained on numbers there.")


def test_a_body_without_a_length_is_stopped_at_the_limit(address: str) -> None:
    response = requests.post(f"{address}/predict", data=(b"x" * 1000 for _ in range(20)), timeout=300)
    assert response.status_code == 413


def test_a_slow_body_is_given_up(model: CHMCNNClassifier) -> None:
    app = create_app(model, limits=Limits(seconds=0.05))
    found = ask(app, "POST", "/predict", {"Content-Type": "application/json"}, [b'{"rows": [', b"..."])
    assert found.status == 408
    assert found.json()["detail"] == "The body did not arrive within 0.05 seconds."


@pytest.mark.parametrize("length", ["5001", "-1", "many", "9" * 30])
def test_a_body_is_refused_by_its_length_before_it_is_read(model: CHMCNNClassifier, length: str) -> None:
    app = create_app(model, limits=Limits(body_bytes=5000))
    found = ask(app, "POST", "/explain", {"Content-Length": length}, [])
    assert found.status == 413
    assert found.json()["detail"] == "The body is larger than 5,000 bytes; send fewer rows at a time."


def test_the_hierarchy_is_searched_and_walked(address: str) -> None:
    def get(path: str) -> Any:
        return requests.get(f"{address}/hierarchy{path}", timeout=300).json()

    assert [each["name"] for each in get("")["classes"]] == ["animal", "pet"]
    assert [each["name"] for each in get("?search=A CAT")["classes"]] == ["cat"]
    assert get("/children?class=animal&limit=1&offset=1") == {
        "total": 2,
        "offset": 1,
        "classes": [
            {
                "name": "dog",
                "title": HOSTILE,
                "depth": 1,
                "parents": ["animal", "pet"],
                "children": 0,
                "rows": None,
                "auprc": None,
            }
        ],
    }
    assert [each["name"] for each in get("/ancestors?class=dog")] == ["animal", "pet", "dog"]
    assert get("/children?class=no")["detail"].startswith("Unknown class 'no'")


def test_the_model_names_its_columns_and_their_categories(address: str) -> None:
    facts = requests.get(f"{address}/model", timeout=300).json()
    assert [column["kind"] for column in facts["columns"]] == ["numbers", "categories", "dates", "text"]
    assert facts["columns"][1]["categories"] == ["1", "2a"]
    assert facts["classes"] == 4
    assert facts["settings"]["epochs"] == 3


def test_requests_and_rows_are_counted(model: CHMCNNClassifier) -> None:
    with serving(create_app(model)) as place:
        predict(place, [ROW, ROW])
        requests.get(f"{place}/made-up", timeout=300)
        text = requests.get(f"{place}/metrics", timeout=300).text
    assert 'chmcnn_requests_total{path="/predict",status="200"} 1.0' in text
    assert 'chmcnn_requests_total{path="other",status="404"} 1.0' in text
    assert "chmcnn_batch_rows_sum 2.0" in text


def test_a_token_is_asked_for_everywhere_but_for_health(model: CHMCNNClassifier) -> None:
    token = "-".join("ab")
    with serving(create_app(model, token=token)) as place:
        statuses = [
            requests.get(f"{place}/model", headers=headers, timeout=300).status_code
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {token}"})
        ]
        assert statuses == [401, 401, 200]
        assert requests.get(f"{place}/openapi.json", timeout=300).status_code == 401
        assert requests.get(f"{place}/healthz", timeout=300).json() == {"status": "ok"}


def test_other_origins_are_allowed_only_if_they_are_given(address: str, model: CHMCNNClassifier) -> None:
    def ask(place: str) -> str | None:
        headers = {"Origin": "http://page.example"}
        return requests.get(f"{place}/healthz", headers=headers, timeout=300).headers.get("access-control-allow-origin")

    assert ask(address) is None
    with serving(create_app(model, origins=["http://page.example"])) as place:
        assert ask(place) == "http://page.example"


def test_openapi_describes_bodies_and_errors(address: str) -> None:
    document = requests.get(f"{address}/openapi.json", timeout=300).json()
    route = document["paths"]["/predict"]["post"]
    assert set(route["requestBody"]["content"]) == {"application/json", "text/csv"}
    assert {"200", "401", "408", "413", "415", "421", "422", "503"} <= set(route["responses"])
    assert "security" not in document
    assert "http" not in json.dumps(document["paths"])  # nothing from elsewhere
    names = [parameter["name"] for parameter in route["parameters"]]
    assert {"top", "min_score", "threshold", "labels", "within", "most_specific"} < {*names}
    assert {"risk", "risk_of", "back_off", "confidence"} < {*names}
    assert "text/plain" in document["paths"]["/metrics"]["get"]["responses"]["200"]["content"]


def test_openapi_describes_the_rows_of_the_model(address: str) -> None:
    document = requests.get(f"{address}/openapi.json", timeout=300).json()
    content = document["paths"]["/predict"]["post"]["requestBody"]["content"]
    rows = content["application/json"]["schema"]["properties"]["rows"]
    assert (rows["minItems"], rows["maxItems"]) == (1, 5)
    assert rows["items"]["required"] == list(ROW)
    example = {name: column["example"] for name, column in rows["items"]["properties"].items()}
    assert example["zone"] == "1"
    assert len(predict(address, [example])) == 1
    text = requests.post(
        f"{address}/predict", data=content["text/csv"]["example"], headers={"Content-Type": "text/csv"}, timeout=300
    )
    assert text.status_code == 200, text.text


@pytest.mark.parametrize(
    ("features", "rows"),
    [
        (np.random.default_rng(0).normal(size=(20, 2)), [[0.5, None], [1, 2]]),
        (["a dog barks at night", "the cat sleeps by day"] * 10, ["a dog", ""]),
    ],
)
def test_models_without_names_of_columns_take_lists_or_texts(features: Any, rows: list[Any]) -> None:
    hierarchy = create_model().hierarchy_
    model = CHMCNNClassifier(hierarchy, epochs=1, widths=(4,), random_state=0).fit(features, [{"dog"}, {"cat"}] * 10)
    with serving(create_app(model)) as place:
        assert [len(row["classes"]) for row in predict(place, rows)] == [4, 4]
        wrong = requests.post(f"{place}/predict", json={"rows": [[1, 2, 3]]}, timeout=300)
    assert wrong.status_code == 422
    assert wrong.json()["detail"].startswith("rows[0] is 3 values; expected a list of ")
