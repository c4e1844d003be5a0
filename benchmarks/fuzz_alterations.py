"""How `benchmarks.fuzz` alters a good file: some bytes, a value of its JSON, a tensor, or what is packed in it."""

import contextlib
import gzip
import io
import json
import sqlite3
import struct
import zipfile
from collections.abc import Iterator
from random import Random
from typing import Any

import torch
from safetensors.torch import load, save

_MARKS = b", \t \n \" ' \r ; : - ! % [ ] { } \0 \xff nan inf null 1e999 \\ud800 [Term] @DATA a/b \xc3\xa9"
_PIECES = [*_MARKS.split(b" "), b" ", b"", b"9" * 30, b"[" * 2000]
_NUMBERS = [float("nan"), float("inf"), -1.0, 0.0, 1e30]
_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2.5,
    10**8,
    10**18,
    10**400,
    *_NUMBERS[:2],
    "",
    "x",
    "\ud800",
    [],
    [[]],
    [[0, 0]],
    {},
]


def alter_bytes(random: Random, content: bytes) -> bytes:
    """Replace one to three pieces."""
    for _ in range(random.randint(1, 3)):
        start = random.randint(0, len(content))
        end = random.randint(start, min(len(content), start + 8))
        piece = random.choice(_PIECES) if random.random() < 0.5 else random.randbytes(random.randint(0, 4))
        content = content[:start] + piece + content[end:]
    return content


def alter_json(random: Random, content: bytes) -> bytes:
    """Replace a value by one that is as good as any for JSON, or some bytes."""
    if random.random() < 0.5:
        return alter_bytes(random, content)
    tree = json.loads(content)
    container, key = random.choice(list(_walk(tree)))
    container[key] = random.choice(_VALUES)
    return json.dumps(tree).encode()


def _walk(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 -- any JSON
    """Yield each place of a value, as its container and its key there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _walk(value[key])


def alter_lines(random: Random, content: bytes) -> bytes:
    """Alter a line of JSON, or some bytes."""
    lines = content.splitlines()
    number = random.randrange(len(lines))
    lines[number] = alter_json(random, lines[number])
    return b"\n".join(lines) + b"\n"


def alter_database(random: Random, content: bytes) -> bytes:
    """Replace a value of a SQLite database, or some bytes of the file."""
    if random.random() < 0.5:
        return alter_bytes(random, content)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: database.execute(f"SELECT rowid, * FROM {name}") for name in tables}  # noqa: S608 -- our tables
        table, filled = random.choice([(name, found) for name, each in rows.items() if (found := each.fetchall())])
        column, (key, *row) = random.randrange(len(filled[0]) - 1), random.choice(filled)
        name = rows[table].description[column + 1][0]
        with contextlib.suppress(sqlite3.IntegrityError, OverflowError, UnicodeEncodeError):  # what no database holds
            altered = _alter_cell(random, row[column])
            database.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (altered, key))  # noqa: S608 -- as above
        database.commit()
        return database.serialize()


def _alter_cell(random: Random, value: Any) -> Any:  # noqa: ANN401 -- any value of a database
    """Return another value; half of those of text are altered text."""
    if isinstance(value, str) and value and random.random() < 0.5:
        return alter_bytes(random, value.encode()).decode(errors="replace")
    return random.choice([each for each in _VALUES if not isinstance(each, list | dict)])


def alter_gzip(random: Random, content: bytes) -> bytes:
    """Alter what is packed and pack it again, or some bytes of the file."""
    if random.random() < 0.5:
        return alter_bytes(random, content)
    return gzip.compress(alter_bytes(random, gzip.decompress(content)), mtime=0)


def alter_zip(random: Random, content: bytes) -> bytes:
    """Alter a file of an archive, whose checksums are then right, or some bytes of the archive."""
    if random.random() < 0.5:
        return alter_bytes(random, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(files))
    files[name] = (alter_json if name.endswith(".json") else alter_bytes)(random, files[name])
    return pack_zip(files)


def pack_zip(files: dict[str, bytes]) -> bytes:
    """Return an archive that is the same at any time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name), file)
    return buffer.getvalue()


def alter_tensors(random: Random, content: bytes) -> bytes:
    """Replace a tensor by one of other numbers, another shape or another type, or alter the header or some bytes."""
    way = random.choice([alter_bytes, _alter_header, _alter_tensor, _alter_tensor])
    return way(random, content)


def _alter_header(random: Random, content: bytes) -> bytes:
    """Alter the JSON of a safetensors file, and state its new length, mostly."""
    good = _read_header(content)
    header = alter_json(random, good)
    stated = len(header) if random.random() < 0.9 else random.choice([0, 10**8, 2**63, len(good)])
    return struct.pack("<Q", stated) + header + content[8 + len(good) :]


def _read_header(content: bytes) -> bytes:
    return content[8 : 8 + struct.unpack("<Q", content[:8])[0]]


def _alter_tensor(random: Random, content: bytes) -> bytes:
    tensors, metadata = load(content), json.loads(_read_header(content)).get("__metadata__")
    name = random.choice(sorted(tensors))
    value = tensors.pop(name)
    way = random.choice(["numbers", "shape", "dimension", "type", "none", "missing"])
    if way == "missing":
        return save(tensors, metadata)
    return save({**tensors, name: _change(value, way, random.choice(_NUMBERS)).contiguous()}, metadata)


def _change(value: torch.Tensor, way: str, number: float) -> torch.Tensor:
    match way:
        case "numbers":
            return torch.full_like(value, number) if value.is_floating_point() else ~value
        case "shape":
            return value.reshape(-1)[1:].clone()
        case "dimension":
            return value[None]
        case "type":
            return value.to(torch.int64)
        case _:
            return torch.zeros(0)
