"""Scorers in scikit-learn's tools: copies, workers, routing, and candidates that fail."""

import io
import pickle

import joblib
import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
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

from skcal import DecisionResponse, metrics
from skcal.scorers import (
    calibration_scorers,
    get_scorer,
    make_calibration_scorer,
    neg_swap_regret_scorer,
    refit_calibrated,
    utility_scorer,
)
from tests.scorers import FAST, MODEL, SCORERS, W, X, Y, each_scorer

# Distinct predictions are the rule here.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


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


# Failures


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


def test_cv_without_classes_in_order():
    # Sorted targets and an unshuffled KFold: training folds of one class fail with a clear message.
    order = np.argsort(Y, kind="stable")
    with pytest.raises(ValueError, match="class"):
        cross_val_score(
            GaussianNB(), X[order], Y[order], cv=KFold(2), scoring=get_scorer("neg_ece"),
            error_score="raise",
        )  # fmt: skip
