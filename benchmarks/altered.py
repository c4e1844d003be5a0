"""Altered models, some of them hostile: what is read, what is refused, and whether anything in them is run.

python -m benchmarks.altered --models 2000

A model with a transformer is altered at random: some bytes, a value of its JSON, a tensor, a node of its skops file, or
a whole file, in whose place is a pickle. Mostly, all checksums are computed again, as a stranger would do it. While it
is loaded, a hook notices processes, connections, pickles, and imports of the modules that are planted. Then it is
loaded with the key of the signature that it had before it was altered.
"""

import argparse
import contextlib
import hashlib
import io
import json
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.fuzz_alterations import alter_json, alter_tensors, alter_zip, pack_zip
from benchmarks.markdown import table
from benchmarks.measure import load, save
from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, load_model, sign_model
from chmcnn._io.user_code import describe_error
from chmcnn.datasets import Table
from chmcnn.estimator import create_key, save_model
from chmcnn.estimator._model_files import _digest
from chmcnn.estimator._model_folder import CLASS_FACTS, DIGESTS, FACTS, TENSORS, TRANSFORMER
from chmcnn.evaluation import evaluate
from chmcnn.report.explorer import create_facts, read_facts
from chmcnn.report.overview import count_rows

_HANGS = 60
"""Seconds after which loading hangs."""
_EVENTS = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "subprocess.Popen", "socket.", "pickle.")
"""What loading a model never does, by the names of Python's audit events."""
_PLANTED = ("this", "turtledemo", "idlelib")
"""Modules that nothing imports, but a file that says so."""
_HOSTILE = [("os", "system"), ("builtins", "eval"), ("builtins", "exec"), ("subprocess", "Popen"), ("pickle", "loads")]
_LOADERS = ("ObjectNode", "FunctionNode", "TypeNode", "MethodNode", "PartialNode", "OperatorFuncNode", "ReduceNode")
COUNTS = ("models", "hostile", "read", "refused", "code run", "unclear", "hangs", "loaded with the key")


class Evil:
    """Has something evaluated when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Say what unpickling does."""
        return eval, ("__import__('this')",)


class Watch:
    """Notices what a model must not do while it is loaded; a hook stays for the life of a process."""

    def __init__(self) -> None:
        self.noticed: list[str] = []
        self.is_on = False
        sys.addaudithook(self._notice)

    def _notice(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:  # first of all: there are many events, also after the last model
            return
        is_planted = event == "import" and arguments[0] in _PLANTED
        if (event.startswith(_EVENTS) or is_planted) and not _is_by_numba():
            self.noticed.append(f"{event} {arguments}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[list[str]]:
        """Yield a list of what is noticed meanwhile, and end what takes too long."""
        self.noticed, self.is_on = [], True
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(_HANGS)
        try:
            yield self.noticed
        finally:
            signal.alarm(0)
            self.is_on = False


def _is_by_numba() -> bool:
    """Whether numba reads a loop from its own cache of this machine."""
    return any(
        frame.filename.endswith("caching.py") and "numba" in frame.filename for frame in traceback.extract_stack()
    )


def _give_up(*_: object) -> NoReturn:
    raise TimeoutError


def main() -> None:
    """Alter models, and write what came of it to results/altered.json."""
    parser = argparse.ArgumentParser(description="Altered models.")
    parser.add_argument("--models", type=int, default=1_000)
    counts = alter_models(range(parser.parse_args().models))
    row = {key: counts[key] for key in COUNTS}
    print(save("altered", "python -m benchmarks.altered", [row]), row)
    raise SystemExit(any(row[key] for key in ("code run", "unclear", "hangs", "loaded with the key")))


def alter_models(numbers: range) -> Counter[str]:
    """Load altered models, each without and with the key, and count what came of it."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _prepare(place)
        watch = Watch()
        for number in numbers:
            shutil.rmtree(place / "altered", ignore_errors=True)
            shutil.copytree(place / "good", place / "altered")
            random = Random(f"altered {number}")  # noqa: S311 -- what to alter
            counts["hostile"] += _alter(place / "altered", random)
            counts["models"] += 1
            with watch.watching() as noticed:
                counts[_load(place / "altered", None, noticed, number)] += 1
            with watch.watching() as noticed:
                found = _load(place / "altered", place / "public.pem", noticed, number)
            counts[{"read": "loaded with the key", "refused": "refused with the key"}.get(found, found)] += 1
    return counts


def _prepare(place: Path) -> None:
    """Write a signed model and its key, and load it, so that all is imported."""
    model = CHMCNNClassifier(epochs=1, widths=(2,), random_state=0, preprocess=StandardScaler())
    rows = Table(np.eye(10, 2), ["a/b", "a/c"] * 5, Hierarchy.from_paths(["a/b", "a/c"]))
    model.set_params(hierarchy=rows.hierarchy).fit(rows.X, rows.Y)
    evaluation = evaluate(model, rows.X, rows.Y, "test rows", progress=False)
    facts = create_facts(model.hierarchy_, count_rows(rows.Y), "training rows", evaluation).to_json()
    save_model(model, place / "good", force=False, class_facts=facts)
    create_key(place / "private.pem", place / "public.pem")
    sign_model(place / "good", place / "private.pem")
    load_model(place / "good", verify_key=place / "public.pem").predict_labels(np.eye(2))


def _load(folder: Path, key: Path | None, noticed: list[str], number: int) -> str:
    """Return what came of loading a model with the facts of its classes, and of predicting with it."""
    try:
        model = load_model(folder, verify_key=key)
        model.predict_labels(np.eye(2))
        read_facts(folder, model.hierarchy_, key)
        found = "read"
    except ChmcnnError:
        found = "refused"
    except TimeoutError:
        found = "hangs"
    except Exception as error:  # noqa: BLE001 -- any other error is unclear
        print(number, describe_error(error), flush=True)
        found = "unclear"
    if noticed:
        print(number, noticed, flush=True)
    return "code run" if noticed else found


def _alter(folder: Path, random: Random) -> bool:
    """Alter a model until it differs from the good one; return whether it was made hostile."""
    name = random.choice([FACTS, TENSORS, CLASS_FACTS, TRANSFORMER, TRANSFORMER])
    good = (folder / name).read_bytes()
    is_hostile = random.random() < 0.3
    if is_hostile and name == TRANSFORMER and random.random() < 0.7:
        (folder / name).write_bytes(_plant(good, random))
    elif is_hostile:
        (folder / name).write_bytes(pickle.dumps(Evil(), protocol=random.randint(0, 5)))
    else:
        alter = {FACTS: alter_json, CLASS_FACTS: alter_json, TENSORS: alter_tensors, TRANSFORMER: alter_zip}[name]
        while (folder / name).read_bytes() == good:
            (folder / name).write_bytes(alter(random, good))
    if random.random() < 0.8:
        _compute_checksums(folder)
    return is_hostile


def _plant(content: bytes, random: Random) -> bytes:
    """Let a node of a skops file name something that runs code, or a module that nobody imports."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(files["schema.json"])
    node = random.choice([node for node in _walk(schema) if "__module__" in node])
    module, name = random.choice([*_HOSTILE, *((module, "x") for module in _PLANTED)])
    node |= {"__module__": module, "__class__": name}
    if random.random() < 0.5:
        node |= {"__loader__": random.choice(_LOADERS), "content": ["id"], "args": {}, "func": name}
    return pack_zip(files | {"schema.json": json.dumps(schema).encode()})


def _walk(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 -- any JSON
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _walk(item)


def _compute_checksums(folder: Path) -> None:
    """Do what a stranger does who knows the format."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        facts = json.loads((folder / FACTS).read_bytes())
        for name, key in DIGESTS.items():
            if (folder / name).exists():
                facts[key] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        (folder / FACTS).write_text(json.dumps(facts | {"digest": _digest(facts)}), encoding="utf-8")


def report() -> str:
    """Return the counts as a table."""
    content = load("altered")
    header = ["altered models", "of them hostile", "read", "refused", "code run", "unclear errors", "hangs"]
    cells = [[f"{row[key]:,}" for key in COUNTS] for row in content["rows"]]
    return f"{table([*header, 'loaded with the key'], cells)}\nCounted by `{content['command']}`.\n"


if __name__ == "__main__":
    main()
