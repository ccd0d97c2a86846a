"""General instances of the calibration distance: multipliers from below, local search from above.

The slow twin is a program over all subsets of the elements, for any masses and mean outcomes.
"""

import itertools

import numpy as np
import pytest

from skcal._numerics._lipschitz_dual import lower_distance
from skcal._numerics.partitions import _local_search, _multipliers
from skcal._numerics.partitions._local_search import (
    general_bounds,
    interval_labels,
    part_targets,
    partition_cost,
    search,
)
from skcal._numerics.partitions._multipliers import (
    LARGE,
    Multipliers,
    best_bound,
    certified_bound,
    element_bounds,
    multipliers_of,
)

KINDS = ["noiseless", "soft", "uniform", "coarse"]


def subset_distance(mean, p, mass):
    """The calibration distance from its definition: the best part of the first element, then on."""
    mean, p, mass = (np.asarray(field, dtype=float) for field in (mean, p, mass))
    n = p.size
    member = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    weight = member @ mass
    target = np.divide(member @ (mass * mean), weight, out=np.zeros(1 << n), where=weight > 0)
    cost = sum(member[:, i] * mass[i] * np.abs(p[i] - target) for i in range(n))
    best = np.zeros(1 << n)
    for rows in range(1, 1 << n):
        first = rows & -rows
        others = rows ^ first
        chosen = np.zeros(1, dtype=int)
        for i in range(n):
            if others >> i & 1:
                chosen = np.concatenate([chosen, chosen | 1 << i])
        best[rows] = (cost[chosen | first] + best[others ^ chosen]).min()
    return best[-1]


def random_instance(rng, n, kind):
    p = rng.random(n)
    mean = np.clip(p + 0.3 * rng.standard_normal(n), 0, 1)
    mass = rng.exponential(1, n) + 1e-3
    if kind == "noiseless":
        mean = (rng.random(n) < p).astype(float)
    elif kind == "coarse":  # ties
        p, mean, mass = np.round(p, 1), np.round(mean, 1), rng.integers(1, 4, n).astype(float)
    elif kind == "uniform":
        mass = np.ones(n)
    return mean, p, mass / mass.sum()


def instances(seed, count, sizes):
    rng = np.random.default_rng(seed)
    for i in range(count):
        yield random_instance(rng, int(rng.choice(sizes)), KINDS[i % len(KINDS)])


def random_multipliers(rng, cells):
    nodes = np.concatenate([[0.0], np.sort(rng.random(cells - 1)), [1.0]])
    return Multipliers(nodes, *rng.uniform(-1.5, 1.5, (2, cells)))


def on_a_grid(mean, p, multipliers):
    """|p - u| + lambda(u) (mean - u), least on a fine grid of every cell, jumps on both sides."""
    nodes, start, end = multipliers
    least = np.full(p.size, np.inf)
    for c in range(start.size):
        t = np.linspace(0, 1, 2001)
        u = nodes[c] + t * (nodes[c + 1] - nodes[c])
        charge = start[c] + t * (end[c] - start[c])
        value = np.abs(p[:, None] - u) + charge * (mean[:, None] - u)
        least = np.minimum(least, value.min(axis=1))
    return least


# The interval


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(40, range(1, 9)), pytest.param(200, [9, 10, 11], marks=pytest.mark.verify)],
)
def test_interval_holds_the_distance(count, sizes):
    ratios, optimal = [], 0
    for mean, p, mass in instances(count, count, sizes):
        bounds = general_bounds(mean, p, mass, restarts=10, seed=0)
        expected = subset_distance(mean, p, mass)
        assert bounds.lower <= expected + 1e-12
        assert bounds.upper >= expected - 1e-12
        assert bounds.upper == pytest.approx(partition_cost(mean, p, mass, bounds.part), abs=1e-15)
        optimal += bounds.upper <= expected + 1e-10
        ratios.append(bounds.lower / max(expected, 1e-12))
    assert optimal >= 0.93 * count
    assert np.mean(ratios) >= 0.85


@pytest.mark.parametrize("n", [1, 2, 30, 90])
def test_both_proofs_hold(n):
    mean, p, mass = random_instance(np.random.default_rng(n), n, "soft")
    lower, upper, part, multipliers = general_bounds(mean, p, mass, restarts=1, seed=3)
    assert 0 <= lower <= upper
    nodes, start, end = multipliers
    assert nodes[0] == 0
    assert nodes[-1] == 1
    assert np.all(np.diff(nodes) > 0)
    assert start.size == end.size == nodes.size - 1
    assert lower <= mass @ on_a_grid(mean, p, multipliers) + 1e-12
    cost = 0.0
    for label in set(part.tolist()):
        w, f, x = (field[part == label] for field in (mass, mean, p))
        cost += w @ np.abs(x - np.average(f, weights=w))
    assert upper == pytest.approx(cost, abs=1e-13)


BY_HAND = {  # mean, p, mass; the distance, and what multipliers prove
    "calibrated": ([0.2, 0.5, 0.9], [0.2, 0.5, 0.9], [0.2, 0.3, 0.5], 0.0, 0.0),
    "one element": ([0.75], [0.5], [1.0], 0.25, 0.25),
    "stay or join": (
        [0.0, 1.0],
        [0.25, 0.75],
        [0.5, 0.5],
        0.25,
        0.125,
    ),  # split, half of each joins
    "join": ([1.0, 0.0], [0.25, 0.75], [0.5, 0.5], 0.25, 0.25),
    "unequal": ([1.0, 0.0], [0.25, 0.75], [0.75, 0.25], 0.375, 0.375),
    "all at a half": ([0.5] * 4, [1 / 3, 2 / 3, 0.5, 0.5], [0.25] * 4, 1 / 12, 1 / 12),
    "a speck": ([0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.5, 0.5 - 1e-12, 1e-12], 1e-12, 1e-12),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_by_hand(case):
    *instance, distance, lower = BY_HAND[case]
    instance = [np.array(field) for field in instance]
    assert subset_distance(*instance) == pytest.approx(distance, abs=1e-15)
    bounds = general_bounds(*instance, restarts=3, seed=0)
    assert bounds.upper == pytest.approx(distance, abs=1e-15)
    assert bounds.lower == pytest.approx(lower, abs=1e-8)


# From below


def test_any_multipliers_prove_a_bound():
    rng = np.random.default_rng(0)
    sharp = 0
    for mean, p, mass in instances(1, 40, range(1, 8)):
        distance = subset_distance(mean, p, mass)
        for cells in (1, 3, 12):
            multipliers = random_multipliers(rng, cells)
            assert certified_bound(mean, p, mass, multipliers) <= distance + 1e-12
        sharp += best_bound(mean, p, mass).value > 0.95 * distance
    assert sharp > 10


def test_element_bounds_are_the_exact_minima():
    rng = np.random.default_rng(2)
    for cells in (1, 2, 5, 30):
        mean, p, _ = random_instance(rng, 50, "soft")
        multipliers = random_multipliers(rng, cells)
        alpha, target = element_bounds(mean, p, multipliers)
        expected = on_a_grid(mean, p, multipliers)
        assert np.all(alpha <= expected + 1e-12)
        assert alpha == pytest.approx(expected, abs=1e-3)  # the grid has steps of 1/2000 a cell
        nodes, start, end = multipliers
        cell = np.searchsorted(nodes, target)[:, None] - [0, 1]  # on both sides of a node
        cell = np.clip(cell, 0, cells - 1)
        share = (target[:, None] - nodes[cell]) / np.diff(nodes)[cell]
        charge = start[cell] + np.clip(share, 0, 1) * (end - start)[cell]
        value = np.abs(p - target)[:, None] + charge * (mean - target)[:, None]
        assert np.abs(value - alpha[:, None]).min(axis=1) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", ["noiseless", "soft"])
def test_bound_of_many_elements(kind):
    n = LARGE + 20
    mean, p, mass = random_instance(np.random.default_rng(5), n, kind)
    bound = best_bound(mean, p, mass)
    assert bound.value == pytest.approx(certified_bound(mean, p, mass, bound.multipliers))
    intervals = partition_cost(mean, p, mass, interval_labels(mean, p, mass))
    assert 0.3 * intervals < bound.value <= intervals


@pytest.mark.parametrize("kind", ["noiseless", "soft"])
def test_bound_is_at_least_that_of_split_elements(kind):
    """Also where representatives do badly: a distance near 0."""
    rng = np.random.default_rng(8)
    mean, p, mass = random_instance(rng, LARGE + 40, kind)
    p = np.clip(mean + rng.normal(0, 0.01, p.size), 0, 1) if kind == "soft" else p
    x, at = np.unique(p, return_inverse=True)
    ones, zeros = np.bincount(at, mass * mean), np.bincount(at, mass * (1 - mean))
    split = lower_distance(x, zeros, ones, 1e-4)
    multipliers = multipliers_of(split.potentials)
    bend = np.abs(multipliers.end - multipliers.start) * np.diff(multipliers.nodes) / 4
    assert bend.max() < 1e-3
    assert certified_bound(mean, p, mass, multipliers) >= split.lower - bend.max()
    assert best_bound(mean, p, mass).value >= split.lower - bend.max()


def test_blocks_do_not_matter(monkeypatch):
    mean, p, _ = random_instance(np.random.default_rng(6), 40, "soft")
    multipliers = random_multipliers(np.random.default_rng(7), 20)
    whole = element_bounds(mean, p, multipliers)
    monkeypatch.setattr(_multipliers, "BLOCK", 100)
    for a, b in zip(whole, element_bounds(mean, p, multipliers), strict=True):
        assert np.array_equal(a, b)


# From above


def contiguous_twin(mean, p, mass):
    order = np.lexsort((mean, p))
    best = np.inf
    for cut in itertools.product([0, 1], repeat=p.size - 1):
        part = np.empty(p.size, dtype=int)
        part[order] = np.cumsum([0, *cut])
        best = min(best, mass @ np.abs(p - part_targets(mean, mass, part)))
    return best


def test_intervals_are_the_best_intervals():
    for mean, p, mass in instances(3, 40, range(1, 10)):
        part = interval_labels(mean, p, mass)
        expected = contiguous_twin(mean, p, mass)
        assert partition_cost(mean, p, mass, part) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [4, 12, 40])
def test_more_restarts_are_no_worse_and_a_seed_repeats(n):
    mean, p, mass = random_instance(np.random.default_rng(n), n, "soft")
    costs = [search(mean, p, mass, restarts=r, seed=1)[0] for r in (0, 2, 6)]
    assert costs == sorted(costs, reverse=True)
    first, second = (search(mean, p, mass, restarts=2, seed=1) for _ in range(2))
    assert first[0] == second[0]
    assert np.array_equal(first[1], second[1])
    intervals = partition_cost(mean, p, mass, interval_labels(mean, p, mass))
    assert costs[-1] < intervals if n > 4 else costs[-1] <= intervals


def test_each_kind_of_step_helps():
    """Moves, splits and merges: from starts in which each is the only way on."""
    half = np.full(4, 0.25)
    instance = _local_search.Instance(
        np.array([0.0, 0, 1, 1]), np.array([0.1, 0.1, 0.9, 0.9]), half
    )
    split = _local_search._split_parts(instance, np.zeros(4, dtype=int))
    assert split.tolist() == [0, 0, 1, 1]
    mixed = instance._replace(mean=np.array([0.0, 1.0, 0.0, 1.0]), p=np.full(4, 0.5))
    merged = _local_search._merge_parts(mixed, np.arange(4))
    assert partition_cost(*mixed, merged) == 0
    moved = np.array([0, 1, 1, 1])
    _local_search._move_elements(instance, moved, np.arange(4))
    assert partition_cost(*instance, moved) == pytest.approx(0.1)


def test_a_descent_ends_where_no_step_helps():
    rng = np.random.default_rng(11)
    for mean, p, mass in instances(6, 40, [10, 20]):
        instance = _local_search.Instance(mean, p, mass)
        start = rng.integers(0, 3, p.size)
        part = _local_search._compact(_local_search._descend(instance, start, rng, np.inf)[0])
        cost = partition_cost(mean, p, mass, part)
        moved = part.copy()
        _local_search._move_elements(instance, moved, np.arange(p.size))
        for other in (
            moved,
            _local_search._split_parts(instance, part),
            _local_search._merge_parts(instance, part),
        ):
            assert partition_cost(mean, p, mass, other) >= cost - 1e-11


def test_elements_can_leave_for_parts_of_their_own_in_one_pass():
    fair = np.array([0.1, 0.4, 0.6, 0.9])
    part = np.zeros(4, dtype=int)
    _local_search._move_elements(
        _local_search.Instance(fair, fair, np.full(4, 0.25)), part, np.arange(4)
    )
    assert partition_cost(fair, fair, np.full(4, 0.25), part) == 0


def test_the_work_limit_leaves_a_partition(monkeypatch):
    monkeypatch.setattr(_local_search, "WORK", 1.0)
    mean, p, mass = random_instance(np.random.default_rng(0), 40, "soft")
    cost, part = search(mean, p, mass, restarts=1000, seed=0)
    assert cost == partition_cost(mean, p, mass, part)
    assert cost <= partition_cost(mean, p, mass, interval_labels(mean, p, mass))
