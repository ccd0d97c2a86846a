"""Distances to calibration."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._lipschitz_dual import (
    Potentials,
    Targets,
    dual_value,
    largest_h,
    lower_distance,
    transport_cost,
)
from skcal._results import Certificate
from skcal._validation import Interval, Real, check_samples, validate_params, warn
from skcal.metrics._classes import over_classes

SLACK = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class LowerDistanceCertificate(Certificate):
    """A lower distance to calibration between two proofs.

    Attributes
    ----------
    value : float
        The upper end: a distance that is attained.
    lower, upper : float
        The distance lies between them.
    x, zeros, ones : ndarray of shape (k,)
        Distinct predictions, and the share of the sample with outcome 0 and 1 at each.
    nodes, phi_zeros, phi_ones : ndarray of shape (j,)
        Potentials that prove ``lower``: slope at most 1, linear between nodes, and
        (1 - u) phi_zeros(u) + u phi_ones(u) is nowhere positive.
    targets, target_zeros, target_ones : ndarray of shape (i,)
        Where the sample may be moved, at cost ``upper``, to be calibrated: the share of zeros and
        ones at each target.
    """

    lower: float
    upper: float
    x: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray
    nodes: np.ndarray
    phi_zeros: np.ndarray
    phi_ones: np.ndarray
    targets: np.ndarray
    target_zeros: np.ndarray
    target_ones: np.ndarray

    def verify(self):
        """Check both proofs: valid potentials give ``lower``, calibrated targets cost ``upper``."""
        return bool(
            self.value == self.upper
            and self.lower <= self.upper
            and self._lower_holds()
            and self._upper_holds()
        )

    def _lower_holds(self):
        potentials = Potentials(self.nodes, self.phi_zeros, self.phi_ones)
        gaps = np.diff(self.nodes)
        if self.nodes[0] != 0 or self.nodes[-1] != 1 or gaps.min() <= 0:
            return False
        steep = max(np.max(np.abs(np.diff(phi)) - gaps) for phi in potentials[1:])
        valid = steep <= SLACK and largest_h(potentials).max() <= SLACK
        return valid and dual_value(self.x, self.zeros, self.ones, potentials) >= self.lower - SLACK

    def _upper_holds(self):
        targets = Targets(self.targets, self.target_zeros, self.target_ones)
        residual = targets.ones * (1 - targets.place) - targets.zeros * targets.place
        lost = (self.zeros.sum() - targets.zeros.sum(), self.ones.sum() - targets.ones.sum())
        cost = transport_cost(self.x, self.zeros, self.ones, targets)
        errors = (np.abs(residual).sum(), *np.abs(lost), abs(cost - self.upper))
        return max(errors) <= SLACK and min(map(np.min, targets)) >= 0


@validate_params(
    {"tol": [Interval(Real, 0, 1, closed="neither")], "return_certificate": ["boolean"]},
    prefer_skip_nested_validation=True,
)
def lower_calibration_distance(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    tol=1e-5,
):
    """Lower distance to calibration (DistCal): the least movement that calibrates the sample.

    How far, on average, predictions must move for the sample to be perfectly calibrated, if a row
    may be split and moved to several places. It never exceeds the distance to the nearest
    calibrated predictor on the rows.

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
        Return a `LowerDistanceCertificate`, with both ends of the bracket, instead of a float.
    tol : float, default=1e-5
        Width of the bracket at which the computation stops. A warning says when it stays wider.

    Returns
    -------
    float or LowerDistanceCertificate
        In [0, 1]; 0 is best, and reached by calibrated samples only. The value is the upper end
        of the bracket.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Costs one sort and one to three linear programs on one to four thousand nodes, whatever n is:
    half a second to two, plus O(n log n).

    References
    ----------
    .. [1] J. Blasiok, P. Gopalan, L. Hu and P. Nakkiran, "A unifying theory of distance from
       calibration", STOC 2023. :arxiv:`2211.16886`

    Examples
    --------
    >>> from skcal.metrics import lower_calibration_distance
    >>> y_true, y_proba = [0, 1, 0, 1], [0.45, 0.45, 0.55, 0.55]
    >>> round(lower_calibration_distance(y_true, y_proba), 5)  # 2 e^2 / (1 + 2 e) for e = 0.05
    0.00455
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(samples, lambda sample: lower_distance_of(sample, tol), return_certificate)


def lower_distance_of(sample, tol=1e-5):
    x, mass, ones, _ = sample.atoms.written_out()
    zeros, ones = (mass - ones) / sample.total, ones / sample.total
    lower, upper, potentials, targets = lower_distance(x, zeros, ones, tol)
    if upper - lower > tol:
        warn(f"the lower distance is known up to {upper - lower:.2g}, not to tol={tol:.2g}.")
    return LowerDistanceCertificate(upper, lower, upper, x, zeros, ones, *potentials, *targets)
