"""Binned calibration errors: the classic ECE in its variants, and the actionable binned error."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._bins import (
    bin_index,
    blocks,
    close_last,
    grid_index,
    grid_sums,
    quantile_starts,
)
from skcal._results import Certificate
from skcal._validation import (
    Integral,
    Interval,
    StrOptions,
    check_samples,
    fail,
    fail_parameter,
    validate_params,
    warn,
)
from skcal.metrics._classes import over_classes

MOST_BINS = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class BinnedCertificate(Certificate):
    """A binned error with its bins, empty ones included.

    Attributes
    ----------
    value : float
    edges : ndarray of shape (n_bins + 1,)
        Bin k is [edges[k], edges[k + 1]), the last one closed.
    count, weight : ndarray of shape (n_bins,)
        Rows, and their summed weight.
    mean_proba, mean_outcome : ndarray of shape (n_bins,)
        Weighted means; NaN in empty bins.
    norm : {"l1", "l2", "max"}
    debias : bool
    factor : int
        1, or the 2 of `actionable_binned_error`, which puts the grid point in ``mean_proba``.
    """

    edges: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    mean_proba: np.ndarray
    mean_outcome: np.ndarray
    norm: str = "l1"
    debias: bool = False
    factor: int = 1

    @property
    def n_bins(self):
        """Bins, or steps of the grid whose points are the bins."""
        return self.count.size - (self.factor == 2)

    @property
    def signed_square(self):
        """The squared l2 error before it is cut off at 0: negative when chance explains it."""
        if self.norm != "l2":
            raise AttributeError("signed_square exists for norm='l2' only")
        return _norm(*self._occupied(), "l2", self.debias)

    def verify(self):
        """Recompute the error from the bins."""
        value = _norm(*self._occupied(), self.norm, self.debias)
        if self.norm == "l2":
            value = np.sqrt(max(value, 0.0))
        return bool(abs(self.factor * value - self.value) <= 1e-12)

    def _occupied(self):
        k = self.weight > 0
        return self.weight[k], self.mean_proba[k], self.mean_outcome[k]


@validate_params(
    {
        "n_bins": [Interval(Integral, 1, MOST_BINS, closed="both"), None],
        "strategy": [StrOptions({"uniform", "quantile"})],
        "norm": [StrOptions({"l1", "l2", "max"})],
        "debias": ["boolean"],
        "return_certificate": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def expected_calibration_error(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    n_bins=15,
    strategy="uniform",
    norm="l1",
    debias=False,
):
    """Expected calibration error (ECE): mean distance of predictions from observed rates.

    Rows are grouped by their prediction, and the mean prediction of each group is compared with
    its rate of positive outcomes. This is the probability of the positive class against the
    positive rate, not the confidence of the predicted class against accuracy.

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
        Return a `BinnedCertificate` instead of a float.
    n_bins : int or None, default=15
        Number of bins. None groups equal predictions only: the ECE of the theory, which on distinct
        predictions measures sharpness instead (a warning says so).
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, [k/n_bins, (k + 1)/n_bins) with the last one closed; or of equal
        weight, where tied predictions stay together and empty bins vanish.
    norm : {"l1", "l2", "max"}, default="l1"
        Weighted mean of the distances, root of their weighted mean square, or the largest.
    debias : bool, default=False
        Subtract from the squared l2 error what chance adds to it [2]_. Weights then count as
        repetitions of rows.

    Returns
    -------
    float or BinnedCertificate
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Costs O(n) with equal-width bins, O(n log n) otherwise. A calibrated forecaster scores about
    0.12 on 100 rows and 0.04 on 1000 when the forecasts spread over [0, 1], much less when they lie
    near 0 and 1: a value needs a comparison with chance, which `skcal.calibration_report` makes.

    References
    ----------
    .. [1] M. P. Naeini, G. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities using
       Bayesian binning", AAAI 2015.
    .. [2] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS 2019.
       :arxiv:`1909.10155`

    Examples
    --------
    >>> from skcal.metrics import expected_calibration_error
    >>> expected_calibration_error([1, 0, 0, 1], [0.9, 0.2, 0.1, 0.6], n_bins=5)
    0.2
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    if debias and norm != "l2":
        must = "be 'l2' with debias=True"
        fail_parameter("expected_calibration_error", "norm", must, repr(norm))
    return over_classes(
        samples,
        lambda sample: binned_error(sample, n_bins, strategy, norm, debias),
        return_certificate,
    )


def binned_error(sample, n_bins=15, strategy="uniform", norm="l1", debias=False):
    if n_bins is None or strategy == "quantile":
        edges, count, mass, sum_p, sum_y = _tied_bins(sample, n_bins)
    else:
        edges = np.arange(n_bins + 1) / n_bins
        sums = grid_sums(sample.y, sample.p, sample.w, n_bins, sample.precision)
        mass, sum_p, sum_y = (close_last(grid) for grid in sums)
        count = mass if sample.w is None else _counts(sample, n_bins)
    mean_p, mean_y = _means(mass, sum_p, sum_y)
    k = mass > 0
    if norm == "l1":  # from the sums: one rounding less than from the means
        value = np.abs(sum_y - sum_p).sum() / sample.total
    else:
        value = _norm(mass[k], mean_p[k], mean_y[k], norm, debias)
    if norm == "l2":
        value = np.sqrt(max(value, 0.0))
    return BinnedCertificate(float(value), edges, count, mass, mean_p, mean_y, norm, debias)


@validate_params(
    {
        "n_bins": [Interval(Integral, 1, MOST_BINS, closed="both"), StrOptions({"auto"})],
        "return_certificate": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def actionable_binned_error(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    n_bins="auto",
):
    """Binned ECE that bounds swap regret (bECE): twice the ECE of the predictions rounded down.

    Whoever rounds each prediction down to the grid of step 1/n_bins and then acts as if it were
    right has at most this swap regret, in any task with utilities in [0, 1].

    Parameters
    ----------
    y_true, y_proba, sample_weight, pos_label, multiclass, labels
        As in `expected_calibration_error`.
    return_certificate : bool, default=False
        Return a `BinnedCertificate` instead of a float.
    n_bins : int or "auto", default="auto"
        m, the steps of the grid. "auto" is the cube root of the number of rows, rounded, which
        balances the error of the rounding and that of the sample; it counts rows, not weights.

    Returns
    -------
    float or BinnedCertificate
        In [0, 2]; 0 is best. Rounding alone adds up to 2/m to the value of calibrated predictions.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    soft_calibration_decision_loss : The same promise at a better rate of estimation.

    Notes
    -----
    Costs O(n).

    References
    ----------
    .. [1] "Testable and Actionable Calibration for Full Swap Regret", Section 1.3.

    Examples
    --------
    >>> from skcal.metrics import actionable_binned_error
    >>> actionable_binned_error([1, 1, 1, 0], [0.75, 0.75, 0.75, 0.75], n_bins=4)
    0.0
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(samples, lambda sample: rounded_error(sample, n_bins), return_certificate)


def balanced_bins(n):
    return max(1, round(n ** (1 / 3)))


def rounded_error(sample, n_bins="auto"):
    m = balanced_bins(sample.n) if n_bins == "auto" else n_bins
    grid = np.arange(m + 1) / m
    mass, _, sum_y = grid_sums(sample.y, sample.p, sample.w, m, sample.precision)
    value = 2 * np.abs(sum_y - mass * grid).sum() / sample.total
    count = mass if sample.w is None else _counts(sample, m, grid_index, m + 1)
    mean_p, mean_y = _means(mass, mass * grid, sum_y)
    edges = np.append(grid, 1.0)
    return BinnedCertificate(float(value), edges, count, mass, mean_p, mean_y, factor=2)


def _tied_bins(sample, n_bins):
    """Bins that never split equal predictions, from the sorted sample."""
    x, mass, ones, count = sample.atoms.written_out()
    if n_bins is None:
        if 2 * np.count_nonzero(count == 1) > sample.n:
            warn(
                "more than half of the predictions are distinct: the exact ECE then rewards "
                "predictions for being near 0 or 1, not for being calibrated."
            )
        first = np.arange(x.size)
    else:
        first = quantile_starts(mass, n_bins)
    sums = (np.add.reduceat(a, first) for a in (count, mass, mass * x, ones))
    return np.append(x[first], x[-1]), *sums


def _counts(sample, m, index=bin_index, size=None):
    count = np.zeros(size or m)
    for rows in blocks(sample.n):
        count += np.bincount(index(sample.p[rows], m, sample.precision), minlength=count.size)
    return count


def _means(mass, sum_p, sum_y):
    with np.errstate(invalid="ignore"):  # 0/0 is the NaN of an empty bin
        return sum_p / mass, sum_y / mass


def _norm(mass, mean_p, mean_y, norm, debias):
    """The error of occupied bins; squared for l2."""
    gap = np.abs(mean_y - mean_p)
    if norm == "max":
        return gap.max()
    if norm == "l1":
        return np.average(gap, weights=mass)
    square = gap**2
    if debias:
        mixed = (mean_y > 0) & (mean_y < 1)
        if np.any(mass[mixed] <= 1):
            must = "count repetitions of rows with debias=True, more than one in each mixed bin"
            fail("sample_weight", must, f"a weight of {mass[mixed].min():.6g} in one")
        square[mixed] -= mean_y[mixed] * (1 - mean_y[mixed]) / (mass[mixed] - 1)
    return np.average(square, weights=mass)
