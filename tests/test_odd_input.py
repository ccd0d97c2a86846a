"""Odd input that once had another library's error, or none: each has one clear error now."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import LeaveOneOut

from skcal import DecisionResponse, DecisionTask, metrics, worst_case_task
from skcal.decision import (
    add_action,
    external_regret,
    regret_bound,
    swap_regret,
    utility_from_costs,
    utility_from_threshold,
)
from skcal.recalibration import (
    BetaCalibrator,
    PartitionCalibrator,
    RecalibratedClassifier,
    ShrinkageCalibrator,
)
from skcal.scorers import get_scorer, make_calibration_scorer, refit_calibrated, utility_scorer
from skcal.theory import make_hardness_instance, make_indistinguishable_pair, sample_size
from tests.forecasters import Given, X, Y

HUGE = 10**400
Q, OUTCOMES = [0.2, 0.7, 0.6, 0.4], [0, 1, 1, 0]
SQUARE = [[0, -1], [-5, 0]]
HALF = X[:, :1] * 0 + 0.5
MODEL = Given().fit(HALF, Y)


class Text(BaseEstimator):
    def fit(self, p, y):
        return self

    def predict(self, p):
        return np.full(len(p), "much")


def fit(make, estimator=MODEL, y=Y, weights=None, **options):
    params = {} if weights is None else {"sample_weight": weights}
    return lambda: make(estimator, **options).fit(HALF, y, **params)


def no_number(y_true, y_proba, pos_label=None, labels=None):
    return "much"


def score(scorer, y=Y):
    return lambda: scorer(MODEL, HALF, y)


def wide_integers():
    return pl.Series([2**70] * 4, dtype=pl.Int128) if hasattr(pl, "Int128") else [HUGE] * 4


ERRORS = {
    # the border
    "huge probability": (lambda: metrics.ece(OUTCOMES, [HUGE] * 4), "y_proba must hold numbers"),
    "huge label": (lambda: metrics.ece([HUGE, 1, 1, 0], Q), "y_true must hold numbers"),
    "huge weight": (
        lambda: metrics.ece(OUTCOMES, Q, sample_weight=np.full(4, np.longdouble("1e4000"))),
        "sample_weight must be finite",
    ),
    "wide integers": (lambda: metrics.ece(OUTCOMES, wide_integers()), "y_proba must"),
    "text of two kinds": (
        lambda: metrics.ece(["a", b"b", "a", "a"], Q, pos_label="a"),
        "y_true must hold numbers, booleans or strings of one kind; got values of type bytes, str",
    ),
    "huge pos_label": (
        lambda: metrics.ece([False, True, True, False], Q, pos_label=2**70),
        "pos_label must be one of the labels",
    ),
    "array as pos_label": (
        lambda: metrics.ece(OUTCOMES, [[0.5, 0.5]] * 4, pos_label=np.array([])),
        "pos_label must be one of the labels",
    ),
    "buffer as pos_label": (
        lambda: metrics.ece(OUTCOMES, Q, pos_label=memoryview(b"ab")),
        "pos_label must be one of the labels",
    ),
    # parameters
    "True as n_bins": (
        lambda: metrics.ece(OUTCOMES, Q, sample_weight=[1, 2, 1, 1], n_bins=True),
        "'n_bins' parameter of expected_calibration_error must",
    ),
    "fraction": (lambda: sample_size(Fraction(1, 3)), "'eps' parameter of sample_size must"),
    "fraction as max_error": (
        lambda: refit_calibrated(max_error=Fraction(1, 3)),
        "'max_error' parameter of refit_calibrated must",
    ),
    "complex thresholds": (
        lambda: metrics.cdl(OUTCOMES, Q, thresholds=np.array([0j, 1])),
        "'thresholds' parameter",
    ),
    "huge thresholds": (
        lambda: metrics.cdl(OUTCOMES, Q, thresholds=(0, HUGE)),
        "'thresholds' parameter",
    ),
    "masked thresholds": (
        lambda: metrics.cdl(OUTCOMES, Q, thresholds=np.ma.array([0.0, 1.0], mask=[0, 1])),
        "'thresholds' parameter",
    ),
    "huge sigma": (lambda: metrics.smooth_ece(OUTCOMES, Q, sigma=1e300), "'sigma' parameter"),
    # tables, actions and regret
    "complex table": (
        lambda: DecisionTask([[1j, 0], [0, 1]]),
        "utility must be a table of numbers",
    ),
    "text as numbers": (
        lambda: DecisionTask(np.array([["1", "2"], ["3", "4"]])),
        "utility must be a table of numbers",
    ),
    "actions no sequence": (lambda: DecisionTask(SQUARE, actions=3), "actions must be names"),
    "actions of a dict": (
        lambda: DecisionTask({0: {"a": 1}, 1: {"a": 2}}, actions=np.ma.array([1], mask=[1])),
        "actions must be names",
    ),
    "array as class": (
        lambda: DecisionTask(SQUARE).best_response(Q, pos_label=np.array([])),
        "pos_label must name one of the classes",
    ),
    "ragged forecasts": (
        lambda: swap_regret([0, 1], [[0.5, 0.5], 0.5], SQUARE),
        "y_proba must be an array; got nested sequences",
    ),
    "labels of a regret": (
        lambda: external_regret(OUTCOMES, Q, SQUARE, labels=[0, 0]),
        "labels must be distinct",
    ),
    "huge ranges": (lambda: regret_bound(0.1, 4, ranges=(1e308, 1e308)), "ranges must"),
    "complex ranges": (lambda: regret_bound(0.1, 4, ranges=(1j, 1)), "ranges must be two numbers"),
    "huge n_decisions": (
        lambda: regret_bound(0.1, 4, n_decisions=HUGE, confidence=0.9),
        "'n_decisions' parameter",
    ),
    "huge n_bins": (lambda: regret_bound(0.1, HUGE), "'n_bins' parameter"),
    "unequal labels": (
        lambda: utility_from_costs(fp=1, fn=1, pos_label=[1]),
        "pos_label must be a string, a number or a boolean",
    ),
    "huge cost": (lambda: utility_from_costs(fp=HUGE, fn=1), "fp must be a finite number"),
    "array as label": (
        lambda: utility_from_threshold(0.5, neg_label=np.array([1, 2])),
        "neg_label must be a string",
    ),
    "text as value": (
        lambda: add_action(DecisionTask(SQUARE), "refer", {0: "x", 1: 2}),
        "value must be a finite number; got 'x'",
    ),
    "infinite value": (
        lambda: add_action(DecisionTask(SQUARE), "refer", np.inf),
        "value must be a finite number; got inf",
    ),
    "list as name": (lambda: add_action(DecisionTask(SQUARE), [], 1), "name must be a string"),
    # scorers
    "name no text": (lambda: get_scorer([]), "name must be one of"),
    "no signature": (lambda: make_calibration_scorer(max), "measure must be a function"),
    "argument missing": (
        lambda: make_calibration_scorer(swap_regret),
        "params must be arguments of swap_regret; got missing .*'utility'",
    ),
    "score no number": (
        score(make_calibration_scorer(no_number)),
        "measure must return a number; got 'much'",
    ),
    "labels of other rows": (
        score(utility_scorer(SQUARE), Y[:1]),
        r"y_true must have one label for each row of X \(240\); got length 1",
    ),
    # recalibration
    "prediction of text": (
        lambda: ShrinkageCalibrator(Text()).fit(Q, OUTCOMES).predict(Q),
        "calibrator must predict numbers; got something else",
    ),
    "too many draws": (
        lambda: ShrinkageCalibrator(BetaCalibrator(), n_null=2**70).fit(Q, OUTCOMES),
        "'n_null' parameter",
    ),
    "no workers": (fit(RecalibratedClassifier, n_jobs=0), "'n_jobs' parameter"),
    # theory
    "ragged numbers": (lambda: make_hardness_instance([[1], [2, 3]], 3), "a must be an array"),
    "too many elements": (lambda: make_indistinguishable_pair(2**70), "'k' parameter"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("call", "message"), ERRORS.values(), ids=ERRORS)
def test_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "got" in str(error.value).lower()


WRAPPERS = [DecisionResponse, RecalibratedClassifier]
EVERY_FIT = {
    "no estimator": ({"estimator": 3}, "estimator must be a classifier"),
    "class as estimator": ({"estimator": Given}, "estimator must be a classifier"),
    "ragged labels": ({"y": [[0], [1, 1]] * 120}, "y must be an array; got nested sequences"),
    "dates as labels": (
        {"y": np.repeat(np.array(["2020", "2021"], dtype="datetime64[Y]"), 120)},
        "y must hold numbers, booleans or strings",
    ),
    "missing among text": ({"y": ["a", float("nan")] * 120}, "y must hold no missing values"),
    "huge labels": ({"y": np.tile([0.0, 1e300], 120)}, "Unknown label type: continuous"),
    "scalar weights": ({"weights": 1.5}, "sample_weight must be an array"),
    "more folds than rows": ({"cv": 500}, "cv must split 240 rows into parts.*500"),
    "row beyond the last": ({"cv": [([0, 1], [999])]}, "cv must split 240 rows into parts.*999"),
    "numbers as folds": ({"cv": [(0, 1)]}, "cv must give arrays of the rows"),
    "folds of three": ({"cv": [(0, 1, 2)]}, "cv must split 240 rows into parts"),
}


@pytest.mark.parametrize("make", WRAPPERS)
@pytest.mark.parametrize(("options", "message"), EVERY_FIT.values(), ids=EVERY_FIT)
def test_one_clear_error_of_every_fit(make, options, message):
    with pytest.raises(ValueError, match=message):
        fit(make, **options)()


# Input that is right, and once was not taken for it.


def test_a_label_that_no_row_holds_needs_no_place_in_the_worst_task():
    task = worst_case_task([0, 0], [0.5, 0.25], pos_label=7)
    assert task.classes.tolist() == [0, 1]


def test_half_precision_parameters_are_numbers():
    calibrator = PartitionCalibrator(prior_count=np.float16(0.5)).fit(Q, OUTCOMES)
    same = PartitionCalibrator(prior_count=0.5).fit(Q, OUTCOMES)
    np.testing.assert_array_equal(calibrator.predict(Q), same.predict(Q))


def test_utilities_near_the_largest_number_do_not_overflow():
    table = [[1e307, 0], [-1e307, 0]]
    weights = [90.0] * 4
    found = swap_regret([0] * 4, [0.2, 0.9, 0.9, 0.9], table, sample_weight=weights)
    assert found == pytest.approx(0.75e307)
    frozen = FrozenEstimator(MODEL)
    response = DecisionResponse(frozen, utility=table, rounding=None).fit(HALF, Y)
    assert np.isfinite(response.score(HALF, Y, sample_weight=np.full(240, 1e90)))


@pytest.mark.parametrize("scale", [1e120, 1e300])
def test_overwhelming_weights_stay_evidence(scale):
    p, y = np.linspace(0.1, 0.9, 20), np.arange(20) % 2
    for calibrator in (PartitionCalibrator(), ShrinkageCalibrator(BetaCalibrator())):
        much = calibrator.fit(p, y, sample_weight=np.full(20, 1e60)).predict(p)
        more = calibrator.fit(p, y, sample_weight=np.full(20, scale)).predict(p)
        np.testing.assert_allclose(more, much, atol=1e-12)
        model = RecalibratedClassifier(FrozenEstimator(Given().fit(p[:, None], y)), calibrator)
        whole = model.fit(p[:, None], y, sample_weight=np.full(20, scale))
        np.testing.assert_allclose(whole.predict_proba(p[:, None])[:, 1], much, atol=1e-12)


def test_isotonic_regression_has_labels_of_any_kind_refused():
    model = RecalibratedClassifier(Given(), IsotonicRegression(), cv=LeaveOneOut())
    with pytest.raises(ValueError, match="y must hold numbers, booleans or strings of one kind"):
        model.fit(HALF[:4], np.array([0, "a", 1, "b"], dtype=object))
