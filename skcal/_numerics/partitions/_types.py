"""Exact calibration distance of instances with few types, and how to make the types few.

Elements of one type (mass, mean outcome) are interchangeable, so an optimal partition may move them
in order (the paper's type-monotone predictors): parts, by increasing target, take the next few
elements of each type. The paper's program over one counter a type follows.

The number of elements that a part takes of each type, its *composition*, fixes its target. So the
program goes over the compositions by increasing target, each as one update of the whole table of
counters: best[c + a] = min(best[c + a], best[c] + cost), where the cost is a sum over types of one
function of a single counter. Parts with equal targets may be merged: each composition is needed
once.
"""

from collections.abc import Iterator
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._local_search import partition_cost


class TypeCount(NamedTuple):
    """What `type_sparse` needs: table entries (also compositions), and updates of an entry."""

    types: int
    states: int
    operations: int


class Sparsified(NamedTuple):
    """An instance with few types; ``kept`` are its elements in the original one.

    ``move`` bounds by how much the cost of any partition differs, elements that are not kept being
    parts of their own in the original; so the distance moves by at most as much.
    """

    mean: np.ndarray
    p: np.ndarray
    mass: np.ndarray
    kept: np.ndarray
    move: float


class _Type(NamedTuple):
    """Elements of one type by increasing prediction."""

    element: np.ndarray
    p: np.ndarray
    mass: float
    mean: float


def type_states(mean: np.ndarray, mass: np.ndarray) -> TypeCount:
    """Size of the program before it is run; exact integers, however large."""
    sizes = np.unique(np.column_stack([mass, mean]), axis=0, return_counts=True)[1].tolist()
    states = prod(size + 1 for size in sizes)
    return TypeCount(len(sizes), states, prod((s + 1) * (s + 2) // 2 for s in sizes))


def type_sparse(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> tuple[float, np.ndarray]:
    """The distance, exactly, and the part of each element in a best partition.

    Takes O(k n) plus the operations of `type_states`: refuse what is too large before.
    """
    types = _types(mean, p, mass)
    shape = tuple(t.p.size + 1 for t in types)
    compositions, targets = _compositions(types, shape)
    best = np.full(shape, np.inf)
    best[(0,) * len(types)] = 0.0
    chosen = np.full(shape, -1, dtype=np.int32)
    for index, (counts, target) in enumerate(
        zip(compositions.tolist(), targets.tolist(), strict=True)
    ):
        before = tuple(slice(0, size - a) for size, a in zip(shape, counts, strict=True))
        after = tuple(slice(a, None) for a in counts)
        value = best[before] + _part_costs(types, counts, target)
        better = value < best[after]
        best[after][better] = value[better]
        chosen[after][better] = index
    part = _trace(types, compositions, chosen)
    return partition_cost(mean, p, mass, part), part


def sparsify(mean: np.ndarray, p: np.ndarray, mass: np.ndarray, eps: float) -> Sparsified:
    """A near instance with few types, ``move`` at most eps.

    Equal masses: round the means to multiples of 2 eps, at most 1 / (2 eps) + 2 types. Otherwise
    round them to multiples of 2 eps / 3, drop masses below eps / (18 n) and round the others to
    powers of 1 + 2 eps / 3. With masses fixed, the cost of a partition changes by at most
    sum w |change of f| (<= eps / 3). A change of masses by d in total variation costs at most 3 d:
    an element that gains mass costs at most twice it, one that loses mass at most once it (the
    paper's constant is 5); dropped and rounded masses are at most d = eps / 18 + eps / 6. The move
    returned is the same sum with the p and f at hand.
    """
    if np.ptp(mass) == 0:
        step, new = 2 * eps, mass
    else:
        step, new = 2 * eps / 3, _rounded_masses(mass, eps / (18 * mass.size), 1 + 2 * eps / 3)
    levels = ceil(1 / step)
    kept = np.flatnonzero(new)
    rounded = np.rint(mean[kept] * levels) / levels
    move = _mass_move(mean, p, mass, new) + float(new[kept] @ np.abs(rounded - mean[kept]))
    return Sparsified(rounded, p[kept], new[kept], kept, move)


def lift(part: np.ndarray, kept: np.ndarray, size: int) -> np.ndarray:
    """Parts of the elements that were kept, and a part of its own for each of the others."""
    lifted = np.arange(size) + int(part.max()) + 1
    lifted[kept] = part
    return np.asarray(np.unique(lifted, return_inverse=True)[1])


def sparse_types(
    mean: np.ndarray, p: np.ndarray, mass: np.ndarray, eps: float
) -> tuple[float, np.ndarray]:
    """The paper's quasi-polynomial scheme: a partition that costs at most eps over the distance.

    The best partition of the sparsified instance, at the true masses and means: half of eps for the
    way there, half for the way back.
    """
    sparse = sparsify(mean, p, mass, eps / 2)
    part = lift(type_sparse(sparse.mean, sparse.p, sparse.mass)[1], sparse.kept, p.size)
    return partition_cost(mean, p, mass, part), part


def _types(mean: np.ndarray, p: np.ndarray, mass: np.ndarray) -> list[_Type]:
    order = np.argsort(p, kind="stable")
    kinds, label = np.unique(np.column_stack([mass, mean]), axis=0, return_inverse=True)
    label = label.reshape(-1)[order]
    rows = [order[label == k] for k in range(len(kinds))]
    return [_Type(r, p[r], w, f) for r, (w, f) in zip(rows, kinds.tolist(), strict=True)]


def _compositions(types: list[_Type], shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """All compositions but the empty one by increasing target, and their targets."""
    counts = np.indices(shape).reshape(len(shape), -1).T[1:]
    mass = np.array([t.mass for t in types])
    targets = (counts @ (mass * [t.mean for t in types])) / (counts @ mass)
    order = np.argsort(targets, kind="stable")
    return counts[order], targets[order]


def _part_costs(types: list[_Type], counts: list[int], target: float) -> np.ndarray:
    """Cost of the part that begins at each state: one axis a type, added up by broadcasting."""
    cost = np.zeros(())
    for kind, taken in zip(types, counts, strict=True):
        moved = np.append(0.0, np.cumsum(np.abs(kind.p - target)))
        run = kind.mass * (moved[taken:] - moved[: moved.size - taken])
        cost = cost[..., None] + run
    return cost


def _trace(types: list[_Type], compositions: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Labels of the elements, back from the state in which all are taken."""
    part = np.empty(sum(t.p.size for t in types), dtype=np.intp)
    for label, (start, end) in enumerate(_steps(compositions, chosen)):
        for kind, low, high in zip(types, start, end, strict=True):
            part[kind.element[low:high]] = label
    return part


def _steps(compositions: np.ndarray, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """States before and after each part, the last part first."""
    state = np.array(chosen.shape) - 1
    while state.any():
        before = state - compositions[chosen[tuple(state)]]
        yield before, state
        state = before


def _rounded_masses(mass: np.ndarray, least: float, base: float) -> np.ndarray:
    """Masses below ``least`` dropped, the others at the nearest powers of ``base``; in all 1.

    Their ratios to the true ones lie in an interval of length base - 1 after scaling, so the
    rounding moves at most (base - 1) / 4 of the mass.
    """
    power = np.rint(np.log(mass) / np.log(base))
    new = np.where(mass >= least, base**power, 0.0)
    return np.asarray(new / new.sum())


def _mass_move(mean: np.ndarray, p: np.ndarray, mass: np.ndarray, new: np.ndarray) -> float:
    """By how much a change of masses may change the cost of any one partition.

    In a part with mean u, a mass d more of an element adds at most d |p - u| for itself and
    d |f - u| by moving the mean; a mass d less at most d (|f - u| - |p - u|) <= d |p - f|. The
    other direction is the same with gains and losses exchanged. A dropped element is alone, u = f.
    """
    gain, loss = np.maximum(new - mass, 0.0), np.maximum(mass - new, 0.0)
    away = np.abs(p - mean)
    both = np.where(new > 0, np.maximum(p + mean, 2 - p - mean), away)
    return float(max(gain @ both + loss @ away, loss @ both + gain @ away))
