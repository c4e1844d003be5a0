"""Clus-Ens: bagged predictive clustering trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn.baselines.clus import ClusHMC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn._typing import JSONValue
    from chmcnn.hierarchy import Hierarchy


class ClusEns(ClusHMC):
    """Clus-Ens: the mean of the trees of `ClusHMC`, each grown on rows drawn with replacement.

    All trees share one level of the F-test, chosen by the AU(PRC) of their mean on validation rows.

    Parameters
    ----------
    n_estimators
        Number of trees.
    n_jobs
        Number of trees to grow in parallel; -1 is one per core, and None one per thread of torch. The result does not
        depend on it.
    variance
        See `ClusHMC`. The default is faster than 1, but not exact.
    hierarchy, significance, min_samples_leaf, depth_weight, validation, threshold, preprocess, evaluated, verbose
        See `ClusHMC`.
    random_state
        Seed of the draws.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=200, features=3, classes=6, noise=0.1)
    >>> model = ClusEns(data.hierarchy, n_estimators=5, random_state=0).fit(data.train.X, data.train.Y)
    >>> model.feature_importances_.shape
    (3,)
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 50,
        n_jobs: int | None = None,
        variance: float = 0.95,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, variance=variance, **options)
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs

    def _draw_samples(self, rows: int) -> list[NDArray[np.int64]]:
        rng = np.random.default_rng(self.seed_)
        return [rng.integers(rows, size=rows) for _ in range(self.n_estimators)]
