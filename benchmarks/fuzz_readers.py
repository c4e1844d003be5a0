"""Every reader of files, with a good file for each, which `benchmarks.fuzz` alters."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from hypothesis import strategies as st
from scipy import sparse

from benchmarks.fuzz_alterations import alter_bytes, alter_json, alter_tensors
from chmcnn import CHMCNNClassifier, Hierarchy, load_model, settings
from chmcnn._io import results
from chmcnn.datasets import arff, obo, read_hierarchy, read_information, read_known, read_table
from chmcnn.datasets.annotation_files import read as read_annotations
from chmcnn.estimator import load_transformer
from chmcnn.estimator._model_files import _digest
from chmcnn.search import Space
from chmcnn.training import Settings, TrainingState, start
from chmcnn.training._checkpoint import Checkpoint
from chmcnn.training._state import Phase

TREE = Hierarchy.from_paths(["a/b", "c"])
_TABLE = b'x,kind,day,labels\n1.5,"u, v",2020-01-31,a/b\n,w,2021-02-01,c;a\n-2e3,?,,\n'
_EDGES = b"parent,child,title\na,b,the b\nb,c,\n,a,root\n"
_ARFF = (
    b"@RELATION r\n@ATTRIBUTE x numeric\n@ATTRIBUTE k {u,'v w'}\n@ATTRIBUTE class hierarchical a/b,c\n@DATA\n"
    b"1,u,a/b\n?,'v w',c\n"
)
_OBO = b"format-version: 1.2\n\n[Term]\nid: T:1\nname: one\n\n[Term]\nid: T:2\nis_a: T:1 ! one\nalt_id: T:3\n"
_SKOS = (
    b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://x.org/> .\n:a a skos:Concept .\n"
    b':b a skos:Concept ; skos:broader :a ; skos:prefLabel "the b"@en .\n'
)
_GAF = b"!gaf-version: 2.2\n" + b"\t".join(
    [b"DB", b"G1", b"g", b"", b"GO:1", b"R", b"IDA", *[b""] * 3, b"s|t", *[b""] * 6]
)


class Reader(NamedTuple):
    """The name of a file, the good one, and what reads it."""

    file: str
    prepare: Callable[[Path], bytes]
    read: Callable[[Path], object]
    alter: Callable[[st.DataObject, bytes], bytes] = alter_bytes


def _of(content: bytes) -> Callable[[Path], bytes]:
    return lambda _: content


def _parquet(_: Path) -> bytes:
    buffer = io.BytesIO()
    table = {"x": [1.5, 2.0], "kind": pd.Categorical(["u", "v"]), "day": pd.to_datetime(["2020-01-01"] * 2)}
    pd.DataFrame({**table, "labels": [["a/b"], ["c", "a"]]}).to_parquet(buffer)  # without checksums: more is read
    return buffer.getvalue()


def _npz(_: Path) -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(np.eye(3)), compressed=False)
    return buffer.getvalue()


@cache
def _model() -> CHMCNNClassifier:
    table = pd.DataFrame({"x": [0.0, 1.0] * 5, "title": ["a red shoe now", "one blue hat here"] * 5})
    return CHMCNNClassifier(epochs=1, widths=(2,), random_state=0, threshold="tune", validation=0.4).fit(
        table, ["a/b", "a/c"] * 5
    )


def _save_model(folder: Path) -> bytes:
    _model().save(folder / "good")
    return (folder / "good" / "model.json").read_bytes()


def _save_tensors(folder: Path) -> bytes:
    _model().save(folder / "good")
    return (folder / "good" / "model.safetensors").read_bytes()


def _load_facts(path: Path) -> object:
    """Load a model with altered facts, whose checksum is right."""
    folder = path.parent / "good"
    content = path.read_bytes()
    try:
        facts = json.loads(content)
        content = json.dumps(facts | {"digest": _digest(facts)}).encode()
    except (ValueError, TypeError, RecursionError):
        pass
    (folder / "model.json").write_bytes(content)
    return load_model(folder).predict_labels(pd.DataFrame({"x": [0.5], "title": ["a hat"]}))


def _load_tensors(path: Path) -> object:
    """Load a model with altered tensors, whose checksums are right."""
    folder = path.parent / "good"
    (folder / "model.safetensors").write_bytes(path.read_bytes())
    facts = json.loads((folder / "model.json").read_text())
    facts["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(facts | {"digest": _digest(facts)}))
    return load_model(folder).predict_labels(pd.DataFrame({"x": [0.5], "title": ["a hat"]}))


def _transformer(_: Path) -> bytes:
    import skops.io
    from sklearn.preprocessing import StandardScaler

    content: bytes = skops.io.dumps(StandardScaler().fit(np.eye(2)))
    return content


def _start(_: Phase = "train") -> TrainingState:
    return start(lambda: torch.nn.Linear(2, 3), Settings(epochs=1), "cpu")


def _save_checkpoint(folder: Path) -> bytes:
    checkpoint = Checkpoint(folder / "good", {"of": "this"})
    checkpoint.save(_start())
    return checkpoint.path.read_bytes()


def _result(folder: Path) -> bytes:
    results.write(folder / "good.json", {"figure": 0.5, "names": ["a"]})
    return (folder / "good.json").read_bytes()


def _as_table(path: Path) -> Any:  # noqa: ANN401 -- whatever is read
    return read_table(path, TREE)


READERS = {
    "csv": Reader("my.csv", _of(_TABLE), _as_table),
    "csv.gz": Reader("my.csv.gz", _of(gzip.compress(_TABLE)), _as_table),
    "tsv": Reader("my.tsv", _of(_TABLE.replace(b",", b"\t")), _as_table),
    "parquet": Reader("my.parquet", _parquet, _as_table),
    "svmlight": Reader(
        "my.svm", _of(b"1,2 1:0.5 3:1\n2 2:1 # x\n"), lambda path: read_table(path, Hierarchy(["1", "2"], []))
    ),
    "npz": Reader("my.npz", _npz, lambda path: read_table(path, TREE, label_file=path)),
    "arff": Reader("my.arff", _of(_ARFF), arff.read),
    "edges": Reader("edges.csv", _of(_EDGES), read_hierarchy),
    "edges.gz": Reader("edges.csv.gz", _of(gzip.compress(_EDGES)), read_hierarchy),
    "hierarchy": Reader("h.json", _of(TREE.with_titles({"a": "the a"}).to_json().encode()), read_hierarchy, alter_json),
    "obo": Reader("my.obo", _of(_OBO), obo.read),
    "skos": Reader("my.ttl", _of(_SKOS), read_hierarchy),
    "gaf": Reader("my.gaf", _of(_GAF), lambda path: list(read_annotations(path))),
    "annotations": Reader(
        "my.tsv", _of(b"gene\tterm\nG1\tGO:1\nG2\tGO:2\n"), lambda path: list(read_annotations(path))
    ),
    "information": Reader("IA.tsv", _of(b"a\t0.5\na/b\t1\nc\t2.5\n"), lambda path: read_information(path, TREE)),
    "known": Reader("known.tsv", _of(b"P1\ta\nP2\tc\n"), lambda path: read_known(path, ["P1", "P2"], TREE)),
    "settings": Reader(
        "settings.json",
        _of(b'{"epochs": 5, "widths": [10, 20], "dropout": 0.5, "threshold": "tune", "class_weight": {"a": 2}}'),
        lambda path: settings.check_settings(settings.read(path), path),
        alter_json,
    ),
    "space": Reader(
        "space.json",
        _of(
            b'{"dropout": [0.5, 0.7], "learning_rate": {"low": 1e-5, "high": 1e-2, "log": true}, '
            b'"epochs": {"low": 1, "high": 9, "step": 2}}'
        ),
        lambda path: Space.of(settings.read(path), path).distributions(),
        alter_json,
    ),
    "result": Reader("run.json", _result, results.read, alter_json),
    "model": Reader("model.json", _save_model, _load_facts, alter_json),
    "tensors": Reader("model.safetensors", _save_tensors, _load_tensors, alter_tensors),
    "checkpoint": Reader(
        "checkpoint.safetensors",
        _save_checkpoint,
        lambda path: Checkpoint(path.parent, {"of": "this"}).restore(_start),
    ),
    "transformer": Reader("preprocessing.skops", _transformer, lambda path: load_transformer(path.read_bytes())),
}
"""The readers by name."""
