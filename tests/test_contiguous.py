"""Partitions into intervals of the prediction, against every interval partition of few atoms."""

from itertools import product

import numpy as np
import pytest

from skcal._numerics.partitions._contiguous import (
    banded_runs,
    contiguous_partition,
    order_rows,
    parts_of_runs,
    run_movement,
    tree_runs,
)


def cheapest_by_trial(x, mass, ones, beta, allowed):
    """From the definition: every set of cuts in turn."""
    best = np.inf
    for chosen in product([False, True], repeat=len(allowed)):
        cuts = [c for c, take in zip(allowed, chosen, strict=True) if take]
        cost = 0.0
        for part in np.split(np.arange(x.size), cuts):
            q = ones[part].sum() / mass[part].sum()
            cost += (mass[part] * np.abs(x[part] - q)).sum()
            squared = ones[part] * (1 - q) ** 2 + (mass[part] - ones[part]) * q**2
            cost += beta * squared.sum()
        best = min(best, cost)
    return best


def cost_of_starts(x, mass, ones, beta, starts):
    cost = 0.0
    for part in np.split(np.arange(x.size), starts[1:]):
        q = ones[part].sum() / mass[part].sum()
        cost += (mass[part] * np.abs(x[part] - q)).sum() + beta * mass[part].sum() * q * (1 - q)
    return cost


def atoms(rng, m, weighted):
    x = np.sort(rng.choice(np.arange(1001), m, replace=False) / 1000)
    mass = rng.random(m) + 0.01 if weighted else rng.integers(1, 4, m).astype(float)
    rate = rng.random(m) if weighted else rng.integers(0, mass.astype(int) + 1) / mass
    return x, mass, mass * rate


@pytest.mark.parametrize("seed", range(120))
def test_contiguous_partition_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    x, mass, ones = atoms(rng, int(rng.integers(1, 10)), weighted=seed % 2)
    beta = [0.0, 0.3, 3.0][seed % 3]
    cost, starts = contiguous_partition(x, mass, ones, beta)
    assert cost == pytest.approx(
        cheapest_by_trial(x, mass, ones, beta, range(1, x.size)), abs=1e-12
    )
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    assert cost == pytest.approx(cost_of_starts(x, mass, ones, beta, starts), abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_cuts_restrict_where_parts_start(seed):
    rng = np.random.default_rng(1000 + seed)
    x, mass, ones = atoms(rng, 30, weighted=seed % 2)
    cuts = np.sort(rng.choice(np.arange(1, 30), int(rng.integers(0, 8)), replace=False))
    beta = [0.0, 1.0][seed % 2]
    cost, starts = contiguous_partition(x, mass, ones, beta, cuts)
    assert set(starts) <= {0, *cuts.tolist()}
    assert cost == pytest.approx(cheapest_by_trial(x, mass, ones, beta, cuts.tolist()), abs=1e-12)
    assert cost == pytest.approx(cost_of_starts(x, mass, ones, beta, starts), abs=1e-12)


def test_movement_of_runs():
    rng = np.random.default_rng(5)
    x, mass, ones = atoms(rng, 40, weighted=True)
    cost, starts = contiguous_partition(x, mass, ones)
    assert run_movement(x, mass, ones, starts).sum() == pytest.approx(cost, abs=1e-12)


def test_squared_error_falls_as_its_weight_grows():
    rng = np.random.default_rng(6)
    x, mass, ones = atoms(rng, 60, weighted=True)
    errors = []
    for beta in (0.0, 0.3, 1.0, 10.0):
        _, starts = contiguous_partition(x, mass, ones, beta)
        size, good = np.add.reduceat(mass, starts), np.add.reduceat(ones, starts)
        errors.append((good * (1 - good / size)).sum())
    assert np.all(np.diff(errors) <= 1e-12)
    assert errors[-1] < errors[0]


def rows_of(rng, n, tied):
    p = rng.random(n)
    p = np.round(p, 1) if tied else p
    y = rng.random(n) < p
    return np.sort(p[~y]), np.sort(p[y])


def cost_of_parts(zeros, ones, parts):
    i = j = 0
    cost = 0.0
    for a, b in parts.tolist():
        target = b / (a + b)
        cost += np.abs(zeros[i : i + a] - target).sum() + np.abs(ones[j : j + b] - target).sum()
        i, j = i + a, j + b
    assert (i, j) == (zeros.size, ones.size)
    return cost


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 333])
@pytest.mark.parametrize("tied", [False, True])
def test_runs_of_rows_are_what_they_claim(n, tied):
    zeros, ones = rows_of(np.random.default_rng(n), n, tied)
    rows = order_rows(zeros, ones)
    for runs in (banded_runs(rows, longest=50), banded_runs(rows), tree_runs(rows)):
        assert runs.edges[0] == 0
        assert runs.edges[-1] == n
        assert np.all(np.diff(runs.edges) > 0)
        y = np.diff(rows.ones)
        cost = 0.0
        for left, right in zip(runs.edges[:-1], runs.edges[1:], strict=True):
            cost += np.abs(rows.x[left:right] - y[left:right].mean()).sum()
        assert runs.cost == pytest.approx(cost, abs=1e-9)
        parts = parts_of_runs(rows, runs.edges)
        assert cost_of_parts(zeros, ones, parts) <= cost + 1e-9
        assert np.all(np.diff(parts[:, 1] / parts.sum(axis=1)) >= 0)


@pytest.mark.parametrize("seed", range(30))
def test_banded_program_is_exact_where_the_band_holds_all_runs(seed):
    rng = np.random.default_rng(seed)
    zeros, ones = rows_of(rng, 60, tied=False)
    rows = order_rows(zeros, ones)
    best, _ = contiguous_partition(rows.x, np.ones(60), np.diff(rows.ones))
    assert banded_runs(rows).cost == pytest.approx(best, abs=1e-12)
    assert banded_runs(rows, longest=10).cost >= best - 1e-12
    assert tree_runs(rows).cost >= best - 1e-12


def test_ties_are_mixed_evenly():
    zeros, ones = np.full(90, 0.1), np.full(10, 0.1)
    rows = order_rows(zeros, ones)
    tenths = np.diff(rows.ones[::10])
    np.testing.assert_array_equal(tenths, np.ones(10))
