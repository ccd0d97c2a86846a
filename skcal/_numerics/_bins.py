"""Bins of [0, 1]: equal-width, quantile and soft bins, the grid of a rounding, coarsening."""

from collections.abc import Iterator

import numpy as np

FINE = 1 << 24  # on finer grids the edges are not rounded to single or half precision
BLOCK = 1 << 15  # rows handled at once: their temporaries stay in the second-level cache


def blocks(n: int, size: int = 0) -> Iterator[slice]:
    """Slices that cover n rows, each with at least as many rows as the tables that it fills."""
    step = max(BLOCK, size)
    return (slice(start, start + step) for start in range(0, n, step))


def grid_index(p: np.ndarray, m: int, precision: type = np.float64) -> np.ndarray:
    """Index i of the largest grid point i/m that does not exceed p; p = 1 has index m.

    p * m is rounded, so near an integer truncation may be off by one: there the two neighbouring
    edges decide. They are rounded to ``precision``, the type in which p was given before it was
    widened; that is why 0.3 reaches 3/10 in single and in double precision alike.
    """
    scaled = p * m
    index = scaled.astype(np.intp)
    if m & (m - 1) == 0:  # scaling by a power of two is exact
        return index
    doubt = 2 * m * float(np.finfo(precision).eps)
    if doubt > 0.5:  # edges as fine as p itself: neighbours may coincide
        if m <= FINE:
            return np.searchsorted(_edges(np.arange(m + 1), m, precision), p, side="right") - 1
        return index if precision is np.float64 else grid_index(p, m)
    scaled -= index
    scaled -= 0.5
    np.abs(scaled, out=scaled)
    near = np.flatnonzero(scaled >= 0.5 - doubt)
    k, at = index[near], p[near]
    k += (at >= _edges(k + 1, m, precision)) & (k < m)
    k -= at < _edges(k, m, precision)
    index[near] = k
    return index


def _edges(k: np.ndarray, m: int, precision: type) -> np.ndarray:
    """The grid points k/m as ``precision`` sees them."""
    return (k / m).astype(precision).astype(float)


def bin_index(p: np.ndarray, m: int, precision: type = np.float64) -> np.ndarray:
    """Index of the equal-width bin [k/m, (k+1)/m) of p; the last bin is closed."""
    return np.minimum(grid_index(p, m, precision), m - 1)


def grid_sums(
    y: np.ndarray, p: np.ndarray, w: np.ndarray | None, m: int, precision: type = np.float64
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, sum of p and sum of y of the rows whose floor is each of the grid points 0..m."""
    size = m + 1
    mass, sum_p, sum_y = np.zeros(size), np.zeros(size), np.zeros(size)
    for rows in blocks(p.size, size):
        index = grid_index(p[rows], m, precision)
        if w is None:
            sum_p += np.bincount(index, p[rows], size)
            index += index
            index += y[rows]  # one integer bincount gives both the zeros and the ones
            counts = np.bincount(index, minlength=2 * size).reshape(size, 2)
            mass += counts.sum(axis=1)
            sum_y += counts[:, 1]
        else:
            mass += np.bincount(index, w[rows], size)
            sum_p += np.bincount(index, w[rows] * p[rows], size)
            sum_y += np.bincount(index, w[rows] * y[rows], size)
    return mass, sum_p, sum_y


def close_last(grid: np.ndarray) -> np.ndarray:
    """From grid points 0..m to bins 0..m-1: the last bin is closed, so p = 1 joins it."""
    grid[-2] += grid[-1]
    return grid[:-1]


def quantile_starts(mass: np.ndarray, m: int) -> np.ndarray:
    """First atom of each of at most m bins of about equal mass; atoms stay whole.

    An atom belongs to the bin in which the middle of its mass lies, which treats p and 1 - p alike;
    bins that get no atom vanish.
    """
    ends = np.cumsum(mass)
    middle = (2 * ends - mass) / (2 * ends[-1])
    index = np.floor(middle * m + 1e-9)  # a middle on an edge must not hang on the last bit
    return np.concatenate(([0], np.flatnonzero(np.diff(index)) + 1))


def soft_bins(
    y: np.ndarray, p: np.ndarray, w: np.ndarray | None, m: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mass, and mass of ones, of the m + 1 bins of the randomly rounded predictions."""
    return bins_of_cells(*cell_sums(y, p, w, m))


def cell_sums(
    y: np.ndarray, p: np.ndarray, w: np.ndarray | None, m: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mass, and sum of p m - i, of the rows in each cell [i/m, (i + 1)/m), by outcome: (m + 1, 2).

    The last cell holds p = 1. Sums of different rows add up: two bincounts a block.
    """
    size = 2 * (m + 1)
    mass, moved = np.zeros(size), np.zeros(size)
    for rows in blocks(p.size, size):
        scaled = p[rows] * m
        index = scaled.astype(np.int64)
        weight = None if w is None else w[rows]
        scaled -= index
        if weight is not None:
            scaled *= weight
        index += index
        index += y[rows]
        mass += np.bincount(index, weight, size)
        moved += np.bincount(index, scaled, size)
    return mass.reshape(m + 1, 2), moved.reshape(m + 1, 2)


def bins_of_cells(mass: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Soft bins from the sums of the cells.

    With p m = i + f, rounding puts mass 1 - f on the grid point i and f on i + 1.
    """
    bins = mass - moved
    bins[1:] += moved[:-1]
    return bins[:, 0] + bins[:, 1], np.ascontiguousarray(bins[:, 1])


def coarsen(bins: np.ndarray, rounding: str = "random") -> np.ndarray:
    """Level 2m to level m, along the last axis.

    Random rounding to the coarse grid is random rounding to the fine one followed by a fair coin
    at its odd points; the floor sends odd points down.
    """
    coarse, odd = bins[..., ::2].copy(), bins[..., 1::2]
    if rounding == "floor":
        coarse[..., :-1] += odd
        return coarse
    coarse[..., :-1] += odd * 0.5
    coarse[..., 1:] += odd * 0.5
    return coarse
