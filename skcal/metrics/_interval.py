"""Interval calibration error by its surrogate: binned errors of randomly shifted grids."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._intervals import shifted_cells, smallest_surrogate
from skcal._results import Certificate
from skcal._validation import check_samples, validate_params
from skcal.metrics._classes import over_classes


@dataclass(frozen=True, eq=False, repr=False)
class IntervalCertificate(Certificate):
    """A surrogate interval calibration error with the width that attains it.

    Attributes
    ----------
    value : float
    width : float
        Width 2^-k of the cells; 0 for the limit, the unbinned ECE.
    error : float
        Expected error of a randomly shifted grid of this width; ``value`` is ``error + width``.
    x, residual : ndarray of shape (k,)
        Distinct predictions, and their share of the mean residual.
    """

    width: float
    error: float
    x: np.ndarray
    residual: np.ndarray

    def verify(self):
        """Recompute the minimum over all widths."""
        value = smallest_surrogate(self.x, self.residual)[0]
        error = np.abs(self.residual).sum()
        if self.width:
            error = shifted_cells(self.x, self.residual, self.width)
        errors = (value - self.value, error - self.error, self.error + self.width - self.value)
        return bool(np.max(np.abs(errors)) <= 1e-12)


@validate_params({"return_certificate": ["boolean"]}, prefer_skip_nested_validation=True)
def interval_calibration_error(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
):
    """Interval calibration error, by its surrogate (SintCE): a binned error that picks its width.

    The binned error is averaged over a uniformly random shift of a grid of cells, exactly and not
    by sampling; the width of the cells is added, and the best width 2^-k is taken. It bounds the
    distance to calibration from above and is within constant factors of the interval calibration
    error of [1]_.

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
        Return an `IntervalCertificate` instead of a float.

    Returns
    -------
    float or IntervalCertificate
        In [0, 1]; 0 is best, and reached by calibrated samples only.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Costs one sort, and one merge for each width that is tried.

    References
    ----------
    .. [1] J. Blasiok, P. Gopalan, L. Hu and P. Nakkiran, "A unifying theory of distance from
       calibration", STOC 2023. :arxiv:`2211.16886`

    Examples
    --------
    >>> from skcal.metrics import interval_calibration_error
    >>> interval_calibration_error([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5])
    0.5
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(samples, interval_error, return_certificate)


def interval_error(sample):
    x, mass, ones, _ = sample.atoms
    residual = (ones - x if mass is None else ones - mass * x) / sample.total
    value, width = smallest_surrogate(x, residual)
    error = shifted_cells(x, residual, width) if width else value
    return IntervalCertificate(value, width, error, x, residual)
