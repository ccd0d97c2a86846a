"""PartitionCalibrator: its claims against brute force, and values worked out by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from skcal.recalibration import PartitionCalibrator
from skcal.recalibration._partition import candidate_cuts, interpolate, summarise

STEPS = {"interpolate": False}
PROJECTION = {"interpolate": False, "resolution": None, "max_cuts": None}


def random_sample(seed, most=9, weighted=False):
    """Few rows of any shape: spread or squeezed, with and without ties, right or wrong."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most + 1))
    p = [rng.random(n), 0.45 + 0.1 * rng.random(n), rng.random(n).round(1), rng.random(n) ** 9][
        rng.integers(4)
    ]
    y = (rng.random(n) < rng.choice([p, rng.random(n), 1 - p])).astype(int)
    y[:2] = 0, 1
    return p, y, rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)


def increasing_calibrated_maps(p, y, w):
    """Every increasing map of p that is constant on intervals and exactly calibrated."""
    values = sorted(set(p.tolist()))
    for k in range(len(values)):
        for cuts in combinations(values[1:], k):
            part = np.searchsorted(cuts, p, side="right")
            means = [np.average(y[part == j], weights=w[part == j]) for j in range(k + 1)]
            if np.all(np.diff(means) >= -1e-15):
                yield np.array(means)[part]


def movement(p, w, q):
    return np.average(np.abs(q - p), weights=w)


def isotonic(p, y, w):
    """By its min-max formula (scikit-learn's takes predictions within 1e-15 for equal)."""
    values = np.unique(p)
    mass = np.cumsum([0, *(w[p == x].sum() for x in values)])
    ones = np.cumsum([0, *((w * y)[p == x].sum() for x in values)])
    means = [
        max(np.min((ones[i + 1 :] - ones[j]) / (mass[i + 1 :] - mass[j])) for j in range(i + 1))
        for i in range(values.size)
    ]
    return np.array(means)[np.searchsorted(values, p)]


def check_projection(seed, weighted):
    p, y, w = random_sample(seed, weighted=weighted)
    fitted = PartitionCalibrator(**PROJECTION).fit(p, y, sample_weight=w)
    least = min(movement(p, w, q) for q in increasing_calibrated_maps(p, y, w))
    assert fitted.movement_ == pytest.approx(least, rel=0, abs=1e-13)
    assert movement(p, w, fitted.predict(p)) == pytest.approx(least, rel=0, abs=1e-13)


def check_steps(seed, weighted, **options):
    """Calibrated on the sample, increasing, and no further from p than isotonic regression."""
    p, y, w = random_sample(seed, most=60, weighted=weighted)
    fitted = PartitionCalibrator(**STEPS, **options).fit(p, y, sample_weight=w)
    q = fitted.predict(p)
    for value in np.unique(q):
        rows = q == value
        assert abs(np.average(y[rows], weights=w[rows]) - value) <= 1e-12
    moved = movement(p, w, isotonic(p, y, w))
    assert fitted.isotonic_movement_ == pytest.approx(moved, rel=0, abs=1e-13)
    assert movement(p, w, q) <= moved + 1e-13
    assert fitted.movement_ <= fitted.isotonic_movement_
    assert movement(p, w, q) == pytest.approx(fitted.movement_, rel=0, abs=1e-13)
    assert np.all(np.diff(fitted.parts_[:, 3]) > 0)
    return fitted


OPTIONS = [
    {},
    {"resolution": None},
    {"resolution": None, "max_cuts": None},
    {"max_cuts": 5},
    {"resolution": None, "max_cuts": 1},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_projection_is_the_nearest_increasing_calibrated_map(seed, weighted):
    check_projection(seed, weighted)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(60))
def test_steps_are_calibrated_and_nearer_than_isotonic(seed, options):
    check_steps(seed, weighted=seed % 2 == 0, **options)


@pytest.mark.verify
def test_three_hundred_samples():
    for seed in range(1000, 1400):
        check_projection(seed, weighted=seed % 3 == 0)
        for options in OPTIONS:
            check_steps(seed, weighted=seed % 2 == 0, **options)


@pytest.mark.verify
@pytest.mark.parametrize("options", [{}, {"resolution": None}, {"max_cuts": 16}])
def test_three_hundred_larger_samples(options):
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(300, 3000))
        p = rng.beta(*rng.choice([0.5, 1, 20], 2), size=n)
        truth = [p, expit(logit(p) / 2), expit(3 * logit(p)), p**2, np.full(n, 0.3)][seed % 5]
        y = (rng.random(n) < truth).astype(int)
        y[:2] = 0, 1
        fitted = PartitionCalibrator(**STEPS, **options).fit(p, y)
        moved = np.abs(IsotonicRegression().fit(p, y).predict(p) - p).mean()
        assert np.abs(fitted.predict(p) - p).mean() <= moved + 1e-13


def test_projection_is_at_times_strictly_nearer_than_isotonic():
    nearer = []
    for seed in range(60):
        p, y, w = random_sample(seed, most=60)
        fitted = PartitionCalibrator(**PROJECTION).fit(p, y, sample_weight=w)
        nearer.append(fitted.movement_ < fitted.isotonic_movement_ - 1e-6)
    assert sum(nearer) > 20


@pytest.mark.parametrize("options", [{}, STEPS, {"resolution": None}, {"prior_count": 0}])
@pytest.mark.parametrize("seed", range(20))
def test_maps_increase_and_stay_in_the_unit_interval(seed, options):
    p, y, w = random_sample(seed, most=60, weighted=True)
    fitted = PartitionCalibrator(**options).fit(p, y, sample_weight=w)
    near = np.nextafter(fitted.parts_[:, :2], [[0, 1]])
    q = np.sort(np.r_[np.linspace(0, 1, 2001), p, near.ravel(), fitted.thresholds_, 1e-160, 5e-324])
    found = fitted.predict(np.clip(q, 0, 1))
    assert np.all(np.diff(found) >= 0)
    assert found.min() >= 0
    assert found.max() <= 1


def test_squeezed_forecasts_need_the_guard():
    # Right up to their scale: the projection is almost constant, isotonic regression finds it.
    rng = np.random.default_rng(0)
    p = rng.beta(40, 40, 1000)
    y = (rng.random(1000) < expit(8 * logit(p))).astype(int)
    alone = PartitionCalibrator(resolution=None, interpolate=False).fit(p, y)
    guarded = PartitionCalibrator(interpolate=False).fit(p, y)
    best = IsotonicRegression().fit(p, y).predict(p)
    error = brier_score_loss(y, best)
    assert brier_score_loss(y, p) - 0.02 < brier_score_loss(y, alone.predict(p))
    assert len(alone.parts_) <= 3
    blocks = np.unique(best).size
    assert brier_score_loss(y, guarded.predict(p)) <= error * (1 + blocks / 1000) + 1e-12
    assert guarded.beta_ > 0
    assert alone.beta_ == 0


@pytest.mark.parametrize("seed", range(60))
def test_the_guard_gives_up_no_more_resolution_than_chance(seed):
    p, y, w = random_sample(seed, most=90, weighted=True)
    q, best = PartitionCalibrator(**STEPS).fit(p, y, sample_weight=w).predict(p), isotonic(p, y, w)
    noise = np.average((y - best) ** 2, weights=w)
    extra = np.average((y - q) ** 2, weights=w) - noise
    blocks = len(np.unique(best.round(12)))
    assert extra <= blocks * noise / w.sum() + 1e-12


def test_guarded_steps_still_move_less_where_forecasts_are_calibrated():
    rng = np.random.default_rng(1)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(int)
    fitted = PartitionCalibrator(interpolate=False).fit(p, y)
    assert fitted.movement_ < 0.9 * fitted.isotonic_movement_


def test_a_grid_of_cuts_is_an_upper_value():
    rng = np.random.default_rng(2)
    p = rng.random(1200)
    y = (rng.random(1200) < p).astype(int)
    moved = [
        PartitionCalibrator(resolution=None, max_cuts=cuts).fit(p, y).movement_
        for cuts in (None, 256, 16)
    ]
    assert moved[0] < moved[1] < moved[2]


# By hand


def test_parts_thresholds_and_movement_by_hand():
    # Separable: two parts whose means are 0 and 1, moved by .2, .4, .4, .2.
    fitted = PartitionCalibrator(**STEPS).fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    np.testing.assert_allclose(fitted.parts_, [[0.2, 0.4, 2, 0], [0.6, 0.8, 2, 1]])
    assert fitted.thresholds_ == pytest.approx([0.5])
    assert fitted.isotonic_movement_ == pytest.approx(0.3)
    np.testing.assert_array_equal(fitted.predict([0, 0.45, 0.5, 0.55, 1]), [0, 0, 1, 1, 1])
    lines = PartitionCalibrator(prior_count=0).fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    np.testing.assert_allclose(lines.predict([0.3, 0.5, 0.7]), [0, 0.5, 1])


@pytest.mark.parametrize(("count", "low"), [(0, 0), (0.5, 0.1), (2, 0.25)])
def test_prior_count_by_hand(count, low):
    # Parts of two rows at mean predictions .3 and .7, base rate 1/2: (0 + c / 2) / (2 + c).
    lines = PartitionCalibrator(prior_count=count).fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    found = lines.predict([0.05, 0.3, 0.5, 0.7, 1])
    np.testing.assert_allclose(found, [low, low, 0.5, 1 - low, 1 - low])


def test_prior_counts_that_turn_values_round_are_pooled():
    # Parts of 3, 100 and 1 rows, to each of which ten rows with the base rate are added.
    p = np.repeat([0.1, 0.5, 0.9], [3, 100, 1])
    y = np.r_[[0] * 3, [1] * 60, [0] * 40, 1]
    rate = 61 / 104
    values = [10 * rate / 13, (60 + 10 * rate) / 110, (1 + 10 * rate) / 11]
    assert values[2] > values[1] > values[0]
    lines = PartitionCalibrator(prior_count=10).fit(p, y)
    np.testing.assert_allclose(lines.predict([0.1, 0.5, 0.9]), values)
    y = np.r_[[0] * 3, [1] * 90, [0] * 10, 1]
    rate = 91 / 104
    values = [10 * rate / 13, (90 + 10 * rate) / 110, (1 + 10 * rate) / 11]
    assert values[2] < values[1]
    pooled = (91 + 20 * rate) / 121
    lines = PartitionCalibrator(prior_count=10).fit(p, y)
    np.testing.assert_allclose(lines.predict([0.1, 0.5, 0.9]), [values[0], pooled, pooled])


@pytest.mark.parametrize("options", [{}, STEPS, {"resolution": None}])
def test_one_distinct_prediction(options):
    fitted = PartitionCalibrator(prior_count=0, **options).fit([0.3] * 4, [0, 0, 0, 1])
    np.testing.assert_array_equal(fitted.predict([0, 0.3, 1]), [0.25] * 3)
    assert fitted.movement_ == pytest.approx(0.05)
    assert fitted.thresholds_.size == 0


def test_calibrated_ties_are_left_where_they_are():
    p = np.repeat([0.2, 0.5, 0.8], 10)
    y = np.r_[[1] * 2, [0] * 8, [1] * 5, [0] * 5, [1] * 8, [0] * 2]
    for options in ({}, STEPS, {"resolution": None}):
        fitted = PartitionCalibrator(prior_count=0).set_params(**options).fit(p, y)
        np.testing.assert_allclose(fitted.predict(p), p, atol=1e-15)
        assert fitted.movement_ == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("options", [{}, STEPS, {"max_cuts": 10}, {"max_cuts": 10, **STEPS}])
def test_weights_are_repetitions_and_order_does_not_matter(options):
    p, y, w = random_sample(7, most=400, weighted=True)
    w[: p.size // 4] = 0
    weighted = PartitionCalibrator(**options).fit(p, y, sample_weight=w)
    k = w.astype(int)
    repeated = PartitionCalibrator(**options).fit(np.repeat(p, k), np.repeat(y, k))
    order = np.random.default_rng(0).permutation(p.size)
    shuffled = PartitionCalibrator(**options).fit(p[order], y[order], sample_weight=w[order])
    q = np.linspace(0, 1, 501)
    for other in (repeated, shuffled):
        np.testing.assert_allclose(other.predict(q), weighted.predict(q), atol=1e-12)
        assert other.movement_ == pytest.approx(weighted.movement_)


@pytest.mark.parametrize("options", [{}, STEPS])
def test_single_precision(options):
    p, y, _ = random_sample(3, most=300)
    single = p.astype(np.float32)
    found = PartitionCalibrator(**options).fit(single, y).predict(single)
    double = single.astype(np.float64)
    assert found.dtype == np.float64
    expected = PartitionCalibrator(**options).fit(double, y).predict(double)
    np.testing.assert_array_equal(found, expected)


def test_tiny_predictions_keep_their_order():
    p = np.array([1e-320, 1e-160, 1e-150, 1e-20, 1e-3, 0.5, 1 - 1e-16, 1.0])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    for options in ({}, STEPS):
        with np.errstate(all="raise", under="ignore"):
            found = PartitionCalibrator(**options).fit(p, y).predict(p)
        assert np.isfinite(found).all()
        assert np.all(np.diff(found) >= 0)


# Roundings


@pytest.mark.parametrize("low", [5e-324, 1e-300, 0.1, 1 / 3, 0.5, 0.7, 1 - 2**-52])
def test_steps_between_neighbouring_numbers(low):
    for p in (low, np.nextafter(low, 1)):
        pair = [p, np.nextafter(p, 1)]
        if pair[1] <= 1:
            fitted = PartitionCalibrator(interpolate=False).fit(pair, [0, 1])
            np.testing.assert_array_equal(fitted.predict(pair), [0, 1])


def test_lines_do_not_overshoot_their_upper_end():
    # Made so that every rounding is a tie that goes up: (p - x0) / (x1 - x0) becomes 1, and
    # v0 + (v1 - v0) becomes more than v1.
    u = 2.0**-53
    nodes, values = np.array([u / 2, 0.5 + 3 * u]), np.array([1.5 * u, 0.5 + 3 * u])
    assert values[0] + (values[1] - values[0]) > values[1]
    assert np.all(np.diff(interpolate(np.array([0.5 + 2 * u, nodes[1]]), nodes, values)) >= 0)


def test_mean_predictions_stay_in_their_part():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(2000))
    mass = rng.random(2000)
    parts = summarise((x, mass, mass / 2), np.arange(2000))
    np.testing.assert_array_equal(parts.mean_p, x)
    assert np.any(mass * x / mass != x)


def test_isotonic_blocks_may_start_on_any_grid():
    mass = np.ones(100)
    cuts = candidate_cuts(mass, [0, 3, 41, 97], 4)
    assert {0, 3, 41, 97} < set(cuts.tolist())
    assert len(cuts) <= 4 + 3
    assert candidate_cuts(mass, [0, 3], None) is None
    assert candidate_cuts(mass, [0, 3], 100) is None
