"""A certified lower bound of the calibration distance of a general instance.

An element i has a prediction p_i, a mean outcome f_i and a mass w_i, and moves as one. In a part
with mean u the residuals w_i (f_i - u) sum to 0, so any multiplier lambda(u) may be charged on
them: with

    alpha_i = min over u in [0, 1] of |p_i - u| + lambda(u) (f_i - u)

every part, and hence every partition, costs at least the sum of w_i alpha_i. All functions lambda
are valid; at the best one the bound is the lower distance of elements that may be split but keep
their mean outcome. Multipliers in [-1, 1] suffice, because alpha_i <= |p_i - f_i| (take u = f_i).

lambda is linear on cells and may jump between them (at the best one it does, for instance from 1 to
-1 at 1/2 if all means are 1/2), so that each alpha_i is the minimum of a few quadratics and is
computed exactly: neither the cells nor the tolerance of the solver touch the validity.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from skcal._numerics._lipschitz_dual import Potentials, lower_distance

CELLS = 30  # before cuts at predictions and means
REFINEMENTS = 2
NEGLIGIBLE = 1e-3  # price of the slope in a cell that is not worth halving it
LARGE = 80  # elements beyond which the program is solved for representatives
GRID = 8  # of the representatives, in predictions and in means
BLOCK = 1 << 20  # quadratics at a time
SPLIT_TOLERANCE = 1e-4  # of the bracket of the split elements
APART = 1e-7  # nodes nearer to each other are one


class Multipliers(NamedTuple):
    """lambda at the start and the end of each cell of 0 = u_0 < ... < u_k = 1, linear inside."""

    nodes: np.ndarray
    start: np.ndarray
    end: np.ndarray


class LowerBound(NamedTuple):
    """What multipliers prove."""

    value: float
    multipliers: Multipliers


def certified_bound(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray, multipliers: Multipliers
) -> float:
    """The sum of mass * alpha: a lower bound of the distance for any multipliers."""
    return float(mass @ element_bounds(mean, p, multipliers)[0])


def element_bounds(
    mean: np.ndarray, p: np.ndarray, multipliers: Multipliers
) -> tuple[np.ndarray, np.ndarray]:
    """alpha of each element, exactly, and a target u that attains it; in blocks of elements."""
    step = max(1, BLOCK // multipliers.nodes.size)
    blocks = [
        _block_bounds(mean[at : at + step, None], p[at : at + step, None], multipliers)
        for at in range(0, p.size, step)
    ]
    return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


def best_bound(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> LowerBound:
    """The best bound we find: by a program in lambda, for many elements also by splitting them."""
    found = [_by_program(mean, p, mass)]
    if p.size > LARGE:
        found.append(_by_splitting(mean, p, mass))
    zero = Multipliers(np.array([0.0, 1.0]), np.zeros(1), np.zeros(1))  # proves 0
    return max([LowerBound(0.0, zero), *found], key=lambda bound: bound.value)


def _block_bounds(
    mean: np.ndarray, p: np.ndarray, multipliers: Multipliers
) -> tuple[np.ndarray, np.ndarray]:
    """alpha and its target for a column of elements: in each cell on either side of p."""
    nodes, first, last = multipliers
    left, right = nodes[:-1], nodes[1:]
    line = (left, first, (last - first) / (right - left))
    # A cell right of p, and what lies right of p of the cell around p; other cells are left of p.
    side = np.where(right > p, 1.0, -1.0)
    start = np.where(side > 0, np.clip(p, left, right), left)
    at, least = _least_quadratic(mean, p, line, side, start, right)
    best = least.argmin(axis=1)[:, None]
    at, least = np.take_along_axis(at, best, 1), np.take_along_axis(least, best, 1)
    cell = np.clip(np.searchsorted(nodes, p, side="right") - 1, 0, left.size - 1)
    own = tuple(field[cell] for field in line)  # and what lies left of p of the cell around p
    at_own, least_own = _least_quadratic(mean, p, own, -1.0, own[0], np.maximum(p, own[0]))
    at = np.where(least_own < least, at_own, at)
    return np.minimum(least, least_own)[:, 0], at[:, 0]


def _least_quadratic(
    mean: np.ndarray,
    p: np.ndarray,
    line: tuple[np.ndarray, ...],
    side: np.ndarray | float,
    start: np.ndarray,
    end: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Least value of side (u - p) + lambda(u) (mean - u) on [start, end], and where."""
    left, value, slope = line

    def height(u: np.ndarray) -> np.ndarray:
        return np.asarray(side * (u - p) + (value + slope * (u - left)) * (mean - u))

    # The second derivative is -2 slope: only a falling lambda has a minimum inside.
    falling = np.broadcast_to(slope < 0, np.broadcast_shapes(mean.shape, slope.shape))
    double = np.where(slope < 0, 2 * slope, 1.0)
    inside = (side + slope * (mean + left) - value) / double
    inside = np.clip(np.where(falling, inside, start), start, end)
    at = np.stack(np.broadcast_arrays(inside, start, end))
    heights = np.stack([height(u) for u in at])
    best = heights.argmin(axis=0)[None]
    return np.take_along_axis(at, best, 0)[0], np.take_along_axis(heights, best, 0)[0]


def _by_program(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> LowerBound:
    """Solve for lambda on cells; halve the cells in which its own slope costs something.

    Representatives stand for elements that lie inside cells: for them lambda may not jump.
    """
    few = p.size <= LARGE
    f, x, w = (mean, p, mass) if few else _representatives(mean, p, mass)
    nodes = _apart(np.concatenate([np.linspace(0, 1, CELLS + 1), x, f]))
    found = []
    for _ in range(REFINEMENTS):
        multipliers, price = _solve(f, x, w, nodes, jumps=few)
        found.append(LowerBound(certified_bound(mean, p, mass, multipliers), multipliers))
        costly = np.flatnonzero(price > NEGLIGIBLE)
        finer = _apart(np.concatenate([nodes, (nodes[costly] + nodes[costly + 1]) / 2]))
        if finer.size == nodes.size:
            break
        nodes = finer
    return max(found, key=lambda bound: bound.value)


def _solve(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray, nodes: np.ndarray, *, jumps: bool
) -> tuple[Multipliers, np.ndarray]:
    """Maximise the sum of mass * alpha over alpha, lambda at the starts and at the ends of cells.

    The second result is the price of the middle coefficients in each cell (see `_coefficients`).
    """
    n, k = p.size, nodes.size - 1
    element, cell, terms, movement = _coefficients(mean, p, nodes)
    column = element, n + cell, n + k + cell
    rows = np.tile(np.arange(movement.size), 3)
    place = rows, np.concatenate([np.tile(each, 3) for each in column])
    constraints = sparse.csc_matrix((terms, place), shape=(movement.size, n + 2 * k))
    away = np.abs(p - mean)  # alpha cannot be larger, and need not be below the negative
    result = linprog(
        -np.concatenate([mass, np.zeros(2 * k)]),
        A_ub=constraints,
        b_ub=movement,
        A_eq=None if jumps else _joints(n, k),
        b_eq=None if jumps else np.zeros(k - 1),
        bounds=[(-distance, distance) for distance in away] + [(-1.0, 1.0)] * (2 * k),
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(f"the linear program of the multipliers failed: {result.message}")
    start, end = np.clip(result.x[n:], -1.0, 1.0).reshape(2, k)
    middle = slice(element.size, 2 * element.size)
    return Multipliers(nodes, start, end), np.bincount(cell, -result.ineqlin.marginals[middle], k)


def _coefficients(
    mean: np.ndarray, p: np.ndarray, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Constraints alpha <= |p - u| + lambda(u) (f - u) for elements on cells [a, b].

    There the right side is a quadratic, at least the least of its Bernstein coefficients: its
    values at a and b, and in the middle that of |p - u| plus half of lambda(a) (f - b) +
    lambda(b) (f - a). Cells on the far side of f, seen from p, need none, as alpha <= |p - f|.
    Returns elements and cells; for their starts, then their middles, then their ends, the terms of
    alpha, of lambda(a) and of lambda(b); and |p - u|.
    """
    left, right = nodes[:-1], nodes[1:]
    column, row = mean[:, None], p[:, None]
    element, cell = np.nonzero(np.where(row <= column, left < column, right > column))
    a, b, f = left[cell], right[cell], mean[element]
    none = np.zeros(f.size)
    at_start = np.concatenate([f - a, (f - b) / 2, none])
    at_end = np.concatenate([none, (f - a) / 2, f - b])
    terms = np.concatenate([np.ones(at_start.size), -at_start, -at_end])
    movement = np.abs(p[element] - np.stack([a, (a + b) / 2, b])).ravel()
    return element, cell, terms, movement


def _joints(n: int, k: int) -> sparse.csr_matrix:
    """Rows that keep lambda from jumping: at the start of a cell less at the end of the last."""
    alpha = sparse.csr_matrix((k - 1, n))
    return sparse.hstack([alpha, sparse.eye(k - 1, k, k=1), -sparse.eye(k - 1, k)]).tocsr()


def _representatives(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Elements merged in cells of a grid: only to find lambda, the bound is of all elements."""
    cell = np.minimum(p * GRID, GRID - 1).astype(np.intp) * GRID
    cell += np.minimum(mean * GRID, GRID - 1).astype(np.intp)
    used, cell = np.unique(cell, return_inverse=True)
    total = np.bincount(cell, mass, used.size)
    merged = (np.bincount(cell, mass * field, used.size) / total for field in (mean, p))
    f, x = (np.clip(field, 0.0, 1.0) for field in merged)
    return f, x, total


def _by_splitting(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> LowerBound:
    """lambda from the lower distance of the elements split into zeros w (1 - f) and ones w f."""
    x, at = np.unique(p, return_inverse=True)
    ones = np.bincount(at, mass * mean, x.size)
    zeros = np.maximum(np.bincount(at, mass, x.size) - ones, 0.0)
    total = zeros.sum() + ones.sum()
    bracket = lower_distance(x, zeros / total, ones / total, SPLIT_TOLERANCE)
    multipliers = multipliers_of(bracket.potentials)
    return LowerBound(certified_bound(mean, p, mass, multipliers), multipliers)


def multipliers_of(potentials: Potentials) -> Multipliers:
    """lambda between phi_1 / (1 - u) and -phi_0 / u at the nodes.

    The interval is not empty, because (1 - u) phi_0 + u phi_1 <= 0. There alpha <= |p - u| +
    lambda (y - u) leaves room for phi_y(p); inside a cell lambda (y - u) bends by a quarter of the
    cell's width times the change of lambda at most, and so much may be lost.
    """
    nodes, zeros, ones = potentials
    least, most = np.full(nodes.size, -1.0), np.full(nodes.size, 1.0)
    np.divide(ones, 1 - nodes, out=least, where=nodes < 1)
    np.divide(-zeros, nodes, out=most, where=nodes > 0)
    values = (np.clip(least, -1.0, 1.0) + np.clip(most, -1.0, 1.0)) / 2
    return Multipliers(nodes, values[:-1], values[1:])


def _apart(nodes: np.ndarray) -> np.ndarray:
    """Distinct nodes in [0, 1], 0 and 1 among them."""
    nodes = np.unique(nodes)
    inner = nodes[(nodes > APART) & (nodes < 1 - APART)]
    keep = np.append(True, np.diff(inner) > APART) if inner.size else np.zeros(0, dtype=bool)
    return np.concatenate([[0.0], inner[keep], [1.0]])
