"""How `benchmarks.fuzz` alters a good file: some bytes, a value of its JSON, or one of its tensors."""

import json
from collections.abc import Iterator
from typing import Any

import torch
from hypothesis import strategies as st
from safetensors.torch import load, save

_MARKS = b", \t \n \" ' \r ; : - ! % [ ] { } \0 \xff nan inf null 1e999 \\ud800 [Term] @DATA a/b \xc3\xa9"
_PIECES = st.sampled_from([*_MARKS.split(b" "), b" ", b"", b"9" * 30, b"[" * 2000])
_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2.5,
        10**8,
        10**18,
        10**400,
        float("nan"),
        float("inf"),
        "",
        "x",
        "\ud800",
        [],
        [[]],
        [[0, 0]],
        {},
    ]
)


def alter_bytes(data: st.DataObject, content: bytes) -> bytes:
    """Replace some pieces."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 8)))
        content = content[:start] + data.draw(_PIECES | st.binary(max_size=4)) + content[end:]
    return content


def alter_json(data: st.DataObject, content: bytes) -> bytes:
    """Replace a value by one that is as good as any for JSON, or some bytes."""
    if data.draw(st.booleans()):
        return alter_bytes(data, content)
    tree = json.loads(content)
    places = list(_walk(tree))
    container, key = places[data.draw(st.integers(0, len(places) - 1))]
    container[key] = data.draw(_VALUES)
    return json.dumps(tree).encode()


def _walk(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 -- any JSON
    """Yield each place of a value, as its container and its key there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _walk(value[key])


def alter_tensors(data: st.DataObject, content: bytes) -> bytes:
    """Replace a tensor by one of other numbers, another shape or another type, or some bytes."""
    if data.draw(st.booleans()):
        return alter_bytes(data, content)
    tensors = load(content)
    name = data.draw(st.sampled_from(sorted(tensors)))
    value = tensors.pop(name)
    number = data.draw(st.sampled_from([float("nan"), float("inf"), -1.0, 0.0, 1e30]))
    changed = {
        "numbers": torch.full_like(value, number) if value.is_floating_point() else value,
        "shape": value.reshape(-1)[1:].clone(),
        "dimension": value[None],
        "type": value.to(torch.int64),
        "none": torch.zeros(0),
    }
    way = data.draw(st.sampled_from([*changed, "missing"]))
    return save(tensors if way == "missing" else {**tensors, name: changed[way].contiguous()})
