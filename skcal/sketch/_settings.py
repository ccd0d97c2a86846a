"""Checks of what a sketch is made with, and of the numbers of bins that it is asked for."""

import numpy as np

from skcal._reading import fail_parameter
from skcal._validation import Integral, Real, check_sample


def power_of_two(value, most, function, least=2):
    if not whole(value) or not least <= value <= most or value & (value - 1):
        must = f"be a power of two from {least} to {most}"
        fail_parameter(function, "n_bins", must, repr(value))
    return int(value)


def whole(value):
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_pos_label(pos_label):
    if isinstance(pos_label, np.generic):
        pos_label = pos_label.item()
    known = isinstance(pos_label, str | Integral | Real) and pos_label == pos_label
    if pos_label is not None and not known:
        must = "be a string, a number, a boolean or None"
        fail_parameter("CalibrationSketch", "pos_label", must, repr(pos_label))
    return pos_label


def negative_of(labels, pos_label):
    """Of two labels the one that is not positive."""
    if labels is None:
        return None
    halves = np.full((len(labels), 2), 0.5)
    return negative_in(labels, check_sample(labels, halves, None, pos_label, labels).y)


def negative_in(y_true, outcomes):
    """The label of outcome 0; None where all are 1."""
    first = int(np.argmin(outcomes))
    if outcomes[first]:
        return None
    label = np.ravel(y_true)[first : first + 1].tolist()[0]
    return int(label) if isinstance(label, float) else label
