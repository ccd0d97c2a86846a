"""A polynomial-time approximation scheme for the calibration distance of a general instance.

As in the paper, each of k intervals of length 1/k has its midpoint c_j as proxy for all targets in
it, and elements are assigned to intervals. Where the paper keeps the masses of zeros and of ones in
each interval, one number will do: the *pull* r_j, the sum of w_i (f_i - c_j) over its elements. The
elements of interval j, made one part, cost at most sum w_i |p_i - c_j| + |r_j|, since |r_j| is the
mass of the part times the way from c_j to its mean. So minimise

    J(assignment) = sum_i w_i |p_i - c_{j(i)}| + sum_j |r_j|.

*Guarantee.* Send the parts of a best partition to the nearest proxies: the first sum grows by at
most 1/(2k), the second is at most 1/(2k). Hence min J <= distance + 1/k, without merging targets
and without the condition that a part's mean lie in its interval. Terms of the pulls are rounded to
multiples of h (the paper rounds masses to multiples of 1/M), which changes J by at most n h / 2 and
the result by at most n h. With 1/k <= 3/4 eps and n h = eps - 1/k the result is within eps.

The program goes over the elements, heavy ones first, and keeps the cheapest way to each vector of
pulls. States that cannot beat a known assignment are dropped; a first pass that keeps only the most
promising states finds one. What follows a state is bounded from below with multipliers, one for
each interval: |r_j| >= l_j r_j if |l_j| <= 1, so every element costs at least the least of
w_i (|p_i - c_j| + l_j (f_i - c_j)). A linear program chooses them.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from skcal._numerics.partitions._local_search import partition_cost

SHARE = 0.75  # of eps for the proxies, the rest for rounding
NARROW = 500  # states of the first pass
MOST_STATES = 400_000  # after any element, equal ones counted apart: a few hundred megabytes
SLACK = 1e-12
MIX = 0x9E3779B97F4A7C15  # odd, without pattern: spreads pulls over the hash


class Approximation(NamedTuple):
    """A partition that costs ``value``; lower <= distance <= value <= distance + eps."""

    value: float
    part: np.ndarray
    lower: float


class TooManyStates(RuntimeError):
    """The program would need more states than allowed."""


class _Terms(NamedTuple):
    """Of each element in each interval: movement and pull (in units of h), elements in order."""

    movement: np.ndarray
    pull: np.ndarray
    unit: float
    multipliers: np.ndarray


class _Layer(NamedTuple):
    """States after an element: pulls, movement so far; the state before and the interval chosen."""

    pulls: np.ndarray
    movement: np.ndarray
    before: np.ndarray
    interval: np.ndarray


def ptas(
    mean: np.ndarray,
    p: np.ndarray,
    mass: np.ndarray,
    eps: float,
    *,
    most_states: int = MOST_STATES,
) -> Approximation:
    """A partition within eps of the distance; raises TooManyStates rather than break the bound."""
    k, unit = _resolution(p.size, eps)
    proxies = (np.arange(k) + 0.5) / k
    order = np.argsort(-mass, kind="stable")
    f, x, w = mean[order, None], p[order, None], mass[order, None]
    pull = np.rint(w * (f - proxies) / unit).astype(np.int64)
    movement = w * np.abs(x - proxies)
    terms = _Terms(movement, pull, unit, _multipliers(movement, unit * pull))
    first = _run(terms, np.inf, most_states, NARROW)
    limit = _objective(first, unit).min() + SLACK
    layers = _run(terms, limit, most_states, None)
    part = np.empty(p.size, dtype=np.intp)
    part[order] = np.unique(_assignment(layers, unit), return_inverse=True)[1]
    value = partition_cost(mean, p, mass, part)
    error = p.size * unit / 2 + 1 / k
    lower = max(0.0, float(_objective(layers, unit).min()) - error)
    return Approximation(value, part, min(lower, value))


def _resolution(n: int, eps: float) -> tuple[int, float]:
    """Number of intervals k and unit of the pulls h, with 1/k + n h <= eps."""
    k = ceil(1 / (SHARE * eps))
    return k, (eps - 1 / k) / n


def _objective(layers: list[_Layer], unit: float) -> np.ndarray:
    """J of the assignments that the last layer holds."""
    last = layers[-1]
    return np.asarray(last.movement + unit * np.abs(last.pulls).sum(axis=1))


def _assignment(layers: list[_Layer], unit: float) -> np.ndarray:
    """Interval of each element, in order, in the best assignment."""
    state = int(_objective(layers, unit).argmin())
    intervals = []
    for layer in reversed(layers[1:]):
        intervals.append(int(layer.interval[state]))
        state = int(layer.before[state])
    return np.array(intervals[::-1])


def _run(terms: _Terms, limit: float, most_states: int, width: int | None) -> list[_Layer]:
    """All layers, without states that end above ``limit``; with a width only the best are kept."""
    n, k = terms.movement.shape
    none = np.zeros(1, dtype=np.intp)
    layers = [_Layer(np.zeros((1, k), dtype=np.int64), np.zeros(1), none, none)]
    rest = _rest(terms)
    for i in range(n):
        bound = _bounds(layers[-1], terms, i, rest[:, i + 1])
        alive = bound <= limit
        states = int(np.count_nonzero(alive))
        if width is None and states > most_states:
            raise TooManyStates(
                f"{states} states after {i + 1} of {n} elements, more than {most_states}"
            )
        layers.append(_cheapest(_extend(layers[-1], terms, i, alive), bound[alive], width))
    return layers


def _multipliers(movement: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """The l in [-1, 1]^k with the largest sum over elements of min over j of movement + l_j pull.

    Any l serves, so neither the tolerance of the solver nor its failure matter.
    """
    n, k = movement.shape
    alpha = sparse.kron(sparse.eye(n), np.ones((k, 1)))
    charge = sparse.csr_matrix(
        (-pull.ravel(), (np.arange(n * k), np.tile(np.arange(k), n))), shape=(n * k, k)
    )
    result = linprog(
        -np.append(np.ones(n), np.zeros(k)),
        A_ub=sparse.hstack([alpha, charge]).tocsc(),
        b_ub=movement.ravel(),
        bounds=[(None, None)] * n + [(-1.0, 1.0)] * k,
        method="highs",
    )
    return np.zeros(k) if result.x is None else np.clip(result.x[n:], -1.0, 1.0)


def _rest(terms: _Terms) -> np.ndarray:
    """Least movement, movement less pull, and movement at the multipliers, of all from i on."""
    pull = terms.unit * terms.pull
    each = terms.movement, terms.movement - np.abs(pull), terms.movement + terms.multipliers * pull
    least = np.stack([cost.min(axis=1) for cost in each])
    sums = np.cumsum(least[:, ::-1], axis=1)[:, ::-1]
    return np.pad(sums, ((0, 0), (0, 1)))


def _bounds(layer: _Layer, terms: _Terms, i: int, rest: np.ndarray) -> np.ndarray:
    """A bound of J of all that follows a state and an interval for element i.

    An element that moves a pull by g lowers the sum of |r_j| by at most |g|: what follows costs at
    least movement + max(least movement of the rest, |r| + least net of the rest), and at least
    movement + l r + least of the rest at the multipliers.
    """
    size = np.abs(layer.pulls)
    after = size.sum(axis=1)[:, None] - size + np.abs(layer.pulls + terms.pull[i])
    charge = (layer.pulls @ terms.multipliers)[:, None] + terms.multipliers * terms.pull[i]
    moved = layer.movement[:, None] + terms.movement[i]
    best = np.maximum(rest[0], terms.unit * after + rest[1])
    return np.asarray(moved + np.maximum(best, terms.unit * charge + rest[2]))


def _extend(layer: _Layer, terms: _Terms, i: int, alive: np.ndarray) -> _Layer:
    """Put element i in every interval that is alive for a state."""
    state, interval = np.nonzero(alive)
    pulls = layer.pulls[state]
    pulls[np.arange(state.size), interval] += terms.pull[i][interval]
    movement = layer.movement[state] + terms.movement[i][interval]
    return _Layer(pulls, movement, state, interval)


def _cheapest(layer: _Layer, bound: np.ndarray, width: int | None) -> _Layer:
    """One state for each vector of pulls, the cheapest; with a width the most promising of them.

    Equal vectors are found as neighbours after sorting by a hash and then compared, so a collision
    can only leave a state twice.
    """
    weights = np.cumprod(np.full(layer.pulls.shape[1], MIX, dtype=np.uint64))
    key = layer.pulls.astype(np.uint64) @ weights
    order = np.lexsort((layer.movement, key))
    pulls = layer.pulls[order]
    new = np.append(True, (pulls[1:] != pulls[:-1]).any(axis=1))[: order.size]
    kept = order[new]
    if width is not None and kept.size > width:
        kept = kept[np.argsort(bound[kept], kind="stable")[:width]]
    return _Layer(*(field[kept] for field in layer))
