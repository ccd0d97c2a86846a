"""An interval for the calibration distance of a general instance, which is NP-hard to compute.

An element i has a prediction p_i, a mean outcome f_i and a mass w_i, the masses sum to 1, and an
element moves as one. A partition predicts each part at its weighted mean outcome and costs the sum
of w_i |p_i - mean of the part of i|. From below multipliers prove a bound; from above a search
improves the best partition into intervals of the prediction, and seeded disturbances of it, by

- *moves* of one element to the part, or to a part of its own, where it helps most;
- *splits* of a part in two at a place in the order of predictions;
- *merges* of the two parts that gain most.
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._contiguous import contiguous_partition
from skcal._numerics.partitions._multipliers import Multipliers, best_bound

GAIN = 1e-13  # a smaller one may be rounding
ROUNDS = 60  # of moves, splits and merges from one start
CALL = 500  # elements whose cost one step of Python is worth
DISTURBED = (0.15, 0.3, 0.6)  # shares of the elements of which a restart moves one at random
CUTS = 2000  # elements beyond which not every one may start an interval
WORK = 1e8  # elements touched, over all restarts


class GeneralBounds(NamedTuple):
    """lower <= distance <= upper, with the multipliers and the partition that prove it."""

    lower: float
    upper: float
    part: np.ndarray
    multipliers: Multipliers


class Instance(NamedTuple):
    """Mean outcomes, predictions and masses of the elements."""

    mean: np.ndarray
    p: np.ndarray
    mass: np.ndarray


class PartSums(NamedTuple):
    """Mass, mass of ones and cost of each part; labels without elements have 0 of all."""

    mass: np.ndarray
    ones: np.ndarray
    cost: np.ndarray


def general_bounds(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray, *, restarts: int, seed: int
) -> GeneralBounds:
    """A certified interval; ``part`` labels the elements of the partition that costs ``upper``."""
    bound = best_bound(mean, p, mass)
    upper, part = search(mean, p, mass, restarts=restarts, seed=seed)
    return GeneralBounds(min(bound.value, upper), upper, part, bound.multipliers)


def part_targets(mean: np.ndarray, mass: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Weighted mean outcome of the part of each element."""
    total, ones = np.bincount(part, mass), np.bincount(part, mass * mean)
    return np.asarray(ones[part] / total[part])


def partition_cost(mean: np.ndarray, p: np.ndarray, mass: np.ndarray, part: np.ndarray) -> float:
    """The sum of w_i |p_i - mean of the part of i|."""
    return float(mass @ np.abs(p - part_targets(mean, mass, part)))


def search(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray, *, restarts: int, seed: int
) -> tuple[float, np.ndarray]:
    """The cheapest partition of the local searches: intervals, elements alone, disturbed ones."""
    instance = Instance(mean, p, mass)
    rng = np.random.default_rng(seed)
    intervals = interval_labels(mean, p, mass)
    best, cost = intervals, partition_cost(mean, p, mass, intervals)
    work = WORK
    for trial in range(restarts + 2):
        if trial < 2:
            start = intervals if trial == 0 else np.arange(p.size)
        else:
            start = _disturbed(best if trial % 2 else intervals, rng)
        found, work = _descend(instance, start, rng, work)
        value = partition_cost(mean, p, mass, found)
        if value < cost - GAIN:
            best, cost = found, value
        if work <= 0:
            break
    best = np.unique(best, return_inverse=True)[1].astype(np.intp)
    return partition_cost(mean, p, mass, best), best


def interval_labels(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The best partition into intervals of the prediction; ties, in order of means, may be cut.

    Of many elements the intervals end at a choice of them, equally spaced in mass.
    """
    order = np.lexsort((mean, p))
    total = np.cumsum(mass[order])
    quantiles = np.arange(1, CUTS) / CUTS * total[-1]
    cuts = None if p.size <= CUTS else np.unique(np.searchsorted(total, quantiles))
    starts = contiguous_partition(p[order], mass[order], (mass * mean)[order], cuts=cuts)[1]
    part = np.empty(p.size, dtype=np.intp)
    part[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, p.size)))
    return part


def _disturbed(part: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some of the elements in parts, or in a new part, at random."""
    moved = rng.random(part.size) < rng.choice(DISTURBED)
    return np.where(moved, rng.integers(0, part.max() + 2, part.size), part)


def _descend(
    instance: Instance, start: np.ndarray, rng: np.random.Generator, work: float
) -> tuple[np.ndarray, float]:
    """Moves, splits and merges until none of them helps, or the work is done."""
    part, n = start, start.size
    for _ in range(ROUNDS):
        before = partition_cost(*instance, part)
        part = _compact(part)
        _move_elements(instance, part, rng.permutation(n))
        part = _split_parts(instance, _compact(part))
        part = _merge_parts(instance, _compact(part))
        work -= n * float(n + part.max() + CALL)
        if work <= 0 or before - partition_cost(*instance, part) <= GAIN:
            break
    return part, work


def _compact(part: np.ndarray) -> np.ndarray:
    """The same parts with labels 0, 1, ... in a new array."""
    return np.unique(part, return_inverse=True)[1].astype(np.intp)


def _move_elements(instance: Instance, part: np.ndarray, order: np.ndarray) -> None:
    """Move each element in turn to its best part, in place.

    The last label is kept free: joining it is to be alone.
    """
    mean, p, mass = instance
    count = part.max() + 2
    sums = _part_sums(instance, part, count)
    for i in order.tolist():
        ones = mass[i] * mean[i]
        target = (sums.ones + ones) / (sums.mass + mass[i])
        joined = np.bincount(part, mass * np.abs(p - target[part]), count)
        rise = joined + mass[i] * np.abs(p[i] - target) - sums.cost
        home = part[i]
        rise[home] = np.inf
        goal = int(rise.argmin())
        fall = sums.cost[home] - _cost_without(instance, part, i)
        if fall - rise[goal] > GAIN:
            part[i] = goal
            count += goal == count - 1
            sums = _part_sums(instance, part, count)


def _part_sums(instance: Instance, part: np.ndarray, count: int) -> PartSums:
    mean, p, mass = instance
    total = np.bincount(part, mass, count)
    ones = np.bincount(part, mass * mean, count)
    target = np.divide(ones, total, out=np.zeros(count), where=total > 0)
    return PartSums(total, ones, np.bincount(part, mass * np.abs(p - target[part]), count))


def _cost_without(instance: Instance, part: np.ndarray, i: int) -> float:
    """Cost of the part of element i once it has left."""
    rest = np.flatnonzero(part == part[i])
    rest = rest[rest != i]
    if not rest.size:
        return 0.0
    f, x, w = (field[rest] for field in instance)
    return float(w @ np.abs(x - (w @ f) / w.sum()))


def _split_parts(instance: Instance, part: np.ndarray) -> np.ndarray:
    """Cut each part where that gains most, in the order of predictions."""
    order = np.lexsort((instance.mean, instance.p, part))
    result, free = part.copy(), part.max() + 1
    for members in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        f, x, w = (field[members] for field in instance)
        heads, tails = _run_costs(f, x, w), _run_costs(f[::-1], x[::-1], w[::-1])[::-1]
        if members.size < 2:
            continue
        cut = heads[:-1] + tails[1:]
        at = int(cut.argmin())
        if heads[-1] - cut[at] > GAIN:
            result[members[at + 1 :]] = free
            free += 1
    return result


def _run_costs(f: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Cost of each leading run of a monotone sequence of predictions at its own mean.

    With sums W of mass and C of mass times prediction, W_k and C_k of the leading elements on the
    far side of the mean u, the cost is |u (2 W_k - W) + C - 2 C_k|.
    """
    falling = x[0] > x[-1]
    total, moment = np.cumsum(w), np.cumsum(w * x)
    target = np.cumsum(w * f) / total
    size = np.arange(1, x.size + 1)
    key, goal = (-x, -target) if falling else (x, target)
    k = np.minimum(np.searchsorted(key, goal), size)
    below, below_moment = np.append(0.0, total)[k], np.append(0.0, moment)[k]
    return np.abs(target * (2 * below - total) + moment - 2 * below_moment)


def _merge_parts(instance: Instance, part: np.ndarray) -> np.ndarray:
    """Merge the two parts that gain most, as long as any two do."""
    while True:
        count = int(part.max()) + 1
        sums = _part_sums(instance, part, count)
        target = (sums.ones[:, None] + sums.ones) / (sums.mass[:, None] + sums.mass)
        moved = np.zeros((count, count))  # of the elements of one part to a joint target
        for label in range(count):
            x, w = (field[part == label] for field in instance[1:])
            moved[label] = w @ np.abs(x[:, None] - target[label])
        rise = moved + moved.T - sums.cost[:, None] - sums.cost
        np.fill_diagonal(rise, np.inf)
        first, second = np.unravel_index(int(rise.argmin()), rise.shape)
        if not rise[first, second] < -GAIN:
            return part
        part = _compact(np.where(part == second, first, part))
