"""The compiled loop of the loss and its gradient, row by row, for logits on the CPU. Needs numba.

If the labels are closed under ancestors, a class and its delegate have the same label. So the loss of a class is that
of its delegate, and the loss of a row is the plain cross-entropy of its own logits, where each class has the weights of
all classes that delegate to it:

1. the packed keys of `chmcnn.constraint._delegates` go up the edges;
2. the weights of the classes move to their delegates, whose ranks are in the keys;
3. one vectorised loop computes loss and gradient, without any index.

The vectorised loop needs exp and log1p as polynomials, and sums in any order. Only valid input has a loss: for NaN,
infinite logits and labels that are not closed, the result is NaN.
"""

from collections.abc import Callable
from ctypes import c_void_p
from functools import cache

import numpy as np
from numba.np.numpy_support import carray
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from chmcnn.constraint._compiling import compile_for_c, compiled
from chmcnn.constraint._keys import INFINITY, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT

_VECTORISED = ("contract", "reassoc", "nsz", "arcp")
"""What the compiler may do with floating-point numbers: everything but ignoring infinity, as a sum may be infinite."""
_CLASSES_AT_ONCE = 8192
"""Losses that are added up as float32 numbers."""
_LARGEST = np.float32(87)
"""The exponential of less than -87 is smaller than every normal float32 number: zero."""
_INVERSE_LN2, _LN2 = np.float32(1 / np.log(2)), np.log(2)
_LN2_HIGH = np.float32(round(_LN2 * 2**12) / 2**12)  # a product with any exponent is exact
_LN2_LOW = np.float32(_LN2 - float(_LN2_HIGH))


def _fit(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], degree: int, *domain: float
) -> list[np.float32]:
    """Return the coefficients of a polynomial close to a function, the constant one first."""
    series = Chebyshev.interpolate(function, degree, domain=domain)
    return list(series.convert(kind=Polynomial).coef.astype(np.float32))


_A0, _A1, _A2, _A3, _A4, _A5, _A6 = _fit(np.exp, 6, -_LN2 / 2, _LN2 / 2)
_B0, _B1, _B2, _B3, _B4, _B5, _B6, _B7, _B8, _B9 = _fit(lambda x: np.log1p(x) / x, 9, 0, 1)


@compiled(fastmath=_VECTORISED)
def _exp_of_minus(x: np.float32) -> np.float32:
    """exp(-x) for x >= 0, as 2 ** -exponent * exp(rest)."""
    bounded = min(x, _LARGEST)
    exponent = np.int32(bounded * _INVERSE_LN2 + np.float32(0.5))
    rest = (np.float32(exponent) * _LN2_HIGH - bounded) + np.float32(exponent) * _LN2_LOW
    square = rest * rest
    low = (_A0 + _A1 * rest) + square * (_A2 + _A3 * rest)
    high = (_A4 + _A5 * rest) + square * _A6
    power = np.int32((np.int32(127) - exponent) << np.int32(23)).view(np.float32)
    return (low + (square * square) * high) * power if x < _LARGEST else np.float32(0)


@compiled(fastmath=_VECTORISED)
def _log1p(x: np.float32) -> np.float32:
    """log(1 + x) for x in [0, 1]; in pairs, so that the products do not wait for each other."""
    square = x * x
    fourth = square * square
    low = (_B0 + _B1 * x) + square * (_B2 + _B3 * x)
    middle = (_B4 + _B5 * x) + square * (_B6 + _B7 * x)
    return x * (low + fourth * (middle + fourth * (_B8 + _B9 * x)))


@compiled(fastmath=_VECTORISED)
def _loss_and_gradient(
    bits: NDArray[np.int32],
    labels: NDArray[np.uint8],
    weights: NDArray[np.float32],
    factor: np.float32,
    gradient: NDArray[np.float32],
) -> np.float32:
    """Fill ``gradient``, and return the weighted sum of the cross-entropy."""
    total = np.float32(0)
    for c in range(len(bits)):
        sign = np.int32(labels[c]) << np.int32(31)
        margin = np.int32(bits[c] ^ sign).view(np.float32)  # how far the logit is on the wrong side
        small = _exp_of_minus(abs(margin))
        inverse = np.float32(1) / (np.float32(1) + small)
        sigmoid = small * inverse if margin < 0 else inverse
        total += weights[c] * (_log1p(small) + max(margin, np.float32(0)))
        slope = weights[c] * factor * sigmoid
        gradient[c] = np.int32(np.float32(slope).view(np.int32) ^ sign).view(np.float32)
    return total


@compiled()
def _read_labels(row: NDArray[np.uint8] | NDArray[np.float32], labels: NDArray[np.uint8]) -> bool:
    """Fill ``labels`` with the labels as integers; return whether all are 0 or 1."""
    largest, changed = np.uint8(0), False
    for c in range(len(row)):
        labels[c] = np.uint8(row[c])
        largest = max(largest, labels[c])
        changed |= labels[c] != row[c]
    return bool(largest <= 1 and not changed)


@compiled()
def _pack_keys(
    bits: NDArray[np.int32], labels: NDArray[np.uint8], ranks: NDArray[np.int32], keys: NDArray[np.int64]
) -> np.int32:
    """Fill ``keys``, and return the bits of the largest magnitude of a logit."""
    largest = np.int32(0)
    for c in range(len(bits)):
        magnitude = bits[c] & np.int32(0x7FFFFFFF)
        largest = max(largest, magnitude)
        score = np.int64(-magnitude if bits[c] < 0 else magnitude) + (
            np.int64(labels[c]) << (LABEL_SHIFT - SCORE_SHIFT)
        )
        keys[c] = (score << SCORE_SHIFT) + np.int64(ranks[c])
    return largest


@compiled()
def _pass_up(keys: NDArray[np.int64], parents: NDArray[np.int32], children: NDArray[np.int32]) -> None:
    """Give each class the highest key among itself and its descendants."""
    for edge in range(len(parents)):
        parent, child = np.uint32(parents[edge]), np.uint32(children[edge])  # a signed index may count from the end
        keys[parent] = max(keys[parent], keys[child])


@compiled()
def _move_weights(
    keys: NDArray[np.int64],
    inner: NDArray[np.int32],
    class_by_rank: NDArray[np.int32],
    labels: NDArray[np.uint8],
    weights: NDArray[np.float32],
) -> bool:
    """Move the weight of each class to its delegate; return whether all classes have the label of their delegate.

    A class that is not its own delegate is nobody's delegate: it has its own weight only, in any order of the classes.
    """
    wrong = False
    for i in range(len(inner)):
        c = np.uint32(inner[i])
        delegate = np.uint32(class_by_rank[keys[c] & RANK_MASK])
        weight = weights[c]
        weights[c] = 0
        weights[delegate] += weight
        wrong |= labels[c] != labels[delegate]
    return not wrong


def _fill_rows(  # noqa: PLR0913, PLR0917 -- addresses, in the order of _SIGNATURE
    logits: c_void_p,
    labels: c_void_p,
    are_numbers: bool,  # noqa: FBT001 -- ctypes passes arguments by position
    weights: c_void_p,
    hierarchy: c_void_p,
    factor: np.float32,
    gradient: c_void_p,
    begin: int,
    end: int,
) -> float:
    """Fill the gradient of rows, and return their loss, both times ``factor``.

    Labels are bytes or float32 numbers; ``hierarchy`` is `IndexedHierarchy.narrow`.

    Returns
    -------
    float
        NaN if the input is not valid: if a logit is NaN or infinite, or labels are not 0 or 1, or not closed.
    """
    sizes = carray(hierarchy, 3, np.int32)
    classes, edges, inner_classes = int(sizes[0]), int(sizes[1]), int(sizes[2])
    indices = carray(hierarchy, 3 + 2 * classes + 2 * edges + inner_classes, np.int32)[3:]
    by_class, ends, inner = indices[: 2 * classes], indices[2 * classes :], indices[2 * (classes + edges) :]
    ranks, class_by_rank = by_class[:classes], by_class[classes:]
    shape = (end, classes)
    bits, slopes = carray(logits, shape, np.int32), carray(gradient, shape, np.float32)
    label_bytes, label_numbers = carray(labels, shape, np.uint8), carray(labels, shape, np.float32)
    keys = np.empty(classes, np.int64)
    row_labels, row_weights = np.empty(classes, np.uint8), np.empty(classes, np.float32)
    is_valid, total = True, 0.0
    for row in range(begin, end):
        if are_numbers:
            is_valid &= _read_labels(label_numbers[row], row_labels)
        else:
            is_valid &= _read_labels(label_bytes[row], row_labels)
        is_valid &= _pack_keys(bits[row], row_labels, ranks, keys) < INFINITY
        _pass_up(keys, ends[:edges], ends[edges : 2 * edges])
        row_weights[:] = carray(weights, classes, np.float32)
        is_valid &= _move_weights(keys, inner, class_by_rank, row_labels, row_weights)
        for start in range(0, classes, _CLASSES_AT_ONCE):
            part = slice(start, start + _CLASSES_AT_ONCE)
            total += _loss_and_gradient(bits[row, part], row_labels[part], row_weights[part], factor, slopes[row, part])
    return float(total * factor) if is_valid else np.nan


_SIGNATURE = "float64(voidptr, voidptr, boolean, voidptr, voidptr, float32, voidptr, int64, int64)"


@cache
def loss_and_gradient() -> Callable[..., float]:
    """Return the compiled `_fill_rows`."""
    return compile_for_c(_fill_rows, _SIGNATURE)
