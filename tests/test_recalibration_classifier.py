"""RecalibratedClassifier: scikit-learn's contract, folds, labels, weights and groups."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_backend
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
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

from skcal.recalibration import (
    BetaCalibrator,
    PartitionCalibrator,
    RecalibratedClassifier,
    ShrinkageCalibrator,
)
from tests.forecasters import Given, W, X, Y

FAST = ShrinkageCalibrator(PartitionCalibrator(), n_null=2)
ISOTONIC = IsotonicRegression(out_of_bounds="clip")
IRIS_X, IRIS_Y = load_iris(return_X_y=True)


def with_checks(*estimators):
    names, cases = parametrize_with_checks(list(estimators)).args
    return pytest.mark.parametrize(names, list(cases))  # scikit-learn 1.6 gives a generator


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn.naive_bayes")  # variance of one row
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@with_checks(
    RecalibratedClassifier(DecisionTreeClassifier(max_depth=5, random_state=0), FAST),
    RecalibratedClassifier(GaussianNB(), BetaCalibrator(), ensemble=True, cv=2),
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@with_checks(
    RecalibratedClassifier(LogisticRegression()),
    RecalibratedClassifier(LogisticRegression(), ensemble=True, cv=2),
    RecalibratedClassifier(LogisticRegression(), ISOTONIC, cv=3),
)
def test_sklearn_checks_with_the_defaults(estimator, check):
    check(estimator)


# What it computes


def by_hand(model, calibrator, cv=5, w=None):
    """Calibrator of out-of-fold predictions, then applied to the model of all rows."""
    params = {} if w is None else {"sample_weight": w}
    out_of_fold = cross_val_predict(model, X, Y, cv=cv, method="predict_proba", params=params)
    fitted = clone(calibrator).fit(out_of_fold[:, 1], Y, **params)
    return fitted.predict(clone(model).fit(X, Y, **params).predict_proba(X)[:, 1])


@pytest.mark.parametrize("calibrator", [FAST, ISOTONIC, BetaCalibrator()], ids=str)
@pytest.mark.parametrize(
    "cv", [None, 3, KFold(4), StratifiedKFold(3, shuffle=True, random_state=1)]
)
def test_two_classes(calibrator, cv):
    model = RecalibratedClassifier(GaussianNB(), calibrator, cv=cv).fit(X, Y)
    proba = model.predict_proba(X)
    expected = by_hand(GaussianNB(), calibrator, 5 if cv is None else cv)
    np.testing.assert_allclose(proba[:, 1], expected, atol=1e-12)
    assert proba.shape == (240, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))


def test_the_default_calibrator():
    default = RecalibratedClassifier(GaussianNB()).fit(X, Y)
    named = RecalibratedClassifier(GaussianNB(), ShrinkageCalibrator(PartitionCalibrator()))
    np.testing.assert_array_equal(default.predict_proba(X), named.fit(X, Y).predict_proba(X))
    np.testing.assert_array_equal(default.predict_proba(X), default.fit(X, Y).predict_proba(X))
    assert isinstance(default.calibrators_[0][0], ShrinkageCalibrator)


def test_an_ensemble_averages_its_folds():
    cv = ShuffleSplit(3, test_size=0.4, random_state=0)
    model = RecalibratedClassifier(GaussianNB(), ISOTONIC, cv=cv, ensemble=True).fit(X, Y)
    expected = np.zeros(240)
    for train, test in cv.split(X):
        base = GaussianNB().fit(X[train], Y[train])
        fitted = clone(ISOTONIC).fit(base.predict_proba(X[test])[:, 1], Y[test])
        expected += fitted.predict(base.predict_proba(X)[:, 1]) / 3
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)
    assert len(model.estimators_) == len(model.calibrators_) == 3
    with parallel_backend("threading"):
        parallel = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(parallel.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("ensemble", [False, True])
def test_more_classes_one_against_the_rest(ensemble):
    names = np.array(["setosa", "versicolor", "virginica"])
    model = RecalibratedClassifier(GaussianNB(), ISOTONIC, ensemble=ensemble)
    model.fit(IRIS_X, names[IRIS_Y])
    proba = model.predict_proba(IRIS_X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    assert (model.predict(IRIS_X) == names[IRIS_Y]).mean() > 0.9
    assert [len(each) for each in model.calibrators_] == [3] * (5 if ensemble else 1)
    if not ensemble:
        scores = cross_val_predict(GaussianNB(), IRIS_X, IRIS_Y, method="predict_proba")
        base = GaussianNB().fit(IRIS_X, IRIS_Y).predict_proba(IRIS_X)
        columns = [
            clone(ISOTONIC).fit(scores[:, k], k == IRIS_Y).predict(base[:, k]) for k in range(3)
        ]
        expected = np.column_stack(columns) / np.sum(columns, axis=0)[:, None]
        np.testing.assert_allclose(proba, expected, atol=1e-12)


def test_a_row_that_no_class_wants_becomes_uniform():
    x = np.repeat(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]), 9, axis=0)
    y = np.repeat([0, 1, 2], 9)
    frozen = FrozenEstimator(Given().fit(x, y))
    model = RecalibratedClassifier(frozen, ISOTONIC).fit(x, y)
    np.testing.assert_allclose(model.predict_proba([[0.1, 0.1, 0.8], [0, 0, 1]])[:, 2], 1)
    third = [[1 / 3] * 3]
    low = RecalibratedClassifier(frozen, PartitionCalibrator(interpolate=False)).fit(x, y)
    np.testing.assert_allclose(low.predict_proba(third), third)


@pytest.mark.parametrize("cv", [3, PredefinedSplit(np.r_[[-1] * 40, np.arange(200) % 3])])
def test_rows_that_no_fold_tests_do_not_calibrate(cv):
    splits = cv if isinstance(cv, int) else list(cv.split())
    model = RecalibratedClassifier(GaussianNB(), ISOTONIC, cv=splits).fit(X, Y)
    p, rows = [], []
    for train, test in cv.split() if splits is not cv else StratifiedKFold(3).split(X, Y):
        p.append(GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
        rows.append(test)
    fitted = clone(ISOTONIC).fit(np.concatenate(p), Y[np.concatenate(rows)])
    expected = fitted.predict(GaussianNB().fit(X, Y).predict_proba(X)[:, 1])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)


def test_an_iterator_of_splits():
    splits = list(KFold(3, shuffle=True, random_state=2).split(X))
    model = RecalibratedClassifier(GaussianNB(), FAST, cv=iter(splits)).fit(X, Y)
    again = RecalibratedClassifier(GaussianNB(), FAST, cv=splits).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


# Decision values


@pytest.mark.parametrize("y", [Y, np.array(["z", "a"])[Y]])
def test_decision_values_for_calibrators_of_any_score(y):
    model = RecalibratedClassifier(LinearSVC(), ISOTONIC).fit(X, y)
    scores = cross_val_predict(LinearSVC(), X, y, method="decision_function")
    positive = y == model.classes_[1]
    fitted = clone(ISOTONIC).fit(scores, positive)
    expected = fitted.predict(LinearSVC().fit(X, y).decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-9)
    three = RecalibratedClassifier(LinearSVC(), ISOTONIC).fit(IRIS_X, IRIS_Y)
    np.testing.assert_allclose(three.predict_proba(IRIS_X).sum(axis=1), 1, atol=1e-12)


class AnyScore:
    accepts_any_score = True

    def fit(self, p, y, sample_weight=None):
        return self

    def predict(self, p):
        return 1 / (1 + np.exp(-p))


def test_decision_values_need_a_declaration():
    RecalibratedClassifier(LinearSVC(), AnyScore()).fit(X, Y)
    message = r"estimator must have predict_proba, or .*any real score.*LinearSVC with "
    for calibrator in (None, BetaCalibrator(), PartitionCalibrator()):
        with pytest.raises(ValueError, match=message):
            RecalibratedClassifier(LinearSVC(), calibrator).fit(X, Y)


# Inputs, labels, copies


@pytest.mark.parametrize("kind", ["text", "dicts", "NaN", "pandas"])
def test_x_is_the_business_of_the_estimator(kind):
    words = np.where(Y == 1, "good fine", "bad awful").astype(object)
    words[::7] = "neutral"
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    table = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    inputs = {
        "text": (words.tolist(), make_pipeline(CountVectorizer(), tree)),
        "dicts": (
            [{"word": word, "x": x} for word, x in zip(words, X[:, 0], strict=True)],
            make_pipeline(DictVectorizer(), tree),
        ),
        "NaN": (np.where(X > 1, np.nan, X), tree),
        "pandas": (
            pd.DataFrame({"word": words, "x": X[:, 0]}, index=np.arange(240)[::-1]),
            make_pipeline(table, tree),
        ),
    }
    data, estimator = inputs[kind]
    model = RecalibratedClassifier(estimator, FAST, cv=3).fit(data, Y)
    assert model.predict_proba(data).shape == (240, 2)
    assert model.score(data, Y) > 0.7


class Watching(GaussianNB):
    """Notes what kind of X it is given."""

    seen = set()

    def fit(self, X, y, sample_weight=None):
        Watching.seen.add(type(X))
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        Watching.seen.add(type(X))
        return super().predict_proba(np.asarray(X))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("ensemble", [False, True])
def test_frames_pass_through_untouched(frame, ensemble):
    data = frame(dict(zip("abcd", X.T, strict=True)))
    Watching.seen.clear()
    model = RecalibratedClassifier(Watching(), FAST, ensemble=ensemble).fit(data, Y)
    found = model.predict_proba(data)
    assert Watching.seen == {frame}
    plain = RecalibratedClassifier(GaussianNB(), FAST, ensemble=ensemble).fit(X, Y)
    np.testing.assert_array_equal(found, plain.predict_proba(X))


def test_frames_give_names_and_arrays_take_them_away():
    model = RecalibratedClassifier(GaussianNB(), FAST)
    assert not hasattr(model, "n_features_in_")
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(240)[::-1])
    model.fit(frame, pd.Series(Y))  # paired by position
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list("abcd")
    with_frame = model.predict_proba(frame)
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), with_frame)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [1, 2], [0.0, 1.0], ["z", "a"]]
)
def test_labels_of_any_kind(labels):
    y = np.array(labels)[Y]
    model = RecalibratedClassifier(GaussianNB(), FAST).fit(X, y)
    found = model.predict(X)
    assert found.dtype == model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == sorted(labels)
    codes = Y if labels == sorted(labels) else 1 - Y
    same = RecalibratedClassifier(GaussianNB(), FAST).fit(X, codes)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    np.testing.assert_array_equal(clone(model).fit(X, y.tolist()).predict(X), found)


def test_clone_pickle_and_parameters():
    model = RecalibratedClassifier(GaussianNB(), FAST)
    before = model.get_params()
    predicted = model.fit(X, Y).predict_proba(X)
    after = model.get_params()
    assert all(before[name] is after[name] for name in before)
    assert not hasattr(model.estimator, "classes_")
    assert not hasattr(model.calibrator, "calibrator_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), predicted)
    np.testing.assert_array_equal(clone(model).fit(X, Y).predict_proba(X), predicted)
    model.set_params(estimator__var_smoothing=0.5, calibrator__n_null=3).fit(X, Y)
    assert model.estimators_[0].var_smoothing == 0.5
    with pytest.raises(NotFittedError, match="RecalibratedClassifier"):
        clone(model).predict(X)


def test_search_over_calibrators():
    grid = {"calibrator": [FAST, ISOTONIC, BetaCalibrator()], "cv": [3]}
    search = GridSearchCV(
        RecalibratedClassifier(GaussianNB()), grid, cv=3, scoring="neg_brier_score",
        error_score="raise",
    ).fit(X, Y)  # fmt: skip
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


class Tolerant(Given):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.string = True
        return tags


@pytest.mark.parametrize("estimator", [Given(), Tolerant(), LogisticRegression()])
def test_tags(estimator):
    model = RecalibratedClassifier(estimator)
    assert is_classifier(model)
    assert is_classifier(make_pipeline(StandardScaler(), model))
    assert get_tags(model).input_tags == get_tags(estimator).input_tags


# Weights and groups


def routing():
    return sklearn.config_context(enable_metadata_routing=True)


@pytest.mark.parametrize("calibrator", [FAST, ISOTONIC, BetaCalibrator()], ids=str)
def test_weights_reach_both_levels(calibrator):
    model = RecalibratedClassifier(GaussianNB(), calibrator).fit(X, Y, sample_weight=W)
    expected = by_hand(GaussianNB(), calibrator, w=W)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)
    assert np.abs(expected - by_hand(GaussianNB(), calibrator)).max() > 1e-3
    series = pd.Series(W, index=np.arange(240)[::-1])  # paired by position
    again = clone(model).fit(X, Y, sample_weight=series)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_weights_reach_both_levels_of_an_ensemble():
    model = RecalibratedClassifier(GaussianNB(), BetaCalibrator(), cv=KFold(3), ensemble=True)
    model.fit(X, Y, sample_weight=W)
    expected = np.zeros(240)
    for train, test in KFold(3).split(X):
        base = GaussianNB().fit(X[train], Y[train], W[train])
        fitted = BetaCalibrator().fit(base.predict_proba(X[test])[:, 1], Y[test], W[test])
        expected += fitted.predict(base.predict_proba(X)[:, 1]) / 3
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)


def test_weights_of_the_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    model = RecalibratedClassifier(pipeline, FAST).fit(X, Y, gaussiannb__sample_weight=W)
    with routing():
        routed = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            GaussianNB().set_fit_request(sample_weight=True),
        )
        same = RecalibratedClassifier(routed, FAST).fit(X, Y, sample_weight=W)
    expected = by_hand(GaussianNB(), FAST, w=W)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-5)
    np.testing.assert_allclose(same.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_weights_are_routed():
    expected = by_hand(GaussianNB(), FAST, w=W)
    with routing():
        for name, request in (("sample_weight", True), ("cases", "cases")):
            base = GaussianNB().set_fit_request(sample_weight=request)
            model = RecalibratedClassifier(base, FAST).fit(X, Y, **{name: W})
            np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)
        with pytest.raises((UnsetMetadataPassedError, TypeError), match="sample_weight"):
            RecalibratedClassifier(GaussianNB(), FAST).fit(X, Y, sample_weight=W)
    with pytest.raises(TypeError, match="unknown"):
        RecalibratedClassifier(GaussianNB(), FAST).fit(X, Y, unknown=W)
    assert not hasattr(RecalibratedClassifier, "set_fit_request")


def test_frozen_weights_are_repetitions():
    frozen = FrozenEstimator(GaussianNB().fit(X[:120], Y[:120]))
    k = W.astype(int) - 1
    weighted = RecalibratedClassifier(frozen, FAST).fit(X, Y, sample_weight=k)
    repeated = RecalibratedClassifier(frozen, FAST).fit(np.repeat(X, k, axis=0), np.repeat(Y, k))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-12)


# Errors


def fit(y=Y, x=X, **options):
    estimator = options.pop("estimator", GaussianNB())
    params = options.pop("params", {})
    return lambda: RecalibratedClassifier(estimator, **options).fit(x, y, **params)


class Bare(Given):
    predict_proba = property()


ERRORS = [
    (fit(estimator=Bare()), ["estimator must have predict_proba or decision_function", "Bare"]),
    (fit(calibrator=3), ["calibrator must have fit(p, y) and predict(p)", "no fit (3)"]),
    (fit(cv="many"), ["cv", "'many'"]),
    (fit(cv=[]), ["cv must", "split"]),
    (fit(ensemble="yes"), ["ensemble", "'yes'"]),
    (fit(n_jobs=1.5), ["n_jobs", "1.5"]),
    (fit(y=np.linspace(0, 1, 240)), ["continuous"]),
    (fit(y=np.zeros(240, dtype=int)), ["y must hold at least two classes", "[0]"]),
    (fit(y=Y[:9]), ["inconsistent", "240", "9"]),
    (fit(params={"sample_weight": -W}), ["sample_weight must", "-3"]),
    (fit(params={"sample_weight": 1 - Y}), ["sample_weight must", "two classes"]),
    (
        fit(estimator=FrozenEstimator(GaussianNB().fit(X, Y)), y=Y * 0),
        ["y must hold every class", "no row of class [1]"],
    ),
    (
        fit(estimator=FrozenEstimator(GaussianNB().fit(X, Y)), y=Y + 1),
        ["[0, 1]", "[2]"],
    ),
    (
        fit(params={"gaussiannb__sample_weight": W, "x__sample_weight": W + 1}),
        ["sample_weight must be the same for all steps"],
    ),
]


@pytest.mark.parametrize(("call", "parts"), ERRORS)
def test_errors_name_the_argument_and_both_sides(call, parts):
    with pytest.raises(ValueError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def test_a_column_vector_of_labels_is_ravelled_with_a_warning():
    model = RecalibratedClassifier(KNeighborsClassifier(9), FAST)
    expected = model.fit(X, Y).predict_proba(X)
    with pytest.warns(DataConversionWarning):
        model.fit(X, Y[:, None])
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_nested_cross_validation_with_groups():
    groups = np.arange(240) // 8
    with routing():
        scores = cross_validate(
            RecalibratedClassifier(GaussianNB(), FAST, cv=GroupKFold(2)),
            X, Y, cv=GroupKFold(3), params={"groups": groups}, error_score="raise",
        )  # fmt: skip
    assert np.isfinite(scores["test_score"]).all()
