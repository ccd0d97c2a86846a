"""The calibration distance as users call it: values, targets, methods, weights, refusals."""

import dataclasses
import json
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from skcal import get_scorer, inference, metrics
from skcal.metrics import calibration_distance
from skcal.theory import calibration_distance_of_distribution, make_hardness_instance
from tests.oracles_distance import KINDS, awkward, make, nearest_partition_cost

# Small samples are often hard, which has a warning and tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

EQUAL = ("auto", "exact", "dp", "types")


def certified(y, p, **options):
    return calibration_distance(y, p, return_certificate=True, **options)


def instance(seed, most=9):
    """A small instance, often an awkward one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    if seed % 2:
        p, y = awkward(n, rng)
    else:
        p, y = make(n, KINDS[seed // 2 % len(KINDS)], rng)
    return np.asarray(y, dtype=int), p


@pytest.mark.parametrize("e", [0.05, 1e-3, 0.02])
def test_example_of_the_paper(e):
    y, p = [0, 1, 0, 1], [0.5 - e, 0.5 - e, 0.5 + e, 0.5 + e]
    found = certified(y, p)
    assert found.value == pytest.approx(e, abs=1e-15)
    assert found.exact
    assert found.targets.tolist() == [0.5] * 4
    lower = metrics.lower_calibration_distance(y, p, tol=1e-6)
    assert lower == pytest.approx(2 * e**2 / (1 + 2 * e), abs=1e-6)


@pytest.mark.parametrize("method", EQUAL)
def test_methods_are_brute_force(method):
    for seed in range(60):
        y, p = instance(seed)
        found = certified(y, p, method=method)
        assert found.value == pytest.approx(nearest_partition_cost(p, y) / p.size, abs=1e-12)
        assert found.exact
        assert found.verify() is True


@pytest.mark.verify
@pytest.mark.parametrize("block", range(10))
def test_methods_are_brute_force_on_many_instances(block):
    for seed in range(1000 + 200 * block, 1200 + 200 * block):
        y, p = instance(seed, 11)
        expected = nearest_partition_cost(p, y) / p.size
        for method in EQUAL:
            assert calibration_distance(y, p, method=method) == pytest.approx(expected, abs=1e-12)


def test_unequal_weights_are_brute_force_when_few():
    for seed in range(40):
        y, p = instance(seed)
        w = np.random.default_rng(seed).integers(1, 5, p.size) / 4
        found = certified(y, p, sample_weight=w, method="exact")
        expected = nearest_partition_cost(p, y, w) / w.sum()
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.verify() is True
        for method in ("bounds", "auto"):
            bounds = certified(y, p, sample_weight=w, method=method)
            assert bounds.lower <= expected + 1e-12
            assert bounds.value >= expected - 1e-12
            assert bounds.verify() is True


@pytest.mark.parametrize("seed", range(30))
def test_schemes_are_within_eps(seed):
    y, p = instance(seed, 8)
    w = np.random.default_rng(seed).integers(1, 4, p.size) if seed % 3 else None
    exact = nearest_partition_cost(p, y, w) / (p.size if w is None else w.sum())
    for method, eps in (("ptas", 0.2), ("ptas", 0.5), ("types", 0.3)):
        found = certified(y, p, sample_weight=w, method=method, eps=eps)
        assert exact - 1e-12 <= found.value <= exact + eps
        assert found.lower <= exact + 1e-12
        assert found.verify() is True


@pytest.mark.parametrize("kind", KINDS)
def test_laws(kind):
    rng = np.random.default_rng(3)
    p, y = make(150, kind, rng)
    value = calibration_distance(y, p)
    assert metrics.lower_calibration_distance(y, p) <= value + 1e-5
    assert value <= metrics.ece(y, p, n_bins=None) + 1e-12
    order = rng.permutation(150)
    assert calibration_distance(y[order], p[order]) == pytest.approx(value, abs=1e-12)
    assert calibration_distance(1 - y, 1 - p) == pytest.approx(value, abs=1e-11)
    moved = np.clip(p + rng.uniform(-0.02, 0.02, 150), 0, 1)
    assert abs(calibration_distance(y, moved) - value) <= np.abs(moved - p).mean() + 1e-9


def test_targets_are_in_the_order_of_the_rows():
    y, p = [1, 0, 1, 0, 1], [0.9, 0.2, 0.1, 0.85, 0.15]
    found = certified(y, p)
    assert found.targets.shape == (5,)
    assert np.abs(found.targets - p).mean() == pytest.approx(found.value, abs=1e-15)
    for u in np.unique(found.targets):
        assert np.mean(np.array(y)[found.targets == u]) == pytest.approx(u, abs=1e-15)
    assert found.n_parts == np.unique(found.targets).size


def test_rows_of_weight_zero_keep_their_place_and_their_prediction():
    y, p = np.array([1, 0, 1, 0, 1, 1]), np.array([0.9, 0.2, 0.1, 0.85, 0.15, 0.7])
    w = np.array([0, 1, 2, 1, 0, 1])
    found, kept = (
        certified(y, p, sample_weight=w),
        certified(y[w > 0], p[w > 0], sample_weight=w[w > 0]),
    )
    assert found.targets[w > 0].tolist() == kept.targets.tolist()
    assert found.targets[w == 0].tolist() == p[w == 0].tolist()
    assert found.value == kept.value
    assert found.verify() is True
    assert found.n_parts == kept.n_parts


def test_weights_that_repeat_are_copies_and_those_that_do_not_cost_more():
    y, p, w = np.array([0, 1]), np.array([0.3, 0.7]), np.array([2, 2])
    for k, expected in ((1, 0.2), (2, 0.55 / 3), (3, 13 / 90)):
        repeated = certified(y, p, sample_weight=k * w / 2, weights="repeat")
        copies = certified(np.repeat(y, k), np.repeat(p, k))
        assert repeated.value == copies.value
        assert repeated.value == pytest.approx(expected, abs=1e-12)
        assert repeated.targets.size == 2 * k
        assert repeated.verify() is True
        assert calibration_distance(y, p, sample_weight=k * w) == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_the_exact_value(kind):
    p, y = make(300, kind, np.random.default_rng(1))
    exact, bounds = certified(y, p, method="exact"), certified(y, p, method="bounds")
    assert exact.exact
    assert bounds.lower <= exact.value + 1e-12
    assert exact.value <= bounds.value + 1e-12
    assert bounds.value - bounds.lower <= 0.05 * bounds.value + 3 / 300
    assert exact.verify() is True
    assert bounds.verify() is True
    limited = certified(y, p, method="exact", max_work=1)
    assert limited.lower <= exact.value <= limited.value + 1e-12
    again = certified(y, p, method="exact", max_work=1)
    assert (again.lower, again.upper) == (limited.lower, limited.upper)


PROOFS = {
    "one class": ([1, 1, 1], [0.2, 0.5, 0.5], {}),
    "program": ([0, 1, 1, 0, 1], [0.2, 0.9, 0.8, 0.1, 0.2], {"method": "dp"}),
    "exact pass": (*make(60, "cal", np.random.default_rng(0))[::-1], {}),
    "multipliers": (
        *make(30, "over", np.random.default_rng(0))[::-1],
        {"sample_weight": np.random.default_rng(1).random(30)},
    ),
}


@pytest.mark.parametrize("lower_by", PROOFS)
def test_certificates_notice_a_forged_lower_end(lower_by):
    y, p, options = PROOFS[lower_by]
    found = certified(y, p, **options)
    assert found.lower_by == lower_by
    assert found.verify() is True
    if lower_by == "one class":
        other = dataclasses.replace(found, y=1 - found.y, targets=1 - found.targets)
        assert other.verify() is False
    elif found.exact:  # a worse partition, said to be the nearest
        targets = np.full(len(y), np.average(y, weights=found.weight))
        value = float(found.weight @ np.abs(p - targets))
        assert value > found.value + 1e-6
        forged = dict.fromkeys(("value", "lower", "upper"), value)
        assert dataclasses.replace(found, targets=targets, **forged).verify() is False
    else:
        assert dataclasses.replace(found, lower=found.lower + 1e-6).verify() is False
    if lower_by != "one class":
        assert dataclasses.replace(found, lower_by="one class").verify() is False
    json.dumps(found.to_dict(), allow_nan=False)


def test_certificates_notice_foreign_weights_and_soft_outcomes():
    p, y = make(60, "cal", np.random.default_rng(0))
    found = certified(y, p)
    weight = found.weight + np.where(np.arange(60) < 30, 1e-3, -1e-3)
    assert dataclasses.replace(found, weight=weight).verify() is False
    assert dataclasses.replace(found, y=found.y / 2).verify() is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "ptas"}, "'eps' parameter .*Got None with method='ptas'"),
        ({"eps": 0.1}, "'eps' parameter .*Got 0.1 with method='auto'"),
        ({"eps": 2.0, "method": "ptas"}, r"'eps' parameter .* range \(0"),
        ({"eps": 1e-9, "method": "ptas"}, "'eps' parameter .* be at least 0.005. Got 1e-09"),
        ({"method": "fast"}, "'method' parameter of calibration_distance must be a str among"),
        ({"weights": "copies"}, "'weights' parameter of calibration_distance"),
        ({"max_work": 0}, "'max_work' parameter of calibration_distance"),
        ({"weights": "repeat", "sample_weight": [1, 1.5, 1, 1]}, "whole numbers .*got 1.5"),
        ({"weights": "repeat", "sample_weight": [1e9, 1, 1, 1]}, "sum to at most .*10000"),
        ({"weights": "repeat", "sample_weight": [2.0**62] * 4}, "sum to at most .*; got 1.8"),
        ({"method": "dp", "sample_weight": [1, 2, 1, 1]}, "'method' .*'dp' is for equal weights"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        calibration_distance([0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4], **options)


def test_sizes_that_cannot_finish_are_refused_with_an_estimate():
    p, y = make(3000, "cal", np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"'method' parameter .* max_work at least .*e\+"):
        calibration_distance(y, p, method="dp")
    w = np.random.default_rng(0).random(3000)
    with pytest.raises(ValueError, match=r"'method' parameter .* max_work at least 1e\d+"):
        calibration_distance(y, p, sample_weight=w, method="exact")
    with pytest.raises(ValueError, match=r"'method' parameter .* max_work at least"):
        calibration_distance(y[:17], p[:17], sample_weight=w[:17], method="exact")
    with pytest.raises(ValueError, match="'eps' parameter of calibration_distance must be larger"):
        calibration_distance(y[:60], p[:60], sample_weight=w[:60], method="ptas", eps=0.05)


def test_distributions():
    mean, p, mass, threshold = make_hardness_instance([1, 2, 4], 3)
    for scale in (1.0, 7.0):
        found = calibration_distance_of_distribution(
            mean, p, scale * mass, return_certificate=True, method="exact"
        )
        assert found.value == pytest.approx(threshold, abs=1e-12)
        assert found.verify() is True
    mean, p, mass, threshold = make_hardness_instance([2, 4, 6], 3)  # no subset
    assert calibration_distance_of_distribution(mean, p, mass) > threshold + 1e-6
    y, p = instance(4)
    same = calibration_distance_of_distribution(y, p, np.ones(y.size))
    assert same == calibration_distance(y, p)
    soft = calibration_distance_of_distribution([0.5, 0.25], [0.4, 0.3], [1, 3])
    assert soft == pytest.approx(0.03125, abs=1e-12)  # as one part


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 2], [0.5, 0.5], [1, 1]), r"mean must lie in \[0, 1\]; got values from 0.5 to 2"),
        (([0.5, 1], [0.5, 1.5], [1, 1]), r"p must lie in \[0, 1\]"),
        (([0.5], [0.5, 0.5], [1, 1]), r"mean must have the length of p \(2\); got length 1"),
        (([0.5, 1], [0.5, 0.5], [1]), r"mass must have the length of p \(2\); got length 1"),
        (([0.5, 1], [0.5, 0.5], [1, -1]), "mass must be finite and not negative"),
        (([0.5, 1], [0.5, 0.5], None), "mass must be an array; got None"),
    ],
)
def test_errors_of_distributions(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibration_distance_of_distribution(*arguments)


def test_scorers_in_a_search():
    X, y = load_breast_cancer(return_X_y=True)
    names = ("neg_caldist", "neg_lower_caldist")
    search = GridSearchCV(
        GaussianNB(),
        {"var_smoothing": [1e-9, 1e-2]},
        scoring={name: get_scorer(name) for name in names},
        refit="neg_caldist",
        cv=3,
        error_score="raise",
    ).fit(X, y)
    for name in names:
        assert np.all(search.cv_results_[f"mean_test_{name}"] < 0)
    caldist, lower = (search.cv_results_[f"mean_test_{name}"] for name in names)
    assert np.all(caldist <= lower + 1e-5)
    p = search.best_estimator_.predict_proba(X)[:, 1]
    expected = -metrics.caldist(y, p, method="bounds")
    assert get_scorer("neg_caldist")(search, X, y) == expected


def forged(found, **changes):
    return dataclasses.replace(found, **changes).verify()


def test_certificates_refuse_proofs_that_hold_elsewhere():
    # potentials that say nothing about most targets
    y, p = [1, 1, 1, 0], [0.9, 0.9, 0.9, 0.1]
    nodes, slack = np.array([0.5, 0.5 + 1e-13]), 1e-12
    proof = (nodes, np.full(2, -0.45 - slack), np.full(2, 0.45 - slack))
    claim = {"value": 0.275, "upper": 0.275, "lower": 0.22, "exact": False}
    found = certified(y, p)
    assert found.value == pytest.approx(0.1, abs=1e-12)
    assert not forged(
        found, **claim, targets=np.full(4, 0.75), lower_by="potentials", longest=0, proof=proof
    )
    # multipliers that leave out targets above .9
    y, p = np.repeat([1, 0], [10, 1]), np.repeat([0.9, 0.0], [10, 1])
    w = np.append(np.ones(10), 1.0000001)
    found = certified(y, p, sample_weight=w)
    multipliers = (np.array([0.0, 0.5, 0.9]), np.array([0.0, 3.0]), np.array([0.0, 3.0]))
    targets = np.append(np.ones(9), np.full(2, 1 / 2.0000001))
    value = float(found.weight @ np.abs(p - targets))
    assert not forged(
        found,
        value=value,
        upper=value,
        lower=0.105,
        exact=False,
        targets=targets,
        lower_by="multipliers",
        proof=multipliers,
    )
    # weights that are no weights
    nothing = dict.fromkeys(("value", "lower", "upper"), 0.0)
    assert not forged(found, weight=0 * found.weight, exact=True, **nothing)
    # a row of hardly any weight is calibrated like the others
    found = certified([0, 1, 0], [0.5, 0.5, 0.3], sample_weight=[1, 1, 1e-13])
    assert found.verify() is True
    assert not forged(found, targets=found.p, exact=True, **nothing)


def test_weights_that_are_equal_but_for_rounding_are_equal():
    p, y = make(200, "cal", np.random.default_rng(0))
    w = np.full(200, 0.3)
    w[0] = 0.1 + 0.2
    assert w[0] != w[1]
    found = certified(y, p, sample_weight=w)
    assert found.exact
    assert found.value == calibration_distance(y, p)


def test_weights_that_vanish_beside_others():
    found = certified([0, 1, 1], [0.1, 0.2, 0.9], sample_weight=[1e20, 1, 1], method="bounds")
    assert found.value == pytest.approx(0.1, abs=1e-12)
    assert found.verify() is True


@pytest.mark.parametrize("n", [50, 500])
def test_forecasts_that_are_certain_and_wrong(n):
    p = np.tile([0.0, 1.0], n // 2)
    found = certified((p == 0).astype(int), p, max_work=10**7)
    assert found.value == pytest.approx(0.5, abs=1e-12)
    assert found.lower >= 0.49


def test_inference_resamples_copies():
    y, p = instance(3)
    options = {"n_resamples": 19, "random_state": 0, "confidence": 0.9}
    quick = partial(calibration_distance, method="bounds")
    found = inference.bootstrap_interval(quick, y, p, **options)
    assert found.value == calibration_distance(y, p, method="bounds")
    assert found.low <= found.value <= found.high
    w = np.arange(p.size) % 3 + 1
    weighted = inference.bootstrap_interval(quick, y, p, sample_weight=w, **options)
    assert weighted.value == pytest.approx(
        calibration_distance(y, p, sample_weight=w, weights="repeat"), abs=1e-9
    )
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers for the calib"):
        inference.bootstrap_interval(quick, y, p, sample_weight=w / 2, **options)
    with pytest.raises(ValueError, match="weights must be 'repeat'"):
        inference.bootstrap_interval(quick, y, p, weights="indivisible", **options)
    with pytest.raises(ValueError, match=r"'method' .* for the calibration distance"):
        inference.bootstrap_interval(calibration_distance, y, p, method="isotonic")
