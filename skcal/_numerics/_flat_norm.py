"""The flat (bounded-Lipschitz) norm of residuals on the line: exact value and both proofs.

The supremum of sum_j c_j h(x_j) over h with values in [-1, 1] and slope at most 1. With C_j the
prefix sums of c, T = C_m >= 0 (else negate c) and d_j the gaps of x, linear programming duality on
the line [1]_ gives

    T + min { sum_j d_j abs(C_j - S_j) : 0 <= S_1 <= ... <= S_{m-1} <= T },

a weighted L1 isotonic regression of C clipped to [0, T]: clipping changes the objective by a
constant. S is the dual proof, the witness h the primal one.

.. [1] J. Jablonski and A. Marciniak-Czochra, "Efficient algorithms computing distances between
   Radon measures on R", 2013. :arxiv:`1304.3501`
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics._isotonic_l1 import isotonic_l1

LONG = 50_000  # places of a line from which it pays to leave out those without mass


class FlatNorm(NamedTuple):
    """Value, prefix sums C_1..C_m, and their best fit S_1..S_{m-1}, in the sign of c."""

    value: float
    sums: np.ndarray
    fit: np.ndarray


def flat_norm(x: np.ndarray, c: np.ndarray) -> FlatNorm:
    """The norm of masses c at the distinct, increasing x in [0, 1]."""
    sums = np.cumsum(c)
    sign = -1.0 if sums[-1] < 0 else 1.0
    sums *= sign
    total, inner, gaps = sums[-1], sums[:-1], np.diff(x)
    if total > 0 and inner.size:
        fit = isotonic_l1(np.clip(inner, 0.0, total), gaps)
    else:
        fit = np.zeros(inner.size)
    # pairwise summation: more accurate than a dot product, and it wakes no threads
    value = float(total + (gaps * np.abs(inner - fit)).sum())
    return FlatNorm(value, sign * sums, sign * fit)


def flat_norms(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Norms of a batch of masses, shape (b, m), on one x."""
    if x.size >= LONG and np.count_nonzero(c) < 0.9 * c.size:
        held = (np.flatnonzero(line) for line in c)
        pairs = zip(c, held, strict=True)
        return np.array([flat_norm(x[k], line[k]).value if k.size else 0.0 for line, k in pairs])
    sums = np.cumsum(c, axis=1)
    total = np.abs(sums[:, -1])
    if x.size == 1:
        return total
    sums *= np.where(sums[:, -1:] < 0, -1.0, 1.0)
    inner, gaps = sums[:, :-1], np.diff(x)
    clipped = np.clip(inner, 0.0, total[:, None])
    fit = isotonic_l1(clipped.ravel(), np.tile(gaps, len(c)), inner.shape[1])
    np.abs(inner - fit.reshape(inner.shape), out=clipped)
    clipped *= gaps
    return total + clipped.sum(axis=1)


def witness(x: np.ndarray, norm: FlatNorm) -> np.ndarray:
    """A best h at the places x.

    Where the curve C lies above its fit S the witness falls at full slope, below it rises; h = 1 is
    never exceeded, and reached somewhere.
    """
    sign = -1.0 if norm.sums[-1] < 0 else 1.0
    above = sign * (norm.sums[:-1] - norm.fit)
    gaps = np.diff(x)
    rise = np.concatenate(([0.0], np.cumsum(np.where(above > 0, -gaps, gaps))))
    fall = np.concatenate((np.cumsum(np.where(above < 0, -gaps, gaps)[::-1])[::-1], [0.0]))
    forward = 1 + rise - np.maximum.accumulate(rise)
    backward = 1 + fall - np.maximum.accumulate(fall[::-1])[::-1]
    return sign * np.minimum(forward, backward)
