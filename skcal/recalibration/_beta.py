"""BetaCalibrator: logistic regression on log p and -log(1 - p) with increasing coefficients."""

import numpy as np
from scipy.special import expit

from skcal._validation import check_calibration_rows
from skcal.recalibration._base import ScoreCalibrator

NEAR = 1e-6  # to 0 or 1: single precision ends there
BEYOND = 1e-4  # share of a logarithm that counts beyond: a hair, which keeps ranks
LEAST = 1e-300
RIDGE = 1e-6  # on the slopes, half its square: keeps them finite on separable samples
MOST_STEPS = 200
TOLERANCE = 1e-12  # of the decrease that a step promises, relative to the weight


def damped_log(q):
    """log q, nearly constant below `NEAR` but still increasing."""
    beyond = np.log(np.clip(q, LEAST, NEAR) / NEAR)
    return np.log(np.maximum(q, NEAR)) + BEYOND * beyond


def features(p):
    """Columns log p, -log(1 - p) and 1."""
    return np.column_stack([damped_log(p), -damped_log(1.0 - p), np.ones(p.size)])


def loss(X, mass, ones, coef):
    """Logistic loss plus ridge."""
    z = X @ coef
    return float(mass @ np.logaddexp(0.0, z) - ones @ z + RIDGE / 2 * (coef[:2] @ coef[:2]))


def newton(X, mass, ones, coef, free):
    """Minimise the convex loss over the coefficients in ``free``, by Newton steps cut in half."""
    coef, ridge = coef.copy(), np.array([RIDGE, RIDGE, 0.0])
    value = loss(X, mass, ones, coef)
    for _ in range(MOST_STEPS):
        q = expit(X @ coef)
        gradient = (X.T @ (mass * q - ones) + ridge * coef)[free]
        hessian = (X.T * (mass * q * (1 - q))) @ X + np.diag(ridge)
        step = np.zeros(3)
        step[free] = -np.linalg.lstsq(hessian[np.ix_(free, free)], gradient, rcond=None)[0]
        promise = -gradient @ step[free]
        if not promise > TOLERANCE * mass.sum():
            break
        size = 1.0
        while size > 1e-9 and (new := loss(X, mass, ones, coef + size * step)) > (
            value - 1e-4 * size * promise
        ):
            size /= 2
        if size <= 1e-9:
            break
        coef, value = coef + size * step, new
    return coef


def increasing_fit(X, mass, ones):
    """The best coefficients whose slopes are not negative.

    The loss is convex, so unless both slopes come out right one of them is zero at the optimum.
    """
    both = newton(X, mass, ones, np.array([1.0, 1.0, 0.0]), [0, 1, 2])
    if both[:2].min() >= 0:
        return both
    one_slope = [newton(X, mass, ones, start, [j, 2]) for j, start in enumerate(np.eye(3)[:2])]
    allowed = [coef for coef in one_slope if coef[:2].min() >= 0]
    constant = newton(X, mass, ones, np.zeros(3), [2])
    return min([*allowed, constant], key=lambda coef: loss(X, mass, ones, coef))


class BetaCalibrator(ScoreCalibrator):
    """Beta calibration: an increasing map with three parameters.

    log-odds of the result = a log p - b log(1 - p) + c with a, b >= 0, by maximum likelihood. It
    contains the identity (a = b = 1, c = 0), and the maps that are right when the predictions of
    each class have a beta distribution.

    Attributes
    ----------
    coef_ : ndarray of shape (2,)
        a and b.
    intercept_ : float
        c.

    See Also
    --------
    skcal.recalibration.PartitionCalibrator : Makes no assumption on the shape of the map.

    Notes
    -----
    Logarithms hardly change beyond 1e-6, by a ten-thousandth of what they would: that near to 0
    and 1 single precision ends, and one row at 1e-160 would outweigh all others. Unless a = b = 0
    the map increases down to 1e-300 and up to 1, so ranks (AUC) are kept, but where rounding ties:
    with steep slopes near 0 and 1, and below 1e-16 if a = 0.

    A ridge of 1e-6 on a and b keeps them finite on samples that p separates. Weights count
    repetitions. A fit takes O(n log n), a few Newton steps of O(n).

    References
    ----------
    .. [1] M. Kull, T. Silva Filho, P. Flach, "Beta calibration: a well-founded and easily
       implemented improvement on logistic calibration for binary classifiers", AISTATS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from skcal.recalibration import BetaCalibrator
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> right = BetaCalibrator().fit(p, rng.random(4000) < p)
    >>> bool(np.abs(right.predict(p) - p).max() < 0.05)
    True
    """

    def fit(self, p, y, sample_weight=None):
        """Find the three parameters.

        Parameters
        ----------
        p : array-like of shape (n,) or (n, 1)
            Probabilities of outcome 1.
        y : array-like of shape (n,)
            Outcomes 0 and 1 (or -1 and 1); both must occur.
        sample_weight : array-like of shape (n,), default=None
            Numbers of repetitions.

        Returns
        -------
        self
        """
        x, mass, ones, _ = check_calibration_rows(p, y, sample_weight).atoms.written_out()
        coef = increasing_fit(features(x), mass, ones)
        self.coef_, self.intercept_ = coef[:2], float(coef[2])
        return self

    def _map(self, p):
        return expit(features(p) @ np.append(self.coef_, self.intercept_))
