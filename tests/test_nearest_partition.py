"""The bracket of the calibration distance, against the program over all partitions in order."""

from itertools import product

import numpy as np
import pytest

from skcal._numerics._lipschitz_dual import Potentials, largest_h
from skcal._numerics.partitions import _nearest_partition as driver
from skcal._numerics.partitions._corridor import (
    block_means,
    commit,
    flow_of,
    lifted,
    nudged,
    rounded_flow,
)
from skcal._numerics.partitions._nearest_partition import (
    nearest_partition,
    pass_proves,
    proved_lower,
)
from skcal._numerics.partitions._tilt import bound_at, multipliers, potentials_of, tilted

KINDS = ("cal", "over", "under", "biased", "tied")


def sample(n, kind, rng):
    p = rng.random(n)
    if kind == "tied":
        p = np.round(p, 1)
    rate = {
        "over": 0.5 + 0.6 * (p - 0.5),
        "under": p**3 / (p**3 + (1 - p) ** 3),
        "biased": p**2,
    }.get(kind, p)
    y = rng.random(n) < rate
    return np.sort(p[~y]), np.sort(p[y])


def awkward(n, rng):
    values = [0.0, 1.0, 0.5, 1e-300, 1 - 1e-16, 0.5 + 1e-16, 0.3]
    p = rng.choice(values, n) if rng.random() < 0.7 else 0.5 + 1e-16 * rng.integers(0, 9, n)
    y = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0])
    return np.sort(p[~y]), np.sort(p[y])


def least_cost(zeros, ones):
    """From the definition: parts that take the rows of each class in order, all sizes."""
    best = np.full((zeros.size + 1, ones.size + 1), np.inf)
    best[0, 0] = 0.0
    for i in range(zeros.size + 1):
        for j in range(ones.size + 1):
            for a in range(i + 1):
                for b in range(j + 1):
                    if a + b == 0:
                        continue
                    u = b / (a + b)
                    cost = np.abs(zeros[i - a : i] - u).sum() + np.abs(ones[j - b : j] - u).sum()
                    best[i, j] = min(best[i, j], best[i - a, j - b] + cost)
    return best[-1, -1]


def cost_of_parts(zeros, ones, parts):
    i = j = 0
    cost = 0.0
    for a, b in parts.tolist():
        assert min(a, b) >= 0
        assert a + b > 0
        u = b / (a + b)
        cost += np.abs(zeros[i : i + a] - u).sum() + np.abs(ones[j : j + b] - u).sum()
        i, j = i + a, j + b
    assert (i, j) == (zeros.size, ones.size)
    return cost


def check(zeros, ones, result):
    """The upper end is attained, and the lower end is what the witness says."""
    n = zeros.size + ones.size
    assert cost_of_parts(zeros, ones, result.parts) == pytest.approx(result.upper, abs=1e-10 * n)
    assert result.lower <= result.upper
    if result.lower_by in ("potentials", "class runs"):
        again = proved_lower(zeros, ones, result.potentials, result.longest)
        assert again >= result.lower - 1e-10 * n
    if result.lower_by == "exact pass":
        assert pass_proves(zeros, ones, result.potentials, result.longest, result.lower)


@pytest.mark.parametrize("seed", range(24))
def test_exact_is_the_least_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    zeros, ones = awkward(n, rng) if seed % 3 == 0 else sample(n, KINDS[seed % 5], rng)
    result = nearest_partition(zeros, ones, relative_gap=0.0)
    check(zeros, ones, result)
    assert result.exact
    assert result.upper == pytest.approx(least_cost(zeros, ones), abs=2e-9)


@pytest.mark.verify
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_exact_is_the_least_of_all_partitions_of_many(first):
    for seed in range(50_000 + first, 50_000 + first + 100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 25))
        zeros, ones = awkward(n, rng) if seed % 3 == 0 else sample(n, KINDS[seed % 5], rng)
        result = nearest_partition(zeros, ones, relative_gap=0.0)
        check(zeros, ones, result)
        assert result.exact
        assert result.upper == pytest.approx(least_cost(zeros, ones), abs=2e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_and_limits_hold_the_exact_value(kind):
    zeros, ones = sample(80, kind, np.random.default_rng(3))
    exact = nearest_partition(zeros, ones)
    assert exact.exact
    for options in ({"method": "bounds"}, {"most_work": 1000}):
        result = nearest_partition(zeros, ones, **options)
        check(zeros, ones, result)
        assert result.lower <= exact.upper + 1e-9
        assert result.upper >= exact.lower - 1e-9


def as_if_many(monkeypatch, beam_rows, corridor_rows):
    """Send small samples the way of large ones."""
    monkeypatch.setattr(driver, "BEAM_ROWS", beam_rows)
    monkeypatch.setattr(driver, "CORRIDOR_ROWS", corridor_rows)
    monkeypatch.setattr(driver, "CLOSE_ENOUGH", 0.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("corridor_rows", [1000, 60])
def test_the_ways_of_large_samples_hold_the_exact_value(kind, corridor_rows, monkeypatch):
    zeros, ones = sample(120, kind, np.random.default_rng(4))
    exact = nearest_partition(zeros, ones)
    as_if_many(monkeypatch, 50, corridor_rows)
    result = nearest_partition(zeros, ones, method="bounds")
    check(zeros, ones, result)
    assert result.lower <= exact.upper + 1e-9
    assert result.upper >= exact.lower - 1e-9
    assert result.upper <= 1.5 * exact.upper
    assert result.lower >= 0.85 * exact.upper


def test_a_corridor_finds_more_than_intervals(monkeypatch):
    zeros, ones = sample(400, "over", np.random.default_rng(5))
    as_if_many(monkeypatch, 50, 1000)
    result = nearest_partition(zeros, ones, method="bounds")
    assert result.how == "corridor"
    monkeypatch.setattr(driver, "_search_corridor", lambda *_: None)
    without = nearest_partition(zeros, ones, method="bounds")
    check(zeros, ones, without)
    assert result.upper < without.upper


@pytest.mark.parametrize("seed", range(10))
def test_a_failed_solver_costs_only_tightness(seed, monkeypatch):
    def fail(*_):
        raise RuntimeError("no luck")

    rng = np.random.default_rng(seed)
    zeros, ones = sample(12, KINDS[seed % 5], rng)
    monkeypatch.setattr(driver, "solve_dual", fail)
    result = nearest_partition(zeros, ones, relative_gap=0.0)
    check(zeros, ones, result)
    assert result.upper == pytest.approx(least_cost(zeros, ones), abs=2e-9)


def test_one_class():
    p = np.array([0.1, 0.4, 0.4])
    result = nearest_partition(p, np.empty(0))
    assert (result.lower, result.upper, result.exact) == (result.upper, 0.9, True)
    result = nearest_partition(np.empty(0), p)
    assert result.upper == pytest.approx(2.1)
    assert result.parts.tolist() == [[0, 3]]


def test_the_same_every_time():
    zeros, ones = sample(200, "cal", np.random.default_rng(6))
    first, second = (nearest_partition(zeros, ones) for _ in range(2))
    assert first.lower == second.lower
    assert first.upper == second.upper
    np.testing.assert_array_equal(first.parts, second.parts)


def test_invalid_potentials_prove_nothing():
    zeros, ones = sample(100, "over", np.random.default_rng(7))
    result = nearest_partition(zeros, ones, method="bounds")
    nodes, at_zeros, at_ones = result.potentials
    assert proved_lower(zeros, ones, result.potentials, result.longest) > 0
    lifted_up = Potentials(nodes, at_zeros + 1e-6, at_ones + 1e-6)
    assert proved_lower(zeros, ones, lifted_up, result.longest) == -np.inf
    too_steep = Potentials(nodes, 1.01 * nodes - 2, 0 * nodes)
    assert proved_lower(zeros, ones, too_steep, result.longest) == -np.inf


def test_a_pass_proves_no_more_than_is_true():
    zeros, ones = sample(120, "cal", np.random.default_rng(13))
    result = nearest_partition(zeros, ones)
    assert result.lower_by == "exact pass"
    witness = zeros, ones, result.potentials, result.longest
    assert pass_proves(*witness, result.upper)
    assert not pass_proves(*witness, result.upper + 1e-6)
    assert not pass_proves(*witness, result.upper, most_work=10)
    nodes, at_zeros, at_ones = result.potentials
    lifted_up = Potentials(nodes, at_zeros + 1e-6, at_ones + 1e-6)
    assert not pass_proves(zeros, ones, lifted_up, result.longest, result.upper)


def test_passes_raise_the_lower_end(monkeypatch):
    monkeypatch.setattr(driver, "SHARES", (0.3, 0.6, 0.8))
    zeros, ones = sample(200, "cal", np.random.default_rng(8))
    bounds = nearest_partition(zeros, ones, method="bounds")
    result = nearest_partition(zeros, ones, method="exact", most_work=10**9)
    assert not bounds.exact
    assert result.lower_by == "exact pass"
    assert bounds.lower < result.lower <= nearest_partition(zeros, ones).upper


def random_multipliers(rng):
    nodes = np.unique(np.append([0.0, 1.0], rng.random(30)))
    return nodes, rng.uniform(-1, 1, nodes.size) ** 3


@pytest.mark.parametrize("seed", range(20))
def test_any_multipliers_give_valid_potentials(seed):
    nodes, lam = random_multipliers(np.random.default_rng(seed))
    potentials = potentials_of(nodes, lam)
    assert largest_h(potentials).max() <= 1e-15
    for f in potentials[1:]:
        assert np.all(np.abs(np.diff(f)) <= np.diff(nodes) + 1e-15)


def test_multipliers_give_back_potentials_no_lower():
    nodes = np.linspace(0, 1, 101)
    lam = 0.4 * np.sin(3 * nodes)
    potentials = potentials_of(nodes, lam)
    again = potentials_of(nodes, multipliers(potentials))
    for f, g in zip(potentials[1:], again[1:], strict=True):
        assert np.all(g >= f - 1e-4)


@pytest.mark.parametrize("loss", [0.1, 1.5])
def test_tilt_loses_no_more_than_it_may(loss):
    rng = np.random.default_rng(9)
    nodes = np.linspace(0, 1, 201)
    steep = potentials_of(nodes, np.ones(201))
    zeros_at, ones_at = rng.random(201), rng.random(201)
    less = tilted(steep, zeros_at, ones_at, loss)
    assert bound_at(less, zeros_at, ones_at) >= bound_at(steep, zeros_at, ones_at) - loss
    assert np.abs(multipliers(less)).max() < np.abs(multipliers(steep)).max() - 0.001
    assert largest_h(less).max() <= 1e-15


def nudges(zeros, ones, ends, reach):
    """Least cost over all paths near the states, one by one, parts in the order of the path."""
    steps = list(product(range(-reach, reach + 1), repeat=2))
    best = np.inf
    for moves in product(steps, repeat=len(ends) - 1):
        corners = np.array([*(ends[:-1] + np.array(moves).reshape(-1, 2)), ends[-1]])
        parts = np.diff(corners, axis=0, prepend=0)
        if parts.min() >= 0 and corners.min() >= 0:
            parts = parts[parts.sum(axis=1) > 0]
            best = min(best, cost_of_parts(zeros, ones, parts))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_nudged_path_is_the_best_of_its_neighbours(seed):
    zeros, ones = sample(40, KINDS[seed % 5], np.random.default_rng(seed))
    share = np.array([[0.3], [0.7], [1.0]])
    ends = np.floor(share * [zeros.size, ones.size]).astype(np.int64)
    found = cost_of_parts(zeros, ones, nudged(ends, zeros, ones, 1))
    assert found <= nudges(zeros, ones, ends, 1) + 1e-12
    assert cost_of_parts(zeros, ones, nudged(ends, zeros, ones, 3, layers=2)) <= found + 1e-12


def test_few_predictions_are_rounded_well():
    """Eleven predictions: the flow of the lower distance rounds to nearly its own cost."""
    zeros, ones = sample(5000, "tied", np.random.default_rng(10))
    result = nearest_partition(zeros, ones, method="bounds")
    check(zeros, ones, result)
    assert result.upper - result.lower <= 0.01 * result.upper


def test_rounded_flow_uses_every_row():
    zeros, ones = sample(700, "cal", np.random.default_rng(11))
    place = np.linspace(0, 1, 90)
    mass = 700 / 90 * np.ones(90)
    parts = rounded_flow(flow_of(place, mass, zeros.size, ones.size), zeros, ones)
    cost_of_parts(zeros, ones, parts)


def test_committed_parts_and_the_rest_are_all_rows():
    flow = flow_of(np.array([0.25, 0.5, 0.9]), np.array([4000.0, 10.0, 3000.0]), 3305, 3705)
    done = commit(flow, 40)
    assert len(done.parts) == 2
    assert done.parts[:, 0].sum() + done.zeros_left.sum() == 3305
    assert done.parts[:, 1].sum() + done.ones_left.sum() == 3705
    assert done.flow.zeros.sum() == pytest.approx(done.zeros_left.sum())
    targets = done.parts[:, 1] / done.parts.sum(axis=1)
    np.testing.assert_allclose(targets, [0.25, 0.9], atol=1e-12)


def test_blocks():
    x = np.array([0.0, 0.2, 0.4, 0.6, 1.0])
    np.testing.assert_allclose(block_means(x, 2), [0.1, 0.5, 1.0])
    parts = np.array([[2, 1], [1, 2]])
    assert lifted(parts, 2, 5, 6).tolist() == [[4, 2], [1, 4]]


@pytest.mark.verify
@pytest.mark.parametrize("kind", KINDS)
def test_large_samples_are_bracketed_closely(kind):
    zeros, ones = sample(100_000, kind, np.random.default_rng(12))
    result = nearest_partition(zeros, ones)
    check(zeros, ones, result)
    allowed = {"cal": 5.0, "tied": 0.01 * result.upper}.get(kind, 0.001 * result.upper)
    assert result.upper - result.lower <= allowed
