"""Cutoff calibration error: the largest summed residual over intervals of predictions."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._prefix_sums import extreme_interval, extreme_tail, residual_sums
from skcal._results import Certificate
from skcal._validation import StrOptions, check_samples, validate_params
from skcal.metrics._classes import over_classes


@dataclass(frozen=True, eq=False, repr=False)
class CutoffCertificate(Certificate):
    """A cutoff calibration error with its worst interval.

    Attributes
    ----------
    value : float
    interval : tuple of float
        Smallest and largest prediction in the worst interval; (nan, nan) when the value is 0.
    residual : float
        Mean of (y - p) over the interval, per row of the whole sample: positive where the
        forecasts are too low.
    x : ndarray of shape (k,)
        Distinct predictions, increasing.
    sums : ndarray of shape (k + 1,)
        0 and the normalised cumulative residual after each of them.
    region : {"interval", "threshold"}
    """

    interval: tuple[float, float]
    residual: float
    x: np.ndarray
    sums: np.ndarray
    region: str

    def verify(self):
        """Recompute the interval's residual, and that no other one is larger."""
        low, high = self.interval
        inside = np.searchsorted(self.x, low), np.searchsorted(self.x, high, "right")
        attained = self.sums[inside[1]] - self.sums[inside[0]] if self.value else 0.0
        if self.region == "interval":
            bound = np.ptp(self.sums)
        else:
            bound = np.abs(self.sums[-1] - self.sums).max()
        errors = (abs(attained) - self.value, attained - self.residual, bound - self.value)
        return bool(np.all(np.abs(errors) <= 1e-12 + 1e-17 * self.x.size))


@validate_params(
    {"region": [StrOptions({"interval", "threshold"})], "return_certificate": ["boolean"]},
    prefer_skip_nested_validation=True,
)
def cutoff_calibration_error(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    region="interval",
):
    """Cutoff (step) calibration error: the worst interval of predictions.

    The maximum, over intervals I, of the absolute mean of (y - p) 1[p in I]. It needs no bins and
    can be estimated at the rate n^(-1/2); twice it bounds the regret of swaps that are monotone.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes, or of K with ``multiclass``.
    y_proba : array-like of shape (n,), (n, 1) or (n, K)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; rows of weight 0 are ignored.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    multiclass : {"raise", "classwise", "top_label"}, default="raise"
        What to do with a column of ``y_proba`` for each of K classes: "classwise" is the mean over
        the classes, each against the rest; "top_label" compares the largest probability of a row
        with whether its class is right. "raise" takes two classes only.
    labels : array-like of shape (K,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    return_certificate : bool, default=False
        Return a `CutoffCertificate` instead of a float.
    region : {"interval", "threshold"}, default="interval"
        "threshold" looks at the regions {p >= c} only.

    Returns
    -------
    float or CutoffCertificate
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Costs one sort.

    References
    ----------
    .. [1] R. Rossellini, J. A. Soloff, R. F. Barber, Z. Ren and R. Willett, "Can a calibration
       metric be both testable and actionable?", COLT 2025. :arxiv:`2502.19851`
    .. [2] M. Qiao and E. Zhao, "Truthfulness of decision-theoretic calibration measures", 2025.

    Examples
    --------
    >>> from skcal.metrics import cutoff_calibration_error
    >>> cutoff_calibration_error([1, 1, 0, 0], [0.5, 0.5, 0.25, 0.25])
    0.25
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(samples, lambda sample: cutoff_error(sample, region), return_certificate)


def cutoff_error(sample, region="interval"):
    x, mass, ones, _ = sample.atoms
    sums = residual_sums(x, mass, ones)
    sums /= sample.total
    i, j = extreme_interval(sums) if region == "interval" else extreme_tail(sums)
    residual = float(sums[j] - sums[i])
    interval = (float(x[i]), float(x[j - 1])) if residual else (np.nan, np.nan)
    return CutoffCertificate(abs(residual), interval, residual, x, sums, region)
