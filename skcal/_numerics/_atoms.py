"""Distinct predictions of a sample, with their weight and the weight of their positive outcomes."""

from typing import NamedTuple

import numpy as np


class Atoms(NamedTuple):
    """Tied rows merged, predictions increasing.

    ``mass`` is None when no row is weighted and no two rows are tied: then every mass is 1 and
    ``ones`` holds the outcomes, which several kernels turn into a faster path.
    """

    x: np.ndarray
    mass: np.ndarray | None
    ones: np.ndarray
    rows: np.ndarray | None

    def written_out(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The four arrays, units included."""
        unit = np.ones(self.x.size)
        mass = unit if self.mass is None else self.mass
        return self.x, mass, self.ones.astype(float), unit if self.rows is None else self.rows


def sort_binary(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predictions in increasing order with their 0/1 outcomes, by a value sort.

    Non-negative floats order like their bits read as integers, and numbers up to 1 leave the two
    top bits free. So the outcome rides in the lowest bit of an int64 key: sorting values is
    vectorised in NumPy, argsort and the two gathers after it are not.
    """
    key = (p + 0.0).view(np.int64)  # a copy; -0.0 + 0.0 is +0.0, whose bits are zero
    key <<= 1
    key |= y
    key.sort()
    y = key & 1
    key >>= 1
    return key.view(np.float64), y


def tie_starts(x: np.ndarray) -> np.ndarray | None:
    """Index of the first row of every group of equal values of a sorted x; None if all differ."""
    new = x[1:] != x[:-1]
    if np.count_nonzero(new) == new.size:
        return None
    return np.concatenate(([0], np.flatnonzero(new) + 1))


def merge_ties(y: np.ndarray, p: np.ndarray, w: np.ndarray | None = None) -> Atoms:
    """Atoms of the rows (p, y) with weights w (None: one each)."""
    if w is None:
        x, ones = sort_binary(p, y)
        first = tie_starts(x)
        if first is None:
            return Atoms(x, None, ones, None)
        ends = np.append(first[1:], x.size)
        total = np.concatenate(([0], np.cumsum(ones)))
        count = (ends - first).astype(float)
        return Atoms(x[first], count, (total[ends] - total[first]).astype(float), count)
    order = np.argsort(p)  # ties are merged: no stability needed
    x, mass = p[order], w[order]
    ones = mass * y[order]
    first = tie_starts(x)
    if first is None:
        return Atoms(x, mass, ones, np.ones(x.size))
    count = np.diff(first, append=x.size).astype(float)
    return Atoms(x[first], np.add.reduceat(mass, first), np.add.reduceat(ones, first), count)
