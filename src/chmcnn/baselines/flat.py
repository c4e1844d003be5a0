"""Systems to measure the value of hierarchy and networks: a linear model, and local classifiers of hiclass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from chmcnn.baselines.ablations import FPlusMax
from chmcnn.errors import ChmcnnError, LabelError
from chmcnn.estimator import HierarchicalClassifier, Preset
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hiclass import LocalClassifierPerParentNode
    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.training import Rows

_HINT = "Use C-HMCNN, or another system that allows several paths."


class Logistic(FPlusMax):
    """Logistic regression of each class, without the hierarchy; the correction is the maximum.

    All classes form one linear layer, trained like the networks: with Adam, a small weight decay, and early stopping by
    the AU(PRC) on the validation rows. It is therefore not the optimum that a solver finds for each class.
    The parameters are those of `CHMCNNClassifier`; ``widths`` adds hidden layers.

    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = Logistic(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> model.network_
    MLP(
      (0): Linear(in_features=4, out_features=6, bias=True)
    )
    """

    presets: ClassVar[Mapping[str, Preset]] = {
        # Chosen on validation data, among rates from 0.001 to 0.01 and weight decays from 0.00001 to 0.01.
        "default": Preset((), 0.0, Settings(batch_size=64, learning_rate=1e-2, weight_decay=1e-4, patience=10))
    }


class HiClass(HierarchicalClassifier):
    """Local classifiers of the hiclass package: for each class, a logistic regression chooses among its children.

    The hierarchy is a tree or several trees, and each row has one most specific class. The probability of a class is
    that of its parent times that of the classifier of its parent, so scores are coherent. A class without training rows
    scores 0, and every row reaches a leaf. It needs the extra ``compare``.

    Parameters
    ----------
    hierarchy, threshold, preprocess, path_separator, evaluated, random_state
        See `CHMCNNClassifier`.
    validation
        Share of the rows to tune thresholds on if ``fit`` gets no validation data. The final classifiers are trained on
        all rows.

    Attributes
    ----------
    model_ : hiclass.LocalClassifierPerParentNode
        The trained classifiers.

    Examples
    --------
    >>> X, y = [[0.0], [0.4], [1.0]] * 5, ["animal/dog", "animal/cat", "plant"] * 5
    >>> sorted(HiClass(random_state=0).fit(X, y).predict_labels([[1.0]])[0])
    ['plant']
    """

    model_: Any

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return probabilities (rows, classes) of the local classifiers, which are coherent."""
        check_is_fitted(self, "model_")
        return self._compute_scores(self._transform(X))

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        parents = np.bincount(self.hierarchy_.edges[:, 1], minlength=len(self.hierarchy_))
        if parents.max() > 1:
            name = self.hierarchy_.classes[int(parents.argmax())]
            names = ", ".join(map(repr, self.hierarchy_.parents(name)))
            raise ChmcnnError(f"hiclass needs a tree, but class {name!r} has the parents {names}. {_HINT}")

    def _to_labels(self, X: Features, y: LabelsLike) -> sparse.csr_array:
        labels = super()._to_labels(X, y)
        for row, classes in enumerate(self.hierarchy_.decode(labels, most_specific=True)):
            if len(classes) != 1:
                names = ", ".join(map(repr, sorted(classes))) or "none"
                raise LabelError(f"hiclass needs rows with one most specific class, but row {row} has {names}. {_HINT}")
        return labels

    def _learn(self, train: Rows, valid: Rows | None) -> NDArray[np.floating] | None:
        validation_scores = None
        if (isinstance(self.threshold, str) or self.calibration) and valid is not None:
            self.model_ = self._train_local(train)
            validation_scores = self._compute_scores(valid.features)
        self.model_ = self._train_local(train if valid is None else train.concatenate(valid))
        return validation_scores

    def _train_local(self, rows: Rows) -> LocalClassifierPerParentNode:
        """Train the local classifiers."""
        from sklearn.linear_model import LogisticRegression

        try:
            from hiclass import LocalClassifierPerParentNode
        except ModuleNotFoundError:
            raise ChmcnnError('hiclass is not installed: pip install "chmcnn[compare]".') from None
        local = LocalClassifierPerParentNode(LogisticRegression(max_iter=1000))
        return local.fit(rows.features, self._to_paths(rows.y))

    def _to_paths(self, labels: sparse.csr_array) -> NDArray[np.str_]:
        """Return the position of the class of each row on each level (rows, levels); empty below the last one."""
        paths = np.full((labels.shape[0], self.hierarchy_.depth + 1), "", dtype=f"<U{len(str(len(self.hierarchy_)))}")
        rows, classes = labels.nonzero()
        paths[rows, self.hierarchy_.depths[classes]] = classes.astype(str)
        return paths

    def _compute_scores(self, x: NDArray[np.float64] | sparse.csr_array) -> NDArray[np.float32]:
        """Multiply the probabilities of the local classifiers, from the top down.

        The ``predict_proba`` of hiclass is not used: its result for a row depends on the other rows, as it calls only
        the classifiers of classes that it predicts for some row.
        """
        graph, separator = self.model_.hierarchy_, self.model_.separator_
        scores = np.zeros((x.shape[0], len(self.hierarchy_)), dtype=np.float32)
        reached = {self.model_.root_: np.ones(x.shape[0])}
        while reached:
            node, score = reached.popitem()
            if "classifier" not in graph.nodes[node]:
                continue  # a leaf
            classifier = graph.nodes[node]["classifier"]
            for child, share in zip(classifier.classes_, classifier.predict_proba(x).T, strict=True):
                reached[child] = score * share
                scores[:, int(child.rpartition(separator)[2])] = reached[child]
        return scores
