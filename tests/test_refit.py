"""The refit rule that keeps calibration errors from choosing alone."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal import CalibrationWarning, get_scorer
from skcal.scorers import make_calibration_scorer, refit_calibrated
from tests.scorers import FAST

# Distinct predictions are the rule here.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


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
    scorers = {name: get_scorer(name) for name in ("neg_scdl", "neg_smce", "neg_ece")}
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DummyClassifier()),
        {"dummyclassifier": [DummyClassifier(), GaussianNB(), FAST]},
        scoring={"neg_log_loss": "neg_log_loss", **scorers},
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
