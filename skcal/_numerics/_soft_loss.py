"""SCDL_m of rounded predictions, and the self-balancing choice of m.

SCDL_m is the largest value, over v, of

    sum_i pi_i (abs(q_i - v) - 1/m)_+ 1[v between i/m and q_i].

That is the regret curve of the bins after every q_i has moved 1/m towards its bin and the bins
with abs(q_i - i/m) <= 1/m have vanished; it is convex between grid points and jumps up only there.

SCDL = min over m = 2, 4, 8, ... of max(SCDL_m, 1/m). SCDL_m does not decrease along powers of
two, so the minimum is at m*, the first m with SCDL_2m >= 1/m.
"""

import math
from typing import NamedTuple

import numpy as np

from skcal._numerics._atoms import merge_ties
from skcal._numerics._bins import coarsen, grid_index, soft_bins
from skcal._numerics._envelopes import regret_curve

TIE = 1 - 1e-12  # SCDL_2m >= 1/m must not hang on the last bit of a sum
MOST_CELLS = 1 << 18  # beyond it, sorting the rows costs less than a table of all cells
FINEST = 43  # beyond 2**43 bins the residual of a bin drowns in rounding errors
CALIBRATED = 1e-13  # tied rows with a mean residual below this are calibrated on paper


Residuals = tuple[np.ndarray, np.ndarray, np.ndarray]


class Bins(NamedTuple):
    """Bins of the rounded predictions: place i, mass pi_i, residual pi_i (q_i - i/m)."""

    place: np.ndarray
    mass: np.ndarray
    residual: np.ndarray


class Balance(NamedTuple):
    """The self-balancing level m*, with SCDL_m at m* and at 2 m*; m* is infinite at SCDL = 0."""

    n_bins: float
    loss: float
    next_loss: float

    @property
    def scdl(self) -> float:
        return max(self.loss, 1.0 / self.n_bins)


def most_regret(loss: float, m: float) -> float:
    """Swap regret, with utilities in [0, 1], of responding to predictions rounded to step 1/m."""
    return min(2 * (loss + 1 / m), 1.0)


def soft_loss(bins: Bins, m: int) -> tuple[float, float]:
    """SCDL_m of normalised bins, and the grid point at which the curve is largest."""
    excess = np.abs(bins.residual) - bins.mass / m
    keep = np.flatnonzero(excess > 0)
    if not keep.size:
        return 0.0, 0.0
    x, mass = bins.place[keep] / m, bins.mass[keep]
    moved = mass * x + np.copysign(excess[keep], bins.residual[keep])
    curve = regret_curve(x, mass, moved)
    top = int(np.argmax(curve))
    return float(curve[top]), float(x[top])


def grid_loss(mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
    """`soft_loss` of full grids: masses and outcome masses of all m + 1 bins, on the last axis.

    On the grid no search is needed: a bin enters at its own place and leaves at the place of its
    moved rate, so two cumulative sums give the curve. Leading axes are a batch.
    """
    m = mass.shape[-1] - 1
    step = 1.0 / m
    grid = np.arange(m + 1) * step
    gap = ones - mass * grid
    keep = np.flatnonzero(np.abs(gap) > mass * step)
    shape = (*mass.shape[:-1], m + 2)  # one more place swallows what leaves at the end
    if not keep.size:
        return np.zeros(shape[:-1])
    weight, falling = mass.ravel()[keep], gap.ravel()[keep] < 0
    moved = ones.ravel()[keep] + np.where(falling, weight, -weight) * step
    rate = m * (moved / weight)
    row = keep // (m + 1)
    enter = keep + row + falling
    leave = np.where(falling, np.ceil(rate), np.floor(rate) + 1).astype(np.int64) + row * (m + 2)
    size = math.prod(shape)
    slope = np.bincount(enter, weight, size) - np.bincount(leave, weight, size)
    height = np.bincount(enter, moved, size) - np.bincount(leave, moved, size)
    curve = height.reshape(shape).cumsum(axis=-1)[..., :-1]
    curve -= slope.reshape(shape).cumsum(axis=-1)[..., :-1] * grid
    return np.maximum(curve.max(axis=-1), 0.0)


def rounded_bins(
    y: np.ndarray,
    p: np.ndarray,
    w: np.ndarray | None,
    m: int,
    rounding: str,
    precision: type = np.float64,
) -> Bins:
    """Occupied bins at level m, normalised; sparse when the grid is finer than the sample."""
    if m > _dense_limit(p.size):
        return _sparse_bins(_exact_atoms(y, p, w), m, rounding, precision)
    return _dense_bins(*_grid_masses(y, p, w, m, rounding, precision))


def self_balancing(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, rounding: str) -> Balance:
    """m* and the losses around it, from one pass over the rows in the ordinary case.

    V = SCDL at a fine level bounds m* from below by 1/V, so three or four levels are evaluated;
    the coarser ones come from the finest by coarsening, not from the rows.
    """
    finest = max(5, int(np.ceil(np.log2(p.size) / 2)) + 2)
    while 1 << finest <= _dense_limit(p.size):
        level = _grid_masses(y, p, w, 1 << finest, rounding)
        loss = float(grid_loss(*level))
        if loss >= TIE * 2.0 ** (1 - finest):  # m* lies below this level
            return _descend(level, finest, loss, rounding)
        finest += 3
    return _bisect(_exact_atoms(y, p, w), rounding)


def _dense_limit(n: int) -> int:
    """Number of bins up to which a table of all of them is made."""
    return min(max(n, 64), MOST_CELLS)


def _grid_masses(
    y: np.ndarray,
    p: np.ndarray,
    w: np.ndarray | None,
    m: int,
    rounding: str,
    precision: type = np.float64,
) -> tuple[np.ndarray, np.ndarray]:
    if rounding == "random":
        mass, ones = soft_bins(y, p, w, m)
    else:
        mass, ones = _floor_bins(y, p, w, m, precision)
    total = mass.sum() if w is None else w.sum()
    return mass / total, ones / total


def _floor_bins(
    y: np.ndarray, p: np.ndarray, w: np.ndarray | None, m: int, precision: type
) -> tuple[np.ndarray, np.ndarray]:
    index = grid_index(p, m, precision)
    return np.bincount(index, w, m + 1), np.bincount(index, y if w is None else w * y, m + 1)


def _dense_bins(mass: np.ndarray, ones: np.ndarray) -> Bins:
    index = np.arange(mass.size)
    return Bins(index, mass, ones - mass * (index / (mass.size - 1)))


def _descend(
    level: tuple[np.ndarray, np.ndarray], finest: int, loss: float, rounding: str
) -> Balance:
    """m* from a level that is fine enough; ``level`` and ``loss`` belong to 2**finest."""
    levels, losses = {finest: level}, {finest: loss}
    for k in range(finest - 1, 0, -1):
        levels[k] = (coarsen(levels[k + 1][0], rounding), coarsen(levels[k + 1][1], rounding))

    def value(k: int) -> float:
        if k not in losses:
            losses[k] = float(grid_loss(*levels[k]))
        return losses[k]

    k = max(1, int(np.ceil(-np.log2(loss) - 1e-9)))
    while value(k + 1) < TIE * 2.0**-k:
        k += 1
    return Balance(2**k, value(k), value(k + 1))


def _exact_atoms(y: np.ndarray, p: np.ndarray, w: np.ndarray | None) -> Residuals:
    """Atoms (x, mass, residual), normalised, where a residual that is rounding noise is zero."""
    x, mass, ones, _ = merge_ties(y, p, w).written_out()
    residual = ones - mass * x
    residual[np.abs(residual) <= CALIBRATED * mass] = 0.0
    return x, mass / mass.sum(), residual / mass.sum()


def _sparse_bins(atoms: Residuals, m: int, rounding: str, precision: type = np.float64) -> Bins:
    """Bins of atoms at any level: only the occupied ones are stored.

    x - i/m is exact when m is a power of two, so residuals keep their precision on fine grids.
    """
    x, mass, residual = atoms
    index = np.floor(x * m) if rounding == "random" else grid_index(x, m, precision)
    up = x * m - index
    if rounding == "random":
        index = np.concatenate([index, index + 1])
        share = np.concatenate([1 - up, up])
        offset = np.concatenate([up, up - 1]) / m
        mass, residual = np.tile(mass, 2) * share, np.tile(residual, 2) * share
    else:
        offset = up / m
    keep = mass > 0
    index, where = np.unique(index[keep], return_inverse=True)
    gap = np.bincount(where, (residual + mass * offset)[keep])
    return Bins(index, np.bincount(where, mass[keep]), gap)


def _bisect(atoms: Residuals, rounding: str) -> Balance:
    """m* by bisection over k = log2 m, for samples that are calibrated or nearly so."""
    if not atoms[2].any():
        return Balance(np.inf, 0.0, 0.0)

    def value(k: int) -> float:
        return soft_loss(_sparse_bins(atoms, 2**k, rounding), 2**k)[0]

    low, high = 1, FINEST
    if value(high + 1) < TIE * 2.0**-high:
        return Balance(np.inf, 0.0, 0.0)
    while low < high:  # the condition holds at high
        middle = (low + high) // 2
        if value(middle + 1) >= TIE * 2.0**-middle:
            high = middle
        else:
            low = middle + 1
    return Balance(2**low, value(low), value(low + 1))
