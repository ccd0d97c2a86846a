"""Exact for few types, and the two approximation schemes, against the program over subsets."""

import itertools
from math import ceil

import numpy as np
import pytest

from skcal._numerics.partitions import _types
from skcal._numerics.partitions._local_search import partition_cost
from skcal._numerics.partitions._ptas import TooManyStates, ptas
from skcal._numerics.partitions._types import lift, sparse_types, sparsify, type_sparse, type_states
from tests.test_general_distance import KINDS, instances, random_instance, subset_distance

EPS = [0.05, 0.1, 0.2, 0.4]


def typed_instance(rng, n, types):
    mass, mean = rng.random(types) + 0.1, np.round(rng.random(types), rng.integers(0, 4))
    kind = rng.integers(0, types, n)
    p = np.round(rng.random(n), rng.integers(1, 5))
    return mean[kind], p, mass[kind] / mass[kind].sum()


def total_variation(mean, mass, other_mean, other_mass):
    ones = np.abs(mass * mean - other_mass * other_mean)
    zeros = np.abs(mass * (1 - mean) - other_mass * (1 - other_mean))
    return (ones + zeros).sum() / 2


# Few types


@pytest.mark.parametrize(
    ("count", "most"), [(60, 8), pytest.param(300, 10, marks=pytest.mark.verify)]
)
def test_few_types_equal_the_subsets(count, most):
    rng = np.random.default_rng(count)
    for i in range(count):
        mean, p, mass = typed_instance(rng, int(rng.integers(1, most + 1)), 1 + i % 3)
        value, part = type_sparse(mean, p, mass)
        assert value == pytest.approx(subset_distance(mean, p, mass), abs=1e-13)
        assert value == partition_cost(mean, p, mass, part)


def test_order_of_elements_does_not_matter():
    rng = np.random.default_rng(4)
    mean, p, mass = typed_instance(rng, 12, 2)
    order = rng.permutation(12)
    value, part = type_sparse(mean, p, mass)
    again, permuted = type_sparse(mean[order], p[order], mass[order])
    assert value == pytest.approx(again, abs=1e-14)
    assert partition_cost(mean, p, mass, part) == pytest.approx(
        partition_cost(mean[order], p[order], mass[order], permuted), abs=1e-14
    )


def test_states_are_counted():
    mean = np.array([0.0, 0, 1, 1, 1, 0.5])
    mass = np.array([1.0, 1, 1, 1, 2, 2]) / 8
    count = type_states(mean, mass)
    assert count == (4, 3 * 3 * 2 * 2, 6 * 6 * 3 * 3)
    n = 10_000
    many = type_states(np.arange(n) / n, np.full(n, 1 / n))
    assert many.types == n
    assert many.states == 2**n


# Fewer types


def test_rounding_moves_no_partition_further_than_it_says():
    rng = np.random.default_rng(8)
    nearest = 0.0
    for mean, p, mass in instances(5, 80, range(1, 9)):
        eps = float(rng.choice(EPS))
        sparse = sparsify(mean, p, mass, eps)
        assert sparse.mass.sum() == pytest.approx(1)
        assert 0 <= sparse.move <= eps + 1e-15
        for _ in range(10):
            part = rng.integers(0, 4, sparse.kept.size)
            cost = partition_cost(sparse.mean, sparse.p, sparse.mass, part)
            original = partition_cost(mean, p, mass, lift(part, sparse.kept, p.size))
            assert abs(cost - original) <= sparse.move + 1e-13
        moved = subset_distance(mean, p, mass) - subset_distance(*sparse[:3])
        assert abs(moved) <= sparse.move + 1e-13
        nearest = max(nearest, abs(moved) / max(sparse.move, 1e-12))
    assert nearest > 0.5  # the bound is not idle


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_leaves_few_types(kind):
    eps, n = 0.1, 500
    mean, p, mass = random_instance(np.random.default_rng(0), n, kind)
    sparse = sparsify(mean, p, mass, eps)
    types = type_states(sparse.mean, sparse.mass).types
    means = ceil(1 / (2 * eps if kind == "uniform" else 2 * eps / 3)) + 1
    powers = 1 if kind == "uniform" else ceil(np.log(18 * n / eps) / np.log(1 + 2 * eps / 3)) + 1
    assert types <= means * powers
    assert types < 0.8 * n


def test_small_masses_are_dropped_and_lifted_alone():
    mean, p = np.array([0.0, 1.0, 0.0]), np.array([0.2, 0.8, 0.9])
    mass = np.array([0.5, 0.5 - 1e-6, 1e-6])
    sparse = sparsify(mean, p, mass, 0.3)
    assert sparse.kept.tolist() == [0, 1]
    assert sorted(lift(np.array([0, 0]), sparse.kept, 3).tolist()) == [0, 0, 1]
    assert lift(np.array([0, 0]), sparse.kept, 3)[2] == 1


def test_budget_of_each_rounding():
    """Worst cases: many masses just too small, means half way, masses between two powers."""
    n, eps = 400, 0.2
    for scale in (0.9, 1.1):
        mass = np.full(n, scale * eps / (18 * n))
        mass[:8] = np.geomspace(1, 1.9, 8)
        mass[:8] *= (1 - mass[8:].sum()) / mass[:8].sum()
        mean, p = np.tile([0.0, 1.0], n // 2), np.tile([1.0, 0.0], n // 2)
        sparse = sparsify(mean, p, mass, eps)
        assert sparse.kept.size == (8 if scale < 1 else n)
        assert sparse.move <= eps
    half_way = np.full(6, 0.25)  # between 0 and the multiple 0.5
    assert sparsify(half_way, half_way, np.full(6, 1 / 6), 0.25).move == pytest.approx(0.25)


def test_half_of_eps_for_either_way(monkeypatch):
    moves = []

    def spy(*arguments):
        moves.append(sparsify(*arguments).move)
        return sparsify(*arguments)

    monkeypatch.setattr(_types, "sparsify", spy)
    for eps in (0.125, 0.25):
        mean, p = np.full(5, 1.5 * eps), np.linspace(0, 1, 5)  # between two multiples of eps
        sparse_types(mean, p, np.full(5, 0.2), eps)
    assert moves == pytest.approx([0.125 / 2, 0.25 / 2])


def test_constant_of_total_variation():
    """Masses moved by d change the cost of a partition by at most 3 d, and 3 is the best constant.

    A part loses its only one, so that its zeros miss their target by d; another gains a one that
    has far to go, d, and pulls its zeros along, d again.
    """
    d = 1e-3
    before = np.array([0.5 - d, d, 0.5 - 1e-9, 1e-9])
    after = np.array([0.5 - d, 0, 0.5 - 1e-9, 1e-9 + d])
    mean, part = np.array([0.0, 1, 0, 1]), np.array([0, 0, 1, 1])
    p = np.array([2 * d, 2 * d, 0, 1])
    change = partition_cost(mean, p, after, part) - partition_cost(mean, p, before, part)
    assert 2.98 * d < change <= 3 * total_variation(mean, before, mean, after)
    rng = np.random.default_rng(9)
    for _ in range(300):
        n = int(rng.integers(1, 7))
        mean, other_mean, p = rng.random((3, n)) ** rng.choice([0.1, 1, 10])
        mass, other = rng.dirichlet(np.full(n, 0.5), 2) + 1e-9
        part = rng.integers(0, 3, n)
        change = partition_cost(mean, p, mass, part) - partition_cost(other_mean, p, other, part)
        assert abs(change) <= 3 * total_variation(mean, mass, other_mean, other) + 1e-7


@pytest.mark.parametrize(
    ("count", "sizes"), [(40, range(1, 8)), pytest.param(240, [7, 8, 9], marks=pytest.mark.verify)]
)
def test_rounded_types_are_within_eps(count, sizes):
    for i, (mean, p, mass) in enumerate(instances(count, count, sizes)):
        eps = EPS[i // 4 % 4]
        value, part = sparse_types(mean, p, mass, eps)
        assert value == partition_cost(mean, p, mass, part)
        assert -1e-13 <= value - subset_distance(mean, p, mass) <= eps


# One number an interval


def cheapest_assignment(mean, p, mass, eps):
    """Least J over all assignments, pulls rounded as the scheme says, by enumeration."""
    k = ceil(1 / (0.75 * eps))
    h = (eps - 1 / k) / p.size
    proxy = (np.arange(k) + 0.5) / k
    best = np.inf
    for choice in itertools.product(range(k), repeat=p.size):
        c = proxy[list(choice)]
        pull = np.rint(mass * (mean - c) / h) * h
        best = min(best, mass @ np.abs(p - c) + np.abs(np.bincount(choice, pull)).sum())
    return best, p.size * h / 2 + 1 / k


def test_nothing_that_is_needed_is_dropped():
    rng = np.random.default_rng(1)
    checked = 0
    for i in range(24):
        n = 1 + i % 5
        mean, _, mass = random_instance(rng, n, KINDS[i % 4])
        p = 1 - mean if i % 2 else rng.random(n)
        eps = 0.35
        best, error = cheapest_assignment(mean, p, mass, eps)
        value, _, lower = ptas(mean, p, mass, eps)
        assert lower == pytest.approx(min(max(best - error, 0), value), abs=1e-9)
        checked += lower > 0
        assert best <= subset_distance(mean, p, mass) + error
    assert checked >= 5


@pytest.mark.parametrize(
    ("count", "sizes"), [(60, range(1, 9)), pytest.param(300, [8, 9, 10], marks=pytest.mark.verify)]
)
def test_scheme_is_within_eps(count, sizes):
    for i, (mean, p, mass) in enumerate(instances(count + 1, count, sizes)):
        eps = EPS[1 + i // 4 % 3]
        value, part, lower = ptas(mean, p, mass, eps)
        distance = subset_distance(mean, p, mass)
        assert value == partition_cost(mean, p, mass, part)
        assert -1e-13 <= value - distance <= eps
        assert lower <= distance + 1e-13


def test_states_are_refused():
    mean, p, mass = random_instance(np.random.default_rng(0), 30, "soft")
    with pytest.raises(TooManyStates, match=r"states after \d+ of 30 elements, more than 50"):
        ptas(mean, p, mass, 0.1, most_states=50)
