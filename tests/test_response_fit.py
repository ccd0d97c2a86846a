"""The fit of DecisionResponse: its grid, and the folds from which it comes."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import pairwise_distances
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skcal import DecisionResponse, metrics
from tests.forecasters import NAMES, ORACLE_P, ORACLE_Y, TABLE, Given, X, Y, given, three_actions

# The grid


@pytest.mark.parametrize("rounding", ["floor", "random"])
@pytest.mark.parametrize(
    ("alpha", "m"),
    [
        (1, 2), (0.6, 2), (0.5, 2), (0.49, 4), (0.3, 4), (0.25, 4), (0.2, 8), (1e-3, 1024),
        (2.0**-10, 1024), (np.nextafter(2.0**-10, 0), 2048), (np.nextafter(2.0**-10, 1), 1024),
        (0, np.inf), (0.0, np.inf),
    ],
)  # fmt: skip
def test_grid_of_alpha(alpha, m, rounding):
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    y = (rng.random(4000) < p).astype(int)
    response, x = three_actions(p, y, alpha=alpha, rounding=rounding)
    assert response.n_bins_ == m
    assert np.isnan(response.scdl_)
    assert response.regret_bound_ == pytest.approx(6 * (alpha + 1 / m))
    if m == np.inf:
        np.testing.assert_array_equal(response.predict(x), response.task_.best_response(p))


@pytest.mark.parametrize("rounding", ["floor", "random"])
@pytest.mark.parametrize("alpha", [1e-15, 1e-20, 1e-30, 1e-300, 5e-324])
def test_tiny_alpha(alpha, rounding):
    response, x = given(ORACLE_P, ORACLE_Y, alpha=alpha, rounding=rounding)
    assert response.n_bins_ >= 8  # either 1/alpha or the cap for four rows
    np.testing.assert_array_equal(response.predict(x), [0, 0, 1, 1])
    assert 0 <= response.regret_bound_ <= 2 * (1 / 8 + alpha)
    assert np.all(response.action_distribution(x).sum(axis=1) == 1)


@pytest.mark.parametrize("rounding", ["floor", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_automatic_grid_is_that_of_scdl(rounding, seed):
    x, y = make_classification(300, flip_y=0.3, random_state=seed)
    response = DecisionResponse(GaussianNB(), rounding=rounding, utility=TABLE, actions=NAMES)
    response.fit(x, y)
    p = cross_val_predict(GaussianNB(), x, y, method="predict_proba")[:, 1]
    loss = metrics.scdl(y, p, rounding=rounding, return_certificate=True)
    assert response.scdl_ == loss.value
    assert response.n_bins_ == loss.n_bins
    assert type(response.n_bins_) is int
    assert response.regret_bound_ == pytest.approx(6 * (loss.loss + 1 / loss.n_bins))
    assert response.regret_bound_ <= 2 * 6 * response.scdl_ + 1e-12


@pytest.mark.parametrize("rounding", ["floor", "random"])
@pytest.mark.parametrize("m", [1, 3, 10, 16])
def test_integer_grid(m, rounding):
    p, y = np.random.default_rng(0).random((2, 200)).round(2)
    y = (y < p).astype(int)
    response, _ = three_actions(p, y, n_bins=m, rounding=rounding)
    assert response.n_bins_ == m
    assert response.scdl_ == metrics.scdl(y, p, rounding=rounding)
    loss = metrics.scdl(y, p, n_bins=m, rounding=rounding)
    assert response.regret_bound_ == pytest.approx(6 * (loss + 1 / m))


def test_no_rounding_on_a_calibrated_sample():
    p = np.repeat([0.2, 0.8], 10)
    y = np.r_[[1] * 2, [0] * 8, [1] * 8, [0] * 2]
    response, _ = three_actions(p, y)
    assert response.n_bins_ == np.inf
    assert response.scdl_ == response.regret_bound_ == response.regret_bound() == 0
    q = np.linspace(0, 1, 101)
    np.testing.assert_array_equal(response.predict(q[:, None]), response.task_.best_response(q))


@pytest.mark.parametrize("rounding", ["floor", "random"])
@pytest.mark.parametrize(("n", "cap"), [(2, 4), (3, 4), (4, 8), (6, 8), (8, 16)])
def test_cap_of_the_grid(n, cap, rounding):
    # Rows as near to 1/2 as this have m* = 32768 and more: far more than a few rows can tell.
    p = 0.5 + 1e-9 * np.arange(n)
    y = np.arange(n) % 2
    response, _ = given(p, y, rounding=rounding)
    loss = metrics.scdl(y, p, rounding=rounding, return_certificate=True)
    if rounding == "random":
        assert loss.n_bins > cap
    assert response.scdl_ == loss.value
    assert response.n_bins_ == min(cap, loss.n_bins)
    at_cap = metrics.scdl(y, p, rounding=rounding, n_bins=response.n_bins_)
    assert response.regret_bound_ == pytest.approx(2 * (at_cap + 1 / response.n_bins_))


# Folds


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(4, shuffle=True, random_state=1),
        list(KFold(3, shuffle=True, random_state=2).split(X)),
        PredefinedSplit(np.arange(240) % 5),
    ],
)
def test_cv(cv):
    response = DecisionResponse(GaussianNB(), cv=cv, rounding="floor").fit(X, Y)
    p = cross_val_predict(GaussianNB(), X, Y, cv=cv, method="predict_proba")[:, 1]
    assert response.scdl_ == metrics.scdl(Y, p, rounding="floor")


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("params", [{}, {"sample_weight": np.ones(240)}])
def test_an_iterator_of_splits(enabled, params):
    splits = list(KFold(3, shuffle=True, random_state=2).split(X))
    with sklearn.config_context(enable_metadata_routing=enabled):
        model = GaussianNB().set_fit_request(sample_weight=True) if enabled else GaussianNB()
        response = DecisionResponse(model, cv=iter(splits), rounding="floor").fit(X, Y, **params)
    p = cross_val_predict(GaussianNB(), X, Y, cv=splits, method="predict_proba")[:, 1]
    assert response.scdl_ == metrics.scdl(Y, p, rounding="floor")


@pytest.mark.parametrize(
    ("labels", "weight"),
    [
        (["no", "yes"], {"no": 1, "yes": 9}),
        ([1, 2], {1: 9}),
        ([1, 2], {1: 1, 2: 9}),
        ([2, 7], {2: 9}),
    ],
)
def test_folds_are_fitted_on_the_labels_themselves(labels, weight):
    # An estimator may know its classes by name: here by their weights.
    y = np.array(labels)[Y]
    model = DecisionTreeClassifier(max_depth=2, class_weight=weight, random_state=0)
    response = DecisionResponse(model, rounding="floor").fit(X, y)
    p = np.empty(240)
    for train, test in StratifiedKFold(5).split(X, y):
        p[test] = clone(model).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    assert response.scdl_ == metrics.scdl(Y, p, rounding="floor")


@pytest.mark.parametrize("enabled", [False, True])
def test_groups_reach_the_splitter(enabled):
    groups = np.arange(240) // 8
    with sklearn.config_context(enable_metadata_routing=enabled):
        response = DecisionResponse(GaussianNB(), cv=GroupKFold(3), rounding="floor")
        response.fit(X, Y, groups=groups)
    p = cross_val_predict(
        GaussianNB(), X, Y, cv=list(GroupKFold(3).split(X, Y, groups)), method="predict_proba"
    )
    assert response.scdl_ == metrics.scdl(Y, p[:, 1], rounding="floor")


def test_a_fold_without_a_class():
    order = np.argsort(Y, kind="stable")
    y = np.array(["no", "yes"])[Y[order]]
    response = DecisionResponse(GaussianNB(), cv=KFold(2))
    with pytest.raises(ValueError, match=r"cv .*class.*'yes'.*fold 1|cv .*class.*'no'.*fold 0"):
        response.fit(X[order], y)
    response.set_params(alpha=0.1).fit(X[order], y)  # needs no folds
    response.set_params(alpha=None, rounding=None).fit(X[order], y)


@pytest.mark.parametrize("kind", ["single", "pairwise", "sparse"])
def test_folds_take_their_rows_as_scikit_learn_does(kind):
    x, y, model = X, Y, KNeighborsClassifier(7)
    if kind == "single":  # .7 is less in single precision, but starts the bin 7/10
        x = np.tile(np.array([0.7, 0.3, 0.55, 0.6], dtype=np.float32), 60)[:, None]
        model = Given()
    elif kind == "pairwise":
        x, model = pairwise_distances(X), KNeighborsClassifier(7, metric="precomputed")
    elif kind == "sparse":
        x = csr_matrix(X)
    response = DecisionResponse(model, rounding="floor", n_bins=10).fit(x, y)
    p = cross_val_predict(model, x, y, method="predict_proba")[:, 1]
    assert p.dtype == (np.float32 if kind == "single" else float)
    loss = metrics.scdl(y, p, rounding="floor", n_bins=10)
    assert response.regret_bound_ == pytest.approx(2 * (loss + 1 / 10))


def test_rows_that_no_fold_tests():
    with pytest.raises(ValueError, match=r"partition|cv must test every row"):
        DecisionResponse(GaussianNB(), cv=PredefinedSplit([-1] + [0] * 119 + [1] * 120)).fit(X, Y)
