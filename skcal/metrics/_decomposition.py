"""Score decomposition: what miscalibration, discrimination and uncertainty each contribute."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from skcal._validation import StrOptions, check_sample, validate_params


@dataclass(frozen=True)
class ScoreDecomposition:
    """``score = miscalibration - discrimination + uncertainty``.

    Attributes
    ----------
    score : float
        Mean score of the forecasts; lower is better.
    miscalibration : float
        What the forecasts lose against their best increasing recalibration. Not negative.
    discrimination : float
        What that recalibration gains over giving everybody the base rate. Not negative.
    uncertainty : float
        Score of the base rate: a property of the outcomes alone.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@validate_params({"score": [StrOptions({"brier", "log"})]}, prefer_skip_nested_validation=True)
def score_decomposition(
    y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None, score="brier"
):
    """Decompose the Brier or log score into miscalibration, discrimination and uncertainty.

    A low score does not show that forecasts are calibrated: they may gain by discrimination what
    they lose by miscalibration. The recalibration is isotonic (CORP), which needs no bins.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_proba : array-like of shape (n,), (n, 1) or (n, 2)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; rows of weight 0 are ignored.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    labels : array-like of shape (2,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    score : {"brier", "log"}, default="brier"
        Mean squared error, or mean negative logarithm of the probability of the outcome.

    Returns
    -------
    ScoreDecomposition
        The log score and its miscalibration are infinite when an outcome was given probability 0.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Costs one sort.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams for
       probabilistic classifiers", PNAS 118(8), 2021. :doi:`10.1073/pnas.2016191118`

    Examples
    --------
    >>> from skcal.metrics import score_decomposition
    >>> parts = score_decomposition([0, 0, 1, 1], [0.2, 0.2, 0.8, 0.8])
    >>> round(parts.miscalibration, 3), parts.discrimination, parts.uncertainty
    (0.04, 0.25, 0.25)
    """
    return decompose(check_sample(y_true, y_proba, sample_weight, pos_label, labels), score)


def decompose(sample, score="brier"):
    x, mass, ones, _ = sample.atoms.written_out()
    mean_score = _brier if score == "brier" else _log
    best = _inside(isotonic_regression(ones / mass, weights=mass).x, mass, ones)
    base = _inside(np.full(x.size, ones.sum() / mass.sum()), mass, ones)
    own, recalibrated, uninformed = (mean_score(g, mass, ones) for g in (x, best, base))
    return ScoreDecomposition(
        own,
        max(own - recalibrated, 0.0),
        max(uninformed - recalibrated, 0.0),
        uninformed,
    )


def _inside(g, mass, ones):
    """Rates in [0, 1]; a rounding must not rule out what has happened."""
    low, high = np.finfo(float).tiny, np.nextafter(1.0, 0.0)
    return np.clip(g, np.where(ones > 0, low, 0.0), np.where(ones < mass, high, 1.0))


def _brier(g, mass, ones):
    # the mean of (y - g)^2 over rows with masses, y being 0 or 1
    return float((mass * g**2 - 2 * ones * g + ones).sum() / mass.sum())


def _log(g, mass, ones):
    with np.errstate(divide="ignore"):
        return float(-(xlogy(ones, g) + xlogy(mass - ones, 1 - g)).sum() / mass.sum())
