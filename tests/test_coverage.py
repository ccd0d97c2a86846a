"""Intervals hold what they claim to: the error of the population, neither too rarely nor always."""

from bisect import bisect_left

import numpy as np
import pytest

from skcal import inference, metrics
from skcal._validation import check_samples
from skcal.inference import _intervals
from skcal.inference._draws import isotonic_rates, study_of_samples

CURVES = {
    "squared": lambda p: p**2,
    "over-confident": lambda p: 0.5 + 0.6 * (p - 0.5),
    "biased": lambda p: np.minimum(p + 0.1, 1),
    "under-confident": lambda p: np.clip(0.5 + 1.6 * (p - 0.5), 0, 1),
    "mild": lambda p: p**1.5,
    "one bin": lambda p: np.where(p > 0.9, 0.6, p),
    "wave": lambda p: np.clip(p + 0.15 * np.sin(6 * np.pi * p), 0, 1),
}
KINDS = [("squared", True), *((curve, False) for curve in CURVES)]


def population(measure, curve, options, tied):
    """The error of the population: each forecast with both outcomes, at its rate."""
    p = np.arange(1, 20) / 20 if tied else (np.arange(100_000) + 0.5) / 100_000
    rate = CURVES[curve](p)
    y, w = np.repeat([1, 0], p.size), np.append(rate, 1 - rate)
    return measure(y, np.tile(p, 2), sample_weight=w, **options)


def coverage(measure, options, curve, n, repeats, tied=False):
    truth, covered = population(measure, curve, options, tied), []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n])
        p = rng.integers(1, 20, n) / 20 if tied else rng.random(n)
        y = (rng.random(n) < CURVES[curve](p)).astype(int)
        found = inference.bootstrap_interval(
            measure, y, p, n_resamples=199, random_state=seed, **options
        )
        covered.append(found.low <= truth <= found.high)
    return np.mean(covered)


ESTIMABLE = [
    (metrics.smooth_calibration_error, {}),
    (metrics.cutoff_calibration_error, {}),
    (metrics.soft_calibration_decision_loss, {"n_bins": 8}),
    (metrics.soft_calibration_decision_loss, {}),
    (metrics.expected_calibration_error, {}),
]


@pytest.mark.parametrize(("measure", "options"), ESTIMABLE)
def test_intervals_cover_the_population(measure, options):
    # 92 of 100 on average is the least that is promised: 3 standard errors below it
    assert coverage(measure, options, "squared", 200, 60) >= 0.92 - 3 * np.sqrt(0.92 * 0.08 / 60)


def test_ece_keeps_the_bias_of_calibrated_bins():
    measure, options = metrics.ece, {"n_bins": 10}
    assert coverage(measure, options, "one bin", 1000, 60) >= 0.92 - 3 * np.sqrt(0.92 * 0.08 / 60)


@pytest.mark.verify
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize(("measure", "options"), ESTIMABLE)
def test_intervals_cover_the_population_of_every_kind(measure, options, n):
    found = [coverage(measure, options, curve, n, 300, tied) for curve, tied in KINDS]
    assert min(found) >= 0.92 - 3 * np.sqrt(0.92 * 0.08 / 300)
    if n == 1000 and (measure, options) in ESTIMABLE[:3]:  # one resolution: not too wide either
        assert np.mean(found) <= 0.98


ONE_FORECAST = [metrics.smce, metrics.cutoff_calibration_error, metrics.ece]


@pytest.mark.parametrize("measure", ONE_FORECAST, ids=lambda m: m.__name__)
def test_ends_of_one_forecast_are_those_of_its_rate(measure):
    # the error is the distance of a rate from 1/2, whose uncertainty is known
    n, rate = 2000, 0.56
    y, p = np.arange(n) < rate * n, np.full(n, 0.5)
    found = inference.bootstrap_interval(measure, y, p, random_state=0)
    error = np.sqrt(rate * (1 - rate) / n)
    assert found.standard_error == pytest.approx(error, rel=0.1)
    assert (found.value - found.low) / error == pytest.approx(1.96, abs=0.3)
    assert (found.high - found.value) / error == pytest.approx(1.96, abs=0.3)


@pytest.mark.parametrize("measure", ONE_FORECAST, ids=lambda m: m.__name__)
def test_upper_ends_allow_for_a_bias_that_did_not_show(measure):
    n = 400
    y, p = np.arange(n) % 2, np.full(n, 0.5)  # no error at all, by chance
    found = inference.bootstrap_interval(measure, y, p, random_state=0)
    assert (found.value, found.low) == (0, 0)
    assert found.high >= 1.959 * 0.5 / np.sqrt(n)


def test_most_bias_is_the_end_of_the_mean_residual():
    rng = np.random.default_rng(0)
    p, w = rng.random(500), rng.integers(1, 4, 500)
    y = (rng.random(500) < p**1.5).astype(int)
    options = {"pos_label": None, "multiclass": "raise", "labels": None}
    samples = check_samples(y, p, w, **options).samples
    study = study_of_samples(metrics.smce, samples, {})
    residual = y - p
    mean = np.average(residual, weights=w)
    error = np.sqrt(np.sum((w * (residual - mean)) ** 2)) / w.sum()
    found = _intervals._most_bias(study, isotonic_rates(study), 0.975)
    assert found == pytest.approx(abs(mean) + 1.96 * error, rel=0.03)


@pytest.mark.parametrize(
    ("measure", "params", "seed"),
    [(metrics.cutoff_calibration_error, {}, 0), (metrics.scdl, {"n_bins": 8}, 8)],
)
def test_lower_ends_are_errors_whose_draws_reach_the_value(measure, params, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(300)
    y = (rng.random(300) < CURVES["under-confident"](p)).astype(int)
    found = inference.bootstrap_interval(measure, y, p, random_state=0, **params)
    # samples of populations between the forecasts and what y suggests, made by hand
    rates = isotonic_rates(study_of_samples(measure, check_samples(y, p).samples, {}))[0]
    p = np.sort(p)

    def reaches(share):
        rate = p + share * (rates - p)
        rows = rng.integers(0, 300, (400, 300))
        outcomes = (rng.random(rows.shape) < rate[rows]).astype(int)
        values = [measure(o, p[r], **params) for o, r in zip(outcomes, rows, strict=True)]
        return np.quantile(values, 0.975) >= found.value

    share = bisect_left(range(21), True, key=lambda k: reaches(k / 20)) / 20
    outcomes, errors = np.repeat([1, 0], 300), []
    for near in np.clip([share - 0.15, share + 0.05], 0, 1):  # the quantiles are of 200 draws
        rate = p + near * (rates - p)
        weights = np.append(rate, 1 - rate)
        errors.append(measure(outcomes, np.tile(p, 2), sample_weight=weights, **params))
    assert errors[0] <= found.low <= errors[1]


@pytest.mark.parametrize("method", ["isotonic", "percentile", "bca"])
def test_lower_ends_are_zero_where_the_first_draws_do_not_reject(method):
    rejected = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        p = rng.random(120)
        y = (rng.random(120) < CURVES["mild"](p)).astype(int)
        options = {"n_resamples": 250, "random_state": seed}
        found = inference.bootstrap_interval(metrics.smce, y, p, method=method, **options)
        options["n_resamples"] = 200  # that many of the draws decide at 95%
        rejected.append(inference.calibration_test(metrics.smce, y, p, **options).pvalue <= 0.05)
        assert rejected[-1] or found.low == 0
    assert 5 < sum(rejected) < 20
