"""Instances, bounds and sample sizes of the theory, against brute force and simulation."""

import itertools

import numpy as np
import pytest

from skcal import theory
from skcal._numerics.partitions._local_search import general_bounds
from skcal.theory import (
    distance_lower_bound,
    make_hardness_instance,
    make_indistinguishable_pair,
    sample_size,
)
from tests.test_general_distance import subset_distance


def has_subset(a, theta):
    return any(
        sum(chosen) == theta
        for size in range(len(a) + 1)
        for chosen in itertools.combinations(a, size)
    )


# Hardness


@pytest.mark.parametrize(
    ("kind", "n", "count"),
    [
        ("noiseless", 2, 16),
        ("noiseless", 3, 16),
        ("noiseless", 4, 24),
        ("uniform", 2, 40),
        ("uniform", 3, 12),
        pytest.param("noiseless", 6, 40, marks=pytest.mark.verify),
        pytest.param("uniform", 3, 60, marks=pytest.mark.verify),
        pytest.param("uniform", 4, 12, marks=pytest.mark.verify),
    ],
)
def test_distance_tells_whether_a_subset_has_the_sum(kind, n, count):
    rng = np.random.default_rng(n)
    answers = []
    for trial in range(count):
        a = rng.integers(1, 10 * n, n).tolist()
        # Half of the sums are those of a subset.
        theta = int(rng.integers(1, sum(a))) if trial % 2 else sum(a[: rng.integers(1, n)])
        mean, p, mass, threshold = make_hardness_instance(a, theta, kind=kind)
        distance = subset_distance(mean, p, mass)
        assert distance >= threshold - 1e-13
        answers.append(has_subset(a, theta))
        if answers[-1]:
            assert distance == pytest.approx(threshold, abs=1e-13)
        else:
            assert distance > threshold + 1e-6
    assert 0.2 * count < sum(answers) < 0.9 * count


@pytest.mark.parametrize("kind", ["noiseless", "uniform"])
@pytest.mark.parametrize("theta", [5, 6])  # 3 + 2, and no subset
def test_multipliers_prove_the_threshold_and_no_more(kind, theta):
    mean, p, mass, threshold = make_hardness_instance([3, 2, 8], theta, kind=kind)
    bounds = general_bounds(mean, p, mass, restarts=5, seed=0)
    assert bounds.lower == pytest.approx(threshold, rel=1e-9)


@pytest.mark.parametrize(("kind", "elements"), [("noiseless", 9), ("uniform", 22)])
def test_form_of_the_instance(kind, elements):
    mean, p, mass, threshold = make_hardness_instance([5, 1, 4, 9, 2, 6], 12, kind=kind)
    assert mean.shape == p.shape == mass.shape == (elements,)
    assert mass.sum() == pytest.approx(1)
    assert min(mean.min(), p.min(), mass.min(), threshold) >= 0
    assert max(mean.max(), p.max()) <= 1
    if kind == "noiseless":
        assert set(mean.tolist()) == {0, 1}
    else:
        assert np.ptp(mass) == 0


@pytest.mark.parametrize(
    ("a", "theta", "kind", "message"),
    [
        ([3], 1, "uniform", "'a' parameter .* at least two positive integers"),
        ([3, 0], 1, "uniform", "'a' parameter"),
        ([3, 0.5], 1, "noiseless", "'a' parameter"),
        ([[3, 4]], 1, "noiseless", "'a' parameter"),
        ([3, 4], 7, "noiseless", r"'theta' parameter .* less than the sum of a \(7\)"),
        ([3, 4], 0, "noiseless", "'theta' parameter"),
        ([3, 4], 1, "hard", "'kind' parameter"),
    ],
)
def test_hardness_errors(a, theta, kind, message):
    with pytest.raises(ValueError, match=message):
        make_hardness_instance(a, theta, kind=kind)


# One-sided estimation: each term by itself


def test_merging_moves_half_a_width_at_most():
    """The first term of the bias, and that it is attained: half the mass at either end."""
    rng = np.random.default_rng(0)
    for k in (1, 3, 10):
        ratios = []
        for trial in range(50):
            target = rng.random((k, 6)) if trial else np.tile([0.0, 1.0] * 3, (k, 1))
            target = (target + np.arange(k)[:, None]) / k
            mass = rng.dirichlet(np.ones(6), k) if trial else np.full((k, 6), 1 / 6)
            centre = (mass * target).sum(axis=1, keepdims=True)
            ratios.append((mass * np.abs(target - centre)).sum() / k * 2 * k)
        assert max(ratios) == pytest.approx(1)


@pytest.mark.parametrize(("k", "n"), [(1, 50), (5, 100), (20, 1000)])
def test_fluctuation_of_k_targets(k, n):
    """The second term: sqrt(k / n) / 2 over the mean of sum_j |bias_j| is about sqrt(pi / 2)."""
    rng = np.random.default_rng(k)
    draws = 4000
    rows = rng.multinomial(n, np.full(k, 1 / k), draws)
    bias = np.abs(rng.binomial(rows, 0.5) - rows / 2).sum(axis=1) / n
    ratio = np.sqrt(k / n) / 2 / bias.mean()
    assert 1.0 < ratio < 1.35
    uneven = rng.multinomial(n, rng.dirichlet(np.ones(k)), draws)
    target = rng.random(k)
    bias = np.abs(rng.binomial(uneven, target) - uneven * target).sum(axis=1) / n
    assert bias.mean() < np.sqrt(k / n) / 2


def test_replacing_a_row_changes_the_distance_by_two_nths():
    """The difference of the deviation term, and that no smaller constant than 2 - 1/n would do."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(rng.integers(1, 7))
        p, y = rng.choice([0, 0.2, 1 / n, 0.5, 1], n + 1), rng.integers(0, 2, n + 1)
        mass = np.full(n, 1 / n)
        one, other = subset_distance(y[1:], p[1:], mass), subset_distance(y[:-1], p[:-1], mass)
        assert abs(one - other) <= 2 / n + 1e-13
    for n in range(2, 9):
        y, p, mass = np.zeros(n), np.full(n, 1 / n), np.full(n, 1 / n)
        y[0] = 1
        assert subset_distance(y, p, mass) == pytest.approx(0, abs=1e-14)
        y[0], p[0] = 0, 1
        assert subset_distance(y, p, mass) == pytest.approx((2 - 1 / n) / n)


def test_expected_excess_is_below_the_bias_and_of_its_size():
    """A calibrated population with separated predictions, the distance of which is 0."""
    rng = np.random.default_rng(3)
    n = 9
    place = np.array([0.2, 0.5, 0.8])
    excess = []
    for _ in range(60):
        p = rng.choice(place, n)
        y = (rng.random(n) < p).astype(float)
        excess.append(subset_distance(y, p, np.full(n, 1 / n)))
    ratio = theory._bias(n) / np.mean(excess)
    assert 1 < ratio < 6


@pytest.mark.verify
def test_expected_excess_of_larger_samples():
    """Upper ends of intervals at n = 200 and 9 predictions: the excess is near its rate."""
    rng = np.random.default_rng(4)
    n, k = 200, 9
    place = (np.arange(k) + 0.5) / k
    ends = []
    for seed in range(20):
        p = rng.choice(place, n)
        y = (rng.random(n) < p).astype(float)
        bounds = general_bounds(y, p, np.full(n, 1 / n), restarts=0, seed=seed)
        ends.append([bounds.lower, bounds.upper])
    lower, upper = np.mean(ends, axis=0)
    bias = theory._bias(n)
    print(f"bias bound {bias:.4f}, excess {lower:.4f} to {upper:.4f}, ratio {bias / upper:.1f}")
    assert lower < bias
    assert bias / lower < 12


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100, 12_345])
def test_bias_takes_the_best_k(n):
    expected = min(1 / (2 * k) + np.sqrt(k / n) / 2 for k in range(1, n + 100))
    assert theory._bias(n) == pytest.approx(expected, rel=1e-14)
    deviation = np.sqrt(2 * np.log(1 / 0.1) / n)
    bound = distance_lower_bound(1.0, n, confidence=0.9)
    assert bound == pytest.approx(max(0, 1 - expected - deviation))


def test_deviation_is_the_quantile_of_mcdiarmid():
    n, t = 1000, theory._deviation(1000, 0.95)
    assert np.exp(-2 * t**2 / (n * (2 / n) ** 2)) == pytest.approx(0.05)


def test_lower_bound_grows_with_the_sample_and_is_not_negative():
    bounds = [distance_lower_bound(0.3, n) for n in (1, 10, 100, 10**4, 10**6, 10**9)]
    assert bounds[0] == 0
    assert bounds == sorted(bounds)
    assert 0.298 < bounds[-1] < 0.3
    assert distance_lower_bound(0.3, 1000, confidence=0.99) < distance_lower_bound(0.3, 1000)


@pytest.mark.parametrize(("eps", "confidence"), [(0.9, 0.5), (0.2, 0.95), (0.05, 0.99)])
def test_sample_size_is_the_smallest(eps, confidence):
    n = sample_size(eps, confidence=confidence)
    assert distance_lower_bound(1.0, n, confidence=confidence) >= 1 - eps
    assert distance_lower_bound(1.0, n - 1, confidence=confidence) < 1 - eps


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_size(0), "'eps' parameter"),
        (lambda: sample_size(0.1, confidence=1), "'confidence' parameter"),
        (lambda: distance_lower_bound(1.5, 10), "'distance' parameter"),
        (lambda: distance_lower_bound(0.5, 0), "'n' parameter"),
        (lambda: make_indistinguishable_pair(0), "'k' parameter"),
    ],
)
def test_statistics_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Two-sided estimation


def test_pair_differs_only_in_the_means_of_the_small_elements():
    pure, mixed = make_indistinguishable_pair(50, 1)
    for a, b in zip(pure[1:], mixed[1:], strict=True):
        assert np.array_equal(a, b)
    assert pure[2].sum() == pytest.approx(1)
    assert set(pure[0].tolist()) == {0.5}
    assert mixed[0][:2].tolist() == [0.5, 0.5]
    assert set(mixed[0][2:].tolist()) == {0, 1}
    again = make_indistinguishable_pair(50, np.random.default_rng(1))[1]
    assert np.array_equal(again[0], mixed[0])
    assert not np.array_equal(make_indistinguishable_pair(50, 2)[1][0], mixed[0])


def test_distances_of_the_pair():
    pure, mixed = make_indistinguishable_pair(8, 3)
    assert subset_distance(*pure) == pytest.approx(1 / 12)
    assert mixed[0].sum() == 1 + 4  # balanced: 2 zeros go to 1/3 and 2 ones to 2/3
    assert subset_distance(*mixed) == pytest.approx(1 / 24)
    pure, mixed = make_indistinguishable_pair(400, 0)
    assert general_bounds(*pure, restarts=0, seed=0).lower > 0.08
    assert general_bounds(*mixed, restarts=0, seed=0).upper < 0.045
