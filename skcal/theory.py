"""Hardness and statistics of the calibration distance: instances, bounds and sample sizes.

The calibration distance of a distribution is the least movement of the predictions that makes them
perfectly calibrated, where an element of the domain moves as one. Elements are given by three
arrays: mean outcome, prediction and mass, the masses summing to 1.

References
----------
.. [1] "Computational and Statistical Hardness of Calibration Distance".
"""

from math import inf, log, sqrt

import numpy as np

from skcal._validation import (
    Integral,
    Interval,
    Real,
    StrOptions,
    check_probabilities,
    check_weights,
    fail,
    fail_parameter,
    read,
    validate_params,
)
from skcal.metrics._calibration_distance import PARAMETERS, certify, check_scheme

__all__ = [
    "calibration_distance_of_distribution",
    "distance_lower_bound",
    "make_hardness_instance",
    "make_indistinguishable_pair",
    "sample_size",
]

OPEN_UNIT = Interval(Real, 0, 1, closed="neither")


@validate_params(PARAMETERS, prefer_skip_nested_validation=True)
def calibration_distance_of_distribution(
    mean, p, mass, *, return_certificate=False, method="auto", eps=None, max_work=None
):
    """Calibration distance of a distribution over elements with mean outcomes between 0 and 1.

    Each element moves as one; a part of the partition is predicted at its weighted mean outcome.
    With soft outcomes or unequal masses the problem is NP-hard.

    Parameters
    ----------
    mean : array-like of shape (n,)
        Mean outcome of each element, in [0, 1].
    p : array-like of shape (n,)
        Its prediction, in [0, 1].
    mass : array-like of shape (n,)
        Its mass, not negative; elements of mass 0 are ignored. The sum need not be 1.
    return_certificate : bool, default=False
        Return the certificate of `skcal.metrics.calibration_distance` instead of a float.
    method, eps, max_work
        As in `skcal.metrics.calibration_distance`.

    Returns
    -------
    float or CalibrationDistanceCertificate
        The upper end of an interval, which is attained; the certificate has both ends.

    Raises
    ------
    ValueError
        If an argument is not of this form, or the size does not suit the method.

    Examples
    --------
    >>> from skcal.theory import calibration_distance_of_distribution, make_hardness_instance
    >>> mean, p, mass, threshold = make_hardness_instance([1, 2, 4], 3)
    >>> distance = calibration_distance_of_distribution(mean, p, mass)
    >>> bool(distance <= threshold + 1e-12)  # 1 + 2 = 3
    True
    """
    check_scheme("calibration_distance_of_distribution", method, eps)
    p, _ = check_probabilities(p, n_columns=1, name="p")
    mean, _ = check_probabilities(mean, n_columns=1, name="mean")
    if mean.size != p.size:
        fail("mean", f"have the length of p ({p.size})", f"length {mean.size}")
    mass = check_weights(mass, p.size, name="mass", others="p")
    if mass is None:
        fail("mass", "be an array", "None")
    kept = mass > 0
    mean, p, mass = mean[kept], p[kept], mass[kept]
    if np.all((mean == 0) | (mean == 1)):
        mean = mean.astype(np.int8)
    certificate = certify(
        mean, p, mass, method, eps, max_work, "calibration_distance_of_distribution"
    )
    return certificate if return_certificate else certificate.value


@validate_params(
    {
        "a": ["array-like"],
        "theta": [Interval(Integral, 1, None, closed="left")],
        "kind": [StrOptions({"noiseless", "uniform"})],
    },
    prefer_skip_nested_validation=True,
)
def make_hardness_instance(a, theta, *, kind="noiseless"):
    """Subset sum as a calibration distance, which is therefore NP-hard to compute.

    Some subset of ``a`` sums to ``theta`` if and only if the calibration distance of the instance
    is at most the threshold; it is never below the threshold.

    Parameters
    ----------
    a : array-like of shape (n,)
        At least two positive integers.
    theta : int
        The sum wanted, at least 1 and less than the sum of ``a``.
    kind : {"noiseless", "uniform"}, default="noiseless"
        "noiseless": mean outcomes are 0 or 1 and the numbers sit in the masses, n + 3 elements.
        "uniform": masses are equal and the numbers sit in the mean outcomes, 4 n - 2 elements.

    Returns
    -------
    mean : ndarray of shape (m,)
        Mean outcome of each element.
    p : ndarray of shape (m,)
        Its prediction.
    mass : ndarray of shape (m,)
        Its mass; they sum to 1.
    threshold : float
        The distance of instances with a subset.

    Raises
    ------
    ValueError
        If an argument is not of this form.

    Notes
    -----
    Both proofs use one multiplier. For any function l, an element with prediction p and mean f
    costs at least A = min over u of abs(p - u) + l(u) (f - u) per mass: in a part with mean u the
    terms l(u) (f - u) add up to 0. So the distance is at least the sum of mass * A, and it is equal
    if and only if some partition puts every element at a target u that attains its A (is *tight*).
    The sum is the threshold, so the difficulty is not in finding the bound but in attaining it. Let
    S be the sum of ``a``.

    *Noiseless* (the construction of [1]_). With q = theta / (4 S) and alpha = q / (1 - 2 q):
    a zero of mass 1/4 - q/2 and a one of mass 1/4 + q/2 at 1/2; zeros of masses a_i / (4 S) and
    a one of mass 1/4 at v = 1/2 + alpha. The threshold is alpha q. Take a small c in (0, 1/2) and
    l(1/2) = -2 c, l(v) = -(alpha + c) / v, for 1/2 < u = 1/2 + t < v any l(u) strictly between
    -(c + t) / (1/2 - t) and -(c + t) / (1/2 + t) near the latter, and outside [1/2, v] likewise
    values that keep strict inequalities. Then A is c and -c for the zero and the one at 1/2, tight
    at 1/2 only, alpha + c for the zeros at v, tight at 1/2 and at v only, and l(v) (1/2 - alpha)
    for the one at v, tight at v only. The sum is
    -c q + (alpha + c) / 4 * (1 - (1/2 - alpha) / v) = -c q + (alpha + c) q = alpha q, by
    alpha / (2 v) = q. If all elements are tight, the parts at 1/2 balance: the zeros that join them
    have mass q, that is, their a_i sum to theta. Conversely, such zeros moved to 1/2 leave a mean
    of 1/4 / (1/2 - q) = v at v, at cost alpha q.

    *Uniform.* Append n - 2 zeros to ``a``, which makes K = n - 1 of the 2 K numbers sum to theta if
    and only if a subset of ``a`` does (it has 1 to n - 1 members). With u = 1/2, d = 1/(32 n),
    v = u + 2 d and e = 1/(8 n): 2 K items of mean e a_i / S at u + d, n elements of mean f at u,
    n of mean g at v, where K u + n (u - f) = e theta / S and K v + n (v - g) = e (1 - theta / S).
    The threshold is d times the share of the items, d K / (K + n). Let l = 0 outside (u, v) and
    l(x) = -b min(x - u, v - x) inside. Items are the only elements with A > 0, A = d, tight at u
    and v only, if b (x - mean of item) > 1 in (u, v); the others have A = 0 and are tight only
    where they are if b (f - x) < 1 and b (g - x) < 1. Such b exists as max(f, g) - u < u - e. If
    all are tight, the parts at u hold some items I and the elements at u, so that
    k u + n (u - f), k their number, is the sum of e a_i / S over I, and likewise at v. Adding both,
    the total of the means leaves k = K only, as u and v differ; hence the numbers in I sum to
    theta. The converse is the same computation.

    References
    ----------
    .. [1] "Computational and Statistical Hardness of Calibration Distance".

    Examples
    --------
    >>> import numpy as np
    >>> from skcal.theory import make_hardness_instance
    >>> mean, p, mass, threshold = make_hardness_instance([1, 2, 4], 3)
    >>> mean.tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    >>> round(threshold, 6)  # attained by moving the masses of 1 and 2 to 1/2
    0.01461
    >>> part = np.array([0, 0, 0, 0, 1, 1])
    >>> target = np.bincount(part, mass * mean)[part] / np.bincount(part, mass)[part]
    >>> round(float(mass @ abs(p - target)), 6)
    0.01461
    """
    a = read(a, "a")
    if a.ndim != 1 or a.size < 2 or a.dtype.kind not in "iu" or a.min() < 1:
        fail_parameter("make_hardness_instance", "a", "hold at least two positive integers", a)
    total = sum(a.tolist())
    if total > 2**53:
        fail_parameter("make_hardness_instance", "a", "sum to at most 2^53", f"a sum of {total}")
    if theta >= total:
        must = f"be less than the sum of a ({total})"
        fail_parameter("make_hardness_instance", "theta", must, theta)
    make = _noiseless_instance if kind == "noiseless" else _uniform_instance
    return make(a / total, theta / total)


def _noiseless_instance(shares, share):
    q = share / 4
    alpha = q / (1 - 2 * q)
    mean = np.concatenate([[0.0, 1.0], np.zeros(shares.size), [1.0]])
    p = np.where(np.arange(mean.size) < 2, 0.5, 0.5 + alpha)
    mass = np.concatenate([[0.25 - q / 2, 0.25 + q / 2], shares / 4, [0.25]])
    return mean, p, mass, alpha * q


def _uniform_instance(shares, share):
    n = shares.size
    k = n - 1
    u, d, e = 0.5, 1 / (32 * n), 1 / (8 * n)
    v = u + 2 * d
    f = (u * (k + n) - e * share) / n
    g = (v * (k + n) - e * (1 - share)) / n
    items = e * np.concatenate([shares, np.zeros(n - 2)])
    mean = np.concatenate([items, np.full(n, f), np.full(n, g)])
    p = np.repeat([u + d, u, v], [2 * k, n, n])
    return mean, p, np.full(mean.size, 1 / mean.size), d * k / (k + n)


@validate_params(
    {
        "distance": [Interval(Real, 0, 1, closed="both")],
        "n": [Interval(Integral, 1, 2**53, closed="both")],
        "confidence": [OPEN_UNIT],
    },
    prefer_skip_nested_validation=True,
)
def distance_lower_bound(distance, n, *, confidence=0.95):
    """One-sided confidence bound: the population's calibration distance is at least this.

    A sample seldom overstates the calibration distance by much, whatever the domain. It may
    understate it: an upper bound would need samples that grow with the domain, see
    `make_indistinguishable_pair`.

    Parameters
    ----------
    distance : float
        Calibration distance of the sample, or a lower bound of it, in [0, 1]. Where the distance
        is an interval take its ``lower``: the plain value is the upper end.
    n : int
        Number of rows: independent, identically distributed, with equal weights.
    confidence : float, default=0.95
        Probability with which the bound holds, at least.

    Returns
    -------
    float
        In [0, 1]; 0 when the sample is too small to say anything.

    See Also
    --------
    sample_size : The rows that make the difference to the sample's distance small.

    Notes
    -----
    The bound is ``distance`` less two terms.

    *Bias.* For every k the expected distance of the sample is at most that of the population plus
    1/(2k) + sqrt(k / n) / 2. Merging all targets in an interval of width 1/k to their mean moves
    them by at most 1/(2k) on average (the mean absolute deviation on an interval is at most half
    its length). With the k targets left, moved once more to the mean outcomes in the sample, the
    target with mass m adds at most sqrt(m / n) / 2, the deviation of a binomial, and the sum of the
    sqrt(m) is at most sqrt(k). The best k, about (4 n)^(1/3), leaves 0.95 n^(-1/3).

    *Deviation.* Replacing a row changes the distance by at most 2/n: the old row leaves its part,
    which costs at most abs(p - y) / n, and the new one is alone. So by McDiarmid's inequality the
    sample exceeds its expectation by sqrt(2 ln(1 / (1 - confidence)) / n) with probability at most
    1 - confidence.

    References
    ----------
    .. [1] "Computational and Statistical Hardness of Calibration Distance".

    Examples
    --------
    >>> from skcal.theory import distance_lower_bound
    >>> round(distance_lower_bound(0.2, 10_000), 4)
    0.1317
    """
    return max(0.0, float(distance) - _bias(n) - _deviation(n, confidence))


@validate_params(
    {"eps": [Interval(Real, 1e-5, 1, closed="left")], "confidence": [OPEN_UNIT]},
    prefer_skip_nested_validation=True,
)
def sample_size(eps, *, confidence=0.95):
    """Rows with which a sample overstates the calibration distance by at most eps.

    Parameters
    ----------
    eps : float
        The excess allowed, in (0, 1).
    confidence : float, default=0.95
        Probability with which the excess is at most ``eps``, at least.

    Returns
    -------
    int
        The smallest n for which `distance_lower_bound` subtracts at most ``eps``: of the order
        eps^-3, which is the best possible [1]_.

    See Also
    --------
    distance_lower_bound : The bound for a sample at hand, and its proof.

    References
    ----------
    .. [1] "Computational and Statistical Hardness of Calibration Distance".

    Examples
    --------
    >>> from skcal.theory import sample_size
    >>> sample_size(0.1)
    3826
    >>> sample_size(0.1, confidence=0.5)
    2072
    """
    low, high = 0, 1
    while _bias(high) + _deviation(high, confidence) > eps:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _bias(middle) + _deviation(middle, confidence) <= eps
        low, high = (low, middle) if enough else (middle, high)
    return high


def _bias(n):
    """Least 1/(2k) + sqrt(k/n)/2 over integers k; convex in 1/sqrt(k), so next to the minimum."""
    k = int((4 * n) ** (1 / 3))
    return min((_bias_with(n, j) for j in (k, k + 1) if j >= 1), default=inf)


def _bias_with(n, k):
    return 1 / (2 * k) + sqrt(k / n) / 2


def _deviation(n, confidence):
    """McDiarmid's inequality for differences of 2/n."""
    return sqrt(2 * log(1 / (1 - confidence)) / n)


@validate_params(
    {
        "k": [Interval(Integral, 1, 2**24, closed="both")],
        "rng": ["random_state", np.random.Generator],
    },
    prefer_skip_nested_validation=True,
)
def make_indistinguishable_pair(k, rng=None):
    """Two distributions with different distances that few samples cannot tell apart.

    Half of the mass is spread over k elements with prediction 1/2. In the *pure* distribution each
    has mean outcome 1/2, in the *mixed* one it has mean 0 or 1 at random. Unless some element is
    drawn twice, which takes about sqrt(k) rows, samples of both look alike.

    Parameters
    ----------
    k : int
        Number of the small elements, at most 2^24.
    rng : int, numpy.random.Generator or None, default=None
        Seed or generator of the means of the mixed distribution.

    Returns
    -------
    pure, mixed : tuple of three ndarray of shape (k + 2,)
        Mean outcomes, predictions and masses of either distribution.

    Notes
    -----
    Two more elements of mass 1/4 and mean 1/2 have predictions 1/3 and 2/3. In the pure
    distribution all means are 1/2, so that all predictions must move there: the distance is 1/12.
    In the mixed one, zeros of mass 1/8 moved from 1/2 to 1/3 and ones of mass 1/8 moved to 2/3
    calibrate these targets, and what is left at 1/2 is nearly balanced: about 1/24, at most.

    References
    ----------
    .. [1] "Computational and Statistical Hardness of Calibration Distance".

    Examples
    --------
    >>> from skcal.theory import make_indistinguishable_pair
    >>> pure, mixed = make_indistinguishable_pair(4, rng=0)
    >>> pure[0].tolist(), mixed[0].tolist()
    ([0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0, 1.0, 0.0])
    """
    rng = np.random.default_rng(rng)
    p = np.concatenate([[1 / 3, 2 / 3], np.full(k, 0.5)])
    mass = np.concatenate([[0.25, 0.25], np.full(k, 1 / (2 * k))])
    pure = np.full(k + 2, 0.5)
    mixed = np.concatenate([[0.5, 0.5], rng.integers(0, 2, k).astype(float)])
    return (pure, p, mass), (mixed, p.copy(), mass.copy())
