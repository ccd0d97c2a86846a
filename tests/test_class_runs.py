"""The class-wise rounding bound, against the cost of every completion of small partitions."""

import numpy as np
import pytest

from skcal._numerics.partitions import _class_runs
from skcal._numerics.partitions._class_runs import class_suffixes


def least_reduced_cost_to_go(zeros, ones, phi_zeros, phi_ones):
    """At each state (zeros used, ones used): from the definition, over all next parts."""
    n0, n1 = zeros.size, ones.size
    to_go = np.full((n0 + 1, n1 + 1), np.inf)
    to_go[n0, n1] = 0.0
    for i in range(n0, -1, -1):
        for j in range(n1, -1, -1):
            for a in range(n0 - i + 1):
                for b in range(n1 - j + 1):
                    if a + b == 0:
                        continue
                    u = b / (a + b)
                    cost = (np.abs(zeros[i : i + a] - u) - phi_zeros[i : i + a]).sum()
                    cost += (np.abs(ones[j : j + b] - u) - phi_ones[j : j + b]).sum()
                    to_go[i, j] = min(to_go[i, j], cost + to_go[i + a, j + b])
    return to_go


def sample(rng, n):
    kind = rng.integers(5)
    p = rng.random(n)
    if kind == 1:
        p = np.round(p, 1)
    elif kind == 2:
        p = rng.choice([0.0, 1.0, 0.5, 1e-300, 1 - 1e-16], n)
    elif kind == 3:
        p = 0.5 + 1e-3 * p
    elif kind == 4:
        p = p**6
    y = rng.random(n) < rng.choice([0.1, 0.5, 0.9]) if rng.random() < 0.5 else rng.random(n) < p
    return np.sort(p[~y]), np.sort(p[y])


def valid_potentials(rng, zeros, ones):
    """Any potentials, shifted so that h <= 0 at every fraction that a part can have."""
    if rng.random() < 0.7:
        nodes = np.linspace(0, 1, int(rng.integers(2, 8)))
        multiplier = rng.uniform(-1, 1, nodes.size) * rng.choice([0.1, 1.0])
        phi_zeros = -zeros * np.interp(zeros, nodes, multiplier)
        phi_ones = (1 - ones) * np.interp(ones, nodes, multiplier)
    else:
        phi_zeros, phi_ones = rng.uniform(-0.2, 0.2, zeros.size), rng.uniform(-0.2, 0.2, ones.size)
    if not zeros.size or not ones.size:
        u = float(ones.size > 0)
        distance = np.abs(np.concatenate([zeros, ones]) - u)
        shift = (np.concatenate([phi_zeros, phi_ones]) - distance).max(initial=-np.inf)
        return phi_zeros - shift, phi_ones - shift
    a = np.arange(zeros.size + 1)[:, None]
    b = np.arange(ones.size + 1)
    u = (b / np.maximum(a + b, 1))[(a + b) > 0]
    peak_zeros = (phi_zeros - np.abs(zeros - u[:, None])).max(axis=1)
    peak_ones = (phi_ones - np.abs(ones - u[:, None])).max(axis=1)
    shift = ((1 - u) * peak_zeros + u * peak_ones).max()
    return phi_zeros - shift, phi_ones - shift


def check_every_state(seed, most):
    rng = np.random.default_rng(seed)
    zeros, ones = sample(rng, int(rng.integers(1, most)))
    phi_zeros, phi_ones = valid_potentials(rng, zeros, ones)
    to_go = least_reduced_cost_to_go(zeros, ones, phi_zeros, phi_ones)
    longest = int(rng.integers(1, 12))
    s0, s1 = class_suffixes(zeros, ones, phi_zeros, phi_ones, longest)
    assert (s0.size, s1.size) == (zeros.size + 1, ones.size + 1)
    assert s0[-1] == s1[-1] == 0
    assert min(s0.min(), s1.min()) >= 0
    assert np.all(s0[:, None] + s1 <= to_go + 1e-12)


@pytest.mark.parametrize("seed", range(150))
def test_suffixes_bound_every_completion(seed):
    check_every_state(seed, most=11)


@pytest.mark.verify
@pytest.mark.parametrize("first", range(0, 5000, 500))
def test_suffixes_bound_every_completion_of_many(first):
    for seed in range(10_000 + first, 10_000 + first + 500):
        check_every_state(seed, most=17)


@pytest.mark.verify
def test_few_tries_inside_still_bound(monkeypatch):
    """The bound over real targets takes over where fractions crowd, here nearly always."""
    monkeypatch.setattr(_class_runs, "INSIDE", 0)
    for seed in range(30_000, 31_000):
        check_every_state(seed, most=15)


def least_class_cost(x, phi, outcome):
    """Runs of every length, each at its best fraction: one class by itself, no short cuts."""
    n = x.size
    best = np.full(n + 1, np.inf)
    best[n] = 0.0
    for i in range(n - 1, -1, -1):
        for length in range(1, n - i + 1):
            other = np.arange(400)
            u = length / (length + other) if outcome else other / (length + other)
            peak = (phi - np.abs(x - u[:, None])).max(axis=1)
            cost = np.abs(x[i : i + length] - u[:, None]).sum(axis=1) + length * peak
            best[i] = min(best[i], cost.min() - phi[i : i + length].sum() + best[i + length])
    return best


@pytest.mark.parametrize("seed", range(20))
def test_suffixes_are_exact_where_every_fraction_is_tried(seed, monkeypatch):
    """No fractions crowd in runs away from 0 and 1, so nothing is lost."""
    monkeypatch.setattr(_class_runs, "INSIDE", 1000)
    rng = np.random.default_rng(seed)
    zeros, ones = np.sort(rng.uniform(0.1, 0.9, 14)), np.sort(rng.uniform(0.1, 0.9, 15))
    phi_zeros, phi_ones = valid_potentials(rng, zeros, ones)
    s0, s1 = class_suffixes(zeros, ones, phi_zeros, phi_ones, 15)
    np.testing.assert_allclose(s0, least_class_cost(zeros, phi_zeros, 0), atol=1e-12)
    np.testing.assert_allclose(s1, least_class_cost(ones, phi_ones, 1), atol=1e-12)


@pytest.mark.parametrize("block", [1, 300, 2000])
def test_blocks_of_rows_change_nothing(block, monkeypatch):
    rng = np.random.default_rng(3)
    zeros, ones = np.sort(rng.random(400)), np.sort(rng.random(431))
    phi_zeros, phi_ones = -zeros * 0.3, (1 - ones) * 0.3
    whole = class_suffixes(zeros, ones, phi_zeros, phi_ones, 23)
    monkeypatch.setattr(_class_runs, "BLOCK", block)
    parts = class_suffixes(zeros, ones, phi_zeros, phi_ones, 23)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert whole[0][0] > 0.01
    assert whole[1][0] > 0.01
