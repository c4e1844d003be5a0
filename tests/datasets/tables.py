"""A small table and its hierarchy, and what reading a file says."""

from pathlib import Path
from typing import Any

import pytest

from chmcnn import Hierarchy, TableError
from chmcnn.datasets import read_table

ANIMALS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
PLAIN = """name,size,colour,labels
Rex, 3.5 ,brown,dog
Tom,,"grey, dark",cat
Nemo,1e-1,NA,animal; pet
Bo,2,brown,
"""


def write(folder: Path, text: str | bytes, name: str = "my.csv") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    assert caught.value.path == path
    return str(caught.value).removeprefix(f"{path}")
