"""Measures of many reweightings of one sorted sample at once.

A kernel is made from sorted predictions and called with the masses of all rows and, of these, the
masses of positive outcomes, one line for each replicate; either may have one line for all, shape
(n,). It returns shape (b, k): the value and, where that has plateaus, what orders replicates on one
of them.
"""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from skcal._numerics._atoms import tie_starts
from skcal._numerics._bins import bin_index, bins_of_cells, coarsen
from skcal._numerics._envelopes import edge_height, edge_over, regret_curve
from skcal._numerics._flat_norm import flat_norms
from skcal._numerics._soft_loss import TIE, grid_loss, self_balancing

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]
Samples = Iterable[Iterable[tuple[np.ndarray, np.ndarray]]]

EARLY = 4  # the level before which few replicates stop: the search starts there


def cutoff_kernel(p: np.ndarray) -> Kernel:
    """The largest interval residual."""
    first = tie_starts(p)
    ends = None if first is None else np.append(first[1:], p.size) - 1

    def values(mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
        sums = np.cumsum(np.atleast_2d(ones - mass * p), axis=1)
        sums = sums if ends is None else sums[:, ends]
        span = np.maximum(sums.max(axis=1), 0) - np.minimum(sums.min(axis=1), 0)
        return _column(span / mass.sum(axis=-1))

    return values


def smooth_kernel(p: np.ndarray) -> Kernel:
    """The smooth calibration error."""
    first = tie_starts(p)
    x = p if first is None else p[first]

    def values(mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
        return _column(flat_norms(x, _merged(ones - mass * p, first)) / mass.sum(axis=-1))

    return values


def binned_kernel(p: np.ndarray, m: int, precision: type = np.float64) -> Kernel:
    """The l1 error of equal-width bins."""
    first = tie_starts(bin_index(p, m, precision))

    def values(mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
        residual = _merged(ones - mass * p, first)
        return _column(np.abs(residual).sum(axis=1) / mass.sum(axis=-1))

    return values


def decision_kernel(p: np.ndarray) -> Kernel:
    """The calibration decision loss; one replicate after the other."""
    first = tie_starts(p)
    x = p if first is None else p[first]

    def values(mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
        mass, ones = np.broadcast_arrays(_merged(mass, first), _merged(ones, first))
        curves = (regret_curve(x, m, s) for m, s in zip(mass, ones, strict=True))
        heights = np.array([edge_height(edge_over(x, curve)) for curve in curves])
        return _column(2 * heights / mass.sum(axis=-1))

    return values


class SoftKernel:
    """SCDL with SCDL at level 2m*, or SCDL_m: from the soft bins of one fine level."""

    def __init__(self, p: np.ndarray, n_bins: int | None = None) -> None:
        self.p, self.n_bins = p, n_bins
        self.finest = max(9, int(np.ceil(np.log2(p.size) / 2)) + 2)
        self.m = 1 << self.finest if n_bins is None else n_bins
        self.scaled = p * self.m
        cell = self.scaled.astype(np.int64)
        self.up, self.first = self.scaled - cell, tie_starts(cell)
        self.cell = cell if self.first is None else cell[self.first]

    def __call__(self, mass: np.ndarray, ones: np.ndarray) -> np.ndarray:
        total = np.atleast_1d(mass.sum(axis=-1))[:, None]
        weight, rate = np.broadcast_arrays(self._bins(mass) / total, self._bins(ones) / total)
        out = self._losses(weight, rate)
        lines = np.broadcast_arrays(np.atleast_2d(mass), np.atleast_2d(ones))
        for r in np.flatnonzero(np.isnan(out[:, 0])):  # needs a finer level: rare
            balance = self_balancing(*rows_of(self.p, lines[0][r], lines[1][r]), "random")
            out[r] = balance.scdl, balance.next_loss
        return out

    def of_rows(self, samples: Samples) -> np.ndarray:
        """The same for samples of n rows, each in pieces of row numbers and outcomes.

        Quicker than by counts of rows, which are of no other use here. NaN where those are needed.
        """
        size = 2 * (self.m + 1)
        bins = []
        for pieces in samples:
            mass, moved = np.zeros(size, dtype=np.int64), np.zeros(size)
            for row, positive in pieces:
                up = self.scaled.take(row)
                cell = up.astype(np.int64)
                up -= cell
                cell += cell
                cell += positive
                mass += np.bincount(cell, minlength=size)
                moved += np.bincount(cell, up, size)
            bins.append(bins_of_cells(mass.reshape(-1, 2), moved.reshape(-1, 2)))
        weight, ones = (np.array(lines) / self.p.size for lines in zip(*bins, strict=True))
        return self._losses(weight, ones)

    def _bins(self, rows: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(rows)
        moved = _merged(rows * self.up, self.first)
        out = np.zeros((len(rows), self.m + 2))
        out[:, self.cell] = _merged(rows, self.first) - moved
        out[:, self.cell + 1] += moved
        return out[:, : self.m + 1]

    def _losses(self, weight: np.ndarray, ones: np.ndarray) -> np.ndarray:
        if self.n_bins is not None:
            return _column(grid_loss(weight, ones))
        return _balanced((weight, ones), self.finest)


def _balanced(level: tuple[np.ndarray, np.ndarray], finest: int) -> np.ndarray:
    """SCDL and SCDL at 2m* of a batch of grids at level 2^finest; NaN where that is too coarse.

    As SCDL_m does not decrease, a replicate that does not stop at one level stops at none before.
    """
    levels = {finest: level}
    for k in range(finest - 1, 0, -1):
        levels[k] = coarsen(levels[k + 1][0]), coarsen(levels[k + 1][1])
    loss = cache(lambda k: grid_loss(*levels[k]))
    out = np.full((len(level[1]), 2), np.nan)
    some_stop = np.any(loss(EARLY + 1) >= TIE * 2.0**-EARLY)
    for k in range(1 if some_stop else EARLY + 1, finest):
        stop = np.isnan(out[:, 0]) & (loss(k + 1) >= TIE * 2.0**-k)
        out[stop, 0] = np.maximum(loss(k), 2.0**-k)[stop]
        out[stop, 1] = loss(k + 1)[stop]
        if not np.isnan(out[:, 0]).any():
            break
    return out


def rows_of(
    p: np.ndarray, mass: np.ndarray, ones: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, predictions and weights of rows with 0/1 outcomes that carry these masses."""
    zeros = mass - ones
    low, high = np.flatnonzero(zeros > 0), np.flatnonzero(ones > 0)
    y = np.repeat([0, 1], [low.size, high.size])
    return y, np.concatenate([p[low], p[high]]), np.concatenate([zeros[low], ones[high]])


def _merged(rows: np.ndarray, first: np.ndarray | None) -> np.ndarray:
    rows = np.atleast_2d(rows)
    return rows if first is None else np.add.reduceat(rows, first, axis=1)


def _column(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0.0)[:, None]
