"""Calibrated partitions whose parts are intervals of the prediction.

`contiguous_partition` works on atoms (distinct predictions; ties stay together), exactly or between
given cuts: what a recalibrator of new predictions needs. `banded_runs` and `tree_runs` work on rows
of equal weight in sorted order (ties may be cut): upper bounds of the calibration distance, which a
partition into intervals of each class by itself may undercut but seldom by much.

Moving the run [l, r) to its mean outcome costs, with prefix sums of mass W and of mass times
prediction C and k the first place at or above the mean,

    mean (2 W_k - W_l - W_r) + C_l + C_r - 2 C_k.
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._lattice import by_target

LONGEST = 300  # run that the banded program tries at every length
LONGER = 12  # lengths beyond, in geometric progression
BLOCK = 1 << 19  # run costs at a time
BASES = (4, 5, 6, 7)  # rows in a leaf of the tree
ALIKE = 1e-13  # costs a row that differ by less are equal on paper


class RowOrder(NamedTuple):
    """Rows of both classes in one order: predictions, and prefix sums of them and of the ones."""

    x: np.ndarray
    moment: np.ndarray
    ones: np.ndarray


class Runs(NamedTuple):
    """Cost of a partition of the rows into runs, and where they begin and end."""

    cost: float
    edges: np.ndarray


def contiguous_partition(
    x: np.ndarray,
    mass: np.ndarray,
    ones: np.ndarray,
    beta: float = 0.0,
    cuts: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Partition atoms into intervals at the least movement + beta * squared error.

    Atoms at the distinct, increasing x have masses and masses of ones; a part predicts its mean
    outcome q, and its squared error is its mass times q (1 - q). A part may start at any atom, or
    at atom 0 and at the indices ``cuts``. Returns the cost and the first atom of each part. Exact,
    O(m^2) for m places where a part may start.
    """
    sums = _sums(mass), _sums(mass * x), _sums(ones)
    starts = np.arange(x.size) if cuts is None else np.union1d([0], cuts).astype(np.intp)
    edges = np.append(starts, x.size)
    best = np.zeros(edges.size)
    came_from = np.zeros(edges.size, dtype=np.intp)
    # Ties are the rule among parts of one outcome: the longest part, not the last bit, decides.
    slack = ALIKE * float(mass.sum())
    for right in range(1, edges.size):
        cost = best[:right] + _run_cost(x, sums, edges[:right], edges[right], beta)
        best[right] = cost.min()
        came_from[right] = np.argmax(cost <= best[right] + slack)
    return float(best[-1]), edges[_trace(came_from)[:-1]]


def run_movement(
    x: np.ndarray, mass: np.ndarray, ones: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """What it costs to move each of the runs of atoms that begin at ``starts`` to its mean."""
    sums = _sums(mass), _sums(mass * x), _sums(ones)
    return _run_cost(x, sums, starts, np.append(starts[1:], x.size), 0.0)


def order_rows(zeros: np.ndarray, ones: np.ndarray) -> RowOrder:
    """Merge sorted zeros and ones; tied rows are mixed evenly, so that cutting ties keeps rates."""
    x = np.concatenate([zeros, ones])
    outcome = np.repeat([0.0, 1.0], [zeros.size, ones.size])
    order = np.lexsort((np.concatenate([_tie_position(zeros), _tie_position(ones)]), x))
    return RowOrder(x[order], _sums(x[order]), _sums(outcome[order]))


def banded_runs(rows: RowOrder, longest: int = LONGEST) -> Runs:
    """Best partition into runs of at most ``longest`` rows or of a few greater lengths."""
    n = rows.x.size
    lengths = np.arange(1, min(n, longest) + 1)
    if n > longest:
        longer = np.geomspace(longest, n, LONGER).astype(np.intp)
        lengths = np.union1d(lengths, longer)
    best = np.zeros(n + 1)
    came_from = np.zeros(n + 1, dtype=np.intp)
    step = max(1, BLOCK // lengths.size)
    for start in range(1, n + 1, step):
        right = np.arange(start, min(start + step, n + 1))
        left = np.maximum(right[:, None] - lengths, 0)
        costs = _row_cost(rows, left, right[:, None])
        fitting = np.searchsorted(lengths, right, side="right")
        for r, line, begin, count in zip(
            right.tolist(), costs, left, fitting.tolist(), strict=True
        ):
            total = line[:count] + best[begin[:count]]
            k = total.argmin()
            best[r], came_from[r] = total[k], begin[k]
    return Runs(float(best[n]), _trace(came_from))


def tree_runs(rows: RowOrder) -> Runs:
    """Best partition into runs of a binary tree over the rows, O(n), the best of a few trees."""
    return min((_tree(rows, base) for base in BASES), key=lambda runs: runs.cost)


def parts_of_runs(rows: RowOrder, edges: np.ndarray) -> np.ndarray:
    """The runs as parts (zeros, ones) by increasing target; in that order they cost no more."""
    ones = np.diff(rows.ones[edges]).round().astype(np.int64)
    size = np.diff(edges)
    return by_target(np.column_stack([size - ones, ones]))


def cost_at(
    x: np.ndarray, sums: np.ndarray, u: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Sum of |x - u| over the rows left..right - 1 of the sorted x, from the prefix sums of x."""
    k = np.minimum(np.maximum(np.searchsorted(x, u), left), right)
    return np.asarray(u * (2 * k - left - right) + sums[left] + sums[right] - 2 * sums[k])


def _sums(values: np.ndarray) -> np.ndarray:
    return np.append(0.0, np.cumsum(values))


def _trace(came_from: np.ndarray) -> np.ndarray:
    """The edges of a best partition, from the predecessor of each edge."""
    edges = [came_from.size - 1]
    while edges[-1]:
        edges.append(int(came_from[edges[-1]]))
    return np.array(edges[::-1], dtype=np.intp)


def _run_cost(
    x: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray, np.ndarray],
    left: np.ndarray,
    right: np.ndarray,
    beta: float,
) -> np.ndarray:
    """Movement + beta * squared error of runs of atoms."""
    mass, moment, ones = sums
    size = mass[right] - mass[left]
    tiny = size <= 0  # lost beside the rest of the mass
    mean = np.where(tiny, 0.0, (ones[right] - ones[left]) / np.where(tiny, 1.0, size))
    k = np.minimum(np.maximum(np.searchsorted(x, mean), left), right)
    cost = mean * (2 * mass[k] - mass[left] - mass[right])
    cost += moment[left] + moment[right] - 2 * moment[k]
    if beta:
        cost += beta * size * mean * (1 - mean)
    return np.asarray(np.maximum(cost, 0.0))


def _row_cost(rows: RowOrder, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Movement of runs of rows (an empty run costs nothing)."""
    mean = (rows.ones[right] - rows.ones[left]) / np.maximum(right - left, 1)
    return np.maximum(cost_at(rows.x, rows.moment, mean, left, right), 0.0)


def _tie_position(x: np.ndarray) -> np.ndarray:
    """Where a row stands among the rows of its class at the same prediction, in (0, 1)."""
    first = np.searchsorted(x, x, side="left")
    last = np.searchsorted(x, x, side="right")
    return np.asarray((np.arange(x.size) - first + 0.5) / np.maximum(last - first, 1))


def _tree(rows: RowOrder, base: int) -> Runs:
    """Join pairs of neighbouring runs bottom-up; keep each join that costs no more than its two."""
    n = rows.x.size
    edges = np.append(np.arange(0, n, base), n)
    cost = _row_cost(rows, edges[:-1], edges[1:])
    levels = [(edges, np.ones(cost.size, dtype=bool))]
    while edges.size > 2:
        edges = np.append(edges[:-1:2], n)
        whole = _row_cost(rows, edges[:-1], edges[1:])
        pair = np.add.reduceat(cost, np.arange(0, cost.size, 2))
        levels.append((edges, whole <= pair))
        cost = np.minimum(whole, pair)
    return Runs(float(cost[0]), _leaves(levels, n))


def _leaves(levels: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """Edges of the kept runs, from the root down."""
    chosen = []
    open_nodes = np.array([0])
    for edges, kept in levels[::-1]:
        open_nodes = open_nodes[open_nodes < kept.size]
        done = kept[open_nodes]
        chosen.append(edges[open_nodes[done]])
        split = open_nodes[~done]
        open_nodes = np.concatenate([2 * split, 2 * split + 1])
    return np.append(np.sort(np.concatenate(chosen)), n)
