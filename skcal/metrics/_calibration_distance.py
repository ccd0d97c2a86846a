"""The calibration distance, exact or between two proofs."""

from dataclasses import dataclass, replace

import numpy as np

from skcal._numerics._lipschitz_dual import Potentials
from skcal._numerics.partitions._lattice import targets as targets_of_parts
from skcal._numerics.partitions._local_search import general_bounds, interval_labels, part_targets
from skcal._numerics.partitions._multipliers import Multipliers, best_bound, certified_bound
from skcal._numerics.partitions._nearest_partition import (
    RELATIVE_GAP,
    nearest_partition,
    pass_proves,
    proved_lower,
)
from skcal._numerics.partitions._plain_program import plain_partition
from skcal._numerics.partitions._ptas import TooManyStates, ptas
from skcal._numerics.partitions._types import sparse_types, sparsify, type_sparse, type_states
from skcal._results import Certificate
from skcal._validation import (
    Integral,
    Interval,
    Real,
    StrOptions,
    check_samples,
    fail,
    fail_parameter,
    validate_params,
)
from skcal.metrics._classes import over_classes

EXACT = 1e-9  # a gap within which the ends are one
SLACK = 1e-12
MOST_COPIES = 10_000_000
MOST_WORK = 10**11  # operations that a program may be asked for by name
STEP = 10**6  # of them, what one state of the program over types costs beside its updates
MOST_TYPES = 32  # dimensions of an array
SMALL_TYPES = 10**9  # operations of the program over types that "auto" takes without asking
FINEST_EPS = 0.005
LIKE = 1e-12  # weights that differ by less, relatively, are equal
NO_MULTIPLIERS = Multipliers(np.array([0.0, 1.0]), np.zeros(1), np.zeros(1))
SMALL = 500  # rows with which "auto" does not stop at a relative gap of 1e-6
SEARCHED = 1000  # elements that are searched, and not only cut into intervals
RESTARTS = 10
SCHEMES = ("ptas", "types")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationDistanceCertificate(Certificate):
    """A calibration distance with the partition that attains it and the proof that none is nearer.

    Attributes
    ----------
    value : float
        The upper end: a distance that is attained.
    lower, upper : float
        The distance lies between them.
    exact : bool
        Whether the two ends are within 1e-9.
    targets : ndarray of shape (n,)
        The nearest calibrated predictions that were found, in the caller's order; those of rows of
        weight 0 are the predictions themselves. One for each copy with ``weights="repeat"``.
    y, p, weight : ndarray of shape (n,)
        Outcomes, predictions and weights, as the targets; the weights sum to 1.
    lower_by : str
        What proves ``lower``: "potentials", the sum of dual potentials at the rows; "class runs",
        that with the rounding bound of runs of each class; "exact pass", a run of the exact program
        that finds nothing nearer; "one class", when all outcomes are equal; "multipliers", those of
        general instances; "program", one over all partitions; "scheme", the guarantee of one.
    proof : tuple of ndarray
        Nodes and values of the potentials or the multipliers; the eps of a scheme.
    longest : int
        Length of the runs.
    method : str
        What found the partition.
    """

    lower: float
    upper: float
    exact: bool
    targets: np.ndarray
    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray
    lower_by: str
    proof: tuple[np.ndarray, ...]
    longest: int
    method: str

    @property
    def n_parts(self):
        """Distinct values among the targets of rows with weight."""
        return np.unique(self.targets[self.weight > 0]).size

    def verify(self):
        """Check that the targets are calibrated and cost ``upper``, and the proof of ``lower``.

        Runs the program again where that is the proof.
        """
        return bool(
            self.value == self.upper
            and self.lower <= self.upper
            and self.exact == (self.upper - self.lower <= EXACT)
            and self._attained()
            and self._proved()
        )

    def _attained(self):
        if self.weight.min() < 0 or abs(self.weight.sum() - 1) > EXACT:
            return False
        kept = self.weight > 0
        label = np.unique(self.targets[kept], return_inverse=True)[1].reshape(-1)
        mass = np.bincount(label, self.weight[kept])
        residual = np.bincount(label, (self.weight * (self.y - self.targets))[kept])
        cost = self.weight @ np.abs(self.p - self.targets)
        calibrated = np.all(np.abs(residual) <= 10 * SLACK * mass)
        return calibrated and abs(cost - self.upper) <= SLACK

    def _proved(self):
        if self.lower == 0:
            return True
        kept = self.weight > 0
        y, p, weight = self.y[kept], self.p[kept], self.weight[kept]
        if self.lower_by == "scheme":
            eps = float(self.proof[0])
            return _by_scheme(y, p, weight, self.method, eps)[0] - eps >= self.lower - SLACK
        if self.lower_by == "multipliers":
            nodes = self.proof[0]
            if nodes[0] != 0 or nodes[-1] != 1 or np.diff(nodes).min() <= 0:
                return False
            proved = certified_bound(y, p, weight, Multipliers(*self.proof))
            return proved >= self.lower - SLACK
        if self.lower_by == "program":
            return _exact_cost(y, p, weight) >= self.lower - SLACK
        zeros, ones = np.sort(p[y == 0]), np.sort(p[y == 1])
        if np.ptp(weight) > LIKE * weight.max() or zeros.size + ones.size != p.size:
            return False  # the other proofs are of equal rows
        if self.lower_by == "one class":
            cost = np.abs(p - y).mean()
            return (not zeros.size or not ones.size) and cost >= self.lower - SLACK
        potentials, lower = Potentials(*self.proof), p.size * self.lower
        if self.lower_by == "exact pass":
            return pass_proves(zeros, ones, potentials, self.longest, lower)
        return proved_lower(zeros, ones, potentials, self.longest) >= lower - SLACK * p.size


PARAMETERS = {
    "method": [StrOptions({"auto", "exact", "dp", "bounds", "types", "ptas"})],
    "eps": [Interval(Real, 0, 1, closed="neither"), None],
    "max_work": [Interval(Integral, 1, None, closed="left"), None],
    "return_certificate": ["boolean"],
}


@validate_params(
    {**PARAMETERS, "weights": [StrOptions({"indivisible", "repeat"})]},
    prefer_skip_nested_validation=True,
)
def calibration_distance(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    method="auto",
    weights="indivisible",
    eps=None,
    max_work=None,
):
    """Calibration distance (CalDist): how far the nearest perfectly calibrated predictor is.

    The least mean absolute change of the predictions that calibrates the sample: the rows are
    partitioned, each part is predicted at its mean outcome. Every row moves as one, so the distance
    is at least `lower_calibration_distance`, up to the ``tol`` of the latter.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes, or of K with ``multiclass``.
    y_proba : array-like of shape (n,), (n, 1) or (n, K)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; rows of weight 0 are ignored. Unequal weights make the problem
        NP-hard [1]_: the value is then the upper end of an interval.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    multiclass : {"raise", "classwise", "top_label"}, default="raise"
        What to do with a column of ``y_proba`` for each of K classes: "classwise" is the mean over
        the classes, each against the rest; "top_label" compares the largest probability of a row
        with whether its class is right. "raise" takes two classes only.
    labels : array-like of shape (K,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    return_certificate : bool, default=False
        Return a `CalibrationDistanceCertificate`, with the targets and both ends, instead of a
        float.
    method : {"auto", "exact", "bounds", "dp", "types", "ptas"}, default="auto"
        "auto" tries for some time to close the interval, to a relative 1e-6 at least, up to 10,000
        rows of equal weight; beyond, and with unequal weights, it may stay open.
        "exact" does not stop before the ends meet, unless at ``max_work``. "bounds" leaves the
        interval as the quick bounds have it. The others are the
        algorithms of [1]_, for study: "dp", of O(n^4) steps, for equal weights; "types", for few
        different weights, exact or, with ``eps``, within eps; and "ptas", within ``eps``. With
        unequal weights "exact" is "types".
    weights : {"indivisible", "repeat"}, default="indivisible"
        Whether a row of weight 3 moves as one, or is three rows that may part; "repeat" needs
        whole weights.
    eps : float in [0.005, 1), default=None
        Error of "ptas" and "types".
    max_work : int, default=None
        Operations after which "exact" and "auto" settle for an interval with equal weights, and
        which "dp" and "types" must not exceed (by default 10^11); the same on every machine.

    Returns
    -------
    float or CalibrationDistanceCertificate
        In [0, 1]; 0 is best, and reached by calibrated samples only. The value is attained; the
        certificate tells how far below it the distance may be.

    Raises
    ------
    ValueError
        If an argument is not of this form, or the size does not suit the method; the message says
        which, and the size.

    See Also
    --------
    lower_calibration_distance : The distance when rows may be split.

    Notes
    -----
    A function of the rows, not of their distribution alone: rows that count k times are further
    from calibration as one row than as k. Nearest is not best: where forecasts lack resolution the
    nearest calibrated predictor may be nearly constant.

    Costs seconds at thousands of rows, minutes at worst; see the certificate's ``exact`` and
    ``lower`` (of each class, with "classwise"). For a lower confidence bound of a population's
    distance give ``lower`` to `skcal.theory.distance_lower_bound`.

    References
    ----------
    .. [1] "Computational and Statistical Hardness of Calibration Distance".

    Examples
    --------
    >>> from skcal.metrics import calibration_distance
    >>> y_true, y_proba = [0, 1, 0, 1], [0.45, 0.45, 0.55, 0.55]
    >>> distance = calibration_distance(y_true, y_proba, return_certificate=True)
    >>> round(distance.value, 6), distance.exact, distance.targets.tolist()
    (0.05, True, [0.5, 0.5, 0.5, 0.5])
    """
    check_scheme("calibration_distance", method, eps)
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    return over_classes(
        samples,
        lambda sample: distance_of(sample, method, weights, eps, max_work),
        return_certificate,
    )


def distance_of(sample, method="auto", weights="indivisible", eps=None, max_work=None):
    """The certificate of a checked sample."""
    y, p, w = sample.y, sample.p, sample.w
    if weights == "repeat" and w is not None:
        copies = _copies(w)
        return certify(np.repeat(y, copies), np.repeat(p, copies), None, method, eps, max_work)
    found = certify(y, p, w, method, eps, max_work)
    if sample.dropped is None:
        return found
    place, its_y, its_p = sample.dropped
    at = place - np.arange(place.size)
    return replace(
        found,
        y=np.insert(y, at, its_y),
        p=np.insert(p, at, its_p),
        targets=np.insert(found.targets, at, its_p),
        weight=np.insert(found.weight, at, 0.0),
    )


def certify(y, p, w, method, eps, max_work, function="calibration_distance"):
    """The certificate of rows, or of elements with mean outcomes y, that move as one each."""
    equal = w is None or np.ptp(w) <= LIKE * w.max()
    polynomial = equal and method not in SCHEMES and y.dtype.kind in "iub"
    search = _search_equal if polynomial else _search_general
    mass = np.full(p.size, 1 / p.size) if equal else w / w.sum()
    found = search(y, p, mass, method, eps, max_work, function)
    lower, targets, lower_by, proof, longest, how = found
    upper = float(mass @ np.abs(p - targets))
    lower = min(lower, upper)
    return CalibrationDistanceCertificate(
        upper, lower, upper, upper - lower <= EXACT, targets, y, p, mass, lower_by, proof, longest,
        how,
    )  # fmt: skip


def check_scheme(function, method, eps):
    """Refuse an eps that the method does not have, and a scheme without one."""
    if (eps is None and method == "ptas") or (eps is not None and method not in SCHEMES):
        must = "be a number with method='ptas', may be one with 'types', and must be None otherwise"
        fail_parameter(function, "eps", must, f"{eps!r} with method={method!r}")


def _copies(w):
    if w.sum() > MOST_COPIES:
        must = f"sum to at most {MOST_COPIES} with weights='repeat'"
        fail("sample_weight", must, f"{w.sum():.6g}")
    copies = np.rint(w).astype(np.int64)
    if np.any(copies != w):
        must = "hold whole numbers with weights='repeat'"
        fail("sample_weight", must, f"{w[copies != w][0]:.6g}")
    return copies


def _search_equal(y, p, mass, method, eps, max_work, function):
    """Rows of equal weight with 0/1 outcomes: polynomial."""
    order = np.argsort(p, kind="stable")
    zero, one = order[y[order] == 0], order[y[order] == 1]
    nothing = (np.array([0.0, 1.0]), np.zeros(2), np.zeros(2))
    if method == "dp":
        _affordable(function, "dp", (zero.size + 1) ** 2 * (one.size + 1) ** 2 // 4, max_work)
        parts = plain_partition(p[zero], p[one]).parts
        found = (None, parts, "program", nothing, 0, "dp")
    else:
        to_the_end = method == "exact" or (method == "auto" and p.size <= SMALL)
        near = nearest_partition(
            p[zero], p[one], method=method, most_work=max_work,
            relative_gap=0.0 if to_the_end else RELATIVE_GAP,
        )  # fmt: skip
        found = (
            near.lower / p.size, near.parts, near.lower_by, tuple(near.potentials), near.longest,
            near.how,
        )  # fmt: skip
    lower, parts, *rest = found
    u, targets = targets_of_parts(parts), np.empty(p.size)
    targets[zero], targets[one] = np.repeat(u, parts[:, 0]), np.repeat(u, parts[:, 1])
    lower = float(mass @ np.abs(p - targets)) if lower is None else lower
    return lower, targets, *rest


def _search_general(y, p, mass, method, eps, max_work, function):
    """Elements that move as one: NP-hard."""
    order = np.lexsort((mass, y, p))  # so that the order of the rows does not matter
    mean, x, share = y[order].astype(float), p[order], mass[order]
    if method == "dp":
        must = "be another one: 'dp' is for equal weights and outcomes of 0 or 1"
        fail_parameter(function, "method", must, "'dp'")
    if eps is not None:
        if eps < FINEST_EPS:
            fail_parameter(function, "eps", f"be at least {FINEST_EPS}", repr(eps))
        if method == "types":
            few = sparsify(mean, x, share, eps / 2)
            _affordable(function, method, _work_over_types(few.mean, few.mass), max_work)
        try:
            value, part = _by_scheme(mean, x, share, method, eps)
        except TooManyStates as error:
            fail_parameter(function, "eps", f"be larger: {error}", repr(eps))
        bound = best_bound(mean, x, share)
        lower, lower_by, proof, how = bound.value, "multipliers", tuple(bound.multipliers), method
        if value - eps > lower:
            lower, lower_by, proof = value - eps, "scheme", (np.array(eps),)
    elif method in ("exact", "types") or (
        method == "auto" and _work_over_types(mean, share) <= SMALL_TYPES
    ):
        _affordable(function, method, _work_over_types(mean, share), max_work)
        lower, part = type_sparse(mean, x, share)
        lower_by, proof, how = "program", tuple(NO_MULTIPLIERS), "types"
    elif x.size <= SEARCHED:
        restarts = RESTARTS if method == "auto" else 0
        found = general_bounds(mean, x, share, restarts=restarts, seed=0)
        lower, part, proof = found.lower, found.part, tuple(found.multipliers)
        lower_by, how = "multipliers", "search"
    else:
        bound = best_bound(mean, x, share)
        lower, proof, part = bound.value, tuple(bound.multipliers), interval_labels(mean, x, share)
        lower_by, how = "multipliers", "intervals"
    targets = np.empty(p.size)
    targets[order] = part_targets(mean, share, part)
    return lower, targets, lower_by, proof, 0, how


def _by_scheme(mean, p, mass, method, eps):
    """Value and partition of an approximation scheme."""
    if method == "types":
        return sparse_types(np.asarray(mean, dtype=float), p, mass, eps)
    found = ptas(np.asarray(mean, dtype=float), p, mass, eps)
    return found.value, found.part


def _work_over_types(mean, mass):
    size = type_states(mean, mass)
    return size.operations + STEP * size.states if size.types <= MOST_TYPES else 10**100


def _affordable(function, method, operations, max_work):
    limit = MOST_WORK if max_work is None else max_work
    if operations > limit:
        size = f"{operations:.3g}" if operations < 1e15 else f"1e{len(str(operations)) - 1}"
        must = f"be another one, or max_work at least {size}"
        got = f"{method!r}, limited to {limit:.3g}"
        fail_parameter(function, "method", must, got)


def _exact_cost(y, p, weight):
    """The distance by a program over all partitions."""
    if np.ptp(weight) <= LIKE * weight.max() and np.all((y == 0) | (y == 1)):
        return plain_partition(np.sort(p[y == 0]), np.sort(p[y == 1])).cost / p.size
    return type_sparse(np.asarray(y, dtype=float), p, weight)[0]
