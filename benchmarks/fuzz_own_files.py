"""Good files of our own beside a model, for `benchmarks.fuzz`: facts of classes, signatures, keys, runs and studies.

Studies have names and times that differ from process to process, all else is the same in every one.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chmcnn import CHMCNNClassifier, Hierarchy, sign_model
from chmcnn._io import results
from chmcnn.comparison import PlannedRun, RunSpec, Source, collect, find_finished, run
from chmcnn.comparison._summary import summarise
from chmcnn.datasets import Table
from chmcnn.estimator import save_model
from chmcnn.estimator._model_files import _digest
from chmcnn.estimator._model_folder import CLASS_FACTS, DIGESTS, FACTS, SIGNATURE
from chmcnn.estimator._signatures import verify_signature
from chmcnn.evaluation import evaluate
from chmcnn.metrics import find_measures
from chmcnn.report.explorer import create_facts, read_facts
from chmcnn.report.overview import count_rows
from chmcnn.search import SearchPlan, search
from chmcnn.serving._classes import ClassIndex
from chmcnn.serving._details import describe_class
from chmcnn.serving._limits import Limits
from chmcnn.serving._service import Service

_TABLE = Table(pd.DataFrame({"x": [0.0, 1.0] * 5}), ["a/b", "c"] * 5, Hierarchy.from_paths(["a/b", "c"]))


@cache
def _model() -> CHMCNNClassifier:
    model = CHMCNNClassifier(_TABLE.hierarchy, epochs=1, widths=(2,), random_state=0)
    model.fit(_TABLE.X, _TABLE.Y)
    return model


@cache
def _service() -> Service:
    return Service(_model(), Limits())


def save_class_facts(folder: Path) -> bytes:
    """Save a model with the facts of its classes, and return these."""
    model = _model()
    evaluation = evaluate(model, _TABLE.X, _TABLE.Y, "test rows", progress=False)
    facts = create_facts(model.hierarchy_, count_rows(_TABLE.Y), "training rows", evaluation)
    save_model(model, folder / "good", force=False, class_facts=facts.to_json())
    return (folder / "good" / CLASS_FACTS).read_bytes()


def load_class_facts(path: Path) -> object:
    """Read altered facts, whose checksum is right, and answer all that the service says with them."""
    folder, content = path.parent / "good", path.read_bytes()
    (folder / CLASS_FACTS).write_bytes(content)
    facts = json.loads((folder / FACTS).read_bytes())
    facts[DIGESTS[CLASS_FACTS]] = hashlib.sha256(content).hexdigest()
    (folder / FACTS).write_text(json.dumps(facts | {"digest": _digest(facts)}), encoding="utf-8")
    service, hierarchy = _service(), _model().hierarchy_
    service.facts = read_facts(folder, hierarchy)
    service.classes = ClassIndex(hierarchy, service.facts)
    described = [describe_class(service, name).model_dump_json() for name in hierarchy.classes]
    return described, json.dumps(service.describe(), allow_nan=False)


PRIVATE, PUBLIC, GOOD_SIGNATURE = "private.pem", "public.pem", "good.sig"


def _sign(folder: Path) -> Path:
    """Save a signed model with its keys, and return its folder."""
    good = folder / "good"
    save_model(_model(), good, force=False)
    _write_key(good)
    sign_model(good, good / PRIVATE)
    shutil.copy(good / SIGNATURE, good / GOOD_SIGNATURE)
    return good


def _write_key(folder: Path) -> None:
    """Write a key that is the same in every process."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    known = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    (folder / PRIVATE).write_bytes(secret)
    (folder / PUBLIC).write_bytes(known)


def save_signed(file: str) -> Callable[[Path], bytes]:
    """Return what signs a model, and returns the content of its signature or of a key."""
    return lambda folder: (_sign(folder) / file).read_bytes()


def verify_altered(path: Path) -> object:
    """Verify a model with an altered signature; one that is accepted must be the good one."""
    folder, signature = path.parent / "good", path.read_bytes()
    good = (folder / GOOD_SIGNATURE).read_bytes()
    (folder / SIGNATURE).write_bytes(signature)
    verify_signature(folder, (folder / FACTS).read_bytes(), folder / PUBLIC)
    if signature != good:
        raise AssertionError("another signature is accepted")
    return signature


def verify_by(path: Path) -> None:
    """Verify a model with an altered key."""
    folder = path.parent / "good"
    verify_signature(folder, (folder / FACTS).read_bytes(), path)


def sign_by(path: Path) -> None:
    """Sign a model with an altered key."""
    sign_model(path.parent / "good", path)


@cache
def _plan() -> PlannedRun:
    source = Source("mine", _TABLE)
    return PlannedRun(RunSpec("mine", "C-HMCNN", {"epochs": 1, "widths": [2]}), source, source.digest())


def save_run(folder: Path) -> bytes:
    """Run a system, and return the file of its result, with costs that are the same on every machine."""
    run(_plan(), folder / "good")
    path = _plan().spec.path(folder / "good")
    content = results.read(path)
    content["figures"] |= {"fit_seconds": 1.5, "predict_seconds": 0.25, "memory": 2.0}
    results.write(path, content)
    return path.read_bytes()


def load_run(path: Path) -> object:
    """Read an altered result, whose checksum is right, as a comparison does that resumes."""
    planned, content = _plan(), path.read_bytes()
    try:
        plain = {name: value for name, value in json.loads(content).items() if name != "checksum"}
        content = json.dumps(plain | {"checksum": results.checksum(plain)}).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    folder = path.parent / "good"
    planned.spec.path(folder).write_bytes(content)
    found = find_finished(planned, folder)
    if found is not None:
        sizes, drawn = {"mine": {"rows": len(_TABLE)}}, {"mine": True}
        measures = find_measures(("auprc",))
        summarise([found], systems=["C-HMCNN"], sizes=sizes, drawn=drawn, missing="last", measures=measures).facts()
    return collect(folder)


_SEARCH = SearchPlan({"learning_rate": [1e-3, 1e-2]}, "grid", settings={"epochs": 1, "widths": [2]})


def save_study(folder: Path) -> bytes:
    """Search, and return the database of the trials."""
    search(_TABLE, _SEARCH, folder / "good", title="mine")
    return (folder / "good" / "study.db").read_bytes()


def load_study(path: Path) -> object:
    """Read an altered database, without further trials."""
    (path.parent / "good" / "study.db").write_bytes(path.read_bytes())
    return search(_TABLE, _SEARCH, path.parent / "good", title="mine", jobs=0).facts()


def save_journal(folder: Path) -> bytes:
    """Search, and return the file on a shared disk that has the trials."""
    search(_TABLE, _SEARCH, folder / "good", title="mine", storage=str(folder / "good.log"))
    return (folder / "good.log").read_bytes()


def load_journal(path: Path) -> object:
    """Read an altered file, without further trials."""
    return search(_TABLE, _SEARCH, path.parent / "good", title="mine", storage=str(path), jobs=0).facts()
