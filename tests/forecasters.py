"""Forecasts and a classifier that hands them out, responses to it, and data of their tests."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator

from skcal import DecisionResponse

X, Y = make_classification(240, n_features=4, flip_y=0.2, random_state=0)
W = np.random.default_rng(0).integers(1, 4, 240).astype(float)
NAMES = ["wait", "treat", "refer"]
TABLE = np.array([[0, -1, -0.3], [-5, 0, -0.3]])
ORACLE_P, ORACLE_Y = np.array([0.125, 0.5, 0.75, 0.875]), np.array([0, 1, 1, 0])
ROUNDINGS = [None, "floor", "random"]


class Given(ClassifierMixin, BaseEstimator):
    """Hands out its only column as the probability, or all columns as probabilities."""

    fitted_on = []  # what the fits of all copies were given

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        Given.fitted_on.append((len(y), sample_weight))
        return self

    def predict_proba(self, X):
        X = np.asarray(X)
        return np.column_stack([1 - X, X]) if X.shape[1] == 1 else X

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def given(p, y, **options):
    """A response to just these forecasts, and their X."""
    p = np.asarray(p)
    p = p[:, None] if p.ndim == 1 else p
    return DecisionResponse(FrozenEstimator(Given().fit(p, y)), **options).fit(p, y), p


def three_actions(p, y, **options):
    return given(p, y, utility=TABLE, actions=NAMES, **options)


def forecasts(kind, n, seed=0):
    """Outcomes, and forecasts that are right, too extreme, or worth nothing."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    rate = {"calibrated": p, "overconfident": 0.25 + p / 2, "constant": np.full(n, 0.4)}[kind]
    return (rng.random(n) < rate).astype(int), p
