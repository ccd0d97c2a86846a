"""Helpers that make labelled utility tables: from costs, from a threshold, with one more action."""

import math
from fractions import Fraction
from itertools import product
from numbers import Real

import numpy as np

from skcal._validation import LABEL, fail, numbers, shown
from skcal.decision._task import DecisionTask


def utility_from_costs(*, fp, fn, tp=0.0, tn=0.0, pos_label=1, neg_label=0):
    """Utility table of the two classes from the costs of the four cells of a confusion matrix.

    Parameters
    ----------
    fp, fn : float
        Cost of a false positive and of a false negative.
    tp, tn : float, default=0
        Cost of a true positive and of a true negative.
    pos_label, neg_label : label, default=1 and 0
        Names of the classes; the actions are named after the class they bet on.

    Returns
    -------
    dict of dicts
        ``{class: {action: utility}}``, utilities being negated costs.

    Examples
    --------
    >>> from skcal.decision import utility_from_costs
    >>> utility_from_costs(fp=1, fn=5)
    {0: {0: 0.0, 1: -1.0}, 1: {0: -5.0, 1: 0.0}}
    """
    _check_labels(pos_label, neg_label)
    costs = {"fp": fp, "fn": fn, "tp": tp, "tn": tn}
    fp, fn, tp, tn = (_finite(name, value) for name, value in costs.items())
    cost = {neg_label: {neg_label: tn, pos_label: fp}, pos_label: {neg_label: fn, pos_label: tp}}
    return {k: {a: 0.0 - value for a, value in row.items()} for k, row in cost.items()}


def utility_from_threshold(threshold, *, pos_label=1, neg_label=0):
    """Utility table of "act iff the probability of ``pos_label`` is at least ``threshold``".

    The scale is that of net benefit [1]_: acting on a positive is worth 1, acting on a negative
    costs ``threshold / (1 - threshold)``, not acting is worth 0. So the mean realised utility is
    the net benefit of the decision curve at that threshold.

    Parameters
    ----------
    threshold : float in (0, 1)
        The probability at which one is indifferent.
    pos_label, neg_label : label, default=1 and 0
        Names of the classes.

    Returns
    -------
    dict of dicts
        ``{class: {action: utility}}`` with the actions "act" and "wait". "act" is listed first, so
        it is taken at the threshold itself; the last bits of the table are chosen such that its
        threshold is exactly the number given.

    References
    ----------
    .. [1] A. J. Vickers and E. B. Elkin, "Decision curve analysis", Medical Decision Making 26(6),
       2006. :doi:`10.1177/0272989X06295361`

    Examples
    --------
    >>> from skcal.decision import DecisionTask, utility_from_threshold
    >>> DecisionTask(utility_from_threshold(0.2)).best_response([0.1, 0.2, 0.3])
    array(['wait', 'act', 'act'], dtype=object)
    """
    if not isinstance(threshold, Real) or not 0 < threshold < 1:
        fail("threshold", "lie in (0, 1)", repr(threshold))
    _check_labels(pos_label, neg_label)
    gain, loss = _exact_odds(float(threshold))
    return {neg_label: {"act": -loss, "wait": 0.0}, pos_label: {"act": gain, "wait": 0.0}}


def add_action(utility, name, value):
    """A labelled utility table with one more action, such as "refer" or "abstain".

    Parameters
    ----------
    utility : dict of dicts, DataFrame or DecisionTask
        A labelled table.
    name : label
        Name of the new action, listed last.
    value : float or dict
        What it is worth: one number, or ``{class: value}``.

    Returns
    -------
    dict of dicts

    Examples
    --------
    >>> from skcal.decision import add_action, utility_from_costs
    >>> add_action(utility_from_costs(fp=1, fn=5), "refer", -0.3)[1]
    {0: -5.0, 1: 0.0, 'refer': -0.3}
    """
    task = DecisionTask(utility)
    _check_label("name", name)
    if name in task.actions.tolist():
        fail("name", f"differ from the actions {shown(task.actions)}", repr(name))
    table = task.to_dict()
    worth = value if isinstance(value, dict) else dict.fromkeys(table, value)
    if set(worth) != set(table):
        fail("value", f"name the classes {shown(list(table))}", shown(list(worth)))
    return {label: {**row, name: _finite("value", worth[label])} for label, row in table.items()}


def _check_labels(pos_label, neg_label):
    _check_label("pos_label", pos_label)
    _check_label("neg_label", neg_label)
    if pos_label == neg_label:
        fail("neg_label", "differ from pos_label", repr(neg_label))


def _check_label(name, label):
    if not isinstance(label, LABEL) or label != label:
        fail(name, "be a string, a number or a boolean", f"{label!r:.50}")


def _finite(name, value):
    number = numbers(value) if isinstance(value, Real) else None
    if number is None or not np.isfinite(number):
        fail(name, "be a finite number", f"{value!r:.50}")
    return float(number)


def _exact_odds(t):
    """(gain, loss) near (1, t / (1 - t)) whose threshold is t in floats, and 1 - t mirrored."""
    odds = t / (1 - t)
    for loss, gain in product(_neighbours(odds), _neighbours(1.0)):
        exact = Fraction(loss) / (Fraction(gain) + Fraction(loss))
        if float(exact) == t and float(1 - exact) == 1 - t:
            return gain, loss
    return 1.0, odds


def _neighbours(x):
    """x and the three floats on either side, nearest first."""
    below = above = x
    yield x
    for _ in range(3):
        below, above = math.nextafter(below, 0.0), math.nextafter(above, math.inf)
        yield below
        yield above
