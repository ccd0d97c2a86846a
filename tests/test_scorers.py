"""Values of the scorers: labels, the positive class, folds of one class, warnings and errors."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import skcal
from skcal import CalibrationWarning, DecisionResponse, metrics, swap_regret
from skcal.scorers import (
    calibration_scorers,
    get_scorer,
    get_scorer_names,
    make_calibration_scorer,
    neg_swap_regret_scorer,
    refit_calibrated,
    utility_scorer,
)
from tests.measures import MEASURES, each_measure
from tests.scorers import MODEL, SCORERS, UTILITY, P, W, X, Y, each_nameless_scorer, each_scorer

TABLE = {"no": {"wait": 0, "act": -1}, "yes": {"wait": -5, "act": 0}}


# Values


OLDER = {"neg_lower_caldist": "neg_distcal", "neg_smooth_ece": "neg_smece"}


@pytest.mark.parametrize(("older", "name"), OLDER.items())
def test_older_names(older, name):
    assert {older, name} <= set(get_scorer_names())
    assert older not in calibration_scorers()
    assert repr(get_scorer(older)) == repr(get_scorer(name))
    assert get_scorer(older)(MODEL, X[100:], Y[100:]) == get_scorer(name)(MODEL, X[100:], Y[100:])


def test_a_wrong_name_is_answered_with_all_names():
    for name in ("scdl", "caldist", "neg_", "neg_loss", "neg_SCDL"):
        with pytest.raises(ValueError, match=f"name must be one of .*; got '{name}'") as error:
            get_scorer(name)
        assert all(repr(known) in str(error.value) for known in get_scorer_names())


def test_named_scorers_take_the_positive_class():
    y = np.array(["yes", "no"])[Y]
    model = GaussianNB().fit(X[:100], y[:100])
    proba = model.predict_proba(X[100:])[:, 0]
    found = get_scorer("neg_bece", pos_label="no")(model, X[100:], y[100:])
    assert found == -metrics.bece(y[100:] == "no", proba)
    assert found != get_scorer("neg_bece")(model, X[100:], y[100:])


def test_names():
    names = get_scorer_names()
    assert names == sorted(names)
    assert {"neg_scdl", "neg_cdl", "neg_cutoff", "neg_ece"} <= set(names)
    assert all(name.startswith("neg_") for name in names)
    assert list(calibration_scorers()) == [name for name in names if name not in OLDER]
    for name in ("get_scorer", "get_scorer_names", "make_calibration_scorer"):
        assert getattr(skcal, name) is globals()[name]


def test_repr_names_maker_and_options():
    text = repr(SCORERS["neg_ece(7)"][0])
    for part in ("make_calibration_scorer", "expected_calibration_error", "n_bins=7", "norm='l2'"):
        assert part in text
    assert "utility_scorer" in repr(utility_scorer(UTILITY))
    assert "neg_swap_regret_scorer" in repr(neg_swap_regret_scorer(UTILITY))


@each_scorer
def test_a_scorer_is_the_measure_of_predict_proba(scorer, value):
    expected = value(Y[100:], P)
    assert scorer(MODEL, X[100:], Y[100:]) == pytest.approx(expected, abs=1e-15)
    weighted = scorer(MODEL, X[100:], Y[100:], sample_weight=W[100:])
    assert weighted == pytest.approx(value(Y[100:], P, sample_weight=W[100:]), abs=1e-15)
    if "ece" in repr(scorer):
        assert weighted != expected


def brier(y_true, y_proba, *, pos_label, labels):
    return np.mean((y_proba[:, list(labels).index(pos_label)] - (y_true == pos_label)) ** 2)


def test_probabilities_are_scored_not_labels():
    x, y = make_classification(400, random_state=3, flip_y=0.3)
    model = LogisticRegression().fit(x[:200], y[:200])
    # Hard labels would score .275, the error rate.
    found = make_calibration_scorer(brier)(model, x[200:], y[200:])
    assert found == pytest.approx(-0.1930046, abs=1e-6)
    p = model.predict_proba(x[200:])[:, 1]
    for name, (scorer, value) in SCORERS.items():
        if name != "utility":
            assert scorer(model, x[200:], y[200:]) == pytest.approx(value(y[200:], p), abs=1e-14)


def test_scorers_are_negative():
    for name in get_scorer_names():
        assert get_scorer(name)(MODEL, X[100:], Y[100:]) < 0
    assert neg_swap_regret_scorer(UTILITY)(MODEL, X[100:], Y[100:]) <= 0


@each_measure
def test_a_scorer_of_every_measure(row):
    scorer = make_calibration_scorer(row.function, **row.settings)
    assert scorer(MODEL, X[100:], Y[100:]) == -row(Y[100:], P)
    strings = np.array(["no", "yes"])[Y]
    model = GaussianNB().fit(X[:100], strings[:100])
    assert scorer(model, X[100:], strings[100:]) == -row(Y[100:], P)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True]])
@each_measure
def test_measures_work_in_make_scorer(row, labels):
    y = np.array(labels)[Y]
    model = GaussianNB().fit(X[:100], y[:100])
    scorer = make_scorer(
        row.function, response_method="predict_proba", greater_is_better=False, **row.settings
    )
    assert scorer(model, X[100:], y[100:]) == -row(Y[100:], P)
    assert len(MEASURES) > 1


@pytest.mark.parametrize("labels", [["no", "yes"], ["z", "a"], [1, 2], [True, False], [-1, 1]])
@each_nameless_scorer
def test_labels_of_any_kind_without_a_word(scorer, value, labels):
    y = np.array(labels)[Y]
    model = GaussianNB().fit(X[:100], y[:100])
    codes = Y if sorted(labels) == labels else 1 - Y
    p = GaussianNB().fit(X[:100], codes[:100]).predict_proba(X[100:])[:, 1]
    expected = value(codes[100:], p)
    assert scorer(model, X[100:], y[100:]) == pytest.approx(expected, abs=1e-12)
    for form in (y[100:].tolist(), pd.Series(y[100:]), pl.Series(y[100:])):
        assert scorer(model, X[100:], form) == pytest.approx(expected, abs=1e-12)


def test_labelled_utilities():
    y = np.array(["no", "yes"])[Y]
    model = GaussianNB().fit(X[:100], y[:100])
    for table in (TABLE, pd.DataFrame(TABLE).T, dict(reversed(TABLE.items()))):
        found = utility_scorer(table)(model, X[100:], y[100:])
        action = np.where(P >= 1 / 6, 1, 0)
        assert found == pytest.approx(np.array(UTILITY)[Y[100:], action].mean())
        regret = neg_swap_regret_scorer(table)(model, X[100:], y[100:])
        assert regret == pytest.approx(-swap_regret(y[100:], P, TABLE, pos_label="yes"))


@pytest.mark.parametrize("actions", [None, ["wait", "act"]])
def test_decision_scorers_equal_the_response(actions):
    response = DecisionResponse(
        FrozenEstimator(MODEL), utility=UTILITY, actions=actions, rounding=None
    ).fit(X, Y)
    for w in (None, W[100:]):
        options = {} if w is None else {"sample_weight": w}
        found = utility_scorer(UTILITY, actions=actions)(MODEL, X[100:], Y[100:], **options)
        assert found == response.score(X[100:], Y[100:], **options)
        found = neg_swap_regret_scorer(UTILITY, actions=actions)(MODEL, X[100:], Y[100:], **options)
        assert found == -response.swap_regret(X[100:], Y[100:], **options)


def test_decision_scorers_of_more_than_two_classes():
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = GaussianNB().fit(X[:100], y[:100])
    utility = np.eye(3) - 0.2 * np.eye(3)[::-1]
    proba = model.predict_proba(X[100:])
    action = (proba @ utility).argmax(axis=1)
    found = utility_scorer(utility)(model, X[100:], y[100:])
    assert found == pytest.approx(utility[y[100:], action].mean())
    found = neg_swap_regret_scorer(utility)(model, X[100:], y[100:])
    assert found == pytest.approx(-swap_regret(y[100:], proba, utility, labels=[0, 1, 2]))


# Positive class and folds of one class


def test_both_positive_classes_in_one_cross_validation():
    y = np.array(["bad", "good"])[Y]
    floor = {"rounding": "floor", "n_bins": 5}  # a measure with a direction
    scoring = {
        "good": make_calibration_scorer(metrics.scdl, pos_label="good", **floor),
        "neg_log_loss": "neg_log_loss",
        "bad": make_calibration_scorer(metrics.scdl, pos_label="bad", **floor),
        "roc_auc": "roc_auc",
        "default": make_calibration_scorer(metrics.scdl, **floor),
        "utility": utility_scorer({"bad": {"a": 1, "b": 0}, "good": {"a": 0, "b": 3}}),
    }
    found = cross_validate(
        GaussianNB(), X, y, cv=3, scoring=scoring, return_estimator=True, return_indices=True
    )
    for k, rows in enumerate(found["indices"]["test"]):
        p = found["estimator"][k].predict_proba(X[rows])
        bad = -metrics.scdl(y[rows], p[:, 0], pos_label="bad", **floor)
        good = -metrics.scdl(y[rows], p[:, 1], pos_label="good", **floor)
        assert bad != good
        assert found["test_bad"][k] == bad
        assert found["test_good"][k] == found["test_default"][k] == good
    for name in scoring:  # the others see what they see alone
        alone = cross_val_score(GaussianNB(), X, y, cv=3, scoring=scoring[name])
        np.testing.assert_array_equal(found[f"test_{name}"], alone)
    reordered = dict(reversed(scoring.items()))
    again = cross_validate(GaussianNB(), X, y, cv=3, scoring=reordered)
    for name in scoring:
        np.testing.assert_array_equal(found[f"test_{name}"], again[f"test_{name}"])


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1]])
@each_scorer
def test_a_fold_of_one_class_is_scored(scorer, value, labels):
    check_folds_of_one_class(scorer, value, labels)


@each_nameless_scorer
def test_a_fold_of_one_class_is_scored_with_names(scorer, value):
    check_folds_of_one_class(scorer, value, ["no", "yes"])


def check_folds_of_one_class(scorer, value, labels):
    y = np.array(labels)[Y]
    model = GaussianNB().fit(X[:100], y[:100])
    for code in (0, 1):
        rows = 100 + np.flatnonzero(Y[100:] == code)
        expected = value(Y[rows], model.predict_proba(X[rows])[:, 1])
        assert scorer(model, X[rows], y[rows]) == pytest.approx(expected, abs=1e-14)
    ones = np.flatnonzero(Y[:60] == 1)
    cv = [(np.setdiff1d(np.arange(200), ones), ones)]
    scores = cross_val_score(GaussianNB(), X, y, cv=cv, scoring=scorer, error_score="raise")
    assert np.isfinite(scores).all()


# Warnings and errors


@each_scorer
def test_hard_predictions_never_warn(scorer, value):
    scores = cross_val_score(
        DecisionTreeClassifier(random_state=0), X, Y, scoring=scorer, error_score="raise"
    )
    assert np.isfinite(scores).all()


def test_a_scorer_is_quiet_and_other_threads_warn():
    inside, leave = Event(), Event()
    before = list(warnings.filters)

    def measure(y_true, y_proba, *, pos_label, labels):
        metrics.ece(y_true, y_proba.round(), pos_label=pos_label, labels=labels)
        inside.set()
        assert leave.wait(10)
        return 0.5

    with ThreadPoolExecutor(1) as pool:
        score = pool.submit(make_calibration_scorer(measure), MODEL, X[100:], Y[100:])
        assert inside.wait(10)
        assert warnings.filters == before  # of the whole process
        with pytest.raises(CalibrationWarning, match="only 0 and 1"):
            metrics.ece(Y, Y.astype(float))
        leave.set()
        assert score.result(10) == -0.5
    assert warnings.filters == before
    for _ in range(2):  # nor is the thread that scored left quiet
        with pytest.raises(CalibrationWarning, match="only 0 and 1"):
            metrics.ece(Y, Y.astype(float))
        get_scorer("neg_ece")(MODEL, X[100:], Y[100:])


def test_a_dominated_action_does_not_warn_in_every_fold():
    scorer = utility_scorer([[1, 0, 0], [0, 1, 0]], actions=list("abc"))
    assert np.isfinite(cross_val_score(GaussianNB(), X, Y, scoring=scorer)).all()


@each_scorer
def test_margins_are_no_probabilities(scorer, value):
    model = LinearSVC().fit(X, Y)
    with pytest.raises(AttributeError, match=r"LinearSVC has no predict_proba.*CalibratedClass"):
        scorer(model, X, Y)
    with pytest.raises(AttributeError, match="predict_proba"):
        cross_val_score(LinearSVC(), X, Y, scoring=scorer, error_score="raise")


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: get_scorer("scdl"), ["name", "neg_scdl", "'scdl'"]),
        (lambda: get_scorer(None), ["name", "None"]),
        (lambda: make_calibration_scorer("neg_scdl"), ["measure", "callable", "'neg_scdl'"]),
        (
            lambda: make_calibration_scorer(metrics.ece, pos_label="maybe")(MODEL, X, Y),
            ["pos_label", "[0, 1]", "'maybe'"],
        ),
        (lambda: get_scorer("neg_ece")(MODEL, X, np.full(200, 7)), ["y_true", "[0, 1]", "7"]),
        (lambda: get_scorer("neg_ece")(MODEL, X, ["no"] * 200), ["y_true", "[0, 1]", "'no'"]),
        (lambda: utility_scorer(UTILITY)(MODEL, X, ["no"] * 200), ["y_true", "[0, 1]", "'no'"]),
        (lambda: utility_scorer(np.eye(3))(MODEL, X, Y), ["utility", "3 rows", "[0, 1]"]),
        (lambda: utility_scorer(np.ones((2, 3)))(MODEL, X, Y), ["actions", "3"]),
        (lambda: utility_scorer(TABLE)(MODEL, X, Y), ["utility", "[0, 1]", "'no', 'yes'"]),
        (lambda: refit_calibrated(max_error=-1), ["max_error", "-1"]),
        (lambda: refit_calibrated(loss=3), ["loss", "3"]),
        (
            lambda: get_scorer("neg_ece")(GaussianNB().fit(X, np.arange(200) % 3), X, Y),
            ["y_proba", "(200, 3)"],
        ),
    ],
)
def test_errors_name_the_argument_and_both_sides(call, parts):
    with pytest.raises(ValueError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def test_a_class_is_no_estimator():
    with pytest.raises(ValueError, match="estimator must be a fitted classifier; got the class G"):
        get_scorer("neg_scdl")(GaussianNB, X, Y)
