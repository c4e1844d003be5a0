"""Clus-HMC: a predictive clustering tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from chmcnn import metrics
from chmcnn.baselines import _rules
from chmcnn.baselines._trees import ClusteringTree, GrownTree, class_weights, coordinates, grow, normalised
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.baselines._rules import Node
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.125)
"""The significance levels of Clus, one of which is chosen on validation rows."""

DEFAULT_LEVEL = 0.05
"""The level without validation rows: the best for a single tree on most of the benchmark's validation data."""


class ClusHMC(HierarchicalClassifier):
    """Clus-HMC: one decision tree for all classes, whose leaves predict the mean label vector of their rows.

    A split is chosen by the variance of label vectors, in which deep classes weigh less. That is scikit-learn's
    regression tree on labels multiplied by the square roots of the weights. Growing stops, as in Clus, where an F-test
    does not find the variance of the best split significantly lower. A node's best split depends on its own rows alone:
    so the tree is grown in full, and all splits at and below one that is not significant are undone afterwards, which
    gives the same tree, for all levels at once. With validation rows the level with the best AU(PRC) on them is taken,
    and the tree is grown anew on training and validation rows.

    Parameters
    ----------
    hierarchy
        The classes. Without it the labels given to ``fit`` are paths such as ``"sport/tennis"``.
    significance
        Level of the F-test; 1 keeps all splits. By default the best of those of Clus, from 0.001 to 0.125, on the
        validation rows; without any, 0.05.
    min_samples_leaf
        How few rows a leaf may have.
    depth_weight
        Weight of a class, as a multiple of the mean of its parents' weights. Roots weigh 1.
    variance
        Share of the variance of the weighted labels to choose splits by: the splits see only so many of their principal
        components. 1 is exact, less is quicker. Leaves and F-tests are of all labels in any case.
    validation, threshold, preprocess, evaluated
        See `chmcnn.CHMCNNClassifier`. Classes that do not count weigh nothing.
    random_state
        A seed; decides between splits that are equally good.
    verbose
        Whether to show progress.

    Attributes
    ----------
    trees_ : list of ClusteringTree
        What was grown.
    class_weights_ : (classes,) array
        Weights of the classes in the variance.
    significance_ : float
        The level that was used.
    validation_scores_ : dict
        AU(PRC) on the validation rows for each level, by a model that has not been trained on them.

    Notes
    -----
    There is no ``save``: `joblib.dump` writes the model, as any of scikit-learn; load such files only from those whom
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
        threshold: float | Literal["tune"] = 0.5,
        preprocess: bool = True,
        evaluated: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.significance = significance
        self.min_samples_leaf = min_samples_leaf
        self.depth_weight = depth_weight
        self.variance = variance
        self.validation = validation
        self.threshold = threshold
        self.preprocess = preprocess
        self.evaluated = evaluated
        self.random_state = random_state
        self.verbose = verbose

    # Training

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        for name in ("significance", "depth_weight", "variance"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float | np.number) and 0 < value <= 1):
                raise ChmcnnError(f"{name} is {value!r}; expected a number above 0, and at most 1.")
        for name in ("min_samples_leaf", "n_estimators"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ChmcnnError(f"{name} is {value!r}; expected an integer, 1 or more.")

    def _learn(self, train: Rows, valid: Rows | None) -> NDArray[np.floating] | None:
        self.class_weights_ = class_weights(self.hierarchy_, self.evaluated_, self.depth_weight)
        self.significance_ = self.significance or DEFAULT_LEVEL
        self.validation_scores_: dict[float, float] = {}
        held = None
        if valid is not None:
            scores = self._held_out(train, valid)
            for level, predicted in scores.items():
                self.validation_scores_[level] = metrics.auprc(valid.y, predicted, classes=self.evaluated_)
            self.significance_ = max(self.validation_scores_, key=self.validation_scores_.__getitem__)
            self.best_score_ = self.validation_scores_[self.significance_]
            held, train = scores[self.significance_], train.concatenate(valid)
        self.trees_ = [tree.pruned(self.significance_) for tree in self._grow_trees(train, "Trees")]
        return held

    def _held_out(self, train: Rows, valid: Rows) -> dict[float, NDArray[np.float32]]:
        """Scores of validation rows for each level, all of the same trees."""
        levels = LEVELS if self.significance is None else (self.significance,)
        x, y = valid.arrays()
        totals = np.zeros((len(levels), *y.shape), dtype=np.float32)
        for tree in self._grow_trees(train, "Trees for validation"):
            for at, level in enumerate(levels):
                totals[at] += tree.pruned(level).predict(x)
        totals /= self.n_estimators
        return dict(zip(levels, totals, strict=True))

    def _grow_trees(self, rows: Rows, description: str) -> Iterator[GrownTree]:
        """Grow trees, several at a time, always in the same order."""
        x, y = rows.arrays()
        targets = coordinates(y, self.class_weights_, self.variance)
        samples = self._samples(len(y), np.random.default_rng(self.seed_))
        options = {"min_samples_leaf": self.min_samples_leaf, "random_state": self.seed_}
        grown = Parallel(n_jobs=self.n_jobs or torch.get_num_threads(), prefer="threads", return_as="generator")(
            delayed(grow)(x[at], y[at], targets[at], self.class_weights_, **options) for at in samples
        )
        return self._shown(grown, description)

    def _samples(self, rows: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:  # noqa: ARG002
        """The rows of each tree."""
        return [np.arange(rows)]

    def _shown(self, trees: Iterator[GrownTree], description: str) -> Iterator[GrownTree]:
        if not self.verbose:
            return trees
        from rich.console import Console
        from rich.progress import track

        return iter(track(trees, description, self.n_estimators, console=Console(stderr=True)))

    # Predicting

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Mean label vectors of the leaves that the rows fall into, averaged over the trees."""
        check_is_fitted(self, "trees_")
        x = self.preprocessor_.transform(X)
        scores = np.zeros((x.shape[0], len(self.hierarchy_)), dtype=np.float32)
        for tree in self.trees_:
            scores += tree.predict(x)
        scores /= len(self.trees_)
        return scores

    # Looking at it

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much of the variance splits by each feature take away, in the order of ``feature_names_in_``; sums to 1.

        The mean over the trees. A feature of categories has the sum of its categories.
        """
        check_is_fitted(self, "trees_")
        columns = np.mean([tree.importances() for tree in self.trees_], axis=0)
        sizes = [1 if known is None else len(known) for known in self.preprocessor_.categories_]
        features = np.repeat(np.arange(len(sizes)), sizes)
        return normalised(np.bincount(features, columns, len(sizes)))  # a tree without any split counts for nothing

    def rules(self, tree: int = 0, *, max_depth: int | None = None, classes: int = 3) -> Node:
        """A tree as a value, to be printed or drawn: its rules in the features' own units.

        Parameters
        ----------
        tree
            Which one.
        max_depth
            How many rules to follow from the root on; by default all.
        classes
            How many classes to name in each leaf, the most probable ones.
        """
        check_is_fitted(self, "trees_")
        names = {at: self.hierarchy_.classes[at] for at in np.flatnonzero(self.evaluated_).tolist()}
        return _rules.rules(self.trees_[tree], self.preprocessor_, names, max_depth=max_depth, classes=classes)

    def to_text(self, tree: int = 0, *, max_depth: int | None = None, classes: int = 3) -> str:
        """A tree as text: rules, and of each leaf the number of rows and the most probable classes."""
        return str(self.rules(tree, max_depth=max_depth, classes=classes))
