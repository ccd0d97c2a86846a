"""DecisionResponse as an estimator of scikit-learn: its checks, copies, inputs, labels and tags."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, check_cv, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcal import DecisionResponse, metrics
from tests.forecasters import NAMES, ROUNDINGS, TABLE, Given, X, Y


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
