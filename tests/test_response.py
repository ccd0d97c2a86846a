"""DecisionResponse: contract of scikit-learn, the grid, what it decides, claims and promises."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import pairwise_distances
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcal import DecisionResponse, DecisionTask, metrics, swap_regret
from skcal.decision import regret_bound, round_predictions, utility_from_threshold
from skcal.scorers import utility_scorer

X, Y = make_classification(240, n_features=4, flip_y=0.2, random_state=0)
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


def routing():
    return sklearn.config_context(enable_metadata_routing=True)


# The contract of scikit-learn


def expected_failures(estimator):
    if estimator.rounding is None:
        return {}
    return {"check_classifiers_train": "predict is not the argmax of predict_proba"}


def with_checks(*estimators, expected=expected_failures):
    mark = parametrize_with_checks(list(estimators), expected_failed_checks=expected)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)  # 1.6 gives a generator


# GaussianNB divides by the variance of a single row, and some checks have few rows of a class.
@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn.naive_bayes")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@with_checks(
    DecisionResponse(DecisionTreeClassifier(max_depth=5, random_state=0), rounding=None),
    # On so coarse a grid the check above is sure to see a difference.
    DecisionResponse(GaussianNB(), rounding="floor", n_bins=2),
    DecisionResponse(GaussianNB(), rounding="random", n_bins=2),
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@with_checks(
    DecisionResponse(LogisticRegression(), rounding=None),
    DecisionResponse(LogisticRegression(), rounding="floor"),
    DecisionResponse(LogisticRegression(), rounding="random"),
    # The seed of the checks draws no difference on the finer grid.
    expected=lambda response: expected_failures(response) if response.rounding == "floor" else {},
)
def test_sklearn_checks_with_the_defaults(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_clone_pickle_and_parameters(rounding):
    utility, actions = TABLE.copy(), list(NAMES)
    response = DecisionResponse(
        GaussianNB(), utility=utility, actions=actions, rounding=rounding, random_state=0
    )
    before = response.get_params()
    predicted = response.fit(X, Y).predict(X)
    after = response.get_params()
    assert list(before) == list(after)
    assert all(before[name] is after[name] for name in before)  # nothing copied or converted
    assert after["utility"] is utility
    assert utility.flags.writeable
    assert not hasattr(response.estimator, "classes_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(response)).predict(X), predicted)
    np.testing.assert_array_equal(clone(response).fit(X, Y).predict(X), predicted)
    response.set_params(estimator__var_smoothing=0.5, rounding=None).fit(X, Y)
    assert response.estimator_.var_smoothing == 0.5
    assert response.n_bins_ == np.inf


@pytest.mark.parametrize("utility", [[[0, -1], [-5, 0]], np.array([[0, -1], [-5, 0]])])
def test_search_over_utilities(utility):
    other = np.array([[0, -5], [-1, 0]])
    response = DecisionResponse(GaussianNB(), utility=utility, rounding=None)
    assert clone(response).get_params()["utility"] is not None
    assert "utility=" in repr(response)
    assert response.set_params(utility=other).get_params()["utility"] is other
    search = GridSearchCV(
        response, {"utility": [utility, other], "rounding": [None, "floor"]}, cv=3
    )
    search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert np.shape(search.best_estimator_.utility_) == (2, 2)


def test_repr_says_what_the_numbers_describe():
    response = DecisionResponse(GaussianNB(), n_bins=4)
    assert repr(response) == "DecisionResponse(estimator=GaussianNB(), n_bins=4)"
    text = repr(response.fit(X, Y))
    assert text.startswith("DecisionResponse(estimator=GaussianNB(), n_bins=4)")
    for part in ("m = 4", "SCDL", f"{response.regret_bound_:.3g}", "out-of-fold", "training"):
        assert part in text
    assert "alpha" in repr(response.set_params(n_bins="auto", alpha=0.1).fit(X, Y))


def test_frames_give_names_and_arrays_take_them_away():
    response = DecisionResponse(GaussianNB(), rounding="floor")
    assert not hasattr(response, "n_features_in_")
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(240)[::-1])
    response.fit(frame, pd.Series(Y))  # paired by position
    assert response.n_features_in_ == 4
    assert response.feature_names_in_.tolist() == list("abcd")
    with_frame = response.predict(frame)
    np.testing.assert_array_equal(response.fit(X, Y).predict(X), with_frame)
    assert not hasattr(response, "feature_names_in_")


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", ["text", "dicts", "NaN", "frame"])
def test_x_is_the_business_of_the_estimator(kind, rounding):
    words = np.where(Y == 1, "good fine", "bad awful").astype(object)
    words[::7] = "neutral"
    inputs = {
        "text": (
            words.tolist(),
            make_pipeline(CountVectorizer(), DecisionTreeClassifier(max_depth=2)),
        ),
        "dicts": (
            [{"word": word, "x": x} for word, x in zip(words, X[:, 0], strict=True)],
            make_pipeline(DictVectorizer(), DecisionTreeClassifier(max_depth=2)),
        ),
        "NaN": (np.where(X > 1, np.nan, X), DecisionTreeClassifier(min_samples_leaf=9)),
        "frame": (
            pd.DataFrame({"word": words, "x": X[:, 0]}),
            make_pipeline(
                make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough"),
                DecisionTreeClassifier(max_depth=2),
            ),
        ),
    }
    data, estimator = inputs[kind]
    response = DecisionResponse(estimator, utility=[[0, -1], [-2, 0]], rounding=rounding, cv=3)
    response.fit(data, Y)
    assert response.predict(data).shape == (240,)
    assert response.score(data, Y) > -1
    assert response.predict_proba(data).shape == (240, 2)


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [1, 2], [0.0, 1.0], ["z", "a"]]
)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_labels_of_any_kind(labels, rounding):
    y = np.array(labels)[Y]
    response = DecisionResponse(GaussianNB(), rounding=rounding, random_state=0).fit(X, y)
    found = response.predict(X)
    assert found.dtype == response.classes_.dtype == response.actions_.dtype == y.dtype
    assert response.classes_.tolist() == sorted(labels)
    codes = Y if labels == sorted(labels) else 1 - Y
    same = DecisionResponse(GaussianNB(), rounding=rounding, random_state=0).fit(X, codes)
    np.testing.assert_array_equal(response.classes_[same.predict(X)], found)
    assert response.score(X, y) == same.score(X, codes)
    for form in (y.tolist(), pd.Series(y)):
        assert response.score(X, form) == response.score(X, y)


class Tolerant(Given):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.string = True
        return tags


@pytest.mark.parametrize("estimator", [Given(), Tolerant(), LogisticRegression()])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_tags(estimator, rounding):
    response = DecisionResponse(estimator, rounding=rounding)
    assert is_classifier(response)
    assert is_classifier(make_pipeline(StandardScaler(), response))
    tags = get_tags(response)
    assert tags.input_tags == get_tags(estimator).input_tags
    assert tags.input_tags.allow_nan == isinstance(estimator, Tolerant)
    assert tags.classifier_tags.multi_class == (rounding is None)
    assert tags.non_deterministic == (rounding == "random")


def test_integer_cv_is_stratified():
    response = DecisionResponse(GaussianNB(), rounding=None)
    assert isinstance(check_cv(3, Y, classifier=is_classifier(response)), StratifiedKFold)
    order = np.argsort(Y, kind="stable")  # KFold would leave out a class
    scores = cross_val_score(response, X[order], Y[order], cv=2, error_score="raise")
    assert np.isfinite(scores).all()


def test_a_frozen_estimator_is_used_as_it_is():
    base = GaussianNB().fit(X[:120], Y[:120])
    means = base.theta_.copy()
    response = DecisionResponse(FrozenEstimator(base), rounding="floor").fit(X[120:], Y[120:])
    np.testing.assert_array_equal(base.theta_, means)
    np.testing.assert_array_equal(response.predict_proba(X), base.predict_proba(X))
    expected = metrics.scdl(Y[120:], base.predict_proba(X[120:])[:, 1], rounding="floor")
    assert response.scdl_ == expected
    scores = cross_val_score(clone(response), X, Y, error_score="raise")
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(base.theta_, means)


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


def test_nested_cross_validation_with_groups():
    with routing():
        scores = cross_validate(
            DecisionResponse(GaussianNB(), cv=GroupKFold(2), rounding="floor"),
            X, Y, cv=GroupKFold(3), params={"groups": np.arange(240) // 8}, error_score="raise",
        )  # fmt: skip
    assert np.isfinite(scores["test_score"]).all()


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


# Weights and routing

W = np.random.default_rng(0).integers(1, 4, 240).astype(float)


def weighted_scdl(estimator):
    params = {"sample_weight": W}
    p = cross_val_predict(estimator, X, Y, method="predict_proba", params=params)[:, 1]
    return metrics.scdl(Y, p, sample_weight=W, rounding="floor")


def test_weights_reach_the_estimator_its_copies_and_the_scdl():
    response = DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=W)
    assert response.scdl_ == weighted_scdl(GaussianNB())
    fitted = GaussianNB().fit(X, Y, sample_weight=W)
    np.testing.assert_array_equal(response.predict_proba(X), fitted.predict_proba(X))
    series = pd.Series(W, index=np.arange(240)[::-1])  # paired by position
    again = DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=series)
    assert again.scdl_ == response.scdl_
    Given.fitted_on.clear()
    x = X[:, :1] * 0 + 0.5
    DecisionResponse(Given(), rounding="floor").fit(x, Y, sample_weight=W.tolist())
    assert sorted(n for n, _ in Given.fitted_on) == [192] * 5 + [240]
    assert all(len(w) == n for n, w in Given.fitted_on)


def test_weights_of_zero_are_no_rows_for_the_scdl():
    w = (np.arange(8) < 4).astype(float)
    p, y = np.r_[ORACLE_P, [0.9] * 4], np.r_[ORACLE_Y, [0] * 4]
    x = p[:, None]
    frozen = FrozenEstimator(Given().fit(x, y))
    response = DecisionResponse(frozen, rounding="floor").fit(x, y, sample_weight=w)
    expected, _ = given(ORACLE_P, ORACLE_Y, rounding="floor")
    assert response.scdl_ == expected.scdl_
    assert response.n_bins_ == expected.n_bins_


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (lambda: GaussianNB().set_fit_request(sample_weight=True), "sample_weight"),
        (lambda: GaussianNB().set_fit_request(sample_weight="cases"), "cases"),
        (
            lambda: make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False),
                GaussianNB().set_fit_request(sample_weight=True),
            ),
            "sample_weight",
        ),
    ],
    ids=["requested", "alias", "pipeline"],
)
def test_weights_are_routed(estimator, name):
    with routing():
        response = DecisionResponse(estimator(), rounding="floor").fit(X, Y, **{name: W})
    assert response.scdl_ == pytest.approx(weighted_scdl(GaussianNB()), abs=1e-12)
    fitted = GaussianNB().fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(response.predict_proba(X), fitted.predict_proba(X), atol=1e-6)


def test_weights_that_nobody_asked_for():
    with routing(), pytest.raises((UnsetMetadataPassedError, TypeError), match="sample_weight"):
        DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=W)
    with pytest.raises(TypeError, match="unknown"):
        DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, unknown=W)


def row_tables(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2, 3))


def row_decisions(p, tables, rounded):
    return [
        DecisionTask(table, actions=NAMES).best_response([q])[0]
        for table, q in zip(tables, rounded(p), strict=True)
    ]


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_sample_utility_is_a_loop_over_rows(rounding):
    rng = np.random.default_rng(1)
    p, y = rng.random(60), rng.integers(0, 2, 60)
    options = {} if rounding is None else {"n_bins": 4}
    response, x = three_actions(p, y, rounding=rounding, random_state=0, **options)
    tables = row_tables(60)
    seen = {
        None: lambda p: p,
        "floor": lambda p: round_predictions(p, 4, rounding="floor"),
        "random": lambda p: round_predictions(p, 4, random_state=0),
    }[rounding]
    action = row_decisions(p, tables, seen)
    assert response.predict(x, sample_utility=tables).tolist() == action
    share = response.action_distribution(x, sample_utility=tables)
    each = [
        DecisionResponse(
            response.estimator, utility=t, actions=NAMES, rounding=rounding, **options
        ).fit(x, y)
        for t in tables
    ]
    loop = [r.action_distribution(x[i : i + 1])[0] for i, r in enumerate(each)]
    np.testing.assert_allclose(share, loop, atol=1e-15)
    loop = [r.realized_utility(x[i : i + 1], y[i : i + 1])[0] for i, r in enumerate(each)]
    worth = response.realized_utility(x, y, sample_utility=tables)
    np.testing.assert_allclose(worth, loop, atol=1e-14)
    loop = [r.expected_utility(x[i : i + 1])[0] for i, r in enumerate(each)]
    np.testing.assert_allclose(response.expected_utility(x, sample_utility=tables), loop)
    w = rng.random(60)
    score = response.score(x, y, sample_weight=w, sample_utility=tables)
    assert score == pytest.approx(np.average(worth, weights=w))
    own = tables[np.arange(60), y]
    gains = (share.T @ own - (share * own).sum(axis=0)[:, None]) / 60
    regret, swap = response.swap_regret(x, y, sample_utility=tables, return_map=True)
    assert regret == pytest.approx(gains.max(axis=1).clip(0).sum())
    assert set(swap) == {
        name for name, taken in zip(NAMES, share.any(axis=0), strict=True) if taken
    }


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_sample_utility_decides_as_utility_does_at_a_threshold(step):
    differ = []
    for k in range(1, 100):
        t = k / 100
        table = DecisionTask(utility_from_threshold(t)).utility
        options = {"utility": table, "actions": ["act", "wait"], "rounding": None}
        p = t * (1 + step * 1e-12)  # within rounding errors of the table a row is at the threshold
        response, x = given([p, 0.1, 0.9], [0, 1, 1], **options)
        found = response.predict(x, sample_utility=np.tile(table, (3, 1, 1)))
        differ += [t] if found.tolist() != response.predict(x).tolist() else []
    assert differ == []


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("forbidden", [-1e6, -1e13, -1e16, -1e300])
def test_a_forbidden_action_blurs_no_other(forbidden):
    # The way to forbid an action is a very low utility: the others must not become tied by it.
    table = np.array([[0.1, 0.9, forbidden], [0.1, 0.2, forbidden]])
    response, x = given([0.2, 0.5, 0.9], [0, 1, 1], utility=table, actions=NAMES, rounding=None)
    assert response.predict(x).tolist() == ["treat"] * 3
    tables = np.tile(table, (3, 1, 1))
    assert response.predict(x, sample_utility=tables).tolist() == ["treat"] * 3


def test_sample_utility_is_routed():
    tables = row_tables(240)
    options = {"utility": TABLE, "actions": NAMES, "rounding": "floor", "alpha": 0.1}
    with routing():
        response = DecisionResponse(GaussianNB(), **options)
        response.set_predict_request(sample_utility=True).set_score_request(sample_utility=True)
        found = cross_validate(
            response, X, Y, cv=3, params={"sample_utility": tables}, error_score="raise",
            return_estimator=True, return_indices=True,
        )  # fmt: skip
        for k, rows in enumerate(found["indices"]["test"]):
            fitted = found["estimator"][k]
            score = fitted.score(X[rows], Y[rows], sample_utility=tables[rows])
            assert found["test_score"][k] == score
        # A scorer of a plain classifier, and the response at the end of a pipeline.
        scorer = utility_scorer(TABLE, actions=NAMES).set_score_request(sample_utility=True)
        scores = cross_validate(
            GaussianNB(), X, Y, cv=3, scoring=scorer, params={"sample_utility": tables},
            error_score="raise", return_estimator=True, return_indices=True,
        )  # fmt: skip
        for k, rows in enumerate(scores["indices"]["test"]):
            p = scores["estimator"][k].predict_proba(X[rows])
            claims = np.einsum("nk,nka->na", p, tables[rows])
            own = tables[rows, Y[rows]]
            expected = own[np.arange(rows.size), claims.argmax(axis=1)].mean()
            assert scores["test_score"][k] == pytest.approx(expected)
        pipeline = make_pipeline(StandardScaler(), response).fit(X, Y)
        with_tables = pipeline.predict(X, sample_utility=tables)
    plain = make_pipeline(StandardScaler(), DecisionResponse(GaussianNB(), **options)).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X, sample_utility=tables), with_tables)


def test_fit_declares_no_metadata_of_its_own():
    assert not hasattr(DecisionResponse, "set_fit_request")


# Decisions


def test_oracle():
    response, x = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
    expected = [[-0.625, -0.875, -0.3], [-2.5, -0.5, -0.3], [-3.75, -0.25, -0.3]]
    claims = response.expected_utility(x)
    np.testing.assert_allclose(claims, [*expected, [-4.375, -0.125, -0.3]], rtol=0, atol=1e-15)
    assert response.predict(x).tolist() == ["refer", "refer", "treat", "treat"]
    assert claims.max(axis=1).mean() == pytest.approx(-0.24375)
    np.testing.assert_allclose(response.realized_utility(x, ORACLE_Y), [-0.3, -0.3, 0, -1])
    assert response.score(x, ORACLE_Y) == pytest.approx(-0.4)
    regret, swap = response.swap_regret(x, ORACLE_Y, return_map=True)
    assert regret == response.swap_regret(x, ORACLE_Y) == pytest.approx(0.1)
    assert swap == {"refer": "refer", "treat": "refer"}
    assert response.action_distribution(x).tolist() == [[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]]


def test_ties_and_thresholds():
    response, x = given([0.5, 0.5], [0, 1], rounding=None)
    assert response.predict(x).tolist() == [0, 0]
    utility = {1: {"treat": 0, "wait": -5}, 0: {"treat": -1, "wait": 0}}
    t = 1 / 6
    p = [np.nextafter(t, 0), t, np.nextafter(t, 1)]
    response, x = given(p, [0, 1, 1], rounding=None, utility=utility)
    assert response.predict(x).tolist() == ["wait", "treat", "treat"]


@pytest.mark.parametrize("m", [3, 4, 10])
def test_floor_responds_to_the_rounded_forecast(m):
    p, y = np.random.default_rng(0).random(100).round(2), np.arange(100) % 2
    response, x = three_actions(p, y, rounding="floor", n_bins=m)
    rounded = round_predictions(p, m, rounding="floor")
    action = response.task_.best_response(rounded)
    np.testing.assert_array_equal(response.predict(x), action)
    np.testing.assert_array_equal(response.predict(x), response.predict(x))
    columns = [NAMES.index(name) for name in action]
    np.testing.assert_array_equal(response.action_distribution(x), np.eye(3)[columns])
    regret = swap_regret(y, p, response.task_, rounding="floor", n_bins=m)
    assert response.swap_regret(x, y) == pytest.approx(regret)


def test_floor_of_single_precision_forecasts():
    p = np.array([0.7, 0.3, 0.1], dtype=np.float32)  # .7 is a little less in single precision
    response, x = given(p, [0, 1, 1], rounding="floor", n_bins=10, utility=[[0.65, 0], [0, 0.35]])
    assert response.predict(x).tolist() == [1, 0, 0]


@pytest.mark.parametrize("m", [2, 3, 8])
def test_distribution_is_exact_and_drawn_from(m):
    p, y = np.r_[0, 1, np.random.default_rng(0).random(30)], np.arange(32) % 2
    response, x = three_actions(p, y, n_bins=m, random_state=np.random.RandomState(0))
    share = response.action_distribution(x)
    assert share.shape == (32, 3)
    assert np.all(share >= 0)
    assert np.all(share.sum(axis=1) == 1)
    n = 2000
    drawn = response.predict(np.repeat(x, n, axis=0)).reshape(32, n)
    found = np.column_stack([(drawn == name).mean(axis=1) for name in NAMES])
    assert np.all(np.abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / n) + 1e-12)
    worth = TABLE[y]
    np.testing.assert_allclose(response.realized_utility(x, y), (share * worth).sum(axis=1))
    assert response.score(x, y) == pytest.approx((share * worth).sum(axis=1).mean())
    regret = swap_regret(y, p, response.task_, rounding="random", n_bins=m)
    assert response.swap_regret(x, y) == pytest.approx(regret)


def test_random_state():
    p, y = np.full(40, 0.5), np.arange(40) % 2
    options = {"n_bins": 3, "utility": np.eye(2)}
    response, x = given(p, y, random_state=0, **options)
    first = response.predict(x)
    assert set(first) == {0, 1}
    np.testing.assert_array_equal(response.predict(x), first)  # an int repeats the same draws
    alone = [response.predict(x[i : i + 1])[0] for i in range(40)]
    assert len(set(alone)) == 1  # so rows that come one at a time all share one draw
    generator, _ = given(p, y, random_state=np.random.RandomState(0), **options)
    alone = [generator.predict(x[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(alone, first)  # a generator goes on where it was
    assert np.any(generator.predict(x) != first)
    fresh, _ = given(p, y, **options)
    assert np.any(fresh.predict(x) != fresh.predict(x))
    doc = " ".join(DecisionResponse.__doc__.split())
    assert "An int repeats the same draws in each call" in doc
    assert "random" in doc.split(".")[0]  # the first line says that the default is randomised


def test_score_is_the_accuracy_without_utility_and_rounding():
    response = DecisionResponse(GaussianNB(), rounding=None).fit(X, Y)
    base = GaussianNB().fit(X, Y)
    np.testing.assert_array_equal(response.predict(X), base.predict(X))
    assert response.score(X, Y) == accuracy_score(Y, base.predict(X))
    weighted = accuracy_score(Y, base.predict(X), sample_weight=W)
    assert response.score(X, Y, sample_weight=W) == pytest.approx(weighted)


def test_layout_is_that_of_a_confusion_matrix():
    utility = [[0, -2], [-14, 0]]
    response, x = given([0.05, 0.13, 0.2, 0.6], [0, 1, 0, 1], utility=utility, rounding=None)
    assert response.predict(x).tolist() == [0, 1, 1, 1]
    assert "rows are true classes" in " ".join(DecisionResponse.__doc__.split())


def test_cost_of_rounding():
    for rounding in ("floor", "random"):
        response, x = three_actions(ORACLE_P, ORACLE_Y, rounding=rounding, n_bins=2)
        best, _ = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
        expected = best.score(x, ORACLE_Y) - response.score(x, ORACLE_Y)
        assert expected != 0
        assert response.utility_cost_of_rounding(x, ORACLE_Y) == pytest.approx(expected)
        assert best.utility_cost_of_rounding(x, ORACLE_Y) == 0
        w = [1, 2, 3, 0]
        cost = response.utility_cost_of_rounding(x, ORACLE_Y, sample_weight=w)
        weighted = [r.score(x, ORACLE_Y, sample_weight=w) for r in (best, response)]
        assert cost == pytest.approx(weighted[0] - weighted[1])


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("rounding", ["floor", "random"])
def test_the_bound_holds_on_the_sample_of_the_fit(rounding):
    rng = np.random.default_rng(0)
    for seed in range(40):
        p = rng.random(50) if seed % 2 else rng.integers(0, 11, 50) / 10
        y = (rng.random(50) < rng.random() * p).astype(int)
        y[:2] = 0, 1
        table = rng.normal(size=(2, 4)) * rng.choice([0.1, 1, 100], (2, 1))
        options = {"utility": table, "actions": range(4), "rounding": rounding}
        response, x = given(p, y, **options)
        assert response.swap_regret(x, y) <= response.regret_bound_ + 1e-12
        assert response.regret_bound_ <= 2 * response.scdl_ * response.task_.ranges.sum() + 1e-9


def test_regret_bound():
    response, _ = three_actions(ORACLE_P, ORACLE_Y, n_bins=8)
    loss = metrics.scdl(ORACLE_Y, ORACLE_P, n_bins=8)
    assert response.regret_bound() == response.regret_bound_ == pytest.approx(6 * (loss + 1 / 8))
    found = response.regret_bound(1000, 0.95)
    assert found == regret_bound(loss, 8, ranges=(1, 5), n_decisions=1000, confidence=0.95)
    assert found > response.regret_bound_
    plain, _ = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
    assert plain.regret_bound() == plain.regret_bound_ == plain.regret_bound(10, 0.9) == np.inf
    assert np.isnan(plain.scdl_)


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize(("rounding", "bound"), [(None, np.inf), ("floor", 0), ("random", 0)])
def test_nothing_at_stake(rounding, bound):
    utility = {0: {"a": 1, "b": 1}, 1: {"a": 2, "b": 2}}
    response, x = given(ORACLE_P, ORACLE_Y, utility=utility, rounding=rounding)
    assert response.regret_bound_ == response.regret_bound() == bound
    assert response.swap_regret(x, ORACLE_Y) == 0
    assert response.predict(x).tolist() == ["a"] * 4


def test_one_class():
    response = DecisionResponse(GaussianNB(), rounding=None).fit(X, ["only"] * 240)
    assert response.predict(X).tolist() == ["only"] * 240
    assert response.score(X, ["only"] * 240) == 1
    assert response.regret_bound_ == np.inf


# More than two classes

ONLY_BINARY = r"Only binary classification is supported\. The type of the target is multiclass"


def test_more_than_two_classes():
    rng = np.random.default_rng(0)
    proba, codes = rng.dirichlet(np.ones(3), 50), np.r_[0, 1, 2, rng.integers(0, 3, 47)]
    y = np.array(["a", "b", "c"])[codes]
    utility = np.array([[2, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1.1]])
    names = ["a", "b", "c", "hold"]
    response, x = given(proba, y, utility=utility, actions=names, rounding=None)
    best = (proba @ utility).argmax(axis=1)
    assert response.predict(x).tolist() == [names[a] for a in best]
    np.testing.assert_allclose(response.expected_utility(x), proba @ utility)
    np.testing.assert_allclose(response.realized_utility(x, y), utility[codes, best])
    regret = swap_regret(y, proba, response.task_)
    assert response.swap_regret(x, y) == pytest.approx(regret)
    assert response.n_bins_ == np.inf
    tables = np.tile(utility, (50, 1, 1))
    assert response.predict(x, sample_utility=tables).tolist() == response.predict(x).tolist()
    plain, x = given(proba, y, rounding=None)
    assert plain.predict(x).tolist() == [names[a] for a in proba.argmax(axis=1)]
    for rounding in ("floor", "random"):
        with pytest.raises(ValueError, match=ONLY_BINARY):
            given(proba, y, utility=utility, actions=names, rounding=rounding)


# Errors

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


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(solver="liblinear")])
def test_multiclass_targets_say_why(estimator):
    # Also when the estimator would refuse them with another message.
    with pytest.raises(ValueError, match=re.compile(ONLY_BINARY + r".*rounding=None", re.DOTALL)):
        DecisionResponse(estimator).fit(X, np.arange(240) % 3)
