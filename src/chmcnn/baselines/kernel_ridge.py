"""KernelRidge: regression of the labels on similarities to training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import euclidean_distances

from chmcnn import metrics
from chmcnn.baselines._arrays import matrix_arrays, read_array, read_matrix, read_positions
from chmcnn.baselines._refitted import Refitted
from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue, LabelsLike
    from chmcnn.baselines._arrays import Arrays, Matrix
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

LAMBDAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_COEFFICIENTS = 1 << 27
"""Most coefficients, one for each landmark and class: 512 MiB."""
_COLUMNS_AT_ONCE = 1000
_SAMPLE = 1000
"""Most rows, and most classes, that lambda is chosen by."""
_FARTHEST = 1e15
"""Largest number of a standardised feature: the squares of larger ones do not fit into float32."""
_SMALLEST = 1e-10
"""Eigenvalues below this share of the largest are rounding errors."""


class KernelRidge(Refitted["Regression"]):
    """Kernel ridge regression of the 0/1 labels, with scores cut to [0, 1]; the correction is the maximum.

    The kernel is exp(-distance / median distance). The penalty is the one of 0.01, 0.03, ..., 10 with the best AU(PRC)
    of leave-one-out, which has a closed form. Only classes with training rows are learned; others score
    0. Above a number of rows, similarities to some of them, drawn at random, are used (Nystroem's method).

    Parameters
    ----------
    landmarks
        Most training rows that similarities are computed to. Time grows with their cube.
    hierarchy, validation, threshold, preprocess, path_separator, refit, evaluated
        See `chmcnn.CHMCNNClassifier`.
    random_state
        Seed of the draws.

    Attributes
    ----------
    lambda_ : float
        The penalty that was chosen.
    best_score_ : float
        AU(PRC) on the validation rows, of a model without them.
    notice_ : str
        How many landmarks there are, if there are fewer than rows.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=200, features=3, classes=6, noise=0.1)
    >>> model = KernelRidge(data.hierarchy, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    lambda_: float

    def __init__(self, hierarchy: Hierarchy | None = None, *, landmarks: int = 3000, **options: JSONValue) -> None:
        super().__init__(hierarchy, **options)
        self.landmarks = landmarks

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        self._check_numbers(landmarks=1)

    def _train(self, rows: Rows) -> Regression:
        x, classes = rows.features, np.flatnonzero((rows.y.sum(axis=0) > 0) & self.evaluated_)
        most = min(self.landmarks, max(1, _COEFFICIENTS // len(classes)))
        chosen: slice | NDArray[np.int64] = slice(None)
        if len(rows) > most:
            self.notice_ = f"Similarities are to {most:,} landmarks, drawn from {len(rows):,} rows."
            chosen = np.sort(np.random.default_rng(self.seed_).choice(len(rows), most, replace=False))
        points = x[chosen]
        scale = _find_scale(points)
        smoother = Smoother.decompose(_compute_kernel(x, points, scale), chosen)
        labels = rows.y[:, classes].astype(np.float64)
        self.lambda_ = smoother.choose_lambda(labels, self.seed_)
        return Regression(
            points.astype(np.float32),
            scale,
            classes.astype(np.int32),
            (labels.sum(axis=0) / len(rows)).astype(np.float32),
            smoother.solve(labels, self.lambda_),
            len(self.hierarchy_),
        )

    def learned_facts(self) -> dict[str, JSONValue]:
        """Return notice and penalty, for a model file."""
        return {**super().learned_facts(), "lambda": self.lambda_}

    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> Regression:
        self.lambda_ = float(facts["lambda"])
        return Regression.read(arrays, self._count_columns(), len(self.hierarchy_))


@dataclass(frozen=True, slots=True)
class Smoother:
    """A kernel by its eigenvectors: all penalties follow from it.

    The fitted values of labels Y are ``left @ (spectrum / (spectrum + lambda) * (left.T @ Y))``.
    """

    left: NDArray[np.float64]  # (rows, components), orthonormal columns
    spectrum: NDArray[np.float64]  # (components,)
    basis: NDArray[np.float64]  # (landmarks, components); similarities @ basis == left * sqrt(spectrum)

    @classmethod
    def decompose(cls, kernel: NDArray[np.float64], chosen: slice | NDArray[np.int64]) -> Self:
        """Decompose a kernel (rows, landmarks), in which the landmarks are the chosen rows."""
        spectrum, vectors = _find_components(kernel[chosen])
        basis = vectors / np.sqrt(spectrum)
        if isinstance(chosen, slice):  # all rows
            return cls(vectors, spectrum, basis)
        features = kernel @ basis  # whose products approximate the kernel of all rows
        spectrum, vectors = _find_components(features.T @ features)
        return cls(features @ (vectors / np.sqrt(spectrum)), spectrum, basis @ vectors)

    def choose_lambda(self, labels: sparse.csr_array, seed: int) -> float:
        """Return the penalty with the best AU(PRC) of leave-one-out, of a sample of rows and classes."""
        random = np.random.default_rng(seed)
        rows, classes = (random.permutation(size)[:_SAMPLE] for size in labels.shape)
        targets = labels[:, classes].toarray()
        if not targets[rows].any():
            return 1.0
        means = targets.mean(axis=0)
        projected = self.left.T @ (targets - means)
        scores = (self._leave_one_out(rows, targets[rows] - means, projected, penalty) + means for penalty in LAMBDAS)
        return LAMBDAS[int(np.argmax([metrics.auprc(targets[rows], np.clip(each, 0, 1)) for each in scores]))]

    def _leave_one_out(
        self, rows: NDArray[np.int64], targets: NDArray[np.float64], projected: NDArray[np.float64], penalty: float
    ) -> NDArray[np.float64]:
        """Return what each of some rows would get from all others: the residual grows by the leverage of the row."""
        left, shares = self.left[rows], self.spectrum / (self.spectrum + penalty)
        leverages = np.minimum((left**2) @ shares, 1 - 1e-9)[:, None]
        residuals = targets - (left * shares) @ projected
        scores: NDArray[np.float64] = targets - residuals / (1 - leverages)
        return scores

    def solve(self, labels: sparse.csr_array, penalty: float) -> NDArray[np.float32]:
        """Return the coefficients (landmarks, classes) of the labels without their means, some classes at a time."""
        weights = self.basis * (np.sqrt(self.spectrum) / (self.spectrum + penalty))
        coefficients = np.empty((len(self.basis), labels.shape[1]), dtype=np.float32)
        for start in range(0, labels.shape[1], _COLUMNS_AT_ONCE):
            block = labels[:, start : start + _COLUMNS_AT_ONCE].toarray()
            coefficients[:, start : start + _COLUMNS_AT_ONCE] = weights @ (self.left.T @ (block - block.mean(axis=0)))
        return coefficients


@dataclass(frozen=True, slots=True)
class Regression:
    """Landmarks and the coefficients of the classes that were learned."""

    points: Matrix  # (landmarks, columns)
    scale: float  # median distance
    learned: NDArray[np.int32]  # positions of the classes that were learned
    means: NDArray[np.float32]  # (learned classes,)
    coefficients: NDArray[np.float32]  # (landmarks, learned classes)
    classes: int

    @property
    def width(self) -> int:
        """Similarities that each row needs."""
        return len(self.coefficients)

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return scores (rows, classes) from 0 to 1."""
        kernel = _compute_kernel(_bound(x), self.points, self.scale).astype(np.float32)
        scores = np.zeros((x.shape[0], self.classes), dtype=np.float32)
        scores[:, self.learned] = np.clip(kernel @ self.coefficients + self.means, 0, 1)
        return scores

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays, for a model file."""
        return {
            **matrix_arrays("points", self.points),
            "scale": np.array([self.scale]),
            "learned": self.learned,
            "class means": self.means,
            "coefficients": self.coefficients,
        }

    @classmethod
    def read(cls, arrays: Arrays, columns: int, classes: int) -> Self:
        """Return what a model file has, for a number of columns and classes."""
        coefficients = read_array(arrays, "coefficients", np.float32, (None, None))
        landmarks, count = coefficients.shape
        scale = float(read_array(arrays, "scale", np.float64, (1,))[0])
        if scale <= 0:
            raise ModelError(f"scale is {scale}; expected a number above 0")
        return cls(
            read_matrix(arrays, "points", (landmarks, columns)),
            scale,
            read_positions(arrays, "learned", classes, (count,)),
            read_array(arrays, "class means", np.float32, (count,)),
            coefficients,
            classes,
        )


def _bound(x: Features) -> Features:
    """Return rows in float32; a number that is too large for a distance is as far away as any."""
    if isinstance(x, np.ndarray):
        return np.clip(x, -_FARTHEST, _FARTHEST).astype(np.float32)
    matrix = x.tocsr(copy=True)
    matrix.data = np.clip(matrix.data, -_FARTHEST, _FARTHEST)
    return matrix.astype(np.float32)


def _compute_kernel(x: Features, points: Features, scale: float) -> NDArray[np.float64]:
    """Return similarities (rows, landmarks)."""
    kernel: NDArray[np.float64] = np.exp(euclidean_distances(x, points) / -scale)
    return kernel


def _find_scale(points: Features) -> float:
    """Return the median distance between different points; 1 if all are the same."""
    distances = euclidean_distances(points[:1000])
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def _find_components(kernel: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues above rounding errors, and their eigenvectors as columns."""
    spectrum, vectors = linalg.eigh(kernel, driver="evd", check_finite=False)
    kept = spectrum > _SMALLEST * max(spectrum[-1], 1e-300)
    return spectrum[kept], vectors[:, kept]
