"""Errors of DecisionResponse name the argument, what it must be and what it was."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skcal import DecisionResponse
from tests.forecasters import ROUNDINGS, X, Y, given

FITTED, SOME = given([0.2, 0.8, 0.5], ["no", "yes", "no"], rounding="floor", n_bins=4)
BAD = np.zeros((3, 2, 2))
BAD[1, 1, 1] = np.inf


def fit(y=Y, **options):
    return lambda: DecisionResponse(options.pop("estimator", GaussianNB()), **options).fit(X, y)


ERRORS = [
    (fit(estimator=LinearSVC()), ["estimator", "predict_proba", "LinearSVC", "CalibratedClass"]),
    (fit(utility=np.eye(3)), ["utility", "3 rows", "2 classes [0, 1]"]),
    (fit(utility=np.zeros((3, 2))), ["utility", "3 rows", "[0, 1]", ".T"]),
    (fit(utility=np.ones((2, 3))), ["actions", "3"]),
    (fit(y=np.arange(240) % 3, rounding=None, utility=np.eye(2)), ["2 rows", "3 classes"]),
    (fit(utility=[[0, np.nan], [1, 0]]), ["utility", "nan", "very low utility"]),
    (fit(utility=np.zeros((240, 2, 2))), ["utility", "(240, 2, 2)", "per-row", "predict"]),
    (
        fit(y=np.array(["no", "yes"])[Y], utility={k: {"no": 1, "yes": 2} for k in "ab"}),
        ["utility", "['no', 'yes']", "['a', 'b']", "transpose"],
    ),
    (fit(rounding="up"), ["rounding", "'up'"]),
    (fit(n_bins=0), ["n_bins", "0"]),
    (fit(n_bins=2.5), ["n_bins", "2.5"]),
    (fit(n_bins=np.inf), ["n_bins", "inf"]),
    (fit(alpha=1.5), ["alpha", "1.5"]),
    (fit(alpha=-0.1), ["alpha", "-0.1"]),
    (fit(cv="many"), ["cv", "'many'"]),
    (fit(random_state="x"), ["random_state", "'x'"]),
    (fit(y=np.linspace(0, 1, 240)), ["continuous"]),
    (fit(y=np.zeros(240, dtype=int)), ["class"]),
    (lambda: FITTED.score(SOME, ["no", "yes", "new"]), ["'no', 'yes'", "'new'"]),
    (lambda: FITTED.swap_regret(SOME, [0, 1, 1]), ["'no', 'yes'", "0, 1"]),
    (lambda: FITTED.realized_utility(SOME, ["no", "yes"]), ["y must", "3", "2"]),
    (
        lambda: FITTED.predict(SOME, sample_utility=np.eye(2)),
        ["sample_utility", "(n, n_classes, n_actions)", "(3, 2, 2)", "shape (2, 2)"],
    ),
    (
        lambda: FITTED.score(SOME, ["no"] * 3, sample_utility=np.zeros((3, 2, 3))),
        ["sample_utility", "(3, 2, 2)", "(3, 2, 3)"],
    ),
    (lambda: FITTED.expected_utility(SOME, sample_utility=BAD), ["sample_utility", "inf"]),
    (lambda: FITTED.score(SOME, ["no"] * 3, sample_weight=[1, -1, 1]), ["sample_weight", "-1"]),
    (lambda: FITTED.regret_bound(10), ["confidence", "None"]),
    (lambda: FITTED.regret_bound(0, 0.9), ["n_decisions", "0"]),
    (lambda: FITTED.regret_bound(10, 1.0), ["confidence", "1.0"]),
]


@pytest.mark.parametrize(("call", "parts"), ERRORS)
def test_errors_name_the_argument_and_both_sides(call, parts):
    with pytest.raises(ValueError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_column_vector_of_labels_is_ravelled_with_a_warning(rounding):
    response = DecisionResponse(GaussianNB(), rounding=rounding, random_state=0)
    expected = response.fit(X, Y).predict(X)
    with pytest.warns(DataConversionWarning):
        response.fit(X, Y[:, None])
    np.testing.assert_array_equal(response.predict(X), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.predict(X),
        lambda r: r.predict_proba(X),
        lambda r: r.score(X, Y),
        lambda r: r.action_distribution(X),
        lambda r: r.expected_utility(X),
        lambda r: r.realized_utility(X, Y),
        lambda r: r.swap_regret(X, Y),
        lambda r: r.regret_bound(),
        lambda r: r.utility_cost_of_rounding(X, Y),
    ],
)
def test_methods_need_a_fit(call):
    with pytest.raises(NotFittedError, match="DecisionResponse"):
        call(DecisionResponse(GaussianNB()))
