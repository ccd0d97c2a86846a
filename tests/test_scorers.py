"""Scorers in scikit-learn's tools, and the refit rule that keeps them from choosing alone."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
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

# Distinct predictions are the rule here.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

X, Y = make_classification(200, n_features=4, flip_y=0.3, random_state=3)
W = np.random.default_rng(0).integers(1, 4, 200)
UTILITY = [[0, -1], [-5, 0]]
TABLE = {"no": {"wait": 0, "act": -1}, "yes": {"wait": -5, "act": 0}}
FAST = LogisticRegression(solver="liblinear")
MODEL = GaussianNB().fit(X[:100], Y[:100])
P = MODEL.predict_proba(X[100:])[:, 1]

# Every public scorer, with non-default options, and the value it must give on the last 100 rows.
SCORERS = {
    "neg_ece(7)": (
        make_calibration_scorer(metrics.ece, n_bins=7, norm="l2"),
        lambda y, p, **w: -metrics.ece(y, p, n_bins=7, norm="l2", **w),
    ),
    "neg_scdl(floor)": (
        make_calibration_scorer(metrics.scdl, rounding="floor"),
        lambda y, p, **w: -metrics.scdl(y, p, rounding="floor", **w),
    ),
    "neg_cdl(range)": (
        make_calibration_scorer(metrics.cdl, thresholds=(0.1, 0.3), pos_label=1),
        lambda y, p, **w: -metrics.cdl(y, p, thresholds=(0.1, 0.3), **w),
    ),
    "utility": (
        utility_scorer([[0, -1, -0.3], [-5, 0, -0.3]], actions=["wait", "act", "refer"]),
        lambda y, p, **w: mean_utility(y, p, **w),
    ),
    "neg_swap_regret": (
        neg_swap_regret_scorer(UTILITY),
        lambda y, p, **w: -swap_regret(y, p, UTILITY, **w),
    ),
    **{
        name: (get_scorer(name), lambda y, p, m=measure, **w: -m(y, p, **w))
        for name, measure in {
            "neg_cdl": metrics.calibration_decision_loss,
            "neg_cutoff": metrics.cutoff_calibration_error,
            "neg_ece": metrics.expected_calibration_error,
            "neg_scdl": metrics.soft_calibration_decision_loss,
        }.items()
    },
}
each_scorer = pytest.mark.parametrize(("scorer", "value"), SCORERS.values(), ids=SCORERS)


def mean_utility(y, p, sample_weight=None):
    table = np.array([[0, -1, -0.3], [-5, 0, -0.3]])
    claims = np.column_stack([1 - p, p]) @ table
    return np.average(table[y, claims.argmax(axis=1)], weights=sample_weight)


class Given(ClassifierMixin, BaseEstimator):
    """Hands out its first column, shifted, as the probability of the second class."""

    def __init__(self, shift=0.0, fail=False, hard=False, classes=None):
        self.shift, self.fail, self.hard, self.classes = shift, fail, hard, classes

    def fit(self, X, y):
        if self.fail == "fit":
            raise RuntimeError("this candidate cannot be fitted")
        self.classes_ = np.unique(y) if self.classes is None else np.array(self.classes)
        return self

    def predict_proba(self, X):
        p = np.clip(np.asarray(X)[:, 0] + self.shift, 0, 1)
        p = p.round() if self.hard else p
        p = p * np.nan if self.fail == "nan" else p
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def forecasts(n=400, seed=0):
    """Calibrated by construction."""
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 7, n) / 10
    return p[:, None], (rng.random(n) < p).astype(int)


# Values


def test_names():
    names = get_scorer_names()
    assert names == sorted(names)
    assert {"neg_scdl", "neg_cdl", "neg_cutoff", "neg_ece"} <= set(names)
    assert all(name.startswith("neg_") for name in names)
    assert list(calibration_scorers()) == names
    for name in ("get_scorer", "get_scorer_names", "make_calibration_scorer"):
        assert getattr(skcal, name) is globals()[name]


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
@each_scorer
def test_labels_of_any_kind_without_a_word(scorer, value, labels):
    if scorer is SCORERS["neg_cdl(range)"][0]:
        pytest.skip("names its positive class")
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


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], ["no", "yes"]])
@each_scorer
def test_a_fold_of_one_class_is_scored(scorer, value, labels):
    if isinstance(labels[0], str) and scorer is SCORERS["neg_cdl(range)"][0]:
        pytest.skip("names its positive class")
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


# Copies, workers and tools


def through_joblib(scorer):
    file = io.BytesIO()
    joblib.dump(scorer, file)
    file.seek(0)
    return joblib.load(file)


@each_scorer
def test_pickle_joblib_and_clone(scorer, value):
    expected = scorer(MODEL, X[100:], Y[100:])
    for copied in (
        pickle.loads(pickle.dumps(scorer)),
        through_joblib(scorer),
        clone(GridSearchCV(GaussianNB(), {}, scoring=scorer)).scoring,
        clone(GridSearchCV(GaussianNB(), {}, scoring={"s": scorer}, refit="s")).scoring["s"],
    ):
        assert copied(MODEL, X[100:], Y[100:]) == expected
        assert repr(copied) == repr(scorer)


def test_repr_names_maker_and_options():
    text = repr(SCORERS["neg_ece(7)"][0])
    for part in ("make_calibration_scorer", "expected_calibration_error", "n_bins=7", "norm='l2'"):
        assert part in text
    assert "utility_scorer" in repr(utility_scorer(UTILITY))
    assert "neg_swap_regret_scorer" in repr(neg_swap_regret_scorer(UTILITY))


def test_two_workers_give_the_same_bits():
    scoring = {"neg_log_loss": "neg_log_loss"} | {k: s for k, (s, _) in SCORERS.items()}
    one, two = (
        cross_validate(GaussianNB(), X, Y, cv=4, scoring=scoring, n_jobs=n, error_score="raise")
        for n in (1, 2)
    )
    for name in scoring:
        np.testing.assert_array_equal(one[f"test_{name}"], two[f"test_{name}"])
        alone = cross_val_score(GaussianNB(), X, Y, cv=4, scoring=scoring[name])
        np.testing.assert_array_equal(one[f"test_{name}"], alone)


def test_other_tools():
    scorer = get_scorer("neg_scdl")
    _, train, test = learning_curve(
        GaussianNB(), X, Y, scoring=scorer, cv=3, train_sizes=[0.5, 1.0], error_score="raise"
    )
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()
    search = RandomizedSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9, 1e-2, 1.0]},
        n_iter=2, scoring=calibration_scorers(), refit="neg_scdl", random_state=0,
        error_score="raise",
    ).fit(X, Y)  # fmt: skip
    assert search.score(X, Y) == scorer(search.best_estimator_, X, Y)


def test_polars_targets():
    y = pl.Series(Y)
    scorer = get_scorer("neg_ece")
    options = {"cv": 3, "scoring": scorer, "error_score": "raise"}
    found = cross_val_score(FAST, X, y, **options)
    np.testing.assert_array_equal(found, cross_val_score(FAST, X, Y, **options))


def test_the_smallest_error_wins():
    x, y = forecasts(600)
    for measure in (metrics.ece, metrics.cdl, metrics.scdl, metrics.cutoff_calibration_error):
        scorer = make_calibration_scorer(measure)
        search = GridSearchCV(Given(), {"shift": [0, 0.1, 0.3]}, scoring=scorer).fit(x, y)
        assert search.best_params_ == {"shift": 0}
        assert (search.cv_results_["mean_test_score"] <= 0).all()
        folds = [rows for _, rows in StratifiedKFold(5).split(x, y)]
        expected = [-measure(y[rows], x[rows, 0] + 0.3) for rows in folds]
        np.testing.assert_allclose(
            [search.cv_results_[f"split{k}_test_score"][2] for k in range(5)], expected
        )


# Weights and requests


def test_weights_are_routed():
    scorer = get_scorer("neg_ece")
    with sklearn.config_context(enable_metadata_routing=True):
        scorer.set_score_request(sample_weight=True)
        model = GaussianNB().set_fit_request(sample_weight=False)
        found = cross_validate(
            model, X, Y, cv=3, scoring=scorer, params={"sample_weight": W}, error_score="raise",
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    for k, rows in enumerate(found["indices"]["test"]):
        p = found["estimator"][k].predict_proba(X[rows])[:, 1]
        assert found["test_score"][k] == -metrics.ece(Y[rows], p, sample_weight=W[rows])


@pytest.mark.parametrize(
    "make", [lambda: get_scorer("neg_ece"), lambda: calibration_scorers()["neg_ece"]]
)
def test_a_request_never_leaks(make):
    with sklearn.config_context(enable_metadata_routing=True):
        changed = make().set_score_request(sample_weight=True)
        assert make() is not changed
        requests = make().get_metadata_routing().score.requests
        assert not requests.get("sample_weight")
        assert changed.get_metadata_routing().score.requests["sample_weight"] is True


def test_utilities_by_row_are_routed():
    tables = np.random.default_rng(0).normal(size=(200, 2, 3))
    options = {"utility": np.arange(6).reshape(2, 3), "actions": list("abc")}
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {
            "utility": utility_scorer(**options).set_score_request(sample_utility=True),
            "regret": neg_swap_regret_scorer(**options).set_score_request(sample_utility="tables"),
        }
        found = cross_validate(
            GaussianNB(), X, Y, cv=3, scoring=scoring, error_score="raise",
            params={"sample_utility": tables, "tables": tables},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    for k, rows in enumerate(found["indices"]["test"]):
        model = FrozenEstimator(found["estimator"][k])
        response = DecisionResponse(model, rounding=None, **options).fit(X, Y)
        arguments = {"sample_utility": tables[rows]}
        score = response.score(X[rows], Y[rows], **arguments)
        assert found["test_utility"][k] == pytest.approx(score)
        regret = response.swap_regret(X[rows], Y[rows], **arguments)
        assert found["test_regret"][k] == pytest.approx(-regret)


# Warnings and failures


@pytest.mark.filterwarnings("error::skcal.CalibrationWarning")
@each_scorer
def test_hard_predictions_never_warn(scorer, value):
    scores = cross_val_score(
        DecisionTreeClassifier(random_state=0), X, Y, scoring=scorer, error_score="raise"
    )
    assert np.isfinite(scores).all()


@pytest.mark.filterwarnings("error::skcal.CalibrationWarning")
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


@each_scorer
def test_probabilities_that_are_nan_raise(scorer, value):
    x, y = forecasts()
    with pytest.raises(ValueError, match=r"y_proba must hold no missing values.*NaN"):
        cross_val_score(Given(fail="nan"), x, y, scoring=scorer, error_score="raise")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite:UserWarning")
@pytest.mark.parametrize("fail", ["fit", "nan"])
@each_scorer
def test_a_failing_candidate_does_not_win(scorer, value, fail):
    x, y = forecasts()
    grid = {"fail": [fail, False], "shift": [0, 0.1]}
    search = GridSearchCV(Given(), grid, scoring=scorer, cv=3).fit(x, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores[:2]).all()
    assert np.isfinite(scores[2:]).all()
    assert search.best_params_["fail"] is False
    both = {"neg_log_loss": "neg_log_loss", "error": scorer}
    search = GridSearchCV(
        Given(), grid, scoring=both, cv=3, refit=refit_calibrated(error="error")
    ).fit(x, y)
    assert search.best_params_["fail"] is False
    with pytest.raises((RuntimeError, ValueError), match=r"cannot be fitted|missing values"):
        GridSearchCV(Given(), grid, scoring=scorer, error_score="raise").fit(x, y)


def test_one_class_in_training_says_so():
    model = Given(classes=[1]).fit(X, Y)
    with pytest.raises(ValueError, match="class"):
        get_scorer("neg_ece")(model, X[:, :1] * 0 + 0.5, Y)


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


# Refit


def results(loss, error, std=0.0, folds=4):
    """cv_results_ of a search, from mean losses and calibration errors (lower is better)."""
    loss, error = -np.array(loss, dtype=float), -np.array(error, dtype=float)
    table = {
        "mean_test_neg_log_loss": loss,
        "std_test_neg_log_loss": np.broadcast_to(std, loss.shape),
        "mean_test_neg_scdl": error,
        "std_test_neg_scdl": np.zeros(loss.shape),
        "params": [{}] * loss.size,
    }
    for name in ("neg_log_loss", "neg_scdl"):
        splits = {f"split{k}_test_{name}": table[f"mean_test_{name}"] for k in range(folds)}
        table.update(splits)
    return table


@pytest.mark.parametrize(
    ("rule", "arguments", "expected"),
    [
        # the best loss within the limit, which is closed
        (refit_calibrated(max_error=0.1), ([0.3, 0.2, 0.1], [0.05, 0.1, 0.2]), 1),
        (refit_calibrated(max_error=0.1), ([0.3, 0.3, 0.1], [0.1, 0.05, 0.2]), 0),
        (refit_calibrated(max_error=0.0), ([0.3, 0.2], [0.0, 0.1]), 0),
        (refit_calibrated(max_error=1.0), ([0.3, 0.2], [0.0, 0.9]), 1),
        # one standard error: 0.2 / sqrt(4) = 0.1 above the best loss
        (refit_calibrated(), ([0.3, 0.2, 0.31], [0.05, 0.1, 0.0], 0.2), 0),
        (refit_calibrated(), ([0.3, 0.2, 0.1], [0.05, 0.1, 0.2], 0.02), 2),
        (refit_calibrated(), ([0.3, 0.2, 0.2], [0.0, 0.1, 0.1], 0.0), 1),
        (refit_calibrated(), ([0.2, 0.3], [0.1, 0.0], [0.0, 9.0]), 0),  # that of the best counts
        # candidates that failed
        (refit_calibrated(), ([np.nan, 0.2, 0.1], [0.0, 0.1, np.nan], 0.0), 1),
        (refit_calibrated(max_error=0.5), ([np.nan, 0.2, 0.1], [0.0, 0.1, np.nan]), 1),
        (refit_calibrated(), ([np.inf, 0.2], [0.0, 0.1], [np.nan, 0.0]), 1),
    ],
)
def test_rules_of_refit(rule, arguments, expected):
    index = rule(results(*arguments))
    assert index == expected
    assert isinstance(index, int)


def test_nothing_within_the_limit_warns_and_takes_the_smallest_error():
    rule = refit_calibrated(max_error=0.01)
    with pytest.warns(CalibrationWarning, match=r"neg_scdl within 0\.01.*0\.05"):
        assert rule(results([0.1, 0.3, 0.2], [0.2, 0.05, 0.1])) == 1
    with pytest.warns(CalibrationWarning):
        assert rule(results([np.nan, 0.3], [0.02, 0.05])) == 1


@pytest.mark.parametrize(
    ("rule", "table", "parts"),
    [
        (refit_calibrated(), results([np.nan], [0.1]), ["finite", "neg_log_loss", "neg_scdl"]),
        (refit_calibrated(loss="roc_auc"), results([0.1], [0.1]), ["'roc_auc'", "'neg_scdl'"]),
        (refit_calibrated(error="neg_ece"), results([0.1], [0.1]), ["'neg_ece'", "'neg_scdl'"]),
        (refit_calibrated(), {"mean_test_score": [0.1]}, ["'neg_log_loss'", "'score'"]),
    ],
)
def test_refit_complains(rule, table, parts):
    with pytest.raises(ValueError) as error:
        rule(table)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("rule", [refit_calibrated(), refit_calibrated(max_error=0.3)])
def test_the_constant_forecast_is_not_chosen(rule):
    x, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DummyClassifier()),
        {"dummyclassifier": [DummyClassifier(), GaussianNB(), FAST]},
        scoring={"neg_log_loss": "neg_log_loss", **calibration_scorers()},
        refit=rule, cv=3, error_score="raise",
    )  # fmt: skip
    search = pickle.loads(pickle.dumps(clone(search))).fit(x, y)
    errors = search.cv_results_["mean_test_neg_scdl"]
    assert errors.argmax() == 0  # the calibration error alone would choose the constant
    assert search.best_index_ != 0
    assert isinstance(search.best_params_["dummyclassifier"], LogisticRegression)
    assert search.predict_proba(x)[y == 1, 1].mean() > 0.9


def test_refit_can_be_pickled_and_shown():
    rule = refit_calibrated("neg_brier_score", max_error=0.2, error="neg_ece")
    copied = pickle.loads(pickle.dumps(rule))
    assert repr(copied) == repr(rule)
    for part in ("refit_calibrated", "neg_brier_score", "0.2", "neg_ece"):
        assert part in repr(rule)
    assert "must never choose a model" in make_calibration_scorer.__doc__ or (
        "Do not let it choose a model" in make_calibration_scorer.__doc__
    )


def test_cv_without_classes_in_order():
    # Sorted targets and an unshuffled KFold: training folds of one class fail with a clear message.
    order = np.argsort(Y, kind="stable")
    with pytest.raises(ValueError, match="class"):
        cross_val_score(
            GaussianNB(), X[order], Y[order], cv=KFold(2), scoring=get_scorer("neg_ece"),
            error_score="raise",
        )  # fmt: skip
