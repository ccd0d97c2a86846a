"""The published program for the nearest partition of equal rows with 0/1 outcomes, as it stands.

OPT(i, j) is the least cost of partitioning the first i zeros and the first j ones; the last part
takes the last a zeros and b ones and predicts b / (a + b) [1]_. Of O(n^4) operations and O(n^2)
numbers: for study, and to check faster programs against.

.. [1] "Computational and Statistical Hardness of Calibration Distance", Theorem 1.
"""

from typing import NamedTuple

import numpy as np


class PlainPartition(NamedTuple):
    """Cost of the nearest partition in row units, and its parts (a, b) by increasing target."""

    cost: float
    parts: np.ndarray


def plain_partition(zeros: np.ndarray, ones: np.ndarray) -> PlainPartition:
    """Nearest partition of rows with sorted predictions ``zeros`` and ``ones``, by outcome."""
    shape = zeros.size + 1, ones.size + 1
    target = _targets(*shape)
    classes = [_Class(zeros, target), _Class(ones, target)]
    best, last = np.full(shape, np.inf), np.zeros(shape, dtype=np.intp)
    best[0, 0] = 0.0
    for i, j in np.ndindex(shape):
        if i + j:
            part = (slice(i, None, -1), slice(j, None, -1))  # rows of the part, by state before
            total = best[: i + 1, : j + 1] + classes[0].cost(i, part, np.arange(i + 1)[:, None])
            total += classes[1].cost(j, part, np.arange(j + 1))
            last[i, j] = total.argmin()
            best[i, j] = total.flat[last[i, j]]
    return PlainPartition(float(best[-1, -1]), _read_off(last))


def _targets(rows: int, columns: int) -> np.ndarray:
    """Target b / (a + b) of every part; 0 for the empty one, which leads to no other state."""
    a, b = np.arange(rows)[:, None], np.arange(columns)
    return b / np.maximum(a + b, 1)


class _Class:
    """Rows of one class: their cost in any part, from cumulative sums."""

    def __init__(self, x: np.ndarray, target: np.ndarray) -> None:
        self.target = target
        self.rank = np.searchsorted(x, target)
        self.sums = np.concatenate([[0.0], np.cumsum(x)])

    def cost(self, stop: int, part: tuple[slice, slice], start: np.ndarray) -> np.ndarray:
        """Sum of |x - u| over the rows start..stop - 1, for the parts that end a state."""
        u, sums = self.target[part], self.sums
        middle = np.clip(self.rank[part], start, stop)
        return u * (2 * middle - start - stop) + sums[start] + sums[stop] - 2 * sums[middle]


def _read_off(last: np.ndarray) -> np.ndarray:
    """The parts, from the state before the last part of each state."""
    i, j = last.shape[0] - 1, last.shape[1] - 1
    parts = []
    while i + j:
        before = divmod(int(last[i, j]), j + 1)
        parts.append((i - before[0], j - before[1]))
        i, j = before
    found = np.array(parts, dtype=np.int64).reshape(-1, 2)
    return found[np.argsort(found[:, 1] / found.sum(axis=1), kind="stable")]
