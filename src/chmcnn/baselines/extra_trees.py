"""ExtraTrees: the labels of the training rows that share leaves of random trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils.extmath import randomized_svd

from chmcnn.baselines._arrays import csr_arrays, read_array, read_csr, read_positions
from chmcnn.baselines._refitted import Refitted
from chmcnn.errors import ChmcnnError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue, LabelsLike, ScoresLike
    from chmcnn.baselines._arrays import Arrays
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

_MOST_FEATURES = 2000
"""Most features that a split is drawn from."""
_MOST_FILLED = 200
"""Most sparse features that are split on, if ``min_filled`` chooses them."""
_DENSE_CELLS = 1 << 27
"""Most cells of a sparse table that are stored densely, for which trees grow far more quickly."""


class ExtraTrees(Refitted["Forest"]):
    """Extremely randomised trees; a row has the mean labels of the training rows in its leaves, over all trees.

    Splits minimise the variance of the principal components of the labels, and leaves use all labels, so scores are
    coherent. They are scikit-learn's trees: each split is the best of one random threshold for each feature.

    Parameters
    ----------
    n_estimators
        Number of trees.
    min_samples_leaf
        Minimum number of rows in a leaf.
    components
        Number of principal components of the labels that splits are chosen by.
    min_filled
        Of sparse features, those are split on that are not 0 in at least this share of the rows, at most 200: in a
        table with text mostly the other columns. By default all are.
    most_rows
        Most training rows: with more of them, trees are refused. By default any number.
    n_jobs
        Number of trees to grow in parallel; -1 is one per core, and None one per thread of torch. The result does not
        depend on it.
    hierarchy, validation, threshold, preprocess, path_separator, refit, evaluated
        See `chmcnn.CHMCNNClassifier`.
    random_state
        Seed of the splits.

    Attributes
    ----------
    best_score_ : float
        AU(PRC) on the validation rows, of trees that were grown without them.
    notice_ : str
        What was made smaller because the table is large; empty if nothing was.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=200, features=3, classes=6, noise=0.1)
    >>> model = ExtraTrees(data.hierarchy, n_estimators=20, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.uncorrected_proba(data.test.X)))
    0
    """

    _columns: NDArray[np.int64] | None = None  # that are split on; None for all

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 150,
        min_samples_leaf: int = 5,
        components: int = 40,
        min_filled: float = 0.0,
        most_rows: int | None = None,
        n_jobs: int | None = None,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, **options)
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.components = components
        self.min_filled = min_filled
        self.most_rows = most_rows
        self.n_jobs = n_jobs

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        most = {} if self.most_rows is None else {"most_rows": 1}
        self._check_numbers(n_estimators=1, min_samples_leaf=1, components=1, min_filled=0.0, **most)

    def _learn(self, train: Rows, valid: Rows | None) -> ScoresLike | None:
        self._columns = self._choose_columns([train] if valid is None else [train, valid])
        return super()._learn(train, valid)

    def _choose_columns(self, parts: list[Rows]) -> NDArray[np.int64] | None:
        """Return the columns that are split on; None for all."""
        rows, tables = sum(map(len, parts)), [part.features for part in parts if sparse.issparse(part.features)]
        if self.most_rows is not None and rows > self.most_rows:
            raise ChmcnnError(
                f"ExtraTrees steps aside: {rows:,} rows take too long (most_rows is {self.most_rows:,}). Raise "
                "most_rows=."
            )
        if not (self.min_filled and tables):
            return None
        filled = np.sum([np.bincount(table.indices, minlength=table.shape[1]) for table in tables], axis=0)
        fullest = np.argsort(-filled, kind="stable")[:_MOST_FILLED]
        chosen = np.sort(fullest[filled[fullest] >= self.min_filled * rows])
        if not len(chosen):
            raise ChmcnnError(
                f"ExtraTrees steps aside: no feature is filled in {self.min_filled:.0%} of the rows. Lower min_filled=."
            )
        return chosen

    def _train(self, rows: Rows) -> Forest:
        x = rows.features if self._columns is None else rows.features[:, self._columns]
        if sparse.issparse(x) and x.shape[0] * x.shape[1] <= _DENSE_CELLS:
            x = x.toarray()
        columns = x.shape[1]
        if columns > _MOST_FEATURES:
            self.notice_ = f"Each split is the best of {_MOST_FEATURES:,} features, drawn from {columns:,}."
        regressor = ExtraTreesRegressor(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features=min(columns, _MOST_FEATURES),
            n_jobs=self.n_jobs or torch.get_num_threads(),
            random_state=self.seed_,
        )
        targets = project_labels(rows.y[:, self.evaluated_], self.components, self.seed_)
        regressor.fit(x, targets.ravel() if targets.shape[1] == 1 else targets)  # scikit-learn warns of one column
        return Forest.join(regressor, x, rows.y, self._columns)

    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> Forest:  # noqa: ARG002 -- of all systems
        return Forest.read(arrays, self._count_columns(), len(self.hierarchy_))


def project_labels(labels: sparse.csr_array, components: int, seed: int) -> NDArray[np.float64]:
    """Return the coordinates (rows, components) of rows in the directions in which labels vary most.

    >>> project_labels(sparse.csr_array(np.eye(3)), 40, seed=0).shape
    (3, 3)
    """
    values = labels.astype(np.float64)
    if min(values.shape) <= components:
        return values.toarray()[:, values.sum(axis=0) > 0]
    left, lengths, _ = randomized_svd(values, components, random_state=seed)
    coordinates: NDArray[np.float64] = left * lengths
    return coordinates


@dataclass(frozen=True, slots=True)
class Forest:
    """The nodes of all trees one after the other, and the training rows in each leaf."""

    roots: NDArray[np.int32]  # (trees,) first node of each tree
    features: NDArray[np.int32]  # (nodes,) column of the split; 0 in a leaf
    thresholds: NDArray[np.float64]  # (nodes,) largest value that goes to the left
    children: NDArray[np.int32]  # (nodes, 2) left and right child, which come later; the node itself in a leaf
    members: sparse.csr_array  # (nodes, rows) share of each training row in a leaf
    labels: sparse.csr_array  # (rows, classes)

    @classmethod
    def join(
        cls, regressor: ExtraTreesRegressor, x: Features, labels: sparse.csr_array, columns: NDArray[np.int64] | None
    ) -> Self:
        """Read the trees of scikit-learn, grown on some columns, or on all."""
        trees = [each.tree_ for each in regressor.estimators_]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        nodes = np.arange(starts[-1])
        left, right = (
            np.concatenate([getattr(tree, side) + start for tree, start in zip(trees, starts, strict=False)])
            for side in ("children_left", "children_right")
        )
        is_leaf = np.concatenate([tree.children_left < 0 for tree in trees])
        children = np.where(is_leaf[:, None], nodes[:, None], np.stack([left, right], axis=1))
        features = np.where(is_leaf, 0, np.concatenate([tree.feature for tree in trees]))
        features = features if columns is None else np.where(is_leaf, 0, columns[features])
        leaves = regressor.apply(x) + starts[:-1]  # (rows, trees)
        return cls(
            starts[:-1].astype(np.int32),
            features.astype(np.int32),
            np.where(is_leaf, 0.0, np.concatenate([tree.threshold for tree in trees])),
            children.astype(np.int32),
            _count_members(leaves, len(nodes)),
            labels.astype(np.float32),
        )

    @property
    def width(self) -> int:
        """Numbers that each row needs: its dense features, and its weights of the training rows."""
        return max(int(self.features.max()), int(self.labels.shape[0]), len(self.roots))

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return the mean labels (rows, classes) of the rows in the same leaves."""
        leaves = self._find_leaves(x)
        rows, trees = leaves.shape
        ends = np.arange(rows + 1) * trees
        reached = sparse.csr_array(
            (np.full(leaves.size, 1 / trees, dtype=np.float32), leaves.ravel(), ends),
            shape=(rows, len(self.features)),
        )
        scores: NDArray[np.float32] = ((reached @ self.members) @ self.labels).toarray()
        return np.minimum(scores, 1)  # rounding may pass it

    def _find_leaves(self, x: Features) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree."""
        used = x[:, : int(self.features.max()) + 1]
        values = np.asarray(used if isinstance(used, np.ndarray) else used.toarray(), dtype=np.float32)  # as it grew
        nodes = np.tile(self.roots, (len(values), 1))
        every = np.arange(len(values))[:, None]
        while True:
            to_right = values[every, self.features[nodes]] > self.thresholds[nodes]
            below = self.children[nodes, to_right.astype(np.int8)]
            if np.array_equal(below, nodes):
                return nodes
            nodes = below

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays, for a model file."""
        return {
            "roots": self.roots,
            "features": self.features,
            "thresholds": self.thresholds,
            "children": self.children,
            **csr_arrays("members", self.members),
            **csr_arrays("labels", self.labels, values=False),
        }

    @classmethod
    def read(cls, arrays: Arrays, columns: int, classes: int) -> Self:
        """Return what a model file has, for a number of columns and classes."""
        labels = read_csr(arrays, "labels", (None, classes), values=False)
        features = read_positions(arrays, "features", columns)
        nodes = len(features)
        children = read_positions(arrays, "children", nodes, (nodes, 2))
        is_leaf = children == np.arange(nodes)[:, None]
        if (children < np.arange(nodes)[:, None]).any() or (is_leaf[:, 0] != is_leaf[:, 1]).any():
            raise ModelError("children of a node do not come after it")
        roots = read_positions(arrays, "roots", nodes)
        if not len(roots):
            raise ModelError("there are no trees")
        members = read_csr(arrays, "members", (nodes, labels.shape[0]))
        if not ((members.data > 0) & (members.data <= 1)).all():
            raise ModelError("the share of a row in a leaf is not above 0 and at most 1")
        return cls(
            roots,
            features,
            read_array(arrays, "thresholds", np.float64, (nodes,)),
            children,
            members,
            labels,
        )


def _count_members(leaves: NDArray[np.int64], nodes: int) -> sparse.csr_array:
    """Return the share (nodes, rows) that each row has in its leaf of each tree."""
    rows, trees = leaves.shape
    sizes = np.bincount(leaves.ravel(), minlength=nodes)
    shares = (1 / sizes[leaves]).astype(np.float32)
    members = sparse.coo_array((shares.ravel(), (leaves.ravel(), np.repeat(np.arange(rows), trees))), (nodes, rows))
    return sparse.csr_array(members)
