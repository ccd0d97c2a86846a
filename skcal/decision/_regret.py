"""Swap and external regret of a response to forecasts, and what SCDL promises about it."""

from typing import NamedTuple

import numpy as np

from skcal._numerics._envelopes import edge_height, edge_over, regret_curve
from skcal._numerics._soft_loss import rounded_bins
from skcal._validation import (
    Integral,
    Interval,
    Options,
    Real,
    StrOptions,
    check_classes,
    check_codes,
    check_probabilities,
    check_sample,
    check_weights,
    fail,
    fail_parameter,
    infer_classes,
    numbers,
    read,
    validate_params,
)
from skcal.decision._outcome import Response, respond
from skcal.decision._rounding import grid_weights
from skcal.decision._tables import LARGEST
from skcal.decision._task import DecisionTask

RESPONSE = {
    "rounding": [StrOptions({"random", "floor"}), None],
    "n_bins": [Interval(Integral, 1, 2**52, closed="both"), None],
    "return_map": ["boolean"],
    "swaps": [StrOptions({"action", "forecast"})],
}


@validate_params(RESPONSE, prefer_skip_nested_validation=True)
def swap_regret(
    y_true,
    y_proba,
    utility,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    rounding=None,
    n_bins=None,
    swaps="action",
    return_map=False,
):
    """What systematically swapping one action for another would have gained.

    The decision maker responds to each forecast; afterwards every action may be replaced, each time
    it was taken, by the action that would have been best there. The regret is the mean gain, in
    exact expectation over a randomised response, and never negative.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Class labels.
    y_proba : array-like of shape (n,), (n, 1) or (n, n_classes)
        Probability of the positive class, or one column for each class in sorted order.
    utility : DecisionTask, dict of dicts, DataFrame or array-like of shape (n_classes, n_actions)
        ``utility[k, a]``: rows are true classes in sorted order, columns are actions.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights.
    pos_label : label, default=None
        The class that a vector ``y_proba`` speaks of; 1 or True for 0/1, -1/1 and boolean labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in the order of the rows of ``utility`` and the columns of ``y_proba``.
    rounding : {"random", "floor"}, default=None
        None is best response r*; "random" and "floor" respond to the rounded forecast (r* o tau_m
        and r* o b_m). Two classes only.
    n_bins : int, default=None
        Steps of the rounding grid; needed with ``rounding``.
    swaps : {"action", "forecast"}, default="action"
        "forecast" may replace the action separately for every distinct (rounded) forecast. That
        is never less, and has the same supremum over tasks: the calibration decision loss.
    return_map : bool, default=False
        Also return the best swap of actions.

    Returns
    -------
    regret : float
    swap : dict
        ``{action: best replacement}`` for every action that was taken; with ``return_map=True``.

    Raises
    ------
    ValueError
        If an argument does not fit; the message names it.

    Notes
    -----
    Costs O(n + n_actions^2). A regret of 0 says that relabelling actions gains nothing; the claimed
    utilities may still be far off.

    References
    ----------
    .. [1] L. Hu and Y. Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS
       2024. :arxiv:`2404.13503`

    Examples
    --------
    >>> from skcal import swap_regret
    >>> utility = [[0, -1, -0.3], [-5, 0, -0.3]]
    >>> regret, swap = swap_regret(
    ...     [0, 1, 1, 0],
    ...     [0.125, 0.5, 0.75, 0.875],
    ...     {
    ...         0: {"wait": 0, "treat": -1, "refer": -0.3},
    ...         1: {"wait": -5, "treat": 0, "refer": -0.3},
    ...     },
    ...     return_map=True,
    ... )
    >>> round(regret, 3), swap["treat"]
    (0.1, 'refer')
    """
    rows = check_decisions(y_true, y_proba, utility, sample_weight, pos_label, labels)
    if swaps == "forecast" and return_map:
        fail_parameter("swap_regret", "return_map", "be False with swaps='forecast'", "True")
    response = rows.respond(rounding, n_bins)
    masses = response.masses(rows.codes, rows.w, rows.task.utility.shape)
    values = swap_values(masses, rows.task)
    if swaps == "forecast":
        best = rows.best_by_forecast(rounding, n_bins)
        return max(float(best - np.trace(values)), 0.0)
    regret, best = best_swaps(values)
    if not return_map:
        return regret
    return regret, named_swaps(rows.task, np.flatnonzero(masses.any(axis=0)), best)


@validate_params(RESPONSE, prefer_skip_nested_validation=True)
def external_regret(
    y_true,
    y_proba,
    utility,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    rounding=None,
    n_bins=None,
):
    """What always taking the one action that is best in hindsight would have gained.

    At most `swap_regret`; negative when responding to the forecasts beats every constant action.

    Parameters
    ----------
    y_true, y_proba, utility, sample_weight, pos_label, labels, rounding, n_bins
        As in `swap_regret`.

    Returns
    -------
    float

    Examples
    --------
    >>> from skcal.decision import external_regret
    >>> external_regret([0, 1, 1, 0], [0.1, 0.5, 0.8, 0.9], [[1, 0], [0, 1]])
    0.0
    """
    rows = check_decisions(y_true, y_proba, utility, sample_weight, pos_label, labels)
    response = rows.respond(rounding, n_bins)
    values = swap_values(response.masses(rows.codes, rows.w, rows.task.utility.shape), rows.task)
    return float(values.sum(axis=0).max() - np.trace(values))


@validate_params(
    {
        "scdl": [Interval(Real, 0, 1, closed="both")],
        "n_bins": [Interval(Real, 1, 2**52, closed="both"), Options(Real, {np.inf})],
        "n_decisions": [Interval(Integral, 1, 2**53, closed="both"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither"), None],
    },
    prefer_skip_nested_validation=True,
)
def regret_bound(scdl, n_bins, *, ranges=(1.0, 1.0), n_decisions=None, confidence=None):
    """Bound on the swap regret of r* o tau_m, for every task at once, from SCDL_m alone.

    Parameters
    ----------
    scdl : float
        SCDL_m of the forecasts, at m = n_bins.
    n_bins : int or inf
        m, the steps of the rounding grid. Infinity is r* itself, on calibrated forecasts.
    ranges : pair of floats, default=(1, 1)
        How far apart the utilities of one outcome lie, for outcomes 0 and 1.
    n_decisions : int, default=None
        T. None bounds the expected regret on the forecasts that have this SCDL_m. A number bounds
        the realised regret of T sampled decisions on independent rows from a population whose
        SCDL_m is at most ``scdl``, with probability ``confidence`` over rows and rounding.
    confidence : float in (0, 1), default=None
        Needed with ``n_decisions``.

    Returns
    -------
    float

    Notes
    -----
    With L0, L1 the ranges and L the larger one, the bound is (L0 + L1)(SCDL_m + 1/m), and for T
    decisions L (sqrt(2 (m + 1) / T) + 2 sqrt(log(1 / (1 - confidence)) / (2 T))) is added.
    Utilities that differ by row, in a way that depends on the outcome given the forecast, have no
    bound.

    References
    ----------
    .. [1] "Testable and Actionable Calibration for Full Swap Regret", Theorem 4.4.

    Examples
    --------
    >>> from skcal.decision import regret_bound
    >>> regret_bound(0.25, 4)
    1.0
    """
    ranges = check_ranges(ranges)
    bound = ranges.sum() * (scdl + 1 / n_bins)
    if n_decisions is None:
        if confidence is not None:
            fail("n_decisions", "be given with confidence", "None")
        return float(bound)
    if confidence is None:
        fail("confidence", "lie in (0, 1) when n_decisions is given", "None")
    if n_bins == np.inf:
        fail("n_bins", "be finite when n_decisions is given", "inf")
    spread = np.sqrt(2 * (n_bins + 1) / n_decisions)
    deviation = 2 * np.sqrt(-np.log1p(-confidence) / (2 * n_decisions))
    return float(bound + ranges.max() * (spread + deviation))


@validate_params(
    {
        "n_bins": [Interval(Integral, 1, 2**52, closed="both")],
        "rounding": [StrOptions({"random", "floor"})],
        "confidence": [Interval(Real, 0, 1, closed="neither"), None],
    },
    prefer_skip_nested_validation=True,
)
def realized_regret_bound(
    y_true,
    y_proba,
    n_bins,
    *,
    pos_label=None,
    labels=None,
    utility=None,
    ranges=(1.0, 1.0),
    confidence=None,
    rounding="random",
):
    """Bound on the swap regret of r* o tau_m on these very rows.

    Parameters
    ----------
    y_true, y_proba
        As in `swap_regret`; two classes.
    n_bins : int
        m, the steps of the rounding grid.
    pos_label, labels
        As in `swap_regret`.
    utility : table, default=None
        One task. None stands for all tasks with these ``ranges``, whatever their actions.
    ranges : pair of floats, default=(1, 1)
        How far apart the utilities of one outcome lie, for outcomes 0 and 1. Read off ``utility``
        when that is given.
    confidence : float in (0, 1), default=None
        None bounds the expectation over the rounding. A number bounds the regret that one draw of
        all roundings realises, with that probability.
    rounding : {"random", "floor"}, default="random"
        As in `swap_regret`.

    Returns
    -------
    float
        For one task and no confidence this is its exact expected swap regret.

    Notes
    -----
    Over all tasks the expectation is exactly (L0 + L1) times the concave envelope of the regret
    curve of the rounded sample at L0 / (L0 + L1). One draw moves the regret of a bin by at most L0
    times its change of zeros plus L1 times its change of ones, whose means Jensen bounds by
    standard deviations; changing one row changes the regret by at most 2 L_y / T, so McDiarmid's
    inequality gives the deviation. For one task, bins are replaced by actions, and only rows
    whose two grid points lead to different actions count.

    Examples
    --------
    >>> from skcal.decision import realized_regret_bound
    >>> realized_regret_bound([1, 1], [0.5, 0.5], 4)
    1.0
    """
    if utility is None:
        sample = check_sample(y_true, y_proba, None, pos_label, labels)
        codes, ranges = sample.y, check_ranges(ranges)
        response = _bins_as_actions(sample, n_bins, rounding)
        n_actions = int(response.second.max()) + 1
        bins = rounded_bins(sample.y, sample.p, None, n_bins, rounding, sample.precision)
        bound = worst_regret(bins, n_bins, ranges)
    else:
        rows = check_decisions(y_true, y_proba, utility, None, pos_label, labels)
        codes, ranges = rows.codes, rows.task.ranges
        response = rows.respond(rounding, n_bins)
        n_actions = rows.task.actions.size
        values = swap_values(response.masses(codes, None, (2, n_actions)), rows.task)
        bound, _ = best_swaps(values)
    if confidence is None:
        return float(bound)
    drift = (ranges[:, None] * np.sqrt(response.variances(codes, (2, n_actions)))).sum()
    moving = (response.first != response.second) & (response.share > 0)
    squares = (2 * ranges[codes[moving]]) ** 2
    deviation = np.sqrt(-np.log1p(-confidence) / 2 * squares.sum())
    return float(bound + (drift + deviation) / codes.size)


def worst_regret(bins, m, ranges):
    """Largest swap regret of best response to binned forecasts, over all tasks of these ranges."""
    scale = float(np.sum(ranges))
    if scale == 0:
        return 0.0
    x, at = bins.place / m, float(ranges[0]) / scale
    curve = regret_curve(x, bins.mass, bins.mass * x + bins.residual)
    return scale * edge_height(edge_over(x, curve, at), at)


class Decisions(NamedTuple):
    """Checked rows: class codes, probabilities of ``classes[positive]`` (or all classes), weights.

    A vector of probabilities is rounded as it was given, whichever class it speaks of.
    """

    task: DecisionTask
    codes: np.ndarray
    proba: np.ndarray
    w: np.ndarray | None
    precision: type
    positive: int = 1

    def respond(self, rounding, n_bins):
        if rounding is None:
            if n_bins is not None:
                fail("n_bins", "be None without rounding", repr(n_bins))
        elif n_bins is None:
            fail("n_bins", "be an int when rounding is set", "None")
        elif self.task.classes.size != 2:
            must = "be None for more than two classes (a grid is for one probability)"
            fail("rounding", must, repr(rounding))
        return respond(self._decide, self.proba, rounding, n_bins, self.precision)

    def _decide(self, p):
        return self.task._decide(p if self.positive == 1 else 1 - p)

    def best_by_forecast(self, rounding, n_bins):
        """Mean utility of the best action for every distinct forecast, rounded where asked."""
        w = np.ones(self.codes.size) if self.w is None else self.w
        if rounding is None:
            values, codes = self.proba, self.codes
        else:
            lower, upper, share = grid_weights(self.proba, n_bins, rounding, self.precision)
            values, codes = np.concatenate([lower, upper]), np.tile(self.codes, 2)
            w = np.concatenate([w * (1 - share), w * share])
        distinct, place = np.unique(values, axis=0, return_inverse=True)
        k, groups = self.task.classes.size, len(distinct)
        masses = np.bincount(codes * groups + place.ravel(), w, k * groups).reshape(k, groups)
        return ((masses / masses.sum()).T @ self.task.utility).max(axis=1).sum()


def check_decisions(y_true, y_proba, utility, sample_weight, pos_label, labels):
    """The border of every function that takes outcomes, forecasts and a utility table."""
    if isinstance(utility, DecisionTask) and labels is None:
        task = utility
    else:
        classes = None if labels is None else check_classes(labels)
        if labels is None and not isinstance(utility, dict) and not hasattr(utility, "columns"):
            classes = infer_classes(y_true)
        task = DecisionTask(utility, classes=classes)
    if task.classes.size != 2:
        codes = check_codes(y_true, task.classes)
        proba, precision = check_probabilities(y_proba, n_columns=task.classes.size)
        w = check_weights(sample_weight, codes.size)
        if proba.ndim != 2 or proba.shape[0] != codes.size:
            must = f"have shape ({codes.size}, {task.classes.size}), one column a class"
            fail("y_proba", must, f"shape {proba.shape}")
        return Decisions(task, codes, proba, w, precision)
    y_proba = read(y_proba, "y_proba")
    vector = y_proba.ndim == 1 or y_proba.shape[1:] == (1,)
    # the columns of a matrix say it all; a pos_label beside them must still be a class
    positive = task._positive_class(pos_label) if vector or pos_label is not None else 1
    positive = positive if vector else 1
    sample = check_sample(y_true, y_proba, sample_weight, task.classes[positive], task.classes)
    codes = (sample.y if positive == 1 else 1 - sample.y).astype(np.intp, copy=False)
    return Decisions(task, codes, sample.p, sample.w, sample.precision, positive)


def check_ranges(ranges):
    found = numbers(ranges)
    if found is None or found.shape != (2,) or not np.all((found >= 0) & (found <= LARGEST)):
        must = f"be two numbers, neither negative nor above {LARGEST:g}"
        fail("ranges", must, f"{(ranges if found is None else found.tolist())!r:.60}")
    return found


def swap_values(masses, task):
    """Mean utility, per row of the sample, of playing b wherever a was played; shape (A, A)."""
    return (masses / masses.sum()).T @ task.utility  # utilities may be near the largest number


def best_swaps(values):
    """Swap regret and the best replacement of every action; an action that is best stays."""
    own = np.diag(values)
    best = np.where(own >= values.max(axis=1), np.arange(own.size), values.argmax(axis=1))
    return float((values.max(axis=1) - own).sum()), best


def named_swaps(task, taken, best):
    return {task.actions[a]: task.actions[best[a]] for a in taken}


def _bins_as_actions(sample, m, rounding):
    """Rounding as a response whose actions are the occupied grid points."""
    lower, upper, share = grid_weights(sample.p, m, rounding, sample.precision)
    _, index = np.unique(np.concatenate([lower, upper]), return_inverse=True)
    return Response(*np.split(index, 2), share)
