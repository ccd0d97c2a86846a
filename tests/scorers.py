"""Every public scorer with the value it must give, and the model and the rows that it scores."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skcal import metrics, swap_regret
from skcal.scorers import (
    get_scorer,
    make_calibration_scorer,
    neg_swap_regret_scorer,
    utility_scorer,
)

X, Y = make_classification(200, n_features=4, flip_y=0.3, random_state=3)
W = np.random.default_rng(0).integers(1, 4, 200)
UTILITY = [[0, -1], [-5, 0]]
FAST = LogisticRegression(solver="liblinear")
MODEL = GaussianNB().fit(X[:100], Y[:100])
P = MODEL.predict_proba(X[100:])[:, 1]

# With non-default options; values on the last 100 rows, since MODEL was fitted on the first.
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
# Without the one that names its positive class, 1: for labels of any kind.
NAMELESS = {name: pair for name, pair in SCORERS.items() if name != "neg_cdl(range)"}
each_nameless_scorer = pytest.mark.parametrize(("scorer", "value"), NAMELESS.values(), ids=NAMELESS)


def mean_utility(y, p, sample_weight=None):
    table = np.array([[0, -1, -0.3], [-5, 0, -0.3]])
    claims = np.column_stack([1 - p, p]) @ table
    return np.average(table[y, claims.argmax(axis=1)], weights=sample_weight)
