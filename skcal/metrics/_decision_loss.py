"""Calibration decision loss (CDL) and its soft-binned variant (SCDL)."""

from dataclasses import dataclass

import numpy as np

from skcal._numerics._envelopes import edge_height, regret_curve, supporting_line
from skcal._numerics._soft_loss import Bins, most_regret, rounded_bins, self_balancing, soft_loss
from skcal._results import Certificate
from skcal._validation import (
    Integral,
    Interval,
    StrOptions,
    check_samples,
    fail_parameter,
    numbers,
    validate_params,
)
from skcal.decision._task import DecisionTask
from skcal.decision._worst_case import regret_envelope, task_of_edge
from skcal.metrics._classes import over_classes


@dataclass(frozen=True, eq=False, repr=False)
class DecisionLossCertificate(Certificate):
    """A calibration decision loss, the task that attains it and the line that bounds it.

    Attributes
    ----------
    value : float
    task : DecisionTask or None
        The decision problem, with utilities in [0, 1], that these forecasts hurt the most; None
        when the value is 0. The mean gain of answering every distinct forecast by what is best at
        its rate of outcomes, instead of by best response to it, is ``value``. That is what
        ``swap_regret(..., swaps="forecast")`` computes. A swap of whole actions gains the same in
        the limit, once vanishing stakes give every forecast an action of its own.
    x, weight, rate : ndarray of shape (k,)
        Distinct predictions, increasing, their share of the sample and their rate of outcomes.
    points, curve : ndarray of shape (j,)
        The regret curve: the regret, at stake one, of the decision "act iff p >= v", for every v in
        ``points``: the predictions in the range of thresholds, and the ends of the range.
    line : tuple of float
        Heights at 0 and 1 of a line that lies above the curve everywhere; their sum is the value,
        which proves that no task does worse.
    thresholds : tuple of float
        The range in which tasks may change their action.
    """

    task: DecisionTask | None
    x: np.ndarray
    weight: np.ndarray
    rate: np.ndarray
    points: np.ndarray
    curve: np.ndarray
    line: tuple[float, float]
    thresholds: tuple[float, float]

    def verify(self):
        """Check that the task attains the value, and that the line forbids more."""
        attained = self._regret_of_task() if self.task is not None else 0.0
        low, high = self.line
        above = low * (1 - self.points) + high * self.points - self.curve
        errors = [attained - self.value, low + high - self.value, *(self._curve() - self.curve)]
        slack = 1e-12 + 1e-17 * self.x.size  # sums of all rows round more than one row does
        proved = above.min(initial=0.0) >= -slack and min(low, high) >= -slack
        return bool(proved and np.all(np.abs(errors) <= slack))

    def _regret_of_task(self):
        """By definition: best at the rate less the response to the forecast; NaN if not allowed."""
        (at_zero, at_one), (low, high) = self.task.utility, self.thresholds
        cuts = self.task.thresholds_
        if np.any((self.task.utility < -1e-12) | (self.task.utility > 1 + 1e-12)):
            return np.nan
        if np.any((cuts < low) | (cuts > high)):
            return np.nan
        worth = np.outer(1 - self.rate, at_zero) + np.outer(self.rate, at_one)
        played = worth[np.arange(self.x.size), self.task._decide(self.x)]
        return self.weight @ (worth.max(axis=1) - played)

    def _curve(self):
        """The regret curve at the points, from the forecasts."""
        v = np.union1d(self.x, self.points)
        mass, ones = np.zeros((2, v.size))
        place = np.searchsorted(v, self.x)
        mass[place], ones[place] = self.weight, self.weight * self.rate
        return regret_curve(v, mass, ones)[np.searchsorted(v, self.points)]


@dataclass(frozen=True, eq=False, repr=False)
class SoftDecisionLossCertificate(Certificate):
    """A soft-binned calibration decision loss with its bins and its guarantee.

    Attributes
    ----------
    value : float
        SCDL, or SCDL_m when ``n_bins`` was given.
    n_bins : int or inf
        m, or the self-balancing m*; infinite on exactly calibrated samples.
    loss : float
        SCDL_m at that level.
    next_loss : float
        SCDL_2m. It orders samples whose SCDL lies on the same plateau 1/m*.
    threshold : float
        Grid point at which the loss is attained: the decision "act iff p >= threshold" suffers.
    points, weight, mean_outcome : ndarray of shape (k,)
        Occupied bins: grid point, share of the sample, rate of positive outcomes.
    finer : tuple of ndarray
        The same three for the grid of step 1/(2m), which prove ``next_loss``.
    rounding : {"random", "floor"}
    balanced : bool
        Whether ``n_bins`` was chosen by balance.
    """

    n_bins: float
    loss: float
    next_loss: float
    threshold: float
    points: np.ndarray
    weight: np.ndarray
    mean_outcome: np.ndarray
    finer: tuple[np.ndarray, np.ndarray, np.ndarray]
    rounding: str
    balanced: bool

    @property
    def regret_bound(self):
        """Swap regret that responding to the rounded forecasts cannot exceed on this sample.

        In expectation over the rounding, for every task with utilities in [0, 1]; at most 1, which
        no swap exceeds. 0 when the sample is calibrated: then best response needs no rounding.
        """
        return most_regret(self.loss, self.n_bins)

    def verify(self):
        """Recompute SCDL_m and SCDL_2m from the bins, by definition, and the balance around m."""
        table = (self.points, self.weight, self.mean_outcome)
        m, loss, next_loss = self.n_bins, self.loss, self.next_loss
        if m == np.inf:
            return bool(self.value == loss == 0 and np.array_equal(self.points, self.mean_outcome))
        proved = (
            abs(_loss_of_table(table, m) - loss) <= 1e-9
            and abs(_loss_of_table(self.finer, 2 * m) - next_loss) <= 1e-9
            and abs(_loss_at(table, m, self.threshold) - loss) <= 1e-9
            and self._coarsens()
        )
        if not self.balanced:
            return bool(proved and self.value == loss)
        balanced = loss < 2 / m + 1e-9 / m and next_loss >= 1 / m - 1e-9 / m
        return bool(proved and balanced and self.value == max(loss, 1 / m))

    def _coarsens(self):
        """Whether the finer bins, moved to the grid of step 1/m, are the bins."""
        points, weight, rate = self.finer
        place = np.rint(points * 2 * self.n_bins)
        low, high = np.floor(place / 2), np.ceil(place / 2) if self.rounding == "random" else None
        high = low if high is None else high
        moved = np.concatenate([low, high]) / self.n_bins
        found = np.searchsorted(self.points, moved - 0.25 / self.n_bins)
        if found.size and found.max() >= self.points.size:
            return False
        half, size = np.tile(weight / 2, 2), self.points.size
        mass = np.bincount(found, half, size) - self.weight
        ones = np.bincount(found, half * np.tile(rate, 2), size) - self.weight * self.mean_outcome
        return max(np.abs(mass).max(), np.abs(ones).max()) <= 1e-9


@validate_params({"return_certificate": ["boolean"]}, prefer_skip_nested_validation=True)
def calibration_decision_loss(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    thresholds=(0.0, 1.0),
):
    """Calibration decision loss (CDL): the worst swap regret of trusting these forecasts.

    The supremum, over all decision tasks with utilities in [0, 1], of what a decision maker who
    best-responds to the forecasts would have gained by systematically swapping actions. Exact.

    On a sample of distinct predictions it does not shrink as the sample grows, however calibrated
    the forecaster is: use `soft_calibration_decision_loss` to estimate the loss of a population.

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
        Return a `DecisionLossCertificate`, with the worst-case task, instead of a float.
    thresholds : tuple of float, default=(0, 1)
        Only tasks that change their action at probabilities in this closed range, such as
        (0.05, 0.2) for a clinic that treats somewhere between 5% and 20%.

    Returns
    -------
    float or DecisionLossCertificate
        In [0, 1]; 0 is best, and reached by calibrated samples only.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    soft_calibration_decision_loss : A variant that can be estimated from a sample.
    skcal.decision.swap_regret : The regret in one given task.

    Notes
    -----
    Costs one sort. The loss is twice the height at 1/2 of the concave envelope of the regret curve
    B(v), the sum of mass * abs(q - v) over predictions p with v between p and their rate q.

    References
    ----------
    .. [1] L. Hu and Y. Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS
       2024. :arxiv:`2404.13503`

    Examples
    --------
    >>> from skcal.metrics import calibration_decision_loss
    >>> calibration_decision_loss([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5])
    1.0
    >>> loss = calibration_decision_loss([0, 1, 1], [0.75, 0.75, 0.5], return_certificate=True)
    >>> loss.task.thresholds_
    array([0.75])
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    ends = _check_thresholds(thresholds)
    return over_classes(
        samples,
        lambda sample: _certify(sample, ends),
        return_certificate,
        lambda sample: decision_loss(regret_envelope(sample, *ends)[2]),
    )


def decision_loss(edge):
    return min(max(2 * edge_height(edge), 0.0), 1.0)


def _certify(sample, thresholds):
    points, curve, edge = regret_envelope(sample, *thresholds)
    x, mass, ones, _ = sample.atoms.written_out()
    line = tuple(float(end) for end in supporting_line(points, curve, edge))
    forecasts = (x, mass / sample.total, ones / mass)
    task = task_of_edge(sample, edge)
    return DecisionLossCertificate(
        decision_loss(edge), task, *forecasts, points, curve, line, thresholds
    )


@validate_params(
    {
        "n_bins": [Interval(Integral, 1, 2**43, closed="both"), None],
        "rounding": [StrOptions({"random", "floor"})],
        "return_certificate": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def soft_calibration_decision_loss(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    return_certificate=False,
    n_bins=None,
    rounding="random",
):
    """Soft-binned calibration decision loss (SCDL): an actionable loss that a sample can estimate.

    Predictions are rounded at random to a grid of step 1/m, with their mean kept. With pi_i the
    mass that lands on i/m and q_i its rate of outcomes, SCDL_m is the largest value, over v, of

        sum_i pi_i (abs(q_i - v) - 1/m)_+ 1[v between i/m and q_i],

    the decision loss of the rounded predictions up to a factor 2, with biases up to 1/m forgiven.
    The grid balances itself: SCDL is the minimum of max(SCDL_m, 1/m) over m = 2, 4, 8, ...

    With alpha = SCDL and m the smallest power of two that is at least 1/alpha, whoever responds to
    forecasts rounded to that grid has a swap regret of at most 4 alpha in every decision task with
    utilities in [0, 1]: see `skcal.DecisionResponse`.

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
        Return a `SoftDecisionLossCertificate` instead of a float.
    n_bins : int or None, default=None
        None is the self-balancing SCDL. A number m gives SCDL_m.
    rounding : {"random", "floor"}, default="random"
        "floor" rounds every prediction down to the grid: no randomness, the same guarantee, but a
        loss that jumps when predictions move a little.

    Returns
    -------
    float or SoftDecisionLossCertificate
        In [0, 1/2]; 0 is best, and reached by calibrated samples only. Values below 2^-43 are 0.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    calibration_decision_loss : The loss without rounding, which no sample can estimate.

    Notes
    -----
    Costs O(n log(1 / SCDL)), no sort. The value lies in [1/m*, 2/m*) and often on the plateau 1/m*,
    so that candidates of a search may tie; the certificate's ``next_loss`` orders them.

    References
    ----------
    .. [1] "Testable and Actionable Calibration for Full Swap Regret", Definition 1.1.

    Examples
    --------
    >>> from skcal.metrics import soft_calibration_decision_loss
    >>> soft_calibration_decision_loss([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5])
    0.25
    >>> soft_calibration_decision_loss([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    samples = check_samples(y_true, y_proba, sample_weight, pos_label, labels, multiclass)
    if n_bins is None:
        return over_classes(
            samples,
            lambda sample: _certify_balance(sample, rounding),
            return_certificate,
            lambda sample: soft_decision_loss(sample, rounding).scdl,
        )
    return over_classes(
        samples,
        lambda sample: _certify_level(sample, n_bins, rounding),
        return_certificate,
        lambda sample: soft_loss(_bins(sample, n_bins, rounding), n_bins)[0],
    )


def soft_decision_loss(sample, rounding="random"):
    """m* and the losses around it."""
    return self_balancing(sample.y, sample.p, sample.w, rounding)


def _certify_balance(sample, rounding):
    balance = soft_decision_loss(sample, rounding)
    m = balance.n_bins
    if m == np.inf:
        x, mass, _, _ = sample.atoms.written_out()
        table = (x, mass / sample.total, x)
        tables, threshold = (*table, table), 0.0
    else:
        bins, finer = (_bins(sample, k, rounding) for k in (m, 2 * m))
        tables, threshold = (*_bin_table(bins, m), _bin_table(finer, 2 * m)), soft_loss(bins, m)[1]
    return SoftDecisionLossCertificate(
        balance.scdl, m, balance.loss, balance.next_loss, threshold, *tables, rounding, True
    )


def _certify_level(sample, m, rounding):
    bins, finer = (_bins(sample, k, rounding) for k in (m, 2 * m))
    (loss, threshold), next_loss = soft_loss(bins, m), soft_loss(finer, 2 * m)[0]
    tables = (*_bin_table(bins, m), _bin_table(finer, 2 * m))
    return SoftDecisionLossCertificate(
        loss, m, loss, next_loss, threshold, *tables, rounding, False
    )


def _bins(sample, m, rounding):
    return rounded_bins(sample.y, sample.p, sample.w, m, rounding, sample.precision)


def _bin_table(bins, m):
    k = bins.mass > 0
    points = bins.place[k] / m
    return points, bins.mass[k], points + bins.residual[k] / bins.mass[k]


def _loss_of_table(table, m):
    """SCDL_m of a bin table by the kernel that serves all levels."""
    points, weight, rate = table
    return soft_loss(Bins(np.rint(points * m), weight, weight * (rate - points)), m)[0]


def _loss_at(table, m, v):
    """The definition at one grid point: bins between which and their rate v lies, closed."""
    points, weight, rate = table
    between = (np.minimum(rate, points) <= v + 1e-12) & (v <= np.maximum(rate, points) + 1e-12)
    return float((weight * np.maximum(np.abs(rate - v) - 1 / m, 0.0))[between].sum())


def _check_thresholds(thresholds):
    ends = numbers(thresholds)
    low, high = ends.tolist() if ends is not None and ends.shape == (2,) else (np.nan, np.nan)
    if not 0 <= low <= high <= 1:
        must = "be two numbers with 0 <= low <= high <= 1"
        fail_parameter("calibration_decision_loss", "thresholds", must, repr(thresholds))
    return low, high
