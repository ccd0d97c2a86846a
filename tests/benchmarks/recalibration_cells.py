"""Cells (data, model, size) of the recalibration benchmark, from scikit-learn's data or generated.

A cell is a function of a seed that gives the forecasts and outcomes on which maps are fitted, and
those on which they are judged.
"""

import numpy as np
from scipy.special import expit, logit
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
    make_hastie_10_2,
)
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

JUDGED = 4000  # rows on which a generated cell is judged


def one_class(load, label):
    """Bundled data: one class against the rest."""
    X, y = load(return_X_y=True)
    return X, (y == label).astype(int)


def learned(data, model, n_fit, n_train=None):
    """Forecasts of a model trained on rows of their own; ``data`` is (X, y) or a generator."""

    def cell(seed):
        X, y = data(seed) if callable(data) else data
        X, X_train, y, y_train = train_test_split(
            X, y, test_size=n_train or 1 / 3, stratify=y, random_state=seed
        )
        X, X_test, y, y_test = train_test_split(
            X, y, train_size=n_fit, stratify=y, random_state=seed
        )
        proba = model(seed).fit(X_train, y_train).predict_proba
        return proba(X)[:, 1], y, proba(X_test)[:, 1], y_test

    return cell


def known(truth, n_fit, spread=(1.0, 1.0)):
    """Forecasts from a beta distribution, whose outcomes have probability truth(p)."""

    def cell(seed):
        rng = np.random.default_rng(seed)
        p = rng.beta(*spread, size=n_fit + JUDGED)
        y = (rng.random(p.size) < truth(p)).astype(int)
        y[:2] = 0, 1
        return p[:n_fit], y[:n_fit], p[n_fit:], y[n_fit:]

    return cell


def hastie(seed):
    X, y = make_hastie_10_2(12000, random_state=seed)
    return X, (y > 0).astype(int)


def redundant(seed):
    return make_classification(
        8000, n_informative=4, n_redundant=12, flip_y=0.1, class_sep=0.7, random_state=seed
    )


def bayes(seed):
    return GaussianNB()


def forest(seed):
    return RandomForestClassifier(30, random_state=seed)


def boosted(seed):
    return AdaBoostClassifier(n_estimators=30, random_state=seed)


def logistic(seed):
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1))


def tree(seed):
    return DecisionTreeClassifier(min_samples_leaf=3, random_state=seed)


CANCER = load_breast_cancer(return_X_y=True)
CELLS = {
    "cancer, bayes, 190": learned(CANCER, bayes, 190),
    "cancer, forest, 190": learned(CANCER, forest, 190),
    "wine 1, tree, 60": learned(one_class(load_wine, 1), tree, 60),
    "digit 8, bayes, 600": learned(one_class(load_digits, 8), bayes, 600),
    "digit 3, boosted, 600": learned(one_class(load_digits, 3), boosted, 600),
    "digit 1, logistic, 600": learned(one_class(load_digits, 1), logistic, 600),
    "hastie, boosted, 500": learned(hastie, boosted, 500, 2000),
    "hastie, boosted, 5000": learned(hastie, boosted, 5000, 2000),
    "hastie, forest, 2000": learned(hastie, forest, 2000, 2000),
    "redundant, bayes, 500": learned(redundant, bayes, 500, 1000),
    "redundant, bayes, 4000": learned(redundant, bayes, 4000, 1000),
    "calibrated, 300": known(lambda p: p, 300),
    "calibrated, 3000": known(lambda p: p, 3000),
    "calibrated rare, 3000": known(lambda p: p, 3000, (0.5, 9.0)),
    "over-confident, 300": known(lambda p: expit(logit(p) / 2), 300),
    "over-confident, 3000": known(lambda p: expit(logit(p) / 2), 3000),
    "squeezed, 1000": known(lambda p: expit(8 * logit(p)), 1000, (40.0, 40.0)),
    "square, 1000": known(lambda p: p**2, 1000),
    "stairs, 3000": known(lambda p: 0.1 + 0.2 * np.floor(4 * p), 3000),
}
