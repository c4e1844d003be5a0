"""Tables with text beside other columns, and small texts.

``packages`` and ``descriptions`` need ``debian.txt`` in the folder ``CHMCNN_TEXTS``: see `benchmarks.text_problems`.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.text_problems import read_packages, split_tags
from chmcnn import Hierarchy, datasets
from chmcnn.datasets.synthetic import learnable

_LEAST = 10
"""Packages that a tag needs."""
_WORDS = 12
"""Words of a text that says nothing, drawn from 400."""


class MixedProblem(NamedTuple):
    """A table, and its labels with all ancestors."""

    table: pd.DataFrame
    labels: sparse.csr_array  # (rows, classes)
    hierarchy: Hierarchy


def _read_applications() -> MixedProblem:
    path = Path(__file__).parent.parent / "examples" / "data" / "applications.csv"
    read = datasets.read_table(
        path, labels="categories", separator=";", path_separator=" > ", id_column="package", text=["description"]
    )
    return MixedProblem(read.X, sparse.csr_array(read.Y), read.hierarchy)


def _read_packages(rows: int, *, columns: bool) -> MixedProblem:
    """Read one binary package of each source package: its description, its size and what it needs, and its tags."""
    packages: dict[str, dict[str, str]] = {}
    for fields in read_packages(Path(os.environ.get("CHMCNN_TEXTS", ".")) / "debian.txt"):
        packages.setdefault(fields.get("Source", fields["Package"]).split(" ")[0], fields)
    chosen = [list(packages.values())[at] for at in np.random.default_rng(0).permutation(len(packages))[:rows]]
    tags = [{tag for tag in split_tags(fields) if "::" in tag} for fields in chosen]
    every = Hierarchy.from_edges(sorted({(tag.partition("::")[0], tag) for each in tags for tag in each}))
    labels = every.encode_sparse(tags)
    frequent = np.asarray(labels.sum(axis=0)).ravel() >= _LEAST
    hierarchy = every.restrict([tag for tag, keep in zip(every, frequent, strict=True) if keep])
    table = pd.DataFrame([_describe(fields) for fields in chosen])
    return MixedProblem(
        table if columns else table[["description"]], labels[:, [every.index(tag) for tag in hierarchy]], hierarchy
    )


def _describe(fields: dict[str, str]) -> dict[str, Any]:
    needed = fields.get("Depends", "").split(",")
    return {
        "description": fields["Description"].replace("\n", " "),
        "size": np.log(float(fields["Size"])),
        "installed": np.log1p(float(fields.get("Installed-Size", "nan"))),
        "needed": len(needed),
        "needed of python": sum("python" in each for each in needed),
        "section": fields["Section"],
        "architecture": fields["Architecture"],
        "priority": fields["Priority"],
    }


def _draw_noise(rows: int) -> MixedProblem:
    """Draw numbers that decide about the classes, beside texts that say nothing."""
    drawn = rows * 5 // 3  # of which three fifths are for training
    data = learnable(rows=drawn, features=8, classes=40, edges=50, depth=4, noise=0.3)
    table = pd.DataFrame(data.train.X, columns=[f"x{column}" for column in range(8)])
    words = np.random.default_rng(1).integers(400, size=(len(table), _WORDS))
    table["text"] = [" ".join(f"word{number}" for number in row) for row in words.tolist()]
    return MixedProblem(table, sparse.csr_array(data.train.Y), data.hierarchy)


PROBLEMS: dict[str, Callable[[], MixedProblem]] = {
    "applications": _read_applications,
    "packages, 1,700 rows": partial(_read_packages, 1700, columns=True),
    "packages, 5,000 rows": partial(_read_packages, 5000, columns=True),
    "descriptions, 1,700 rows": partial(_read_packages, 1700, columns=False),
    "texts of noise, 900 rows": partial(_draw_noise, 900),
    "texts of noise, 3,600 rows": partial(_draw_noise, 3600),
}
