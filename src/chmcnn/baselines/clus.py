"""Clus-HMC: a predictive clustering tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from chmcnn import metrics
from chmcnn.baselines._rules import read_rules
from chmcnn.baselines._trees import (
    ClusteringTree,
    UnprunedTree,
    grow,
    normalise,
    project_labels,
    weigh_classes_by_depth,
)
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike, Transformer
    from chmcnn.baselines._rules import Node
    from chmcnn.estimator import Threshold
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.125)
"""Significance levels of Clus; validation rows decide between them."""

DEFAULT_LEVEL = 0.05
"""Level without validation rows: the best for a single tree on the validation data of most benchmark data sets."""


class ClusHMC(HierarchicalClassifier):
    """Clus-HMC: one decision tree for all classes, whose leaves predict the mean label vector of their rows.

    Splits minimise the variance of label vectors, in which deep classes weigh less. This is scikit-learn's regression
    tree on labels multiplied by the square roots of the weights. As in Clus, growing stops where an F-test does not
    find the variance of the best split significantly lower. The best split of a node depends on its own rows only, so
    the tree is grown in full and pruned afterwards, which gives the same tree, for all levels at once. With validation
    rows, the level with the best AU(PRC) on them is used, and the tree is grown again on training and validation rows.

    Parameters
    ----------
    hierarchy
        The classes. By default they come from the labels, which are paths such as ``"sport/tennis"``.
    significance
        Level of the F-test; 1 keeps all splits. By default the level of Clus, from 0.001 to 0.125, that is best on the
        validation rows, or 0.05 without validation rows.
    min_samples_leaf
        Minimum number of rows in a leaf.
    depth_weight
        Weight of a class, as a multiple of the mean of its parents' weights. Roots weigh 1.
    variance
        Share of the variance of the weighted labels that splits are chosen by: only the principal components that
        explain it are used. 1 is exact, less is faster. Leaves and F-tests always use all labels.
    validation, threshold, preprocess, path_separator, evaluated
        See `chmcnn.CHMCNNClassifier`. Classes that are not evaluated have weight 0.
    random_state
        Seed; it decides between equally good splits.
    verbose
        Whether to show progress.

    Attributes
    ----------
    trees_ : list of ClusteringTree
        The trees.
    class_weights_ : (classes,) array
        Weights of the classes in the variance.
    significance_ : float
        Level of the F-test.
    validation_scores_ : dict
        AU(PRC) on the validation rows by level, of a model that was not trained on them.

    Notes
    -----
    There are no model files: use `joblib.dump`, as for any scikit-learn model. Load such files only from sources that
    you trust.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=200, features=3, classes=6, noise=0.1)
    >>> model = ClusHMC(data.hierarchy, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    trees_: list[ClusteringTree]
    n_estimators: int = 1
    n_jobs: int | None = None

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        significance: float | None = None,
        min_samples_leaf: int = 5,
        depth_weight: float = 0.75,
        variance: float = 1.0,
        validation: float = 0.2,
        threshold: Threshold = 0.5,
        preprocess: bool | Transformer = True,
        path_separator: str = "/",
        evaluated: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            hierarchy,
            validation=validation,
            threshold=threshold,
            preprocess=preprocess,
            path_separator=path_separator,
            evaluated=evaluated,
            random_state=random_state,
        )
        self.significance = significance
        self.min_samples_leaf = min_samples_leaf
        self.depth_weight = depth_weight
        self.variance = variance
        self.verbose = verbose

    # Training

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        for name in ("significance", "depth_weight", "variance"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float | np.number) and 0 < value <= 1):
                raise ChmcnnError(f"{name} is {value!r}; expected a finite number above 0 and at most 1.")
        for name in ("min_samples_leaf", "n_estimators"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ChmcnnError(f"{name} is {value!r}; expected an integer, 1 or more.")

    def _learn(self, train: Rows, valid: Rows | None) -> NDArray[np.floating] | None:
        self.class_weights_ = weigh_classes_by_depth(self.hierarchy_, self.evaluated_, self.depth_weight)
        self.significance_ = self.significance or DEFAULT_LEVEL
        self.validation_scores_: dict[float, float] = {}
        validation_scores = None
        if valid is not None:
            scores = self._validate_levels(train, valid)
            for level, level_scores in scores.items():
                self.validation_scores_[level] = metrics.auprc(valid.y, level_scores, classes=self.evaluated_)
            self.significance_ = max(self.validation_scores_, key=self.validation_scores_.__getitem__)
            self.best_score_ = self.validation_scores_[self.significance_]
            validation_scores, train = scores[self.significance_], train.concatenate(valid)
        self.trees_ = [tree.prune(self.significance_) for tree in self._grow_trees(train, "Trees")]
        return validation_scores

    def _validate_levels(self, train: Rows, valid: Rows) -> dict[float, NDArray[np.float32]]:
        """Return the scores of the validation rows for each level, all by the same trees."""
        levels = LEVELS if self.significance is None else (self.significance,)
        totals = np.zeros((len(levels), *valid.y.shape), dtype=np.float32)
        for tree in self._grow_trees(train, "Trees for validation"):
            for number, level in enumerate(levels):
                totals[number] += tree.prune(level).predict(valid.features)
        totals /= self.n_estimators
        return dict(zip(levels, totals, strict=True))

    def _grow_trees(self, data: Rows, description: str) -> Iterator[UnprunedTree]:
        """Grow the trees in parallel, and yield them in order."""
        x, y = data.arrays()
        targets = project_labels(y, self.class_weights_, self.variance)
        samples = self._draw_samples(len(y))
        regressor = DecisionTreeRegressor(min_samples_leaf=self.min_samples_leaf, random_state=self.seed_)
        trees = Parallel(n_jobs=self.n_jobs or torch.get_num_threads(), prefer="threads", return_as="generator")(
            delayed(grow)(clone(regressor), x[rows], y[rows], targets[rows], self.class_weights_) for rows in samples
        )
        return self._show_progress(trees, description)

    def _draw_samples(self, rows: int) -> list[NDArray[np.int64]]:
        """Return the row numbers of each tree."""
        return [np.arange(rows)]

    def _show_progress(self, trees: Iterator[UnprunedTree], description: str) -> Iterator[UnprunedTree]:
        if not self.verbose:
            return trees
        from rich.console import Console
        from rich.progress import track

        return iter(track(trees, description, self.n_estimators, console=Console(stderr=True)))

    # Predicting

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return the mean label vectors of the leaves of the rows, averaged over the trees."""
        check_is_fitted(self, "trees_")
        x = self._transform(X)
        scores = np.zeros((x.shape[0], len(self.hierarchy_)), dtype=np.float32)
        for tree in self.trees_:
            scores += tree.predict(x)
        scores /= len(self.trees_)
        return scores

    # Inspecting

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the reduction of variance, in the order of ``feature_names_in_``.

        This is the mean over the trees. A categorical feature has the sum over its categories, and a text that over its
        words. With a transformer of your own, each column of its result is a feature.
        """
        check_is_fitted(self, "trees_")
        columns = np.mean([tree.compute_importances() for tree in self.trees_], axis=0)
        sources = self.preprocessor_.sources_
        return normalise(np.bincount(sources, columns, self.n_features_in_))  # a tree without splits adds nothing

    def rules(self, tree: int = 0, *, max_depth: int | None = None, classes: int = 3) -> Node:
        """Return the rules of a tree, in the units of the features, to print or draw.

        Parameters
        ----------
        tree
            Number of the tree.
        max_depth
            Maximum depth of the rules; by default all are returned.
        classes
            Number of classes per leaf, the most probable ones.
        """
        check_is_fitted(self, "trees_")
        positions = np.flatnonzero(self.evaluated_).tolist()
        names = {position: self.hierarchy_.describe(self.hierarchy_.classes[position]) for position in positions}
        return read_rules(self.trees_[tree], self.preprocessor_, names, max_depth=max_depth, classes=classes)

    def to_text(self, tree: int = 0, *, max_depth: int | None = None, classes: int = 3) -> str:
        """Return a tree as text: its rules, and for each leaf the number of rows and the most probable classes."""
        return str(self.rules(tree, max_depth=max_depth, classes=classes))
