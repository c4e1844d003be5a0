"""Every reader of files, with a good file for each, which `benchmarks.fuzz` alters."""

import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import torch
from fastapi import HTTPException
from scipy import sparse

from benchmarks import fuzz_own_files as own
from benchmarks.fuzz_alterations import (
    alter_bytes,
    alter_database,
    alter_gzip,
    alter_json,
    alter_lines,
    alter_tensors,
    alter_zip,
    pack_zip,
)
from chmcnn import CHMCNNClassifier, ChmcnnError, CoherentEnsemble, Hierarchy, baselines, load_model, settings
from chmcnn._io import results
from chmcnn.datasets import RowGroups, arff, obo, read_hierarchy, read_information, read_known, read_table
from chmcnn.datasets.annotation_files import read as read_annotations
from chmcnn.estimator import HierarchicalClassifier, load_transformer
from chmcnn.estimator._model_files import _digest
from chmcnn.search import Space
from chmcnn.serving._columns import concatenate
from chmcnn.serving._rows import RowReader
from chmcnn.training import Settings, TrainingState, start
from chmcnn.training._checkpoint import Checkpoint
from chmcnn.training._state import Phase

Model = TypeVar("Model", bound=HierarchicalClassifier)
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
_TRIPLES = b"".join(
    b"<http://x.org/%s> <http://www.w3.org/%s> %s .\n" % line
    for line in [
        (b"a", b"1999/02/22-rdf-syntax-ns#type", b"<http://www.w3.org/2004/02/skos/core#Concept>"),
        (b"b", b"2004/02/skos/core#broader", b"<http://x.org/a>"),
        (b"b", b"2004/02/skos/core#prefLabel", b'"the b"@en'),
    ]
)
_GAF = b"!gaf-version: 2.2\n" + b"\t".join(
    [b"DB", b"G1", b"g", b"", b"GO:1", b"R", b"IDA", *[b""] * 3, b"s|t", *[b""] * 6]
)


class Reader(NamedTuple):
    """The name of a file, the good one, and what reads it."""

    file: str
    prepare: Callable[[Path], bytes]
    read: Callable[[Path], object]
    alter: Callable[[Random, bytes], bytes] = alter_bytes


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


_ROWS = pd.DataFrame({"x": [0.0, 1.0] * 5, "title": ["a red shoe now", "one blue hat here"] * 5})
_NEW = pd.DataFrame({"x": [0.5], "title": ["a hat"]})


@cache
def _network() -> CHMCNNClassifier:
    return _learn(CHMCNNClassifier(epochs=1, widths=(2,), random_state=0, threshold="tune", validation=0.4))


@cache
def _ensemble() -> CoherentEnsemble:
    return _learn(
        CoherentEnsemble(members=[baselines.Linear(), baselines.Neighbours()], validation=0.4, random_state=0)
    )


@cache
def _members() -> CoherentEnsemble:
    kinds: list[HierarchicalClassifier] = [baselines.KernelRidge(), baselines.Neighbours(), baselines.Linear()]
    return _learn(CoherentEnsemble(members=kinds, validation=0.4, random_state=0))


@cache
def _trees() -> baselines.ExtraTrees:
    return _learn(baselines.ExtraTrees(n_estimators=2, random_state=0))


def _learn(model: Model) -> Model:
    model.fit(_ROWS, ["a/b", "a/c"] * 5)
    return model


def _save(train: Callable[[], HierarchicalClassifier], file: str) -> Callable[[Path], bytes]:
    """Return what saves a model beside the altered file, and returns the content of one of its files."""

    def save(folder: Path) -> bytes:
        train().save(folder / "good")
        return (folder / "good" / file).read_bytes()

    return save


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
    return load_model(folder).predict_labels(_NEW)


def _load_tensors(path: Path) -> object:
    """Load a model with altered tensors, whose checksums are right."""
    folder = path.parent / "good"
    (folder / "model.safetensors").write_bytes(path.read_bytes())
    facts = json.loads((folder / "model.json").read_text())
    facts["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(facts | {"digest": _digest(facts)}))
    return load_model(folder).predict_labels(_NEW)


def _read_request(content_type: str) -> Callable[[Path], object]:
    """Return what reads the body of a request to the service; an error of the client is one of ours."""

    def read(path: Path) -> object:
        try:
            features = RowReader(_network(), 100).read(path.read_bytes(), content_type).features
        except HTTPException as error:
            if error.status_code // 100 == 4:
                raise ChmcnnError(str(error.detail)) from None
            raise
        return _network().predict_labels(concatenate([features]))

    return read


def _transformer(_: Path) -> bytes:
    """Return a transformer whose parts have names that are the same in every process."""
    import skops.io
    from sklearn.preprocessing import StandardScaler

    content: bytes = skops.io.dumps(StandardScaler().fit(np.eye(2)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    numbers = dict.fromkeys(re.findall(rb"\d{9,}", files["schema.json"]))  # addresses in memory
    for place, number in enumerate(numbers, start=10**8):
        files = {
            name.replace(number.decode(), str(place)): part.replace(number, str(place).encode())
            for name, part in files.items()
        }
    return pack_zip(files)


def _start(_: Phase = "train") -> TrainingState:
    return start(lambda: torch.nn.Linear(2, 3), Settings(epochs=1), "cpu")


def _save_checkpoint(folder: Path) -> bytes:
    checkpoint = Checkpoint(folder / "good", {"of": "this"})
    checkpoint.save(_start())
    return checkpoint.path.read_bytes()


def _result(folder: Path) -> bytes:
    results.write(folder / "good.json", {"figure": 0.5, "names": ["a"]})
    return (folder / "good.json").read_bytes()


def _stream(path: Path) -> object:
    rows = RowGroups([path], TREE)
    return [list(rows.read(group)) for group in rows.groups]


def _as_table(path: Path) -> Any:  # noqa: ANN401 -- whatever is read
    return read_table(path, TREE)


READERS = {
    "csv": Reader("my.csv", _of(_TABLE), _as_table),
    "csv.gz": Reader("my.csv.gz", _of(gzip.compress(_TABLE, mtime=0)), _as_table, alter_gzip),
    "tsv": Reader("my.tsv", _of(_TABLE.replace(b",", b"\t")), _as_table),
    "parquet": Reader("my.parquet", _parquet, _as_table),
    "stream": Reader("part.parquet", _parquet, _stream),
    "svmlight": Reader(
        "my.svm", _of(b"1,2 1:0.5 3:1\n2 2:1 # x\n"), lambda path: read_table(path, Hierarchy(["1", "2"], []))
    ),
    "npz": Reader("my.npz", _npz, lambda path: read_table(path, TREE, label_file=path), alter_zip),
    "arff": Reader("my.arff", _of(_ARFF), arff.read),
    "edges": Reader("edges.csv", _of(_EDGES), read_hierarchy),
    "edges.gz": Reader("edges.csv.gz", _of(gzip.compress(_EDGES, mtime=0)), read_hierarchy, alter_gzip),
    "hierarchy": Reader("h.json", _of(TREE.with_titles({"a": "the a"}).to_json().encode()), read_hierarchy, alter_json),
    "obo": Reader("my.obo", _of(_OBO), obo.read),
    "skos": Reader("my.ttl", _of(_SKOS), read_hierarchy),
    "triples": Reader("my.nt", _of(_TRIPLES), read_hierarchy),
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
    "run": Reader("run.json", own.save_run, own.load_run, alter_json),
    "study": Reader("study.db", own.save_study, own.load_study, alter_database),
    "journal": Reader("journal.log", own.save_journal, own.load_journal, alter_lines),
    "model": Reader("model.json", _save(_network, "model.json"), _load_facts, alter_json),
    "ensemble": Reader("model.json", _save(_ensemble, "model.json"), _load_facts, alter_json),
    "tensors": Reader("model.safetensors", _save(_network, "model.safetensors"), _load_tensors, alter_tensors),
    "members": Reader("model.safetensors", _save(_members, "model.safetensors"), _load_tensors, alter_tensors),
    "trees": Reader("model.safetensors", _save(_trees, "model.safetensors"), _load_tensors, alter_tensors),
    "class_facts": Reader("class_facts.json", own.save_class_facts, own.load_class_facts, alter_json),
    "signature": Reader("model.json.sig", own.save_signed("model.json.sig"), own.verify_altered),
    "public key": Reader("public.pem", own.save_signed(own.PUBLIC), own.verify_by),
    "private key": Reader("private.pem", own.save_signed(own.PRIVATE), own.sign_by),
    "checkpoint": Reader(
        "checkpoint.safetensors",
        _save_checkpoint,
        lambda path: Checkpoint(path.parent, {"of": "this"}).restore(_start),
        alter_tensors,
    ),
    "transformer": Reader(
        "preprocessing.skops", _transformer, lambda path: load_transformer(path.read_bytes()), alter_zip
    ),
    "request": Reader(
        "rows.json",
        _of(b'{"rows": [{"x": 1.5, "title": "a red shoe"}, {"x": null, "title": null}]}'),
        _read_request("application/json"),
        alter_json,
    ),
    "request.csv": Reader("rows.csv", _of(b"x,title\n1.5,a red shoe\n,\n"), _read_request("text/csv")),
}
"""The readers by name."""
