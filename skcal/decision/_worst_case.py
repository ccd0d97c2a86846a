"""The regret curve of a sample and the decision problem that suffers most from its forecasts."""

import numpy as np

from skcal._numerics._envelopes import edge_over, regret_curve
from skcal._validation import check_classes, check_sample, equal, infer_classes, validate_params
from skcal.decision._task import DecisionTask


@validate_params({}, prefer_skip_nested_validation=True)
def worst_case_task(y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None):
    """The decision problem that trusting these forecasts would hurt the most.

    Parameters
    ----------
    y_true, y_proba, sample_weight, pos_label, labels
        As in `skcal.metrics.calibration_decision_loss`.

    Returns
    -------
    DecisionTask or None
        Two or three actions, utilities in [0, 1]. What answering every distinct forecast by the
        best action there would gain, ``swap_regret(..., swaps="forecast")``, is the calibration
        decision loss. None when the sample is calibrated, so that no task is hurt. Its classes are
        those of ``y_true``; 0 and 1 when only one of them occurs and ``labels`` are not given.

    Examples
    --------
    >>> from skcal import swap_regret, worst_case_task
    >>> y_true, y_proba = [0, 0, 1, 0], [0.25, 0.25, 0.75, 0.75]
    >>> task = worst_case_task(y_true, y_proba)
    >>> task.thresholds_
    array([0.25, 0.75])
    >>> swap_regret(y_true, y_proba, task, swaps="forecast")
    0.25
    """
    sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
    task = task_of_edge(sample, regret_envelope(sample)[2])
    classes = infer_classes(y_true) if labels is None else check_classes(labels)
    if task is None or classes.size != 2:
        return task
    found = np.flatnonzero(equal(classes, classes.max() if pos_label is None else pos_label))
    return task._named(classes, int(found[0])) if found.size else task


def regret_envelope(sample, low=0.0, high=1.0):
    """Normalised regret curve at the predictions in [low, high], and its hull edge over 1/2."""
    x, mass, ones, _ = sample.atoms
    if (low, high) != (0.0, 1.0):
        x, mass, ones, _ = sample.atoms.written_out()
        for v in (low, high):  # an atom without mass asks for the curve at the end of the range
            k = np.searchsorted(x, v)
            if k == x.size or x[k] != v:
                x, mass, ones = np.insert(x, k, v), np.insert(mass, k, 0), np.insert(ones, k, 0)
    curve = regret_curve(x, mass, ones) / sample.total
    inside = slice(np.searchsorted(x, low), np.searchsorted(x, high, "right"))
    return x[inside], curve[inside], edge_over(x[inside], curve[inside])


def task_of_edge(sample, edge):
    """The task that attains a hull edge over 1/2; None where the edge has no height.

    It changes its action at the ends of the edge, the kinks, and every tie there hurts: a kink of
    height is some prediction, and the lower action must be listed first when its rate lies above.
    """
    (v1, b1), (v2, b2) = edge
    if v1 == v2:
        kinks, stakes, heights = np.array([v1]), np.array([2.0]), np.array([b1])
    else:
        kinks, heights = np.array([v1, v2]), np.array([b1, b2])
        stakes = np.array([2 * (v2 - 0.5), 2 * (0.5 - v1)]) / (v2 - v1)
    used = (stakes > 0) & (heights > 0)
    if not used.any():
        return None
    kinks, stakes = kinks[used], stakes[used]
    at_zero = np.append(np.cumsum((stakes * kinks)[::-1])[::-1], 0.0)
    at_one = np.append(0.0, np.cumsum(stakes * (1 - kinks)))
    x, mass, ones, _ = sample.atoms.written_out()
    order = [0]
    for k, kink in enumerate(kinks):
        atom = np.searchsorted(x, kink)
        rate_above = atom < x.size and x[atom] == kink and ones[atom] > x[atom] * mass[atom]
        order.insert(order.index(k) + int(rate_above), k + 1)
    utility = np.vstack([at_zero, at_one])[:, order]
    return DecisionTask._from_kinks(utility, np.array([0, 1]), order, kinks, np.argsort(order))
