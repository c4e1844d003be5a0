"""Files of transformers: what is written is read, and a hostile file is refused before anything in it is used."""

import io
import json
import operator
import os
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from chmcnn import ChmcnnError, ModelError
from chmcnn.estimator import _transformer_files
from chmcnn.estimator._transformer_files import dump_transformer, load_transformer

TEXTS = ["red shoes", "blue shoes", "a hat"]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a hostile file ran: it must stay empty."""
    commands: list[str] = []
    monkeypatch.setattr(os, "system", commands.append)
    return commands


def rewrite(
    content: bytes, change: Callable[[Any], Any] = lambda schema: schema, parts: dict[str, bytes] | None = None
) -> bytes:
    """Return a file with another description, and further parts."""
    out, parts = io.BytesIO(), parts or {}
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json":
                data = json.dumps(change(json.loads(data))).encode()
            new.writestr(name, parts.get(name, data))
        for name in parts.keys() - set(old.namelist()):
            new.writestr(name, parts[name])
    return out.getvalue()


def put(node: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a change that makes a node an attribute of the transformer."""

    def change(schema: Any) -> Any:
        schema["content"]["content"]["extra"] = node
        schema["content"]["key_types"]["content"].append(schema["content"]["key_types"]["content"][0] | {"__id__": 1})
        return schema

    return change


def node(loader: str, name: str, **fields: Any) -> dict[str, Any]:
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": 2, **fields}


def text(content: str) -> dict[str, Any]:
    return node("JsonNode", "builtins.str", content=json.dumps(content), is_json=True)


FITTED = dump_transformer(make_pipeline(TfidfVectorizer(), StandardScaler(with_mean=False)).fit(TEXTS))
COMMAND = node("TupleNode", "builtins.tuple", content=[text("touch hostile") | {"__id__": 3}])
SYSTEM = node("FunctionNode", "os.system") | {"__id__": 4}
EMPTY = node("DictNode", "builtins.dict", content={}, key_types=node("ListNode", "builtins.list", content=[]))
HOSTILE = {
    "a function": SYSTEM,
    "a function as a type": node("TypeNode", "os.system"),
    "a function as an object": node("ObjectNode", "os.system", content=COMMAND),
    "a process": node("ConstructorFromReduceNode", "subprocess.Popen", content=COMMAND),
    "a constructor that is safe": node("ConstructorFromReduceNode", "builtins.frozenset", content=COMMAND),
    "a partial": node(
        "PartialNode", "functools.partial", content={"func": SYSTEM, "args": COMMAND, "kwds": EMPTY, "namespace": EMPTY}
    ),
    "an operator": node("OperatorFuncNode", "operator.attrgetter", attrs=COMMAND),
    "a method": node("MethodNode", "builtins.str", content={"func": "format", "obj": text("{}")}),
    "a list that is a function": node("ListNode", "os.system", content=[text("touch hostile")]),
    "keys that are a function": node(
        "DictNode",
        "builtins.dict",
        content={"touch hostile": text("")},
        key_types=node("ListNode", "builtins.list", content=[node("TypeNode", "os.system")]),
    ),
    "a scalar that is a function": node("NdArrayNode", "os.system", type="numpy", file="0.npy"),
    "an unknown loader": node("NewNode", "builtins.str"),
    "an estimator of somebody": node("ObjectNode", "sklearn_evil.Estimator"),
    "a module of ours": node("ObjectNode", "chmcnn.datasets.preprocessing.Preprocessor"),
    "no loader": {"__class__": "system", "__module__": "os"},
    "a random generator": node("RandomGeneratorNode", "numpy.random.Generator", content={}),
    "an older node": node("FunctionNode_v0", "os.system"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_node_is_refused_before_it_is_built(hostile: dict[str, Any], ran: list[str]) -> None:
    content = dump_transformer(StandardScaler().fit(np.eye(3)))
    assert load_transformer(rewrite(content)).transform(np.eye(3)).shape == (3, 3)
    with pytest.raises(ModelError, match="which is not on the list of safe types"):
        load_transformer(rewrite(content, put(hostile)))
    with pytest.raises(ModelError, match="which is not on the list of safe types"):
        load_transformer(rewrite(content, lambda schema: hostile | {"protocol": schema["protocol"]}))
    assert ran == []


@pytest.mark.parametrize(
    "transformer",
    [
        FunctionTransformer(os.system),
        FunctionTransformer(partial(os.system, "touch hostile")),
        FunctionTransformer(operator.methodcaller("system", "touch hostile")),
        FunctionTransformer(StandardScaler().fit),
        CountVectorizer(tokenizer=eval),
        RandomTreesEmbedding(n_estimators=1).fit(np.eye(3)),
        StandardScaler().set_params(copy=np.random.RandomState(0)),
    ],
)
def test_what_skops_itself_writes_may_be_refused(transformer: Any, ran: list[str]) -> None:
    with pytest.raises(ModelError, match="which is not on the list of safe types"):
        load_transformer(skops.io.dumps(transformer))
    with pytest.raises(ChmcnnError, match="A model folder cannot keep the transformer"):
        dump_transformer(transformer)
    assert ran == []


def npy(shape: tuple[int, ...], kind: str = "<f8", data: bytes = b"\0" * 24) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"shape": shape, "fortran_order": False, "descr": kind})
    return out.getvalue() + data


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", b" " * (_transformer_files._MOST_BYTES["schema.json"] + 1))
    return out.getvalue()


def test_damaged_files_are_refused(ran: list[str]) -> None:
    content = dump_transformer(StandardScaler().fit(np.eye(3)))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        array = next(name for name in file.namelist() if name.endswith(".npy"))
    damaged = {
        "not a zip file": b"pickle",
        "nothing": b"",
        "truncated": content[: len(content) // 2],
        "path": rewrite(content, parts={"../../evil.npy": npy((3,))}),
        "absolute path": rewrite(content, parts={"/tmp/evil.npy": npy((3,))}),  # noqa: S108 -- it must be refused
        "script": rewrite(content, parts={"run.py": b"import os"}),
        "bomb": bomb(),
        "huge array": rewrite(content, parts={array: npy((2**40,))}),
        "negative size": rewrite(content, parts={array: npy((-1,))}),
        "objects": rewrite(content, parts={array: npy((3,), "|O")}),
        "fields": rewrite(content, parts={array: npy((3,), [("a", "<f8")])}),  # type: ignore[arg-type]  # as in numpy
        "no array": rewrite(content, parts={array: b"cos\nsystem\n(S'touch hostile'\ntR."}),
        "list": rewrite(content, lambda _: []),
        "deep": rewrite(content, put(json.loads('{"a":' * 900 + "1" + "}" * 900))),
        "no transformer": rewrite(content, lambda schema: text("x") | {"protocol": schema["protocol"]}),
        "itself": rewrite(content, put(node("ListNode", "builtins.list", content=[node("ListNode", "builtins.list")]))),
    }
    for name, wrong in damaged.items():
        try:
            load_transformer(wrong)
        except ModelError:
            continue
        pytest.fail(f"{name} is read")
    assert ran == []


@given(st.integers(0, 2**32 - 1), st.sampled_from(["schema", "file"]), st.integers(1, 20))
@settings(max_examples=150)
def test_any_change_of_a_file_is_refused_or_harmless(ran: list[str], seed: int, place: str, changes: int) -> None:
    random = np.random.default_rng(seed)

    def damage(content: bytes) -> bytes:
        changed = bytearray(content)
        for position in random.integers(len(changed), size=changes):
            changed[position] = random.integers(256)
        return bytes(changed)

    content = FITTED
    if place == "file":
        content = damage(content)
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            content = rewrite(content, parts={"schema.json": damage(file.read("schema.json"))})
    try:
        loaded = load_transformer(content)
    except ModelError:
        loaded = None
    assert loaded is None or type(loaded).__module__.startswith("sklearn.")
    assert ran == []


def test_a_vocabulary_is_small_and_returns_as_it_was() -> None:
    words = [f"wörd{number}" for number in range(3000)]
    vectorizer = TfidfVectorizer(dtype=np.float32).fit(words)
    content = dump_transformer(FeatureUnion([("a", make_pipeline(vectorizer)), ("b", CountVectorizer())]).fit(words))
    assert len(content) < 100_000
    assert isinstance(vectorizer.vocabulary_, dict)
    loaded = load_transformer(dump_transformer(vectorizer))
    assert loaded.vocabulary_ == vectorizer.vocabulary_
    assert (load_transformer(content).transform(words) != make_union(words)).nnz == 0
    with pytest.raises(ModelError, match="a vocabulary is not a list of words"):
        _transformer_files._unpack(np.frombuffer(b"[1]", dtype=np.uint8))


def make_union(words: list[str]) -> Any:
    union = FeatureUnion([("a", make_pipeline(TfidfVectorizer(dtype=np.float32))), ("b", CountVectorizer())])
    return union.fit_transform(words)


def test_the_cache_of_a_pipeline_stays_on_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where the pipeline keeps its results
    content = dump_transformer(make_pipeline(StandardScaler(), memory="cache").fit(np.eye(3)))
    assert load_transformer(content).memory is None
    pipeline = make_pipeline(StandardScaler()).fit(np.eye(3))
    pipeline.memory = "cache"
    with pytest.raises(ModelError, match="a pipeline has a memory"):
        load_transformer(skops.io.dumps(pipeline))


def test_estimators_inside_transformers_are_kept() -> None:
    X, y = abs(np.random.default_rng(0).normal(size=(20, 3))), [0, 1] * 10
    for transformer in (
        SelectFromModel(LogisticRegression()),
        FunctionTransformer(np.log1p),
        FunctionTransformer(expit),
    ):
        loaded = load_transformer(dump_transformer(transformer.fit(X, y)))
        assert np.array_equal(loaded.transform(X), transformer.transform(X))
