"""What a sketch knows of the rows: sums over the cells [i/m, (i + 1)/m) of the predictions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skcal._validation import Sample


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums by cell and outcome, both of shape (m + 1, 2); the last cell holds p = 1."""

    mass: np.ndarray  # weight
    moved: np.ndarray  # weight times p m - i, so that mean predictions are known exactly

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
    def open(self):
        """Cells whose predictions may differ; all those of the others lie on the grid point."""
        return self.moved.sum(axis=1) > 0

    @cached_property
    def rise(self):
        """Summed residuals 1 - p of the ones."""
        return self.mass[:, 1] * (1 - self.grid) - self.moved[:, 1] / self.m

    @cached_property
    def fall(self):
        """Summed predictions of the zeros; their residuals are the negatives."""
        return self.mass[:, 0] * self.grid + self.moved[:, 0] / self.m

    @cached_property
    def mean(self):
        """Mean of p m - i in each cell; 0 in empty ones."""
        weight = self.mass.sum(axis=1)
        return np.divide(
            self.moved.sum(axis=1), weight, out=np.zeros(weight.size), where=weight > 0
        )

    @cached_property
    def spread(self):
        """The most that abs(p - c) can sum to, by cell and outcome; c is the mean of the cell.

        abs is convex, so the worst rows lie on the ends of the cell, in proportions that their
        mean fixes.
        """
        c = self.mean[:, None]
        return ((self.mass - self.moved) * c + self.moved * (1 - c)) / self.m

    @cached_property
    def sample(self):
        """The rows with the predictions of each cell moved to their mean."""
        i = np.flatnonzero(self.mass.sum(axis=1))
        y, w = np.repeat([0, 1], i.size), self.mass[i].T.ravel()
        p = np.tile((i + self.mean[i]) / self.m, 2)
        return Sample(y[w > 0], p[w > 0], w[w > 0])
