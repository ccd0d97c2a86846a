"""Failures that users of other recalibration tools reported: none of their kinds may happen here.

One test for each kind. The numbers were worked out by hand, or computed once with NumPy.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_blobs
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal import CalibrationWarning
from skcal.recalibration import (
    BetaCalibrator,
    PartitionCalibrator,
    RecalibratedClassifier,
    ShrinkageCalibrator,
)
from tests.forecasters import Given, X, Y

STEPS = PartitionCalibrator(interpolate=False)
MAPS = [
    PartitionCalibrator(),
    STEPS,
    ShrinkageCalibrator(PartitionCalibrator(), n_null=2),
    ShrinkageCalibrator(IsotonicRegression(), n_null=2),
    BetaCalibrator(),
]
each_map = pytest.mark.parametrize("calibrator", MAPS, ids=str)
TEN = np.arange(10)[:, None]


# Scores outside the calibration range gave NaN.


def test_isotonic_regression_as_it_comes_is_clipped():
    x, y = np.array([0.2, 0.4, 0.6, 0.8])[:, None], [0, 0, 1, 1]
    frozen = FrozenEstimator(Given().fit(x, y))
    isotonic = IsotonicRegression()
    model = RecalibratedClassifier(frozen, isotonic).fit(x, y)
    found = model.predict_proba([[0.05], [0.5], [0.95]])[:, 1]
    np.testing.assert_allclose(found, [0, 0.5, 1])
    assert isotonic.out_of_bounds == "nan"


@each_map
def test_scores_outside_the_fitted_range(calibrator):
    fitted = clone(calibrator).fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    found = fitted.predict([0, 0.05, 0.5, 0.95, 1])
    assert np.all(np.diff(found) >= 0)
    assert found[1] < 0.5 < found[3]


# Scores closer than the float resolution made the slope infinite.


@each_map
def test_scores_closer_than_float_resolution(calibrator):
    x = [0, 3e-320, 5e-314, 1]
    q = np.array([0, 1e-320, 3e-320, 1e-319, 5e-314, 1e-315, 1e-10, 0.5, 1])
    fitted = clone(calibrator).fit(x, [0, 0, 1, 1])
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        found = fitted.predict(np.sort(q))
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.all(np.diff(found) >= 0)


def test_lines_between_nodes_at_float_resolution():
    # Two parts at subnormal predictions: a third of the way up after a third of the way.
    x = [5e-324, 1e-323, 1.5e-323, 2e-323]
    fitted = PartitionCalibrator(prior_count=0).fit([x[0], x[-1]], [0, 1])
    np.testing.assert_allclose(fitted.predict(x), [0, 1 / 3, 2 / 3, 1])


# Isotonic maps change the AUC by ties and predict exact 0 and 1.


def test_ranks_and_certainties():
    rng = np.random.default_rng(11)
    s = rng.random(200)
    y = (rng.random(200) < s**2).astype(int)
    fit, new = (s[:100], y[:100]), s[100:]
    assert roc_auc_score(y[100:], new) == pytest.approx(0.8342246, abs=1e-7)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(*fit).predict(new)
    assert roc_auc_score(y[100:], isotonic) == pytest.approx(0.8199643, abs=1e-7)
    for calibrator in (
        BetaCalibrator(),
        ShrinkageCalibrator(BetaCalibrator()),
        ShrinkageCalibrator(PartitionCalibrator()),
    ):
        found = calibrator.fit(*fit).predict(new)
        assert roc_auc_score(y[100:], found) == pytest.approx(0.8342246, abs=1e-7)
    assert ShrinkageCalibrator(PartitionCalibrator()).fit(*fit).shrinkage_ < 1
    lines = PartitionCalibrator().fit(*fit).predict(new)
    assert 0 < lines.min() < lines.max() < 1
    assert log_loss(y[100:], lines) < log_loss(y[100:], isotonic)
    for documented in (PartitionCalibrator, BetaCalibrator, RecalibratedClassifier):
        assert "AUC" in inspect.getdoc(documented)


# A global output setting broke predict_proba; others returned arrays of a wrong shape.


class Transforming(BaseEstimator):
    """A calibrator with a transformer inside, whose output it takes for an array."""

    def fit(self, p, y):
        self.scaler_ = StandardScaler()
        self.mean_ = self.scaler_.fit_transform(p[:, None])[:, 0].mean()
        return self

    def predict(self, p):
        return 1 / (1 + np.exp(-self.scaler_.transform(p[:, None])[:, 0]))


@pytest.mark.parametrize("calibrator", [*MAPS, IsotonicRegression(), Transforming(), None], ids=str)
def test_output_settings(calibrator):
    frame = pd.DataFrame(X, columns=list("abcd"))

    def proba():
        model = RecalibratedClassifier(LogisticRegression(), calibrator)
        return make_pipeline(StandardScaler(), model).fit(frame, Y).predict_proba(frame)

    with sklearn.config_context(transform_output="pandas"):
        found = proba()
    assert type(found) is np.ndarray
    assert found.shape == (240, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found, proba(), atol=1e-12)


# Base models that return single precision crashed.


class Single(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X).astype(np.float32)


@pytest.mark.parametrize("calibrator", [*MAPS, IsotonicRegression()], ids=str)
def test_single_precision(calibrator):
    single = RecalibratedClassifier(Single(), calibrator).fit(X, Y).predict_proba(X)
    double = RecalibratedClassifier(LogisticRegression(), calibrator).fit(X, Y).predict_proba(X)
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=1e-5)


# Weights reached the final fit but not the fits of the folds.


def test_weights_reach_every_fit():
    x, y = make_blobs((80, 800), random_state=0)
    w = np.where(y == 0, 10, 1)  # integers
    Given.fitted_on.clear()
    q = np.clip(x[:, :1] / 20 + 0.5, 0, 1)
    RecalibratedClassifier(Given(), BetaCalibrator()).fit(q, y, sample_weight=w)
    assert sorted(n for n, _ in Given.fitted_on) == [704] * 5 + [880]
    assert all(set(weights) == {1, 10} for _, weights in Given.fitted_on)
    model = RecalibratedClassifier(GaussianNB(), BetaCalibrator())
    weighted = model.fit(x, y, sample_weight=w).predict_proba(x)
    assert np.average(weighted[:, 1], weights=w) == pytest.approx(0.5, abs=0.01)
    assert model.fit(x, y).predict_proba(x)[:, 1].mean() == pytest.approx(10 / 11, abs=0.01)


# Cloning a recalibrator un-fitted the fitted model in it.


def test_a_fitted_model_stays_fitted():
    base = LogisticRegression().fit(X[:100], Y[:100])
    before, coef = base.predict_proba(X), base.coef_.copy()
    model = RecalibratedClassifier(FrozenEstimator(base), ShrinkageCalibrator(STEPS, n_null=2))
    for fitted in (model.fit(X[100:], Y[100:]), clone(model).fit(X[100:], Y[100:])):
        np.testing.assert_array_equal(fitted.estimators_[0].predict_proba(X), before)
        assert len(fitted.calibrators_) == len(fitted.calibrators_[0]) == 1
    assert np.isfinite(cross_val_score(model, X, Y, error_score="raise")).all()
    grid = {"calibrator__n_null": [2, 3], "ensemble": [False, True]}
    search = GridSearchCV(model, grid, error_score="raise").fit(X, Y)
    np.testing.assert_array_equal(search.best_estimator_.estimators_[0].predict_proba(X), before)
    np.testing.assert_array_equal(base.coef_, coef)


# Folds without a class lowered probabilities, silently or with an obscure error.


@pytest.mark.parametrize("ensemble", [False, True])
def test_training_folds_without_a_class(ensemble):
    y = np.array(["no", "yes"])[[0] * 5 + [1] * 5]
    model = RecalibratedClassifier(GaussianNB(), cv=KFold(2), ensemble=ensemble)
    with pytest.raises(ValueError, match=r"cv must train on every class.*'no'.*fold 0"):
        model.fit(TEN, y)
    model.set_params(cv=2, calibrator=BetaCalibrator()).fit(TEN, y)  # integers are stratified


def test_test_folds_without_a_class():
    y = np.array([0] * 8 + [1] * 2)
    model = RecalibratedClassifier(GaussianNB(var_smoothing=1), BetaCalibrator(), cv=5)
    with pytest.warns(UserWarning, match="least populated class"):
        proba = model.fit(TEN, y).predict_proba(TEN)  # every model knows both classes
    assert proba[8:, 1].min() > 0.9  # a column of zeros for a missing class would lower these
    model.set_params(ensemble=True)
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(ValueError, match=r"cv must test every class.*class \[1\].*fold \d"),
    ):
        model.fit(TEN, y)


@pytest.mark.parametrize("ensemble", [False, True])
def test_leave_one_out(ensemble):
    model = RecalibratedClassifier(GaussianNB(), cv=LeaveOneOut(), ensemble=ensemble)
    with pytest.raises(ValueError, match=r"cv must test .*class \[1\].*fold 0"):
        model.fit(TEN, [0] * 5 + [1] * 5)


def test_repeated_folds():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = RecalibratedClassifier(GaussianNB(), BetaCalibrator(), cv=cv)
    with pytest.raises(ValueError, match=r"cv must test no row twice \(ensemble=True.*2 tests"):
        model.fit(X, Y)
    assert len(model.set_params(ensemble=True).fit(X, Y).calibrators_) == 6


# Groups could not be passed to the inner splitter.


@pytest.mark.parametrize("enabled", [False, True])
def test_groups_reach_the_splitter(enabled):
    groups, y = np.arange(240) // 2, Y
    cv = GroupKFold(2)
    model = RecalibratedClassifier(GaussianNB(), PartitionCalibrator(), cv=cv)
    with sklearn.config_context(enable_metadata_routing=enabled):
        found = model.fit(X, y, groups=groups).predict_proba(X)
    splits = list(cv.split(X, y, groups))
    model.set_params(cv=splits)  # an iterable always works
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), found)


def test_groups_reach_a_nested_splitter():
    groups = np.arange(240) // 8
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(
            RecalibratedClassifier(GaussianNB(), PartitionCalibrator(), cv=GroupKFold(2)),
            X, Y, cv=GroupKFold(3), params={"groups": groups}, error_score="raise",
        )  # fmt: skip
    assert np.isfinite(scores["test_score"]).all()


# Regions without calibration data gave NaN.


@each_map
def test_regions_without_data(calibrator):
    fitted = clone(calibrator).fit([0.05, 0.15, 0.25, 0.35], [0, 0, 1, 0])
    assert np.isfinite(fitted.predict([0.25, 0.9])).all()


def test_regions_without_data_by_hand():
    # The part {0.05} has mean 0, the others 1/3: the step is in the middle, the last is beyond.
    fitted = STEPS.fit([0.05, 0.15, 0.25, 0.35], [0, 0, 1, 0])
    np.testing.assert_allclose(fitted.predict([0, 0.09, 0.11, 0.9]), [0, 0, 1 / 3, 1 / 3])


# Users read the constructor argument after the fit and found it unfitted.


def test_fitted_parts_and_constructor_arguments():
    base = GradientBoostingClassifier(n_estimators=3, random_state=0)
    model = RecalibratedClassifier(base).fit(X, Y)
    assert model.estimator is base
    assert not hasattr(base, "classes_")
    assert model.calibrator is None
    assert hasattr(model.estimators_[0], "estimators_")
    assert model.calibrators_[0][0].shrinkage_ >= 0
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 4
    documented = inspect.getdoc(RecalibratedClassifier)
    for name in vars(model):
        assert not name.endswith("_") or name in documented


@pytest.mark.parametrize("calibrator", [LogisticRegression(), PartitionCalibrator])
def test_classifiers_and_classes_are_no_calibrators(calibrator):
    X, y = load_breast_cancer(return_X_y=True)
    message = "calibrator must be an object that maps probabilities.* no classifier; got"
    with pytest.raises(ValueError, match=message):
        RecalibratedClassifier(GaussianNB(), calibrator).fit(X, y)
    with pytest.raises(ValueError, match=message):
        ShrinkageCalibrator(calibrator).fit([0.1, 0.9, 0.4], [0, 1, 1])


def test_weights_that_sum_to_one_have_a_warning():
    p, y = np.linspace(0.1, 0.9, 50), np.arange(50) % 2
    with pytest.warns(CalibrationWarning, match="weights count repetitions of rows"):
        PartitionCalibrator().fit(p, y, sample_weight=np.full(50, 1 / 50))
    with pytest.raises(ValueError, match=r"sample_weight must have the length of p \(50\)"):
        PartitionCalibrator().fit(p, y, sample_weight=[1, 2])
