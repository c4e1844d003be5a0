"""Predicting many rows: ``chmcnn predict model/ big/*.parquet -o scores/``, one file for each row group."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chmcnn.cli import _model, _predictions, _table
from chmcnn.cli._answers import AnswerOptions, Format
from chmcnn.cli._options import Invocation, LoadingOptions
from chmcnn.errors import ChmcnnError, FileError, TableError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from chmcnn.datasets.row_groups import RowGroup
    from chmcnn.estimator import HierarchicalClassifier

_FACTS = "_predictions.json"
"""What the files of a folder are predictions of. Readers of many Parquet files leave out names with an underscore."""
_LOCK = ".lock"
_KEY = ".verify.pem"
"""The public key in the temporary folder of a worker."""


@dataclass(frozen=True)
class Request:
    """What is asked of a model."""

    answers: AnswerOptions
    table: _table.TableOptions
    loading: LoadingOptions

    @property
    def suffix(self) -> str:
        """The ending of the files."""
        return ".tsv" if self.answers.resolve() is Format.CAFA else ".parquet"


@dataclass(frozen=True)
class _Part:
    """A row group, and the file of its predictions."""

    group: RowGroup
    target: Path

    def is_finished(self) -> bool:
        """Return whether the file is there, and not cut off, as a copy of it may be."""
        from chmcnn.datasets.parquet import open_parquet

        if not self.target.exists() or self.target.suffix != ".parquet":
            return self.target.exists()
        with suppress(TableError), open_parquet(self.target):
            return True
        return False


def predict_groups(
    model: Path,
    data: Sequence[str],
    request: Request,
    folder: Path,
    executor: Executor | None,
    call: Invocation,
    *,
    force: bool,
) -> None:
    """Predict all row groups that have no file yet, here or by an executor, and write a file for each."""
    from rich.console import Console
    from rich.progress import Progress

    from chmcnn._io.files import atomic
    from chmcnn._wording import count

    parts = _list_parts(data, folder, request.suffix)
    classifier = _model.load_model(model, request.loading, request.answers.threshold)
    request.answers.find_branch(classifier.hierarchy_)
    files = _read_model(model)
    predict = (
        partial(predict_group, classifier)
        if executor is None
        else partial(predict_remotely, {**files, **_read_key(request)})
    )
    columns = _model.list_needed_columns(classifier, request.table)
    with _claim(folder, _describe(files, parts, request), force=force):
        pending = [part for part in parts if not part.is_finished()]
        with Progress(console=Console(stderr=True), disable=call.quiet) as progress:
            task = progress.add_task("Row groups", total=len(parts), completed=len(parts) - len(pending))
            for part, content in _iterate(pending, executor, partial(predict, request=request), columns):
                with atomic(part.target) as temporary:
                    temporary.write_bytes(content)
                progress.advance(task)
    rows = sum(part.group.rows for part in parts)
    call.notify(f"{count(rows, 'row')}, {count(len(parts), 'file')}: {folder}")


def _iterate(
    parts: Sequence[_Part], executor: Executor | None, predict: Callable[..., bytes], columns: Sequence[str] | None
) -> Iterator[tuple[_Part, bytes]]:
    """Yield each part with the content of its file; row groups are read when they are needed."""
    from chmcnn._workers import InlineExecutor, KilledError, Workers, iterate_completed

    workers, pending = Workers(executor or InlineExecutor(), None), iter(parts)

    def take() -> tuple[_Part, Future[bytes]] | None:
        part = next(pending, None)
        if part is None:
            return None
        return part, workers.executor.submit(predict, _read(part.group, columns), part.group)

    for part, future in iterate_completed(take, workers.limit):
        try:
            yield part, future.result()
        except KilledError as error:
            place = f"{part.group.path}, row group {part.group.number + 1}"
            raise ChmcnnError(f"{place}: {error}. Write the file with smaller row groups.") from None


def predict_group(model: HierarchicalClassifier, content: bytes, group: RowGroup, request: Request) -> bytes:
    """Return the content of the file with the predictions of a row group."""
    import pyarrow as pa

    from chmcnn.datasets.parquet import to_raw_table
    from chmcnn.datasets.reading import select_features

    with pa.ipc.open_stream(content) as stream:
        raw = to_raw_table(stream.read_all(), group.path, group.first_row)
    features = _model.fit_features(model, request.table, partial(select_features, raw), str(group.path))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, f"part{request.suffix}")
        _predictions.write(model, features, request.answers, target, request.suffix, first_row=group.first_row)
        return target.read_bytes()


def predict_remotely(files: Mapping[str, bytes], content: bytes, group: RowGroup, request: Request) -> bytes:
    """Do the same on a machine that does not have the folder of the model."""
    with tempfile.TemporaryDirectory() as folder:
        for name, part in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(part)
        key = Path(folder, _KEY) if request.loading.verify_key else None
        model = _model.load_model(Path(folder), replace(request.loading, verify_key=key), request.answers.threshold)
        return predict_group(model, content, group, request)


def _read(group: RowGroup, columns: Sequence[str] | None) -> bytes:
    """Return a row group as bytes, in Arrow's format."""
    import pyarrow as pa

    from chmcnn.datasets.row_groups import read_group

    table = read_group(group, columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _read_model(folder: Path) -> dict[str, Any]:
    """Return the files of a model; a cluster gets large ones once."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".html")
    return {path.relative_to(folder).as_posix(): pickle.PickleBuffer(path.read_bytes()) for path in paths}


def _read_key(request: Request) -> dict[str, bytes]:
    """Return the file that a worker verifies the model with, if there is one."""
    return {_KEY: request.loading.verify_key.read_bytes()} if request.loading.verify_key else {}


def _list_parts(data: Sequence[str], folder: Path, suffix: str) -> list[_Part]:
    from chmcnn.datasets.row_groups import find_files, open_groups

    files = find_files(data)
    names = [path.stem for path in files]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise FileError(
                f"{files[names.index(name)]} has the same name, so their predictions would be in the same files; "
                "choose a folder for each",
                files[number],
            )
    _, groups = open_groups(files)
    return [_Part(group, folder / f"{group.path.stem}-{group.number:05d}{suffix}") for group in groups]


def _describe(files: Mapping[str, Any], parts: Sequence[_Part], request: Request) -> dict[str, Any]:
    """Return what decides the predictions of a folder."""
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content.raw())} ".encode() + content.raw())
    paths = {part.group.path: None for part in parts}
    return {
        "model": digest.hexdigest(),
        "answers": _list_changed(request.answers),
        "tables": {path.name: path.stat().st_size for path in paths},
        "options": _list_changed(request.table),
    }


def _list_changed(options: AnswerOptions | _table.TableOptions) -> dict[str, Any]:
    """Return the options that are not the defaults."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {field.name: values[field.name] for field in fields(options) if values[field.name] != field.default}


@contextmanager
def _claim(folder: Path, facts: Mapping[str, Any], *, force: bool) -> Iterator[None]:
    """Keep a folder for one command, and say in it what its files are; refuse one of something else."""
    import filelock

    from chmcnn._io import results
    from chmcnn._io.files import explain_unwritable

    known = folder / _FACTS
    if folder.is_dir() and not known.is_file() and any(path.name != _LOCK for path in folder.iterdir()):
        raise FileError("not a folder of predictions, so nothing is written to it; choose another folder", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / _LOCK).acquire(blocking=False)
    except filelock.Timeout:
        raise FileError("another command writes to this folder; wait for it, or choose another one", folder) from None
    except OSError as error:
        raise explain_unwritable(folder, error) from None
    with lock:
        before = None if force or not known.is_file() else results.read(known)
        other = [name for name in facts if before is not None and before.get(name) != facts[name]]
        if other:
            raise FileError(
                f"a folder of predictions with other {' and '.join(other)}; choose another folder, or use --force to "
                "overwrite it",
                folder,
            )
        _clean(folder, everything=before is None)
        results.write(known, facts)
        yield


def _clean(folder: Path, *, everything: bool) -> None:
    """Delete files that a killed command has not completed, or all predictions."""
    for path in folder.iterdir():
        is_part = path.suffix in (".parquet", ".tsv") and (everything or path.name.startswith("."))
        if is_part:
            path.unlink()
