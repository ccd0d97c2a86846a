"""Smooth calibration error (exact) and the kernel-smoothed ECE."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._flat_norm import flat_norm, witness
from skcal._numerics._smoothing import (
    FINEST_WIDTH,
    TOLERANCE,
    absolute_area,
    density,
    smoothed_error,
)
from skcal._results import Certificate
from skcal._validation import Interval, Real, check_samples, validate_params
from skcal.metrics._classes import over_classes


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCertificate(Certificate):
    """A smooth calibration error with both of its proofs.

    Attributes
    ----------
    value : float
    x : ndarray of shape (k,)
        Distinct predictions, increasing.
    residual : ndarray of shape (k,)
        Their share of the mean residual: the sum of w (y - p), divided by the total weight.
    sums : ndarray of shape (k,)
        Cumulative residual C after each prediction.
    fit : ndarray of shape (k - 1,)
        Best monotone fit S of C between 0 and the mean residual. abs(mean residual) plus the area
        between C and S bounds the error from above, and equals it.
    witness : ndarray of shape (k,)
        Values of a function with slope at most 1, between -1 and 1, whose mean product with the
        residuals is the error: it bounds the error from below.
    """

    x: np.ndarray
    residual: np.ndarray
    sums: np.ndarray
    fit: np.ndarray
    witness: np.ndarray

    @property
    def gap(self):
        """Difference of the two proofs: rounding errors only."""
        return self._area() - float(self.residual @ self.witness)

    def verify(self):
        """Check that fit and witness are valid and that both give the value."""
        slack, gaps = 1e-12, np.diff(self.x)
        total = self.residual.sum()
        low, high = min(total, 0.0), max(total, 0.0)
        steps = np.diff(self.fit) * (1 if total >= 0 else -1)
        valid = (
            np.abs(self.witness).max() <= 1 + slack
            and np.all(np.abs(np.diff(self.witness)) <= gaps + slack)
            and np.all((self.fit >= low - slack) & (self.fit <= high + slack))
            and np.all(steps >= -slack)
            and np.allclose(np.cumsum(self.residual), self.sums, rtol=0, atol=slack)
        )
        values = np.array([self._area(), float(self.residual @ self.witness)])
        return bool(valid and np.all(np.abs(values - self.value) <= slack))

    def _area(self):
        between = np.abs(self.sums[:-1] - self.fit) * np.diff(self.x)
        return float(abs(self.sums[-1]) + between.sum())


@dataclass(frozen=True, eq=False, repr=False)
class SmoothECECertificate(Certificate):
    """A kernel-smoothed ECE with its width and the smoothed residuals.

    Attributes
    ----------
    value : float
        The integral of abs(density).
    sigma : float
        Width of the kernel; the fixed point, where the value equals the width, unless it was given.
    grid, density : ndarray of shape (k,)
        The smoothed residual density on equally spaced points of [0, 1].
    x, residual : ndarray of shape (j,)
        Distinct predictions, increasing, and their share of the mean residual.
    fixed : bool
        Whether the width was given.
    """

    sigma: float
    grid: np.ndarray
    density: np.ndarray
    x: np.ndarray
    residual: np.ndarray
    fixed: bool

    def verify(self):
        """Smooth the residuals anew, integrate the density, and compare with the width."""
        if self.sigma == 0:
            return self.value == 0
        outcomes = self.x + self.residual * self.x.size  # rows of weight one with these residuals
        again = smoothed_error(outcomes, self.x, None, self.sigma)
        curve = density(again.coefficients, self.sigma)
        return bool(
            curve.size == self.density.size
            and np.array_equal(self.grid, np.linspace(0.0, 1.0, curve.size))
            and np.allclose(curve, self.density, rtol=0, atol=1e-9 * (1 + np.abs(curve).max()))
            and abs(absolute_area(self.density) - self.value) <= 1e-12
            and (self.fixed or abs(self.value - self.sigma) <= 4 * TOLERANCE)
        )


@validate_params({"return_certificate": ["boolean"]}, prefer_skip_nested_validation=True)
def smooth_calibration_error(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
):
    """Smooth calibration error (smCE): the worst slowly varying reweighting of the residuals.

    The supremum of the mean of (y - p) h(p) over functions h with values in [-1, 1] and slope at
    most 1. It is within constant factors of the distance to calibration, can be estimated at the
    rate n^(-1/2), and about 4 times its square root bounds the swap regret of acting on forecasts
    that are rounded at random. Exact, with proofs of both sides.

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
        Return a `SmoothCertificate` instead of a float.

    Returns
    -------
    float or SmoothCertificate
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    smooth_ece : A different measure, by a Gaussian kernel.

    Notes
    -----
    Costs one sort and a weighted L1 isotonic regression of the cumulative residual, O(n log n).

    References
    ----------
    .. [1] J. Blasiok, P. Gopalan, L. Hu and P. Nakkiran, "A unifying theory of distance from
       calibration", STOC 2023. :arxiv:`2211.16886`
    .. [2] L. Hu, A. Jambulapati, K. Tian and C. Yang, "Testing calibration in nearly-linear time",
       NeurIPS 2024. :arxiv:`2402.13187`

    Examples
    --------
    >>> from skcal.metrics import smooth_calibration_error
    >>> round(smooth_calibration_error([1, 0, 0, 0, 0], [0.9, 0.4, 0.3, 0.4, 0.3]), 12)
    0.27
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(
        samples, smooth_error, return_certificate, lambda sample: smooth_error(sample, False).value
    )


def smooth_error(sample, proofs=True):
    x, mass, ones, _ = sample.atoms
    residual = ones - x if mass is None else ones - mass * x
    norm = flat_norm(x, residual)
    total = sample.total
    if not proofs:
        return Certificate(norm.value / total)
    return SmoothCertificate(
        norm.value / total, x, residual / total, norm.sums / total, norm.fit / total,
        witness(x, norm),
    )  # fmt: skip


@validate_params(
    {
        "sigma": [Interval(Real, 1e-4, 1e6, closed="both"), None],
        "return_certificate": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def smooth_ece(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    sigma=None,
):
    """Smooth ECE (smECE): calibration error of Gaussian-smoothed residuals.

    The residuals are smoothed over [0, 1] by a Gaussian kernel that is reflected at both ends; the
    error is the integral of their absolute density. The width is the one that equals the error.

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
        Return a `SmoothECECertificate` instead of a float.
    sigma : float, default=None
        Width of the kernel, from 1e-4 to 1e6. None takes the fixed point.

    Returns
    -------
    float or SmoothECECertificate
        In [0, 1]; 0 is best. The error of the computation is about 1e-5; values below 1.5e-5 are 0.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    smooth_calibration_error : The exact worst case over Lipschitz functions, without a kernel.

    Notes
    -----
    Costs O(n) and a few cosine transforms. Two definitions are in use: this is the kernel of the
    paper [1]_, on p, with all reflections. The package relplot cuts the kernel at half a unit and
    halves the mass at p = 0 and 1, so its values differ there; others smooth on the logit scale.

    References
    ----------
    .. [1] J. Blasiok and P. Nakkiran, "Smooth ECE: principled reliability diagrams via kernel
       smoothing", ICLR 2024. :arxiv:`2309.12236`

    Examples
    --------
    >>> from skcal.metrics import smooth_ece
    >>> round(smooth_ece([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9]), 3)
    0.257
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(
        samples,
        lambda sample: _certify_kernel(sample, sigma),
        return_certificate,
        lambda sample: kernel_error(sample, sigma).error,
    )


def _certify_kernel(sample, sigma):
    smoothed = kernel_error(sample, sigma)
    curve = density(smoothed.coefficients, max(smoothed.sigma, FINEST_WIDTH))
    grid = np.linspace(0.0, 1.0, curve.size)
    x, mass, ones, _ = sample.atoms.written_out()
    residual = (ones - mass * x) / sample.total
    fixed = sigma is not None
    return SmoothECECertificate(smoothed.error, smoothed.sigma, grid, curve, x, residual, fixed)


def kernel_error(sample, sigma=None):
    return smoothed_error(sample.y, sample.p, sample.w, sigma)
