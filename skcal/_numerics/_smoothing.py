"""Residuals smoothed by a reflected Gaussian kernel on [0, 1], by a cosine series.

The density of the residuals smoothed with all reflections of the kernel is

    d(t) = a_0 + 2 sum_k a_k exp(-(pi k sigma)^2 / 2) cos(pi k t),   a_k = E[(y - p) cos(pi k p)],

since reflection is exact in the cosine basis. One linear binning of the rows on a fine grid and one
cosine transform give all a_k; a width sigma then needs only its first 2.7 / sigma of them.
"""

from typing import NamedTuple

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

from skcal._numerics._bins import blocks

GRID = 1 << 14  # cells of the first binning: its error at a given width is below 1e-5
FINEST_GRID = 1 << 19  # widths below 8 of its cells, 1.5e-5, count as zero
CELLS = 8.0  # cells that a kernel width must span
FINEST_WIDTH = CELLS / FINEST_GRID
TOLERANCE = 1e-6


class Smoothed(NamedTuple):
    """Error, kernel width, and the cosine coefficients on a grid that resolves the width."""

    error: float
    sigma: float
    coefficients: np.ndarray


def smoothed_error(
    y: np.ndarray, p: np.ndarray, w: np.ndarray | None, sigma: float | None = None
) -> Smoothed:
    """The error at a width, by default at the fixed point sigma* = error(sigma*).

    The error does not increase with the width, so the fixed point is found by bracketing; the grid
    is refined until the width spans enough cells.
    """
    size = GRID
    while True:
        nodes = residual_nodes(y, p, w, size)
        a = cosine_coefficients(nodes)
        low = CELLS / size
        if sigma is None and np.abs(nodes).sum() < FINEST_WIDTH:  # no width can make it more
            return Smoothed(0.0, 0.0, a)
        if sigma is not None and sigma >= low:
            return Smoothed(error_at(a, sigma), sigma, a)
        if sigma is None and error_at(a, low) >= low:
            width = float(brentq(_surplus, low, 2.0, args=(a,), xtol=TOLERANCE))
            return Smoothed(error_at(a, width), width, a)
        if size >= FINEST_GRID:
            return Smoothed(0.0, 0.0, a)
        size *= 8


def _surplus(sigma: float, a: np.ndarray) -> float:
    return error_at(a, sigma) - sigma


def cosine_coefficients(nodes: np.ndarray) -> np.ndarray:
    """a_0, ..., a_size of residuals at the nodes k / size."""
    ends = np.zeros(nodes.size)
    ends[[0, -1]] = nodes[[0, -1]]  # the transform counts inner nodes twice
    return np.asarray(dct(nodes + ends, 1)) / 2


def residual_nodes(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, size: int) -> np.ndarray:
    """Mean residuals binned linearly on the nodes k / size, their mass and mean place kept."""
    nodes, moved = np.zeros(size + 2), np.zeros(size + 2)
    for rows in blocks(p.size):
        scaled = p[rows] * size
        cell = scaled.astype(np.intp)
        scaled -= cell
        residual = y[rows] - p[rows]
        if w is not None:
            residual *= w[rows]
        nodes += np.bincount(cell, residual, size + 2)
        residual *= scaled
        moved += np.bincount(cell, residual, size + 2)
    nodes -= moved
    nodes[1:] += moved[:-1]
    return nodes[: size + 1] / (p.size if w is None else w.sum())


def error_at(a: np.ndarray, sigma: float) -> float:
    """The integral of abs(d) for one width."""
    return absolute_area(density(a, sigma))


def absolute_area(b: np.ndarray) -> float:
    """The integral of abs(b) over [0, 1], b given on equally spaced points.

    By trapezoids, with the exact area of a linear zero crossing in its cell and the Euler-Maclaurin
    term h^2 abs(d') / 6 of each crossing (d' vanishes at 0 and 1).
    """
    u, v = np.abs(b[:-1]), np.abs(b[1:])
    area = u + v
    crossing = np.flatnonzero((b[:-1] < 0) != (b[1:] < 0))  # a zero at a point is one crossing
    total = area[crossing]
    area[crossing] = (u[crossing] ** 2 + v[crossing] ** 2) / total + total / 3
    return float(0.5 * area.sum() / (b.size - 1))


def density(a: np.ndarray, sigma: float) -> np.ndarray:
    """d on a grid of at least 16 points a width, from the coefficients that matter."""
    size = min(1 << max(7, int(np.ceil(np.log2(16 / sigma)))), 1 << 20)
    used = min(a.size - 1, size, int(8.5 / (np.pi * sigma)) + 1)  # exp(-8.5^2 / 2) = 2e-16
    b = np.zeros(size + 1)
    b[: used + 1] = a[: used + 1] * np.exp(-0.5 * (np.pi * sigma * np.arange(used + 1)) ** 2)
    if used == size:
        b[size] *= 2
    return np.asarray(dct(b, 1))
