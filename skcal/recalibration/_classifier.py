"""RecalibratedClassifier: a classifier whose probabilities pass through calibrators."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skcal._validation import (
    N_JOBS,
    check_codes,
    check_probabilities,
    check_weights,
    fail,
    fit_params_of,
    rows_of,
    shown,
)
from skcal.decision._wrapper import ClassifierWrapper, splits_of
from skcal.recalibration._base import accepts_any_score, apply_calibrator, fit_calibrator
from skcal.recalibration._partition import PartitionCalibrator
from skcal.recalibration._shrinkage import ShrinkageCalibrator


class RecalibratedClassifier(ClassifierWrapper):
    """A classifier whose predicted probabilities are recalibrated.

    Calibrators are fitted on predictions for rows that the model has not seen: those of
    cross-validation, or all rows of `fit` for a FrozenEstimator. Any calibrator serves that has
    ``fit(p, y[, sample_weight])`` and ``predict(p)``.

    Parameters
    ----------
    estimator : classifier
        With predict_proba; decision_function will do for calibrators that map any score. A
        FrozenEstimator is used as it is: give `fit` rows that it was not trained on.
    calibrator : object, default=None
        Of the probability of one outcome. None is ``ShrinkageCalibrator(PartitionCalibrator())``,
        which leaves a calibrated classifier almost alone. An IsotonicRegression is used with
        ``out_of_bounds="clip"``. A calibrator of any real score declares that by an attribute
        ``accepts_any_score = True``; that of IsotonicRegression is known.
    cv : int, cross-validation generator or iterable, default=None
        Splits whose test rows calibrate; None is 5-fold, and integers are stratified. Ignored with
        a FrozenEstimator.
    ensemble : bool, default=False
        False: one model fitted on all rows, one calibrator fitted on the predictions of all folds
        (a row may be tested once or never). True: a model and a calibrator for each fold, the
        average of whose probabilities is predicted.
    n_jobs : int, default=None
        Folds fitted at a time, as in joblib.

    Attributes
    ----------
    estimators_ : list of classifiers
        One, or with ``ensemble=True`` one for each fold.
    calibrators_ : list of lists
        For each of the estimators: one calibrator of the probability of ``classes_[1]`` for two
        classes, else one for each class.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    skcal.recalibration.PartitionCalibrator : The default map, and when not to use it bare.
    sklearn.calibration.CalibratedClassifierCV : Isotonic, sigmoid and temperature maps.

    Notes
    -----
    ``X`` is not looked at here: whatever the wrapped estimator accepts passes through.

    Weights count repetitions of rows: normalised ones, which sum to 1, leave the default calibrator
    next to no evidence (a warning says so). To tune the default, pass it by name,
    ``calibrator=ShrinkageCalibrator(PartitionCalibrator())``, and set
    ``calibrator__calibrator__prior_count``.

    More than two classes are recalibrated one against the rest and then divided by their sum; a
    row for which all are zero becomes uniform. Each class alone is then no longer exactly
    calibrated.

    Recalibration can only change what probabilities mean, not how well they rank: maps that are
    constant on intervals lose some AUC, the default keeps ranks unless the sample speaks against
    them.

    The cost of `fit` is that of fitting the estimator in every fold, and once more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcal.recalibration import RecalibratedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> plain = GaussianNB().fit(X, y)
    >>> round(log_loss(y_test, plain.predict_proba(X_test)), 1)
    1.2
    >>> recalibrated = RecalibratedClassifier(GaussianNB()).fit(X, y)
    >>> round(log_loss(y_test, recalibrated.predict_proba(X_test)), 1)
    0.3
    """

    _parameter_constraints = {
        "cv": ["cv_object"],
        "ensemble": ["boolean"],
        "n_jobs": N_JOBS,
    }

    def __init__(self, estimator, calibrator=None, *, cv=None, ensemble=False, n_jobs=None):
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs

    def fit(self, X, y, **params):
        """Fit the estimator and the calibrators.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.
        y : array-like of shape (n,)
            Class labels.
        **params : dict
            Passed to the ``fit`` of the estimator, in cross-validation too; ``groups`` to the
            splitter. With metadata routing enabled both go where they were requested. What the
            estimator receives as ``sample_weight`` (or, a pipeline, as ``step__sample_weight``)
            also weights the rows of the calibrators.

        Returns
        -------
        self
        """
        y = self._check_fit(y)
        fit_params, split_params = self._route(params)
        weights = check_weights(_sample_weight(fit_params), len(y), others="y")
        X, y = indexable(X, y)
        if isinstance(self.estimator, FrozenEstimator):
            pairs = [self._frozen(X, y, weights)]
        else:
            pairs = self._crossed(X, y, weights, fit_params, split_params)
        models, calibrators = zip(*pairs, strict=True)
        self.estimators_, self.calibrators_ = list(models), list(calibrators)
        self.classes_ = models[0].classes_
        return self

    def predict_proba(self, X):
        """Recalibrated class probabilities.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Rows sum to 1.
        """
        check_is_fitted(self, "estimators_")
        each = [
            _recalibrated(calibrators, _scores(model, X, calibrators[0]))
            for model, calibrators in zip(self.estimators_, self.calibrators_, strict=True)
        ]
        return np.mean(each, axis=0)

    def predict(self, X):
        """The most probable class, after recalibration.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.

        Returns
        -------
        ndarray of shape (n,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _model(self):
        check_is_fitted(self, "estimators_")
        return self.estimators_[0]

    def _calibrator(self):
        if self.calibrator is None:
            return ShrinkageCalibrator(PartitionCalibrator())
        return self.calibrator

    def _frozen(self, X, y, weights):
        """The estimator as it is, and calibrators of its predictions for all rows."""
        model = clone(self.estimator).fit(X, y)
        if len(model.classes_) < 2:
            fail("estimator", "know at least two classes", f"one class: {shown(model.classes_)}")
        check_codes(y, model.classes_, "y")
        must = "y", "hold every class of the fitted estimator"
        _check_classes(must, "the rows of fit", y, weights, slice(None), model.classes_)
        scores = _scores(model, X, self._calibrator())
        return model, self._calibrators(scores, y, weights, model.classes_)

    def _crossed(self, X, y, weights, fit_params, split_params):
        """Pairs of a model and its calibrators, fitted on rows that the model has not seen."""
        classes = np.unique(y)
        if classes.size < 2:
            fail("y", "hold at least two classes", f"one class: {shown(classes)}")
        if _present(y, weights).size < 2:
            fail("sample_weight", "be positive for at least two classes", "weight in one class")
        splits = splits_of(self.cv, X, y, split_params)
        tests = [test for _, test in splits]
        _check_splits(y, weights, classes, splits, self.ensemble)
        calibrator = self._calibrator()
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_fold)(
                self.estimator, X, y, train, test, fit_params, calibrator, self.ensemble
            )
            for train, test in splits
        )
        if self.ensemble:
            return [
                (model, self._calibrators(scores, y[test], _take(weights, test), classes))
                for (model, scores), test in zip(fitted, tests, strict=True)
            ]
        rows = np.concatenate(tests)
        scores = np.concatenate([scores for _, scores in fitted])
        calibrators = self._calibrators(scores, y[rows], _take(weights, rows), classes)
        return [(clone(self.estimator).fit(X, y, **fit_params), calibrators)]

    def _calibrators(self, scores, y, weights, classes):
        """One fitted calibrator for each column of the scores."""
        codes = check_codes(y, classes, "y")
        columns = [1] if scores.shape[1] == 1 else range(scores.shape[1])
        return [
            fit_calibrator(
                self._calibrator(), np.ascontiguousarray(column), (codes == k).astype(int), weights
            )
            for k, column in zip(columns, scores.T, strict=True)
        ]


def _sample_weight(fit_params):
    """The weights of the rows: those of the estimator, or of the step of a pipeline."""
    if "sample_weight" in fit_params:
        return fit_params["sample_weight"]
    steps = [value for name, value in fit_params.items() if name.endswith("__sample_weight")]
    if any(value is not steps[0] for value in steps):
        fail("sample_weight", "be the same for all steps of the estimator", "different ones")
    return steps[0] if steps else None


def _take(weights, rows):
    return None if weights is None else weights[rows]


def _present(y, weights):
    return np.unique(y if weights is None else y[weights > 0])


def _check_classes(must, where, y, weights, rows, classes):
    """Refuse rows in which a class has no weight."""
    missing = np.setdiff1d(classes, _present(y[rows], _take(weights, rows)))
    if missing.size:
        fail(*must, f"no row of class {shown(missing)} in {where}")


def _check_splits(y, weights, classes, splits, ensemble):
    """Folds in which no class is missing where it is needed; else name the class and the fold.

    Models need all classes to train on, calibrators to be fitted on.
    """
    if not splits:
        fail("cv", "give at least one split", "none")
    for fold, (train, test) in enumerate(splits):
        must = "cv", "train on every class in each fold"
        _check_classes(must, f"fold {fold}", y, weights, train, classes)
        if ensemble:
            must = "cv", "test every class in each fold (or use ensemble=False)"
            _check_classes(must, f"the test rows of fold {fold}", y, weights, test, classes)
    if not ensemble:
        _check_pooled(y, weights, classes, [test for _, test in splits])


def _check_pooled(y, weights, classes, tests):
    """Tests of different rows that can be put together.

    Where every fold tests a single class (leave-one-out, pure groups), training has less of that
    class than the whole, in every fold, so that its probabilities are too low where it is true.
    """
    if all(_present(y[test], _take(weights, test)).size < 2 for test in tests):
        missing = np.setdiff1d(classes, y[tests[0]])
        got = f"no row of class {shown(missing)} in fold 0, and one class in each other fold"
        fail("cv", "test rows of two classes in at least one fold", got)
    rows = np.concatenate(tests)
    times = np.bincount(rows, minlength=len(y))
    if times.max() > 1:
        must = "test no row twice (ensemble=True allows repeated and overlapping splits)"
        fail("cv", must, f"{times.max()} tests of row {int(times.argmax())}")
    must = "cv", "test every class"
    _check_classes(must, "the test rows of any fold", y, weights, rows, classes)


def _fit_fold(estimator, X, y, train, test, fit_params, calibrator, keep):
    """A model fitted on the training rows (if kept), and its scores of the test rows."""
    params = fit_params_of(X, params=fit_params, indices=train)
    model = clone(estimator).fit(*rows_of(estimator, X, y, train), **params)
    scores = _scores(model, rows_of(estimator, X, y, test, train)[0], calibrator)
    return model if keep else None, scores


def _scores(model, X, calibrator):
    """Probability of ``classes_[1]`` as one column, or of every class; or decision values."""
    if hasattr(model, "predict_proba"):
        proba, _ = check_probabilities(
            model.predict_proba(X), n_columns=len(model.classes_), ravel=False
        )
        return proba[:, 1:] if proba.shape[1] == 2 else proba
    name = type(model).__name__
    if not hasattr(model, "decision_function"):
        fail("estimator", "have predict_proba or decision_function", name)
    if not accepts_any_score(calibrator):
        must = (
            "have predict_proba, or the calibrator map any real score (IsotonicRegression, or "
            "accepts_any_score = True)"
        )
        fail("estimator", must, f"{name} with {type(calibrator).__name__}")
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    scores = scores[:, None] if scores.ndim == 1 else scores
    width = len(model.classes_) if len(model.classes_) > 2 else 1
    if scores.shape[1] != width:
        fail("estimator", f"give {width} decision values for a row", f"shape {scores.shape}")
    return scores


def _recalibrated(calibrators, scores):
    """Class probabilities of one pair."""
    if len(calibrators) == 1:
        positive = apply_calibrator(calibrators[0], np.ascontiguousarray(scores[:, 0]))
        return np.column_stack([1 - positive, positive])
    columns = [
        apply_calibrator(calibrator, np.ascontiguousarray(column))
        for calibrator, column in zip(calibrators, scores.T, strict=True)
    ]
    proba = np.column_stack(columns)
    total = proba.sum(axis=1, keepdims=True)
    uniform = np.full_like(proba, 1 / proba.shape[1])
    return np.divide(proba, total, out=uniform, where=total > 0)
