"""The class-wise rounding bound: what each class pays because targets are fractions b / (a + b).

With M_c(u) = max_i(phi_i - |x_i - u|) over class c and valid potentials, a part of a zeros and b
ones at u = b / (a + b) costs at least sum phi plus the brackets |x - u| + M_c(u) - phi >= 0 of its
rows, since a M_0(u) + b M_1(u) <= 0. Forget the other class: the rows of class c form consecutive
runs, each with a target of its own that is a fraction with the run's length in it,

    class 1: b / (a + b), b the length, any a >= 0;   class 0: b / (a + b), a the length, b >= 0.

The least sum of brackets over such runs, D_c, is a one-dimensional program, and sum phi + D_0 + D_1
bounds every partition. The suffix value S_c(i), the same for the rows i.. of the class, bounds what
any completion of a partition still pays. S is not monotone: it holds at the state it belongs to.

A run of given length and start has the fraction next to it on either side as candidates (brackets
only grow farther out) and the fractions inside. Where more than `INSIDE` fractions lie inside, a
bound over all real u takes their place; so it does for runs of at least `longest` rows, which are
cut into chunks. All costs of a block of rows are found together, one length at a time.
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._peak import Peak

INSIDE = 8  # fractions inside a run that are tried one by one
SPLITS = 8  # pieces of the bound over all real targets
BLOCK = 1 << 22  # run costs in memory at a time
SMALLEST = 1e-12  # below this the fractions of a run count as crowded


class _Class(NamedTuple):
    """One class: its rows, their potentials, and M(u)."""

    x: np.ndarray
    phi: np.ndarray
    peak: Peak
    outcome: int


class _Block(NamedTuple):
    """Rows first.. of a class, `starts` of which may start a run; sums are local to the block."""

    of: _Class
    first: int
    starts: int
    x: np.ndarray
    sum_x: np.ndarray
    sum_phi: np.ndarray
    peak: np.ndarray  # M at the rows


class _Grid(NamedTuple):
    """Fractions near a block: value, number of its rows below, and M there."""

    u: np.ndarray
    rank: np.ndarray
    peak: np.ndarray


def class_suffixes(
    zeros: np.ndarray,
    ones: np.ndarray,
    phi_zeros: np.ndarray,
    phi_ones: np.ndarray,
    longest: int,
) -> tuple[np.ndarray, np.ndarray]:
    """S_0 and S_1: least brackets of the zeros i.. and of the ones j.. (0 at their ends).

    ``longest`` is the length up to which runs have fractions as targets. O(n longest) time; memory
    O(n) and `BLOCK`. The potentials must be valid, the rows sorted.
    """
    return (
        _suffix(_Class(zeros, phi_zeros, Peak(zeros, phi_zeros), 0), longest),
        _suffix(_Class(ones, phi_ones, Peak(ones, phi_ones), 1), longest),
    )


def _suffix(rows: _Class, longest: int) -> np.ndarray:
    """Backwards over blocks of rows; within a block one row at a time."""
    n = rows.x.size
    longest = max(1, min(longest, n))
    suffix = np.full(n + 2 * longest + 1, np.inf)
    suffix[n] = 0.0
    step = max(longest, BLOCK // longest)
    step -= step % longest
    for first in range((n - 1) // step * step, -1, -step) if n else ():
        block = _block(rows, first, min(step, n - first), longest)
        runs, chunk = _run_costs(block, longest)
        for low in range((block.starts - 1) // longest * longest, -1, -longest):
            _extend(suffix, runs, chunk, first, low, longest)
    return suffix[: n + 1]


def _extend(
    suffix: np.ndarray, runs: np.ndarray, chunk: np.ndarray, first: int, low: int, longest: int
) -> None:
    """Suffix values of the rows low.. of a block, as many as the longest run."""
    high = min(low + longest, chunk.size)
    begin = first + low
    # the least suffix in the window [j + longest, j + 2 longest), for all j at once
    near = suffix[begin + longest : begin + 2 * longest]
    far = suffix[begin + 2 * longest : begin + 3 * longest - 1]
    ahead = np.minimum.accumulate(near[::-1])[::-1]
    ahead[1 : 1 + far.size] = np.minimum(
        ahead[1 : 1 + far.size], np.minimum.accumulate(far)[: ahead.size - 1]
    )
    by_chunk = (chunk[low:high] + ahead[: high - low]).tolist()
    for j in range(high - low - 1, -1, -1):
        place = begin + j
        by_run = (runs[low + j] + suffix[place + 1 : place + 1 + longest]).min()
        suffix[place] = min(by_run, by_chunk[j])


def _block(rows: _Class, first: int, starts: int, longest: int) -> _Block:
    last = min(rows.x.size, first + starts + longest)
    x = rows.x[first:last]
    sum_x = np.append(0.0, np.cumsum(x))
    sum_phi = np.append(0.0, np.cumsum(rows.phi[first:last]))
    return _Block(rows, first, starts, x, sum_x, sum_phi, rows.peak.at(x)[0])


def _run_costs(block: _Block, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Least brackets of the runs of 1..longest rows from each start, and of chunks of longest."""
    runs = np.full((longest, block.starts), np.inf)
    size = block.x.size
    for length in range(1, min(longest, size) + 1):
        count = min(block.starts, size - length + 1)
        runs[length - 1, :count] = _costs_of_length(block, length, count)
    chunk = np.full(block.starts, np.inf)
    whole = np.arange(min(block.starts, max(0, size - longest + 1)))
    chunk[: whole.size] = np.maximum(_any_target(block, whole, longest), 0.0)
    return np.ascontiguousarray(runs.T), chunk


def _costs_of_length(block: _Block, length: int, count: int) -> np.ndarray:
    """Runs [j, j + length) for j < count: the fractions beside them, then those inside."""
    low, high = block.x[:count], block.x[length - 1 : length - 1 + count]
    grid = _fractions(block, length, low[0], high[-1])
    total_x = block.sum_x[length : length + count] - block.sum_x[:count]
    total_phi = block.sum_phi[length : length + count] - block.sum_phi[:count]
    below, above, passed = _beside(grid, length, block.x.size)
    cost = np.minimum(total_x + below[:count], above[length : length + count] - total_x)
    first = passed[:count]
    inside = passed[length - 1 : length - 1 + count] - first
    crowded = inside > INSIDE
    crowded |= low < grid.u[0] if block.of.outcome else high > grid.u[-1]
    inside[crowded] = 0
    for t in range(int(inside.max(initial=0))):
        j = np.flatnonzero(inside > t)
        cost[j] = np.minimum(cost[j], _inside(block, grid, length, j, first[j] + t))
    cost -= total_phi
    j = np.flatnonzero(crowded)
    cost[j] = _any_target(block, j, length)
    return np.asarray(np.maximum(cost, 0.0))


def _fractions(block: _Block, length: int, low: float, high: float) -> _Grid:
    """Targets of runs of this length from just below ``low`` to just above ``high``, increasing.

    They crowd towards 0 (class 1) or 1 (class 0) without end: the coarsest few per row are kept.
    """
    if block.of.outcome == 0:
        low, high = 1 - high, 1 - low
    fewest = np.floor(length * (1 - high) / max(high, SMALLEST)) - 1
    most = np.ceil(length * (1 - low) / max(low, SMALLEST)) + 1
    fewest = max(0.0, fewest)
    most = min(most, fewest + 2 * (block.x.size + INSIDE))
    others = np.arange(fewest, most + 1)
    u = (length / (length + others))[::-1] if block.of.outcome else others / (length + others)
    peak, rank = block.of.peak.at(u)
    return _Grid(u, np.clip(rank - block.first, 0, block.x.size), peak)


def _beside(grid: _Grid, length: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What fractions beside a run cost, and how many lie before each row.

    At rank j: the least b (M(u) - u) of fractions up to row j, the least b (M(u) + u) of those
    from it on, and the number of fractions of rank <= j. M is 1-Lipschitz, so of fractions of one
    rank the last is the least for runs above them, the first for runs below.
    """
    below, above = np.full(size + 1, np.inf), np.full(size + 1, np.inf)
    below[grid.rank] = length * (grid.peak - grid.u)
    above[grid.rank[::-1]] = length * (grid.peak + grid.u)[::-1]
    np.minimum.accumulate(below, out=below)
    above = np.minimum.accumulate(above[::-1])[::-1]
    return below, above, np.cumsum(np.bincount(grid.rank, minlength=size + 1))


def _inside(
    block: _Block, grid: _Grid, length: int, j: np.ndarray, fraction: np.ndarray
) -> np.ndarray:
    """Sum of |x - u| + M(u) over the run from j for a fraction inside it."""
    k, u = grid.rank[fraction], grid.u[fraction]
    moved = u * (2 * k - 2 * j - length) + block.sum_x[j + length] + block.sum_x[j]
    return np.asarray(moved - 2 * block.sum_x[k] + length * grid.peak[fraction])


def _any_target(block: _Block, j: np.ndarray, length: int) -> np.ndarray:
    """A bound on the brackets of the run from j over all real u.

    With between s and t rows below u, the first s pay at least what they pay at u = their last,
    the rows after t what they pay at u = their first; the rows between are let off.
    """
    best = np.full(j.size, np.inf)
    edges = np.unique(np.linspace(0, length + 1, min(SPLITS, length + 1) + 1).astype(np.intp))
    for s, t in zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True):
        cost = np.zeros(j.size)
        if s:
            cost += _one_sided(block, j, j + s, j + s - 1, 1)
        if t < length:
            cost += _one_sided(block, j + t, j + length, j + t, -1)
        np.minimum(best, cost, out=best)
    return best


def _one_sided(
    block: _Block, start: np.ndarray, end: np.ndarray, at: np.ndarray, side: int
) -> np.ndarray:
    """Brackets of the rows start..end at u = x[at], which has all of them on one side."""
    count = end - start
    moved = side * (block.x[at] * count - (block.sum_x[end] - block.sum_x[start]))
    paid = block.sum_phi[end] - block.sum_phi[start]
    return np.asarray(moved + count * block.peak[at] - paid)
