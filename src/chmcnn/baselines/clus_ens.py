"""Clus-Ens: bagged predictive clustering trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from chmcnn.baselines.clus import ClusHMC

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from chmcnn.hierarchy import Hierarchy


class ClusEns(ClusHMC):
    """Clus-Ens: the mean of trees as `ClusHMC` grows them, each on rows drawn with replacement.

    The level of the F-test is one for all trees, chosen by the AU(PRC) of their mean on validation rows.

    Parameters
    ----------
    n_estimators
        How many trees.
    n_jobs
        How many to grow at a time; -1 is one for each core, and None one for each thread that torch may use. The
        result does not depend on it.
    variance
        As in `ClusHMC`. The default is quicker than 1, and not exact.
    hierarchy, significance, min_samples_leaf, depth_weight, validation, threshold, preprocess, evaluated, verbose
        See `ClusHMC`.
    random_state
        A seed; the same one draws the same rows.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=200, features=3, classes=6, noise=0.1)
    >>> model = ClusEns(data.hierarchy, n_estimators=5, random_state=0).fit(data.train.X, data.train.Y)
    >>> model.feature_importances_.shape
    (3,)
    """

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 50,
        n_jobs: int | None = None,
        significance: float | None = None,
        min_samples_leaf: int = 5,
        depth_weight: float = 0.75,
        variance: float = 0.95,
        validation: float = 0.2,
        threshold: float | Literal["tune"] = 0.5,
        preprocess: bool = True,
        evaluated: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            hierarchy,
            significance=significance,
            min_samples_leaf=min_samples_leaf,
            depth_weight=depth_weight,
            variance=variance,
            validation=validation,
            threshold=threshold,
            preprocess=preprocess,
            evaluated=evaluated,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs

    def _samples(self, rows: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        return [rng.integers(rows, size=rows) for _ in range(self.n_estimators)]
