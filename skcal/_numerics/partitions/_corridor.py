"""Guides for the program over partitions at large n, from a feasible flow of rows to targets.

The multipliers of the lower distance are masses of targets. Zeros and ones both reach their targets
in sorted order, so the flow is a path of states (zeros used, ones used) by target, and a near-best
partition into whole rows stays close to it: the program searches a `corridor` around the path.
Where much flow goes to one target the middle of it is committed as one part (`commit`), with a size
whose best fraction is closest to the target. Far larger samples are searched in blocks of rows.
All of this is heuristic: what comes out is a partition, costed as such.
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._contiguous import cost_at
from skcal._numerics.partitions._lattice import Corridor, by_target

ROOM = 3  # widths that a commitment leaves on either side of the flow to its target, in each class
FEW_TARGETS = 30  # up to which a path is rounded with care
EACH = 20  # rows for each of them, at least
NOTHING = 1e-9  # rows; less flow than that is none
FAR, NEAR = 7, 3  # rows of each class by which it is nudged, with few targets and with many


class Flow(NamedTuple):
    """Targets in increasing order, and how many zeros and ones go to each."""

    place: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray


class Committed(NamedTuple):
    """Parts fixed in advance, which rows are left, and their flow."""

    parts: np.ndarray
    zeros_left: np.ndarray
    ones_left: np.ndarray
    flow: Flow


def flow_of(place: np.ndarray, mass: np.ndarray, zeros: int, ones: int) -> Flow:
    """Zeros and ones in the proportion (1 - u) : u at each target u, as many as there are."""
    flows = []
    for share, total in ((1 - place, zeros), (place, ones)):
        amount = share * mass
        flows.append(amount * (total / amount.sum()) if amount.sum() > 0 else amount)
    return Flow(place, *flows)


def rounded_flow(flow: Flow, zeros: np.ndarray, ones: np.ndarray) -> np.ndarray:
    """The path of the flow rounded to whole rows, as parts by increasing target.

    With few targets, as when there are few predictions, it is worth rounding with great care.
    """
    used = flow.zeros + flow.ones > NOTHING
    ends = np.column_stack([np.cumsum(f[used]).round().astype(np.int64) for f in flow[1:]])
    if len(ends) <= min(FEW_TARGETS, (zeros.size + ones.size) / EACH):
        return nudged(ends, zeros, ones, FAR, layers=2)
    return nudged(ends, zeros, ones, NEAR)


def nudged(
    ends: np.ndarray, zeros: np.ndarray, ones: np.ndarray, reach: int, layers: int = 1
) -> np.ndarray:
    """The best partition whose path passes within ``reach`` rows of each of the given states.

    ``ends`` are states (zeros used, ones used) after each part of some partition, the last one all
    rows. Rounding a path leaves parts beside their targets by up to half a row; here the rows over
    go where they are of use. With two ``layers`` some go into a small part of their own.
    """
    side = np.arange(-reach, reach + 1)
    near = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    counts = np.array([zeros.size, ones.size])
    sums = np.append(0.0, np.cumsum(zeros)), np.append(0.0, np.cumsum(ones))
    states = [np.zeros((1, 2), dtype=np.int64)]
    came_from: list[np.ndarray] = []
    best = np.zeros(1)
    for end in [*np.repeat(ends[:-1], layers, axis=0), None]:
        layer = counts[None, :] if end is None else end + near
        layer = layer[np.all((layer >= 0) & (layer <= counts), axis=1)]
        total = best[:, None] + _parts_between((zeros, ones), sums, states[-1], layer)
        back = total.argmin(axis=0)
        best = total[back, np.arange(back.size)]
        came_from.append(back)
        states.append(layer)
    return _parts_along(states, came_from)


def _parts_along(states: list[np.ndarray], came_from: list[np.ndarray]) -> np.ndarray:
    """The parts of the best path, from the predecessors of the states of each layer."""
    at = [0]
    for back in came_from[::-1]:
        at.append(int(back[at[-1]]))
    corners = np.array([layer[k] for layer, k in zip(states, at[::-1], strict=True)])
    parts = np.diff(corners, axis=0)
    return by_target(parts[parts.sum(axis=1) > 0])


def _parts_between(
    rows: tuple[np.ndarray, np.ndarray],
    sums: tuple[np.ndarray, np.ndarray],
    start: np.ndarray,
    end: np.ndarray,
) -> np.ndarray:
    """Costs of the parts from each starting state to each end (inf where there is none)."""
    size = end - start[:, None, :]
    total = size.sum(axis=2)
    target = size[:, :, 1] / np.maximum(total, 1)
    cost = np.zeros(total.shape)
    for c, (x, sum_x) in enumerate(zip(rows, sums, strict=True)):
        cost += cost_at(x, sum_x, target, start[:, None, c], end[None, :, c])
    cost[np.any(size < 0, axis=2)] = np.inf
    return cost


def corridor_of(flow: Flow, width: float, margin: float) -> Corridor:
    """States that the flow passes at targets within ``margin``, give or take ``width`` rows."""
    path = [np.append(0.0, np.cumsum(f)) for f in flow[1:]]
    counts = [round(p[-1]) for p in path]

    def around(low: float, high: float) -> tuple[int, int, int, int]:
        first = np.searchsorted(flow.place, low - margin)
        last = np.searchsorted(flow.place, high + margin, side="right")
        bounds: list[int] = []
        for used, count in zip(path, counts, strict=True):
            bounds.append(max(0, int(used[first] - width)))
            bounds.append(min(count, int(used[last] + width) + 1))
        return bounds[0], bounds[1], bounds[2], bounds[3]

    return around


def commit(flow: Flow, width: int) -> Committed:
    """Fix the middle of the flow to each target that much of both classes goes to."""
    zeros_left = np.ones(round(flow.zeros.sum()), dtype=bool)
    ones_left = np.ones(round(flow.ones.sum()), dtype=bool)
    before = [np.append(0.0, np.cumsum(f)) for f in flow[1:]]
    zeros, ones = flow.zeros.copy(), flow.ones.copy()
    parts = []
    for k in np.flatnonzero((zeros > 2 * ROOM * width) & (ones > 2 * ROOM * width)):
        a, b = _whole_part(flow.place[k], zeros[k] - ROOM * width, ones[k] - ROOM * width, width)
        i = int(before[0][k] + (zeros[k] - a) / 2)
        j = int(before[1][k] + (ones[k] - b) / 2)
        if min(a, b) < 1 or i + a > zeros_left.size or j + b > ones_left.size:
            continue
        zeros_left[i : i + a] = False
        ones_left[j : j + b] = False
        zeros[k] -= a
        ones[k] -= b
        parts.append((a, b))
    fixed = np.array(parts, dtype=np.int64).reshape(-1, 2)
    return Committed(fixed, zeros_left, ones_left, Flow(flow.place, zeros, ones))


def _whole_part(u: float, zeros: float, ones: float, tries: int) -> tuple[int, int]:
    """The part of nearly as many rows as there are whose own target is nearest to u in rows."""
    most = int(min(zeros / (1 - u), ones / u))
    sizes = np.arange(max(1, most - tries), most + 1)
    off = np.abs(np.round(u * sizes) - u * sizes)
    size = int(sizes[np.flatnonzero(off <= off.min() + 1e-9)[-1]])
    b = round(u * size)
    return size - b, b


def block_means(x: np.ndarray, size: int) -> np.ndarray:
    """Means of consecutive blocks of rows, the last one smaller."""
    starts = np.arange(0, x.size, size)
    return np.asarray(np.add.reduceat(x, starts) / np.diff(np.append(starts, x.size)))


def lifted(parts: np.ndarray, size: int, zeros: int, ones: int) -> np.ndarray:
    """Parts of blocks as parts of rows."""
    ends = np.minimum(np.cumsum(parts, axis=0) * size, [zeros, ones])
    rows = np.diff(ends, axis=0, prepend=0)
    return by_target(rows[rows.sum(axis=1) > 0])
