"""Resampling: replicates are the measures themselves, tests keep their level, seeds their word."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from scipy.stats import bootstrap, kstest

from skcal import inference, metrics, swap_regret
from skcal._numerics import _replicates

KERNELS = [
    (metrics.cutoff_calibration_error, {}, _replicates.cutoff_kernel),
    (metrics.smooth_calibration_error, {}, _replicates.smooth_kernel),
    (metrics.calibration_decision_loss, {}, _replicates.decision_kernel),
    (metrics.expected_calibration_error, {"n_bins": 7}, lambda p: _replicates.binned_kernel(p, 7)),
    (metrics.soft_calibration_decision_loss, {}, _replicates.SoftKernel),
    (
        metrics.soft_calibration_decision_loss,
        {"n_bins": 8},
        lambda p: _replicates.SoftKernel(p, 8),
    ),
]
SLOW = (metrics.smooth_ece, metrics.interval_calibration_error, metrics.actionable_binned_error)
MEASURES = [*{row[0]: None for row in KERNELS}, *SLOW]
UTILITY = {"ham": {"keep": 1, "drop": 0}, "spam": {"keep": -5, "drop": 0}}


def data(seed, n=60, power=1.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n) if seed % 3 else rng.integers(0, 11, n) / 10
    return rng.integers(0, 4, n) + (np.arange(n) == 0), p, (rng.random(n) < p**power).astype(int)


@pytest.mark.parametrize(("measure", "options", "kernel"), KERNELS)
def test_kernels_are_the_measures(measure, options, kernel):
    for seed in range(12):
        _, p, _ = data(seed)
        p = np.sort(p)
        rng = np.random.default_rng(seed)
        mass = rng.integers(0, 3, (4, p.size)) * rng.random(p.size).round(2) + (p == p.max())
        y = (rng.random((4, p.size)) < p).astype(int)
        values = kernel(p)(mass, mass * y)[:, 0]
        expected = [measure(o, p, sample_weight=m, **options) for m, o in zip(mass, y, strict=True)]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
        for masses, outcomes in ((mass[0], y), (mass, y[0])):  # one line for all
            values = kernel(p)(masses, masses * outcomes)[:, 0]
            lines = zip(*np.broadcast_arrays(outcomes, masses), strict=True)
            expected = [measure(o, p, sample_weight=m, **options) for o, m in lines]
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_the_second_column_of_scdl_is_the_next_loss():
    _, p, y = data(1, 400)
    order = np.argsort(p)
    found = _replicates.SoftKernel(p[order])(np.ones(p.size), y[order][None])[0]
    certificate = metrics.scdl(y, p, return_certificate=True)
    assert found == pytest.approx([certificate.value, certificate.next_loss], abs=1e-12)


@pytest.mark.parametrize("n_bins", [None, 3, 8])
@pytest.mark.parametrize("tied", [False, True])
def test_soft_kernel_of_rows_is_that_of_their_counts(n_bins, tied):
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(70_000).round(2 if tied else 9))
    kernel = _replicates.SoftKernel(p, n_bins)
    row = rng.integers(0, p.size, (3, p.size))
    positive = rng.random(row.shape) < p[row] ** [[1.0], [1.5], [3.0]]
    halves = slice(40_000), slice(40_000, None)
    pieces = [[(row[k, half], positive[k, half]) for half in halves] for k in range(3)]
    count, ones = np.zeros((2, *row.shape))
    for k in range(3):
        np.add.at(count[k], row[k], 1)
        np.add.at(ones[k], row[k], positive[k])
    found = kernel.of_rows(pieces)
    known = ~np.isnan(found)
    assert known[1:].all()
    assert np.allclose(found[known], kernel(count, ones)[known], rtol=0, atol=1e-13)


def test_soft_kernel_takes_the_slow_path_where_its_grid_is_too_coarse():
    p = np.repeat([0.5 - 1e-9, 0.5 + 1e-9], 8)
    y = np.repeat([1, 0], 8)
    found = _replicates.SoftKernel(p)(np.ones((2, p.size)), y.astype(float))
    assert found[:, 0] == pytest.approx(metrics.scdl(y, p), rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
def test_every_measure_has_every_inference(measure):
    _, p, y = data(2, 80, power=1.5)
    options = {"n_resamples": 19, "random_state": 0}
    interval = inference.bootstrap_interval(measure, y, p, **options)
    assert interval.value == measure(y, p)
    assert 0 <= interval.low <= interval.value <= interval.high
    assert interval.standard_error > 0
    test = inference.calibration_test(measure, y, p, **options)
    assert test.statistic == interval.value
    assert 0.05 <= test.pvalue <= 1
    reference = inference.null_reference(measure, y, p, **options)
    assert reference.quantiles[0.05] <= reference.quantiles[0.5] <= reference.quantiles[0.95]
    difference = inference.compare(measure, y, p, p**2, **options)
    assert difference.value == pytest.approx(measure(y, p) - measure(y, p**2), abs=1e-15)
    other = inference.compare(measure, y, p**2, p, **options)
    assert difference.low == pytest.approx(-other.high, abs=1e-12)
    same = inference.compare(measure, y, p, p, **options)
    assert (same.value, same.low, same.high, same.standard_error) == (0, 0, 0, 0)


@pytest.mark.parametrize("function", ["bootstrap_interval", "calibration_test", "null_reference"])
def test_workers_and_seeds(function):
    call = getattr(inference, function)
    _, p, y = data(4, 300)
    for measure in (metrics.scdl, metrics.smce):
        options = {"n_resamples": 50, "random_state": 7}
        first = call(measure, y, p, n_jobs=1, **options)
        assert first == call(measure, y, p, n_jobs=2, **options)
        assert first == call(measure, y, p, **{**options, "random_state": np.random.RandomState(7)})
    if function != "calibration_test":
        assert first != call(metrics.smce, y, p, n_resamples=50, random_state=8)


@pytest.mark.parametrize("measure", MEASURES[:5], ids=lambda m: m.__name__)
def test_statistics_of_weights_are_those_of_copies(measure):
    w, p, y = data(5)
    k = np.repeat(np.arange(p.size), w)
    options = {"n_resamples": 9, "random_state": 0}
    weighted = inference.calibration_test(measure, y, p, sample_weight=w, **options).statistic
    copied = inference.calibration_test(measure, y[k], p[k], **options).statistic
    assert weighted == pytest.approx(copied, abs=1e-13)


@pytest.mark.parametrize("method", ["auto", "percentile"])
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
def test_upper_ends_stay_in_the_range_of_the_measure(measure, method):
    highest = {metrics.scdl: 0.5, metrics.actionable_binned_error: 2}.get(measure, 1)
    options = {"method": method, "confidence": 0.9, "n_resamples": 9, "random_state": 0}
    for p in (np.full(20, 0.01), np.linspace(0.0, 0.3, 20)):
        found = inference.bootstrap_interval(measure, np.ones(20, dtype=int), p, **options)
        assert found.value <= found.high <= highest


def test_upper_ends_of_other_scales_are_not_cut():
    options = {"n_resamples": 39, "random_state": 0}
    y, p = np.repeat([1, 0], [18, 2]), np.linspace(0.01, 0.3, 20)
    found = inference.bootstrap_interval(swap_regret, y, p, utility=[[0, -9], [-9, 0]], **options)
    assert found.value < found.high
    assert found.high > 2
    found = inference.bootstrap_interval(_tenfold, y, p, **options)
    assert found.value < found.high
    assert found.high > 2


def _tenfold(y_true, y_proba, sample_weight=None):
    return 10 * metrics.ece(y_true, y_proba, sample_weight=sample_weight)


def test_groups_are_resampled_as_wholes():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p**1.5).astype(int)
    k = np.repeat(np.arange(200), 9)  # nine copies of each row know no more than one
    options = {"random_state": 0, "n_resamples": 300}
    error = [
        inference.bootstrap_interval(metrics.smce, y, p, **options).standard_error,
        inference.bootstrap_interval(
            metrics.smce, y[k], p[k], groups=k.astype(str), **options
        ).standard_error,
        inference.bootstrap_interval(metrics.smce, y[k], p[k], **options).standard_error,
    ]
    assert error[1] == pytest.approx(error[0], rel=0.2)
    assert error[2] == pytest.approx(error[0] / 3, rel=0.2)


def test_groups_follow_their_rows_when_weights_are_zero():
    _, p, y = data(7)
    w = np.arange(p.size) % 3
    groups = np.arange(p.size) // 4
    options = {"random_state": 0, "n_resamples": 20}
    dropped = inference.bootstrap_interval(
        metrics.cutoff_calibration_error, y[w > 0], p[w > 0],
        sample_weight=w[w > 0], groups=groups[w > 0], **options,
    )  # fmt: skip
    zeroed = inference.bootstrap_interval(
        metrics.cutoff_calibration_error, y, p, sample_weight=w, groups=groups, **options
    )
    assert zeroed == dropped


@pytest.mark.parametrize("pos_label", ["ham", "spam"])
def test_labels_and_utilities(pos_label):
    _, p, y = data(8)
    labels = np.array(["ham", "spam"] if pos_label == "spam" else ["spam", "ham"])[y]
    options = {"n_resamples": 19, "random_state": 0, "pos_label": pos_label}
    found = inference.bootstrap_interval(swap_regret, labels, p, utility=UTILITY, **options)
    assert found.value == swap_regret(labels, p, UTILITY, pos_label=pos_label)
    assert found.standard_error > 0
    numbers = inference.calibration_test(metrics.scdl, y, p, n_resamples=19, random_state=0)
    assert inference.calibration_test(metrics.scdl, labels, p, **options) == numbers


def rejections(measure, n, repeats, n_resamples=99):
    rng = np.random.default_rng(3)
    pvalues = []
    for _ in range(repeats):
        p = rng.random(n)
        y = (rng.random(n) < p).astype(int)
        seed = int(rng.integers(2**31))
        test = inference.calibration_test(measure, y, p, n_resamples=n_resamples, random_state=seed)
        pvalues.append(test.pvalue)
    return np.array(pvalues)


def assert_level(pvalues, n_resamples=99):
    for a in (0.01, 0.05, 0.1, 0.2):
        limit = a + 1 / (n_resamples + 1)
        error = np.sqrt(limit * (1 - limit) / pvalues.size)
        assert np.mean(pvalues <= a) <= limit + 3 * error


@pytest.mark.parametrize("measure", [metrics.scdl, metrics.cutoff_calibration_error])
def test_tests_keep_their_level(measure):
    assert_level(rejections(measure, 100, 150))


@pytest.mark.verify
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
def test_tests_keep_their_level_on_many_samples(measure):
    pvalues = rejections(measure, 100, 600)
    assert_level(pvalues)
    assert np.mean(pvalues) < 0.6  # not conservative either: ties are broken


def test_miscalibration_is_found():
    _, p, y = data(1, 400, power=2.0)
    for measure in (metrics.scdl, metrics.smce):  # the CDL of distinct forecasts has no power
        assert inference.calibration_test(measure, y, p, random_state=0).pvalue <= 0.01
    interval = inference.bootstrap_interval(metrics.smce, y, p, random_state=0)
    assert interval.low < 1 / 6 < interval.high  # its value for p uniform, P(y) = p^2


def test_intervals_of_calibrated_forecasts_reach_zero():
    rng = np.random.default_rng(5)
    reached = []
    for _ in range(30):
        p = rng.random(300)
        y = (rng.random(300) < p).astype(int)
        found = inference.bootstrap_interval(metrics.smce, y, p, n_resamples=99, random_state=0)
        reached.append(found.low == 0)
    assert np.mean(reached) >= 0.8  # 0.95 on average


def test_results_are_frozen_and_show_their_numbers():
    _, p, y = data(2)
    result = inference.calibration_test(metrics.cdl, y, p, n_resamples=9, random_state=0)
    assert "pvalue" in repr(result)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "'confidence' parameter of bootstrap_interval"),
        ({"n_resamples": 18}, "n_resamples must be at least 19 at this confidence; got 18"),
        ({"n_bins": 0}, "'n_bins' parameter of .* must be an int in the range"),
        ({"return_certificate": True}, "params must leave return_certificate out"),
        ({"n_resamples": 3}, "'n_resamples' parameter of bootstrap_interval"),
        ({"groups": [1, 2]}, r"groups must have the length of y_true \(60\); got length 2"),
        ({"groups": np.zeros(60)}, "groups must name at least two groups"),
        ({"sample_weight": -np.ones(60)}, "sample_weight must be finite and not negative"),
    ],
)
def test_errors(options, message):
    _, p, y = data(2)
    with pytest.raises(ValueError, match=message):
        inference.bootstrap_interval(metrics.scdl, y, p, **options)


def test_other_measures_have_no_floor():
    def bias(y_true, y_proba, sample_weight=None):
        return np.average(y_true - y_proba, weights=sample_weight)

    _, p, y = data(2, 200)
    found = inference.bootstrap_interval(bias, y, np.minimum(p + 0.3, 1), random_state=0)
    assert found.low < found.value < found.high < 0


def test_weights_of_groups_may_be_a_column():
    _, p, y = data(7)
    w = (np.arange(p.size) % 3)[:, None]
    options = {"groups": np.arange(p.size) // 4, "random_state": 0, "n_resamples": 20}
    column = inference.bootstrap_interval(metrics.scdl, y, p, sample_weight=w, **options)
    assert column == inference.bootstrap_interval(
        metrics.scdl, y, p, sample_weight=w[:, 0], **options
    )


@pytest.mark.verify
@pytest.mark.parametrize("measure", [metrics.smce, metrics.cutoff_calibration_error])
def test_pvalues_are_uniform(measure):
    pvalues = rejections(measure, 100, 600, n_resamples=199)
    assert kstest(pvalues - 0.5 / 200, "uniform").pvalue > 0.001


@pytest.mark.parametrize("method", ["percentile", "bca", "isotonic"])
def test_methods_of_intervals(method):
    _, p, y = data(2, 500, power=1.7)
    found = inference.bootstrap_interval(metrics.smce, y, p, method=method, random_state=0)
    assert found.low < 1 - 1 / 2.7 - 0.5 < found.high  # E p - p^1.7 for p uniform
    assert found.high - found.low < 0.12


def test_bca_is_that_of_a_mean():
    # of a plain mean the corrections are small, and known: skewness / (6 sqrt(n))
    def rate(y_true, y_proba, sample_weight=None):
        return np.average(y_true, weights=sample_weight)

    y = np.zeros(60, dtype=int)
    y[:6] = 1
    found = inference.bootstrap_interval(
        rate, y, np.linspace(0.1, 0.9, 60), method="bca", random_state=0, n_resamples=4000
    )
    reference = bootstrap((y,), np.mean, method="BCa", n_resamples=4000, random_state=0)
    ends = reference.confidence_interval
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=0.017)  # one row


@pytest.mark.parametrize("function", ["bootstrap_interval", "calibration_test", "compare"])
def test_functions_without_weights_are_refused(function):
    def mean(y_true, y_proba):
        return np.mean(y_true - y_proba)

    _, p, y = data(2)
    arrays = (y, p, p) if function == "compare" else (y, p)
    with pytest.raises(ValueError, match=r"measure must take sample_weight.*got mean"):
        getattr(inference, function)(mean, *arrays)


def test_more_errors():
    _, p, y = data(2)
    with pytest.raises(ValueError, match="'n_jobs' parameter of calibration_test"):
        inference.calibration_test(metrics.ece, y, p, n_jobs=0)
    with pytest.raises(ValueError, match="proba_b must lie in"):
        inference.compare(metrics.ece, y, p, p + 1)
    groups = np.arange(60) // 3
    with pytest.raises(ValueError, match="'method' parameter of bootstrap_interval must be 'perc"):
        inference.bootstrap_interval(metrics.ece, y, p, groups=groups, method="isotonic")
    by_groups = inference.bootstrap_interval(metrics.ece, y, p, groups=groups, method="bca")
    assert by_groups.low <= by_groups.value <= by_groups.high


def test_isotonic_rates_do_not_depend_on_the_order_of_ties():
    p, y = np.repeat([0.2, 0.8], 10), np.tile([0, 1], 10)
    options = {"n_resamples": 50, "random_state": 0}
    first = inference.bootstrap_interval(metrics.smce, y, p, **options)
    other = inference.bootstrap_interval(metrics.smce, y[::-1], p, **options)
    assert (first.value, first.high) == pytest.approx((other.value, other.high), abs=0.05)
    # rates of 1/2 in both groups, not of 0 and of 1
    assert first.standard_error > 0.03


def test_labels_reach_the_measures_that_take_them():
    rng = np.random.default_rng(1)
    p = rng.random(100)
    y = (rng.random(100) < p).astype(int)
    table = [[0, -5], [-1, 0]]
    options = {"n_resamples": 19, "random_state": 0}
    for labels, positive in ((y, 0), (y == 1, False), (2 * y - 1, -1), (2 * y - 1, None)):
        found = inference.bootstrap_interval(
            swap_regret, labels, p, pos_label=positive, utility=table, **options
        )
        assert found.value == swap_regret(labels, p, table, pos_label=positive)
    named = {-1: {"a": 0, "b": -5}, 1: {"a": -1, "b": 0}}
    found = inference.calibration_test(swap_regret, 2 * y - 1, p, utility=named, **options)
    assert found.statistic == swap_regret(2 * y - 1, p, named)


def test_partial_functions_are_their_functions():
    _, p, y = data(2)
    options = {"n_resamples": 39, "random_state": 0}
    plain = inference.bootstrap_interval(metrics.ece, y, p, n_bins=7, **options)
    bound = partial(metrics.ece, n_bins=7)
    assert inference.bootstrap_interval(bound, y, p, **options) == plain


def test_a_measure_of_one_s_own_sees_outcomes():
    def seen(y_true, y_proba, sample_weight=None):
        assert set(np.unique(y_true)) <= {0, 1}
        return np.average(y_true, weights=sample_weight)

    _, p, y = data(2)
    names = np.where(y == 1, "a", "b")
    found = inference.bootstrap_interval(seen, names, p, pos_label="a", n_resamples=39)
    assert found.value == np.mean(y)


@pytest.mark.parametrize("function", ["bootstrap_interval", "calibration_test", "null_reference"])
@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        (metrics.ece, {"n_bins": 0}, "'n_bins' parameter of .* must be an int"),
        (metrics.ece, {"n_bins": 2.5}, "'n_bins' parameter of .* must be an int"),
        (metrics.scdl, {"n_bins": "a"}, "'n_bins' parameter of .* must be an int"),
        (metrics.ece, {"n_bin": 3}, "params must be the further arguments of expected_.*'n_bin'"),
        (swap_regret, {}, "params must be the further arguments of swap_regret.*'utility'"),
        (metrics.score_decomposition, {}, "measure must return a finite number; got ScoreDecomp"),
        (max, {}, "measure must be a function of y_true, y_proba and sample_weight; got <built-in"),
        (lambda y, p, sample_weight=None: np.nan, {}, "measure must return a finite number; got"),
    ],
)
def test_measures_that_do_not_fit(function, measure, options, message):
    _, p, y = data(2)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(inference, function)(measure, y, p, **options)


def test_measures_that_fail_on_some_resamples():
    with pytest.raises(ValueError, match="measure must return finite numbers on resampled rows"):
        inference.bootstrap_interval(
            lambda y, p, sample_weight=None: np.nan if np.ptp(y) == 0 else 1.0,
            [0, 1, 1, 1],
            [0.1, 0.2, 0.3, 0.4],
            random_state=0,
        )


def test_small_samples_and_rare_events():
    with pytest.raises(ValueError, match="y_true must hold at least two rows for method='bca'"):
        inference.bootstrap_interval(metrics.smce, [1], [0.3], method="bca")
    # a hundred zeros do not rule out a rate of one in a hundred
    found = inference.bootstrap_interval(metrics.smce, [0] * 100, [0.001] * 100, random_state=0)
    assert found.high >= 0.009
    assert inference.bootstrap_interval(metrics.smce, [1], [0.9], random_state=0).high > 0.3


def test_the_least_number_of_draws_suffices():
    p, y = np.linspace(0.1, 0.3, 100), np.repeat([1, 0], [90, 10])
    options = {"confidence": 0.9, "random_state": 0}
    assert inference.bootstrap_interval(metrics.smce, y, p, n_resamples=9, **options).low > 0.5
    with pytest.raises(ValueError, match="n_resamples must be at least 999 at this confidence"):
        inference.compare(metrics.ece, y, p, p**2, confidence=0.999, n_resamples=9)
