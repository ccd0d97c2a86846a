"""Scorers for GridSearchCV, cross_validate and learning_curve, and a safe way to refit.

A calibration measure alone must never choose a model: the constant base rate minimises all of them.
`refit_calibrated` joins one with a proper loss.
"""

from functools import partial
from inspect import signature

import numpy as np

from skcal._validation import (
    BaseScorer,
    Interval,
    Real,
    StrOptions,
    check_codes,
    check_probabilities,
    check_weights,
    fail,
    quiet,
    shown,
    validate_params,
    warn,
)
from skcal.decision._outcome import Outcome, check_sample_utility, respond, row_decider
from skcal.decision._regret import best_swaps
from skcal.decision._task import DecisionTask
from skcal.metrics._names import MEASURES

__all__ = [
    "calibration_scorers",
    "get_scorer",
    "get_scorer_names",
    "make_calibration_scorer",
    "neg_swap_regret_scorer",
    "refit_calibrated",
    "utility_scorer",
]


class ProbabilityScorer(BaseScorer):
    """A scorer of predict_proba that knows the classes: ``score_func(y, proba, classes=..., ...)``.

    It keeps scikit-learn's contract: callable as ``scorer(estimator, X, y)``, picklable, with
    ``set_score_request``.
    """

    def __init__(self, score_func, sign, kwargs, maker):
        super().__init__(score_func, sign, kwargs, response_method="predict_proba")
        self._maker = maker

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        if isinstance(estimator, type):
            fail("estimator", "be a fitted classifier", f"the class {estimator.__name__}")
        if not hasattr(estimator, "predict_proba"):
            raise AttributeError(
                f"{type(estimator).__name__} has no predict_proba, which this scorer needs: its "
                "margins are not probabilities. Wrap it in a recalibrator, such as "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        proba = _cached_probabilities(method_caller, estimator, X)
        with quiet():  # a search would repeat warnings for every candidate and fold
            options = {**self._kwargs, **kwargs}
            return self._sign * self._score_func(
                y_true, proba, classes=estimator.classes_, **options
            )

    def __repr__(self):
        options = (
            f"{name}={getattr(value, '__name__', repr(value))}"
            for name, value in self._kwargs.items()
            if value is not None
        )
        return f"{self._maker}({', '.join(options)})"


@validate_params(
    {"measure": [callable], "multiclass": [StrOptions({"raise", "classwise", "top_label"})]},
    prefer_skip_nested_validation=True,
)
def make_calibration_scorer(measure, *, pos_label=None, multiclass="raise", **params):
    """A scorer from a calibration measure; greater is better, so it is the negated measure.

    Parameters
    ----------
    measure : callable
        A function of `skcal.metrics`, or any ``measure(y_true, y_proba, *, pos_label, labels)``.
    pos_label : label, default=None
        The positive class. None takes ``classes_[1]`` of the estimator, so string labels work.
    multiclass : {"raise", "classwise", "top_label"}, default="raise"
        As in the measures, for estimators of more than two classes.
    **params : dict
        Further arguments of the measure, such as ``n_bins=10``.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``, for the ``scoring`` of scikit-learn's tools.

    Notes
    -----
    Do not let it choose a model by itself: the constant forecast of the base rate minimises every
    calibration measure. Use it beside a proper loss, with `refit_calibrated`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcal import make_calibration_scorer, metrics
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_calibration_scorer(metrics.expected_calibration_error, n_bins=10)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer).round(2)
    array([-0.08, -0.08, -0.05, -0.05, -0.05])
    """
    if "return_certificate" in params:
        fail("params", "leave return_certificate out: a scorer returns a number", repr(params))
    if "labels" in params:
        fail("params", "leave labels out: they are those of the estimator", repr(params))
    if multiclass != "raise":
        if pos_label is not None:
            fail("pos_label", f"be None with multiclass={multiclass!r}", repr(pos_label))
        params["multiclass"] = multiclass
    try:
        signature(measure).bind(None, None, pos_label=None, labels=None, **params)
    except ValueError:  # some built-in functions have no signature
        fail("measure", "be a function of y_true, y_proba, pos_label and labels", repr(measure))
    except TypeError as error:
        fail(
            "params",
            f"be arguments of {getattr(measure, '__name__', measure)}",
            str(error).removeprefix("got "),
        )
    kwargs = {"measure": measure, "pos_label": pos_label, **params}
    return ProbabilityScorer(_measure, -1, kwargs, "make_calibration_scorer")


def _measure(y_true, y_proba, *, classes, measure, pos_label=None, sample_weight=None, **params):
    if len(classes) == 1:
        fail("estimator", "have been fitted on more than one class", f"one: {shown(classes)}")
    if pos_label is None and len(classes) == 2 and "multiclass" not in params:
        pos_label = classes[1]
    if sample_weight is not None:
        params["sample_weight"] = sample_weight
    value = measure(y_true, y_proba, pos_label=pos_label, labels=classes, **params)
    if not isinstance(value, Real) or np.isnan(value):
        fail("measure", "return a number", f"{value!r:.50}")
    return value


QUICK = {"caldist": {"method": "bounds"}}  # settings of named scorers
SYNONYMS = {"neg_lower_caldist": "neg_distcal", "neg_smooth_ece": "neg_smece"}


def get_scorer_names():
    """Names that `get_scorer` knows: ``neg_`` and the short name of a measure in `skcal.metrics`.

    "neg_caldist" is the upper end that ``calibration_distance(..., method="bounds")`` gives: quick
    enough for searches. The others are the measures as they are.

    Returns
    -------
    list of str
        "neg_lower_caldist" and "neg_smooth_ece" are other names of "neg_distcal" and "neg_smece".

    Examples
    --------
    >>> from skcal import get_scorer_names
    >>> get_scorer_names()
    ['neg_bece', 'neg_caldist', 'neg_cdl', 'neg_cutoff', 'neg_distcal', 'neg_ece', ...]
    """
    return sorted([*(f"neg_{short}" for short in MEASURES), *SYNONYMS])


def get_scorer(name, *, pos_label=None, multiclass="raise"):
    """A ready scorer by name.

    scikit-learn keeps no registry for the names of other packages, so pass the object:

    Parameters
    ----------
    name : str
        One of `get_scorer_names`.
    pos_label, multiclass
        As in `make_calibration_scorer`.

    Returns
    -------
    scorer : callable
        A new object each time, so that a score request set on one never leaks.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from skcal import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(DummyClassifier(), X, y, scoring="neg_scdl")
    Traceback (most recent call last):
    ...
    sklearn.utils._param_validation.InvalidParameterError: The 'scoring' parameter of ...
    >>> cross_val_score(DummyClassifier(), X, y, scoring=get_scorer("neg_scdl")).round(3)
    array([-0.003, -0.003, -0.003, -0.003, -0.   ])
    """
    if not isinstance(name, str) or name not in get_scorer_names():
        fail("name", f"be one of {', '.join(map(repr, get_scorer_names()))}", repr(name))
    short = SYNONYMS.get(name, name).removeprefix("neg_")
    _, measure = MEASURES[short]
    return make_calibration_scorer(
        measure, pos_label=pos_label, multiclass=multiclass, **QUICK.get(short, {})
    )


def calibration_scorers(*, pos_label=None, multiclass="raise"):
    """All named scorers, for tools that take several at once.

    Parameters
    ----------
    pos_label, multiclass
        As in `make_calibration_scorer`.

    Returns
    -------
    dict
        ``{name: scorer}``; add a proper loss, as in the example.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcal.scorers import calibration_scorers
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scoring = {"neg_log_loss": "neg_log_loss", **calibration_scorers()}
    >>> scores = cross_validate(GaussianNB(), X, y, scoring=scoring)
    >>> scores["test_neg_cutoff"].round(2)
    array([-0.04, -0.07, -0.04, -0.04, -0.02])
    """
    return {
        name: get_scorer(name, pos_label=pos_label, multiclass=multiclass)
        for name in get_scorer_names()
        if name not in SYNONYMS
    }


def utility_scorer(utility, *, actions=None):
    """A scorer of the mean utility of best-responding to the predicted probabilities.

    Parameters
    ----------
    utility : dict of dicts, DataFrame or array-like of shape (n_classes, n_actions)
        ``utility[k, a]``: rows are true classes in the order of ``classes_``, columns are actions.
    actions : array-like of shape (n_actions,), default=None
        Names of the columns of an unlabelled table.

    Returns
    -------
    scorer : callable
        Greater is better. With metadata routing enabled, ``set_score_request(sample_utility=True)``
        replaces the table by one for each row, of shape (n, n_classes, n_actions).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcal.scorers import utility_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=utility_scorer([[0, -5], [-1, 0]])).round(2)
    array([-0.18, -0.37, -0.14, -0.19, -0.12])
    """
    return ProbabilityScorer(
        _mean_utility, 1, {"utility": utility, "actions": actions}, "utility_scorer"
    )


def neg_swap_regret_scorer(utility, *, actions=None):
    """A scorer of the swap regret of best-responding to the predicted probabilities, negated.

    Like a calibration measure it must not choose a model alone: constant forecasts have no regret.

    Parameters
    ----------
    utility, actions
        As in `utility_scorer`.

    Returns
    -------
    scorer : callable
        Greater is better, 0 is best.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcal.scorers import neg_swap_regret_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = neg_swap_regret_scorer([[0, -5], [-1, 0]])
    >>> bool((cross_val_score(GaussianNB(), X, y, scoring=scorer) <= 0).all())
    True
    """
    return ProbabilityScorer(
        _swap_regret, -1, {"utility": utility, "actions": actions}, "neg_swap_regret_scorer"
    )


@validate_params(
    {
        "loss": [str],
        "max_error": [Interval(Real, 0, None, closed="left"), None],
        "error": [str],
    },
    prefer_skip_nested_validation=True,
)
def refit_calibrated(loss="neg_log_loss", max_error=None, error="neg_scdl"):
    """A ``refit`` for searches: the best loss among candidates that are calibrated well enough.

    Parameters
    ----------
    loss : str, default="neg_log_loss"
        Name, in the ``scoring`` dict of the search, of a proper score to be maximised.
    max_error : float, default=None
        Largest mean calibration error allowed. None takes, among the candidates whose loss is
        within one standard error of the best, the one with the smallest calibration error.
    error : str, default="neg_scdl"
        Name, in the ``scoring`` dict, of the scorer of the calibration error.

    Returns
    -------
    callable
        For ``refit=`` of GridSearchCV and RandomizedSearchCV with several scorers.

    Raises
    ------
    ValueError
        In the search, when its results lack one of the names or hold no finite candidate.

    Warns
    -----
    CalibrationWarning
        When no candidate is within ``max_error``; the one with the smallest error is taken.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skcal import get_scorer
    >>> from skcal.scorers import refit_calibrated
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = GridSearchCV(
    ...     DecisionTreeClassifier(random_state=0),
    ...     {"min_samples_leaf": [1, 10, 40]},
    ...     scoring={"neg_log_loss": "neg_log_loss", "neg_scdl": get_scorer("neg_scdl")},
    ...     refit=refit_calibrated(),
    ... )
    >>> search.fit(X, y).best_params_
    {'min_samples_leaf': 40}
    """
    return RefitCalibrated(loss, max_error, error)


class RefitCalibrated:
    """What `refit_calibrated` returns: an object, so that it can be pickled and shown."""

    def __init__(self, loss, max_error, error):
        self.loss, self.max_error, self.error = loss, max_error, error

    def __call__(self, cv_results):
        loss, error = (-self._mean(cv_results, name) for name in (self.loss, self.error))
        valid = np.flatnonzero(np.isfinite(loss) & np.isfinite(error))
        if not valid.size:
            fail("cv_results", f"hold finite scores of {self.loss} and {self.error}", "none")
        if self.max_error is None:
            best = valid[np.argmin(loss[valid])]
            spread = cv_results[f"std_test_{self.loss}"][best] / np.sqrt(self._folds(cv_results))
            near = valid[loss[valid] <= loss[best] + spread]
            return int(min(near, key=lambda k: (error[k], loss[k])))
        within = valid[error[valid] <= self.max_error]
        if not within.size:
            least = valid[np.argmin(error[valid])]
            warn(
                f"no candidate has {self.error} within {self.max_error}: the one with the smallest "
                f"error, {error[least]:.3g}, is taken."
            )
            return int(least)
        return int(within[np.argmin(loss[within])])

    def _mean(self, cv_results, name):
        if f"mean_test_{name}" not in cv_results:
            known = [key[10:] for key in cv_results if key.startswith("mean_test_")]
            fail("scoring", f"be a dict with a scorer named {name!r}", f"the names {shown(known)}")
        return np.asarray(cv_results[f"mean_test_{name}"], dtype=float)

    def _folds(self, cv_results):
        end = f"_test_{self.loss}"
        return sum(key.startswith("split") and key.endswith(end) for key in cv_results)

    def __repr__(self):
        return f"refit_calibrated({self.loss!r}, max_error={self.max_error}, error={self.error!r})"


def _cached_probabilities(method_caller, estimator, X):
    """All columns of predict_proba, computed once for the scorers of one search.

    scikit-learn's cache holds one column and forgets which one, so the matrix has its own place.
    """
    cache = method_caller.args[0] if isinstance(method_caller, partial) else None
    if cache is None:
        return estimator.predict_proba(X)
    if "skcal" not in cache:
        cache["skcal"] = estimator.predict_proba(X)
    return cache["skcal"]


def _mean_utility(y_true, y_proba, **options):
    return _outcome(y_true, y_proba, **options).mean_utility()


def _swap_regret(y_true, y_proba, **options):
    return best_swaps(_outcome(y_true, y_proba, **options).swap_values()[0])[0]


def _outcome(
    y_true, y_proba, *, classes, utility, actions, sample_weight=None, sample_utility=None
):
    task = DecisionTask(utility, classes=classes, actions=actions)
    proba, _ = check_probabilities(y_proba, n_columns=len(classes), ravel=False)
    codes = check_codes(y_true, classes)
    if codes.size != len(proba):
        fail("y_true", f"have one label for each row of X ({len(proba)})", f"length {codes.size}")
    decide, worth = task._decide, task.utility[codes]
    if sample_utility is not None:
        tables = check_sample_utility(sample_utility, codes.size, task)
        decide, worth = row_decider(tables), tables[np.arange(codes.size), codes]
    return Outcome(respond(decide, proba), codes, worth, check_weights(sample_weight, codes.size))
