"""What a sketch knows of the rows in each cell [i/m, (i + 1)/m) of the predictions.

That is their sums, and their one prediction for as long as they have no other. These predictions
form a lattice: -inf where there is none yet, inf once two differ. So joining them is associative,
and no order of the rows or parts changes a bit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skcal._numerics._bins import blocks
from skcal._validation import Sample

NONE, MANY = -np.inf, np.inf


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums by cell and outcome, of shape (m + 1, 2); the last cell holds p = 1."""

    mass: np.ndarray  # weight
    moved: np.ndarray  # weight times p m - i
    only: np.ndarray  # of shape (m + 1,): the prediction of all rows, `NONE` or `MANY`
    precision: type  # the type in which predictions were given

    @property
    def m(self):
        return self.mass.shape[0] - 1

    @cached_property
    def grid(self):
        return np.arange(self.m + 1) / self.m

    @cached_property
    def total(self):
        return float(self.mass.sum())

    @cached_property
    def base_rate(self):
        return float(self.mass[:, 1].sum()) / self.total

    @cached_property
    def mean_forecast(self):
        sums = self.mass.sum(axis=1) @ np.arange(self.m + 1.0) + self.offsets.sum()
        return float(sums) / self.m / self.total

    @cached_property
    def outcome_variance(self):
        """Mean p (1 - p): the variance of an outcome if forecasts are calibrated."""
        p = self.grid + self.mean / self.m
        return float(self.mass.sum(axis=1) @ (p * (1 - p))) / self.total

    @cached_property
    def open(self):
        """Cells whose predictions differ; each of the others is one atom, or empty."""
        return self.only == MANY

    @cached_property
    def tied(self):
        return np.isfinite(self.only)

    @cached_property
    def rise(self):
        """Summed residuals 1 - p of the ones."""
        return self.mass[:, 1] * (1 - self.grid) - self.offsets[:, 1] / self.m

    @cached_property
    def fall(self):
        """Summed predictions of the zeros; their residuals are the negatives."""
        return self.mass[:, 0] * self.grid + self.offsets[:, 0] / self.m

    @cached_property
    def mean(self):
        """Mean of p m - i in each cell; 0 in empty ones.

        Of an atom it is exact, as m is a power of two: (i + mean) / m is its prediction.
        """
        mean = np.where(self.tied, self.only, self.grid) * self.m - np.arange(self.m + 1)
        sums, weight = self.moved.sum(axis=1), self.mass.sum(axis=1)
        return np.divide(sums, weight, out=mean, where=self.open)

    @cached_property
    def offsets(self):
        """Weight times p m - i, without the rounding errors of its sum where p is known."""
        return np.where(self.open[:, None], self.moved, self.mass * self.mean[:, None])

    @cached_property
    def spread(self):
        """The most that abs(p - c) can sum to, by cell and outcome; c is the mean of the cell.

        abs is convex, so the worst rows lie on the ends of the cell, in proportions that their
        mean fixes. The rows of an atom lie on its mean.
        """
        c = self.mean[:, None]
        most = ((self.mass - self.offsets) * c + self.offsets * (1 - c)) / self.m
        return np.where(self.open[:, None], most, 0.0)

    @cached_property
    def sample(self):
        """The rows with the predictions of each cell moved to their mean."""
        i = np.flatnonzero(self.mass.sum(axis=1))
        y, w = np.repeat([0, 1], i.size), self.mass[i].T.ravel()
        p = np.tile((i + self.mean[i]) / self.m, 2)
        return Sample(y[w > 0], p[w > 0], w[w > 0], self.precision)


def see(only, p):
    """Let the cells know these predictions."""
    m = only.size - 1
    for rows in blocks(p.size):
        x = p[rows] + 0.0  # -0.0 is a tie of 0.0, and must not differ by a bit
        i = (x * m).astype(np.int64)
        before = only[i]
        news = np.flatnonzero((before != x) & (before != MANY))  # few, but for the first rows
        x, i, before = x[news], i[news], before[news]
        only[i] = x  # of several the last stays
        only[i[(before != NONE) | (only[i] != x)]] = MANY


def joined(only, other):
    """Of two sets of rows the one prediction of each cell."""
    low, high = np.minimum(only, other), np.maximum(only, other)
    return np.where((low == high) | (low == NONE), high, MANY)
