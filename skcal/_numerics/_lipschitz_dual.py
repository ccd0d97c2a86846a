"""The lower distance to calibration, between a certified dual and a feasible transport.

Mass of zeros and of ones moves along [0, 1] until it is calibrated everywhere, zeros and ones being
in the proportion (1 - u) : u at each target u. The dual [1]_ is

    max sum_i w_i phi_{y_i}(p_i)   over 1-Lipschitz phi_0, phi_1
    with h(u) = (1 - u) phi_0(u) + u phi_1(u) <= 0 for all u.

*Lower side.* A linear program over phi that is linear between nodes; what its tolerance and the
gaps between nodes leave is repaired: divide by the largest slope, subtract the exact maximum of h.

*Upper side.* The multipliers of h <= 0 are the masses of the targets at the nodes. Moving rows to
nodes would cost up to half a gap for rows that ought to stay, so the targets at a node are laid
onto the nearby rows of the class that hardly flows there, and onto the node itself where both flow.
Given the targets, each class is transported optimally: in one dimension, the area between two
cumulative curves. (This construction is ours; at equal nodes the bracket is some fifty times
narrower than with targets at the nodes.)

.. [1] J. Blasiok, P. Gopalan, L. Hu and P. Nakkiran, "A unifying theory of distance from
   calibration", STOC 2023. :arxiv:`2211.16886`
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

NODES = 1000  # of the first grid
MOST_NODES = 4500
MANY_ATOMS = 3000  # up to here every prediction is a node
ROUNDS = 5
CLOSEST = 1e-9  # nodes nearer to each other, or odds farther out, are lost on the solver


class Targets(NamedTuple):
    """A calibrated distribution: places, and the masses of zeros and ones there."""

    place: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray


class Potentials(NamedTuple):
    """phi_0 and phi_1 at the nodes, linear in between."""

    nodes: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray


class DistanceBracket(NamedTuple):
    """lower <= distance <= upper, with the potentials and the targets that prove it."""

    lower: float
    upper: float
    potentials: Potentials
    targets: Targets


class _Program(NamedTuple):
    """A solution on nodes: potentials, masses of the targets, flows across the cells by class."""

    potentials: Potentials
    mass: np.ndarray
    flows: tuple[np.ndarray, np.ndarray]


def lower_distance(
    x: np.ndarray, zeros: np.ndarray, ones: np.ndarray, tol: float
) -> DistanceBracket:
    """Bracket for atoms at the distinct, increasing x with masses of zeros and ones, in all 1."""
    mass = zeros + ones
    rate = ones / mass
    mean = np.array([ones.sum()])
    simple = [Targets(rate, zeros, ones), Targets(mean, 1 - mean, mean)]
    targets = min(simple, key=lambda t: transport_cost(x, zeros, ones, t))
    upper = transport_cost(x, zeros, ones, targets)
    nothing = Potentials(np.array([0.0, 1.0]), np.zeros(2), np.zeros(2))
    lower, potentials = 0.0, nothing
    nodes = grid_with(x, NODES, MANY_ATOMS)
    for _ in range(ROUNDS):
        if upper - lower <= tol:
            break
        program = solve_dual(nodes, onto_nodes(nodes, x, zeros), onto_nodes(nodes, x, ones))
        repaired, excess = repair(program.potentials)
        value = dual_value(x, zeros, ones, repaired)
        if value > lower:
            lower, potentials = value, repaired
        for candidate in _transports(program, x, zeros, ones):
            cost = transport_cost(x, zeros, ones, candidate)
            if cost < upper:
                upper, targets = cost, candidate
        nodes = _refine(nodes, excess, tol)
        if nodes.size > MOST_NODES:
            break
    return DistanceBracket(min(lower, upper), upper, potentials, targets)


def dual_value(x: np.ndarray, zeros: np.ndarray, ones: np.ndarray, potentials: Potentials) -> float:
    """What valid potentials prove."""
    nodes, at_zeros, at_ones = potentials
    return float(zeros @ np.interp(x, nodes, at_zeros) + ones @ np.interp(x, nodes, at_ones))


def transport_cost(x: np.ndarray, zeros: np.ndarray, ones: np.ndarray, targets: Targets) -> float:
    """Least cost of moving each class onto its targets: areas between cumulative curves."""
    place = np.concatenate([x, targets.place])
    order = np.argsort(place, kind="stable")
    gaps = np.diff(place[order])
    cost = 0.0
    for rows, goal in ((zeros, targets.zeros), (ones, targets.ones)):
        flow = np.cumsum(np.concatenate([rows, -goal])[order])[:-1]
        cost += float((np.abs(flow) * gaps).sum())
    return cost


def repair(potentials: Potentials) -> tuple[Potentials, np.ndarray]:
    """Valid potentials near given ones, and the largest h in each cell before the shift."""
    nodes, zeros, ones = potentials
    gaps = np.diff(nodes)
    steepest = max(np.max(np.abs(np.diff(f)) / gaps) for f in (zeros, ones))
    zeros, ones = zeros / max(1.0, steepest), ones / max(1.0, steepest)
    excess = largest_h(Potentials(nodes, zeros, ones))
    shift = max(float(excess.max()), 0.0)
    return Potentials(nodes, zeros - shift, ones - shift), excess


def largest_h(potentials: Potentials) -> np.ndarray:
    """The exact maximum of h, a quadratic, in each cell."""
    nodes, zeros, ones = potentials
    start, gap = nodes[:-1], np.diff(nodes)
    slope_zeros, slope_ones = np.diff(zeros) / gap, np.diff(ones) / gap
    linear = ones[:-1] - zeros[:-1] + (1 - start) * slope_zeros + start * slope_ones
    square = slope_ones - slope_zeros
    h = (1 - nodes) * zeros + nodes * ones
    top = np.divide(-linear, 2 * square, out=np.zeros(gap.size), where=square < 0)
    top = np.clip(top, 0.0, gap)
    return np.asarray(np.maximum(np.maximum(h[:-1], h[1:]), h[:-1] + (linear + square * top) * top))


def grid_with(x: np.ndarray, cells: int, most: int) -> np.ndarray:
    """Nodes of a grid on [0, 1], and those x that are not too near to another, if x are few."""
    grid = np.arange(cells + 1) / cells
    if x.size > most:
        return grid
    nodes = np.union1d(grid, x)
    keep = np.append(True, np.diff(nodes) > CLOSEST)
    keep[-1] = True
    keep[-2] &= nodes[-1] - nodes[-2] > CLOSEST
    return nodes[keep]


def _refine(nodes: np.ndarray, excess: np.ndarray, tol: float) -> np.ndarray:
    """Halve the cells in which h rises too far above 0; all cells where it does nowhere."""
    cells = np.flatnonzero(excess > tol / 4)
    if not cells.size:
        cells = np.arange(nodes.size - 1)
    return np.sort(np.concatenate([nodes, (nodes[cells] + nodes[cells + 1]) / 2]))


def onto_nodes(nodes: np.ndarray, x: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Masses laid onto the two nodes around them, their mean kept."""
    cell, up = _cells(nodes, x)
    size = nodes.size
    return np.bincount(cell, mass * (1 - up), size) + np.bincount(cell + 1, mass * up, size)


def _cells(nodes: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cell = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, nodes.size - 2)
    return cell, (x - nodes[cell]) / (nodes[cell + 1] - nodes[cell])


def solve_dual(nodes: np.ndarray, zeros: np.ndarray, ones: np.ndarray) -> _Program:
    """The dual on nodes; slopes within [-1, 1], h at most 0 at the nodes."""
    k, gaps = nodes.size, np.diff(nodes)
    slope = sparse.diags([-np.ones(k - 1), np.ones(k - 1)], [0, 1], shape=(k - 1, k))
    slopes = sparse.block_diag([slope, slope])
    h = sparse.hstack([sparse.diags(1 - nodes), sparse.diags(nodes)])
    result = linprog(
        -np.concatenate([zeros, ones]),
        A_ub=sparse.vstack([slopes, -slopes, h]).tocsc(),
        b_ub=np.concatenate([np.tile(gaps, 4), np.zeros(k)]),
        bounds=(-1, 1),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.x is None:
        raise RuntimeError(f"the linear program of the lower distance failed: {result.message}")
    multipliers = result.ineqlin.marginals
    up, down = multipliers[: 2 * (k - 1)], multipliers[2 * (k - 1) : 4 * (k - 1)]
    flow_zeros, flow_ones = np.split(up - down, 2)
    mass = np.maximum(-multipliers[-k:], 0.0)
    return _Program(Potentials(nodes, *np.split(result.x, 2)), mass, (flow_zeros, flow_ones))


def _transports(
    program: _Program, x: np.ndarray, zeros: np.ndarray, ones: np.ndarray
) -> list[Targets]:
    """Targets at the nodes, and targets laid onto the rows of the class that hardly flows."""
    nodes, mass = program.potentials.nodes, program.mass
    plain = Targets(nodes, (1 - nodes) * mass, nodes * mass)
    still = []
    for rows, flow in zip((zeros, ones), program.flows, strict=True):
        through = np.maximum(np.append(np.abs(flow), 0.0), np.append(0.0, np.abs(flow)))
        near = onto_nodes(nodes, x, rows)
        with np.errstate(over="ignore"):  # only whether it exceeds 1 matters
            still.append(np.divide(through, near, out=np.full(nodes.size, np.inf), where=near > 0))
    chosen = np.where(np.minimum(*still) > 1, 2, np.where(still[1] < still[0], 1, 0))
    parts = [_on_rows(nodes, mass, x, rows, chosen == c, c) for c, rows in enumerate((zeros, ones))]
    rest = chosen == 2
    parts.append(Targets(*(field[rest] for field in plain)))
    laid = Targets(*(np.concatenate(field) for field in zip(*parts, strict=True)))
    return [_balanced(targets, zeros.sum(), ones.sum()) for targets in (plain, laid)]


def _on_rows(
    nodes: np.ndarray, mass: np.ndarray, x: np.ndarray, rows: np.ndarray, where: np.ndarray, c: int
) -> Targets:
    """The targets of some nodes at the rows of class c around them, in proportion to their hats."""
    cell, up = _cells(nodes, x)
    near = onto_nodes(nodes, x, rows)
    own_share = nodes if c else 1 - nodes  # of class c in a target at a node
    parts = []
    for node, hat in ((cell, 1 - up), (cell + 1, up)):
        at = np.flatnonzero(
            where[node] & (rows * hat > 0) & (x < 1 - CLOSEST if c == 0 else x > CLOSEST)
        )
        k = node[at]
        own = own_share[k] * mass[k] * (rows * hat)[at] / near[k]
        odds = x[at] / (1 - x[at]) if c == 0 else (1 - x[at]) / x[at]
        zeros, ones = (own * odds, own) if c else (own, own * odds)
        parts.append(Targets(x[at], zeros, ones))
    return Targets(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def _balanced(targets: Targets, zeros: float, ones: float) -> Targets:
    """Scale targets to fit into the classes, and leave what remains at 0 and at 1."""
    sums = targets.zeros.sum(), targets.ones.sum()
    scale = min([1.0, *(goal / s for goal, s in zip((zeros, ones), sums, strict=True) if s > 0)])
    kept_zeros, kept_ones = scale * targets.zeros, scale * targets.ones
    left = max(zeros - kept_zeros.sum(), 0.0), max(ones - kept_ones.sum(), 0.0)
    return Targets(
        np.concatenate([[0.0], targets.place, [1.0]]),
        np.concatenate([[left[0]], kept_zeros, [0.0]]),
        np.concatenate([[0.0], kept_ones, [left[1]]]),
    )
