"""A clustering tree in readable form: rules in the units of the features, and the most probable classes of leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chmcnn import _wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.baselines._trees import ClusteringTree
    from chmcnn.datasets.preprocessing import Preprocessor
    from chmcnn.estimator import CustomPreprocessor


@dataclass(frozen=True, slots=True)
class Node:
    """A rule, with one node for the rows that satisfy it and one for the others; or a leaf.

    >>> print(Node(9, (), "size <= 2", Node(5, (("small", 0.9),)), Node(4, (("large", 1.0),))))
    size <= 2 (9 rows)
      yes: 5 rows: small 0.90
      no: 4 rows: large 1.00
    """

    rows: int
    classes: tuple[tuple[str, float], ...]  # the most probable classes, with their probabilities
    rule: str = ""
    yes: Node | None = None
    no: Node | None = None
    hidden: int = 0  # number of leaves below, where the tree is cut off

    def __str__(self) -> str:
        """Return rules and leaves, one per line, indented by depth."""
        return "\n".join(self.lines())

    def label(self) -> str:
        """Return the text of a leaf."""
        below = f" in {self.hidden:,} leaves" if self.hidden else ""
        classes = ", ".join(f"{name} {share:.2f}" for name, share in self.classes)
        return f"{_wording.count(self.rows, 'row')}{below}: {classes or 'no class'}"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        if self.yes is None or self.no is None:
            yield self.label()
            return
        yield f"{self.rule} ({_wording.count(self.rows, 'row')})"
        for answer, node in (("yes", self.yes), ("no", self.no)):
            first, *rest = node.lines()
            yield f"  {answer}: {first}"
            yield from (f"  {line}" for line in rest)


def read_rules(
    tree: ClusteringTree,
    preprocessor: Preprocessor | CustomPreprocessor,
    names: dict[int, str],
    *,
    max_depth: int | None,
    classes: int,
) -> Node:
    """Return the rules of a tree. Only classes whose position is in ``names`` are shown."""
    columns, scales, shifts = preprocessor.get_feature_names_out(), preprocessor.scales_, preprocessor.shifts_
    structure = tree.regressor.tree_

    def select_classes(mean: NDArray[np.float64]) -> tuple[tuple[str, float], ...]:
        order = sorted(names, key=lambda position: -mean[position])[:classes]
        return tuple((names[position], float(mean[position])) for position in order if mean[position] > 0)

    def read(node: int, depth: int) -> tuple[Node, NDArray[np.float64], int]:
        """Return the node, the mean label vector of its rows, and the number of its leaves."""
        rows = int(structure.n_node_samples[node])
        if not tree.split[node]:
            mean = tree.means[tree.leaf[node]].astype(np.float64)
            return Node(rows, select_classes(mean)), mean, 1
        yes, mean_yes, leaves_yes = read(structure.children_left[node], depth + 1)
        no, mean_no, leaves_no = read(structure.children_right[node], depth + 1)
        mean, leaves = (yes.rows * mean_yes + no.rows * mean_no) / rows, leaves_yes + leaves_no
        if max_depth is not None and depth >= max_depth:
            return Node(rows, select_classes(mean), hidden=leaves), mean, leaves
        column = structure.feature[node]
        threshold = structure.threshold[node] * scales[column] + shifts[column]  # in the units of the feature
        rule = f"{columns[column]} <= {threshold:.4g}"
        return Node(rows, select_classes(mean), rule, yes, no), mean, leaves

    return read(0, 0)[0]
