"""Whatever fails while a file is written, and whenever: the old or the new one is there, and the next try succeeds."""

import contextlib
import itertools
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from torch import nn

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, ModelError, datasets
from chmcnn._io import files, results
from chmcnn.cli import _output
from chmcnn.cli._options import Invocation
from chmcnn.datasets import download
from chmcnn.datasets.catalogue import File
from chmcnn.estimator import _model_files, create_key, read_class_facts, save_model, sign_model
from chmcnn.estimator._signatures import verify_signature
from chmcnn.search import SearchResult
from chmcnn.training import Settings, start
from chmcnn.training._checkpoint import Checkpoint
from tests.datasets.server import serve
from tests.faults import FAILURES, Crash, Disk
from tests.report.search_results import search_result

OLD, NEW = 0, 1
TREE = Hierarchy.from_paths(["a/b", "a/c"])
CONTENT = b"@RELATION small\n" * 100
FILE = File("HMC_data/others/Small.arff", download.blob_id(CONTENT), len(CONTENT), 3)


@cache
def model(version: int) -> CHMCNNClassifier:
    table = pd.DataFrame({"x": [0.0, 1.0] * 5})
    return CHMCNNClassifier(TREE, epochs=1, widths=(4,), random_state=version).fit(table, ["a/b", "a/c"] * 5)


def save(folder: Path, version: int) -> None:
    report = {"report.html": f"<p>{version}</p>".encode()}
    save_model(model(version), folder / "model", force=True, class_facts=b"[%d]" % version, extra_files=report)


def save_new(folder: Path, version: int) -> None:
    if version == NEW and not (folder / "model").exists():
        save(folder, NEW)


def load(folder: Path) -> int:
    """Read and verify all files of a model, from which it is rebuilt."""
    facts, _, _ = _model_files._read_files(folder / "model")
    assert read_class_facts(folder / "model") == b"[%d]" % facts["seed"]
    return int(facts["seed"])


def load_new(folder: Path) -> int:
    return load(folder) if (folder / "model").exists() else OLD


def sign(folder: Path, version: int) -> None:
    """Sign a model that was signed with another key."""
    if version == OLD:
        save(folder, OLD)
        for name in (OLD, NEW):
            create_key(folder / f"{name}.pem", folder / f"{name}.pub.pem")
    sign_model(folder / "model", folder / f"{version}.pem")


def verify(folder: Path) -> int:
    """Return which key the signature of a model is of."""
    facts = (folder / "model" / "model.json").read_bytes()
    for version in (OLD, NEW):
        with contextlib.suppress(ModelError):
            verify_signature(folder / "model", facts, folder / f"{version}.pub.pem")
            return version
    return -1


def save_checkpoint(folder: Path, version: int) -> None:
    state = start(lambda: nn.Linear(2, 3), Settings(epochs=1), "cpu")
    state.epoch = version
    Checkpoint(folder, {"of": "this"}).save(state)


def load_checkpoint(folder: Path) -> int:
    with safe_open(Checkpoint(folder, {}).path, framework="pt") as file:
        return int(json.loads(file.metadata()["facts"])["epoch"])


def fetch(folder: Path, version: int) -> None:
    if version == NEW:
        download.fetch(FILE)
    else:  # an altered file in the cache is replaced
        (folder / FILE.path).parent.mkdir(parents=True)
        (folder / FILE.path).write_bytes(b"old")


def predict(folder: Path, version: int) -> None:
    """Write predictions as the command does, which takes longer to start."""
    with files.atomic(folder / "scores.csv") as temporary:
        pd.DataFrame(score(version), columns=TREE.classes).to_csv(temporary, index=False)


@cache
def score(version: int) -> NDArray[np.float32]:
    return model(OLD).predict_proba(pd.DataFrame({"x": [float(version)]}))


def read_scores(folder: Path) -> int:
    scores = pd.read_csv(folder / "scores.csv").to_numpy()
    return [np.allclose(scores, score(version)) for version in (OLD, NEW)].index(True)


@cache
def find(version: int) -> SearchResult:
    found = search_result()
    found.trials["number"] = version
    return found


def write_search(folder: Path, version: int) -> None:
    module = sys.modules["chmcnn.cli.search"]  # the package has the command by this name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chmcnn.report.search_page.draw", lambda _: None)  # drawing takes long
        patch.setattr("chmcnn.report.page.png", lambda _: b"a picture")
        patch.setattr("chmcnn.report.search_page.page", lambda *_: "<html></html>")
        module._write(find(version), folder, Invocation())


def read_search(folder: Path) -> int:
    assert (folder / "search.html").read_text() == "<html></html>"
    assert (folder / "search.png").read_bytes() == b"a picture"
    written = (folder / "trials.csv").read_text()
    return [written == find(version).trials.to_csv(index=False) for version in (OLD, NEW)].index(True)


def export(folder: Path, version: int) -> None:
    datasets.Table([[float(version)]], ["a/b"], TREE).to_csv(folder / "table.csv", force=True)


class Writer(NamedTuple):
    """What writes a state, and what reads it."""

    write: Callable[[Path, int], None]
    read: Callable[[Path], int]


WRITERS = {
    "model": Writer(save, load),
    "new model": Writer(save_new, load_new),
    "signature": Writer(sign, verify),
    "checkpoint": Writer(save_checkpoint, load_checkpoint),
    "result": Writer(
        lambda folder, version: results.write(folder / "run.json", {"version": version}),
        lambda folder: int(results.read(folder / "run.json")["version"]),
    ),
    "download": Writer(fetch, lambda folder: int(download.is_verified(folder / FILE.path, FILE))),
    "prediction": Writer(predict, read_scores),
    "search": Writer(write_search, read_search),
    "report": Writer(
        lambda folder, version: _output.write(folder / "report.html", f"<p>{version}</p>"),
        lambda folder: int((folder / "report.html").read_text()[3:-4]),
    ),
    "export": Writer(export, lambda folder: int(datasets.read_table(folder / "table.csv", TREE).X.iloc[0, 0])),
}


@contextlib.contextmanager
def prepare(folder: Path) -> Iterator[Path]:
    """Yield a folder, with a server of a file."""
    (folder / "home" / FILE.path).parent.mkdir(parents=True)
    (folder / "home" / FILE.path).write_bytes(CONTENT)
    with pytest.MonkeyPatch.context() as patch, serve(folder / "home", "honest") as (address, _):
        patch.setattr(files, "_SECONDS_TO_LOCK", 0)
        patch.setenv("CHMCNN_CACHE", str(folder / "disk"))
        patch.setenv("CHMCNN_MIRROR", address)
        yield folder


def fail_everywhere(place: Path, name: str, failure: str) -> int:
    """Let each call fail that changes the disk while a state is written, and return how many there are."""
    write, read = WRITERS[name]
    (place / "old").mkdir()
    write(place / "old", OLD)
    for at in itertools.count():
        folder = shutil.copytree(place / "old", place / "disk")
        disk = Disk(folder, failure, at)
        with disk.failing(), contextlib.suppress(Crash, ChmcnnError):
            write(folder, NEW)
        if disk.calls <= at:  # there is no such call
            break
        assert read(folder) in {OLD, NEW}
        write(folder, NEW)
        assert read(folder) == NEW
        assert not [path for path in folder.rglob("*") if path.name.startswith(files._START)], "nothing is left"
        folder.rename(place / f"done {at}")
    assert read(folder) == NEW
    return at


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", WRITERS)
def test_the_old_or_the_new_state_is_there(tmp_path: Path, name: str, failure: str) -> None:
    with prepare(tmp_path) as place:
        assert fail_everywhere(place, name, failure) >= 4
