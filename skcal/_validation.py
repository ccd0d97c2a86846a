"""The border: whatever users hand in becomes a checked `Sample`, or one clear error.

This is also the only door to private parts of scikit-learn; other rooms import them from here.
"""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real

import numpy as np
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.utils._metadata_requests import _routing_enabled as routing_enabled
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import (
    Options,
    StrOptions,
    validate_parameter_constraints,
    validate_params,
)
from sklearn.utils.metaestimators import _safe_split as rows_of
from sklearn.utils.validation import _check_method_params as fit_params_of
from sklearn.utils.validation import column_or_1d

from skcal._numerics._atoms import merge_ties
from skcal._reading import (
    LABEL,
    CalibrationWarning,
    dense,
    fail,
    fail_parameter,
    not_empty,
    numbers,
    quiet,
    ravelled,
    read,
    shown,
    warn,
)

__all__ = [
    "OR_ONE_CLASS",
    "LABEL",
    "N_JOBS",
    "BaseScorer",
    "Integral",
    "Real",
    "CalibrationWarning",
    "Interval",
    "Options",
    "Sample",
    "Samples",
    "StrOptions",
    "check_classes",
    "check_codes",
    "check_groups",
    "check_probabilities",
    "check_sample",
    "check_samples",
    "check_weights",
    "column_or_1d",
    "dense",
    "equal",
    "fail",
    "fail_parameter",
    "fit_params_of",
    "infer_classes",
    "is_conventional",
    "numbers",
    "quiet",
    "read",
    "routing_enabled",
    "rows_of",
    "shown",
    "validate_parameter_constraints",
    "validate_params",
    "warn",
    "weighted_sample",
]


class Interval(_Interval):
    """An interval of scikit-learn, which takes True for 1, and knows neither fractions nor halves.

    Its ends are compared in the precision of the value, where they may overflow.
    """

    def is_satisfied_by(self, value):
        known = isinstance(value, Integral | float | np.floating) and not isinstance(value, bool)
        value = float(value) if isinstance(value, np.floating) else value
        return known and super().is_satisfied_by(value)


N_JOBS = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
    None,
]
OVERSHOOT = 1e-6  # probabilities this far outside [0, 1] are single precision noise: clipped
EXTREME = 300  # binary exponent of the largest weight beyond which all are scaled
LIGHT = 0.1  # mean weight below which weights were hardly meant to count rows
MULTICLASS = ("raise", "classwise", "top_label")
OR_ONE_CLASS = " (or take one class against the rest: y_true == k and y_proba[:, k])"


@dataclass(frozen=True, eq=False)
class Sample:
    """Checked rows in the caller's order, rows of weight zero left out."""

    y: np.ndarray  # 0/1 outcomes, of an integer type
    p: np.ndarray  # float64 probabilities of outcome 1
    w: np.ndarray | None = None  # float64 weights, all positive
    precision: type = np.float64  # the type in which p was given: bin edges are rounded to it
    dropped: tuple | None = None  # where rows of weight zero stood, their outcomes and predictions

    @property
    def n(self):
        return self.p.size

    @cached_property
    def total(self):
        return float(self.n if self.w is None else self.w.sum())

    @cached_property
    def atoms(self):
        """Distinct predictions, increasing: computed once, when a measure needs the order."""
        return merge_ties(self.y, self.p, self.w)


@dataclass(frozen=True, eq=False)
class Samples:
    """What a measure is averaged over: one sample, or one for each class against the rest."""

    classes: tuple | None  # their labels; None for a single sample
    samples: tuple[Sample, ...]


def check_samples(
    y_true,
    y_proba,
    sample_weight=None,
    pos_label=None,
    labels=None,
    multiclass="raise",
    name="y_proba",
    among=MULTICLASS,
):
    """Turn the arguments of a measure into `Samples`: one, or one for each class.

    See the docstrings of `skcal.metrics` for what is accepted; errors call y_proba by ``name``.
    ``among`` holds what multiclass may be: functions without one have "raise" alone.
    """
    by_hand = "" if "classwise" in among else OR_ONE_CLASS
    if not isinstance(multiclass, str) or multiclass not in among:
        fail("multiclass", f"be one of {shown(among)}{by_hand}", repr(multiclass))
    y_raw = read(y_true, "y_true")
    p, precision = check_probabilities(
        y_proba,
        n_columns=2 if multiclass == "raise" else None,
        name=name,
        otherwise=_unless(among[1:]) + by_hand,
    )
    _same_length(y_raw, p, name)
    w = check_weights(sample_weight, p.shape[0])
    labels = None if labels is None else check_classes(labels)
    binary = p.ndim == 1 or multiclass == "raise"
    if binary and labels is not None and labels.size != 2:
        fail("labels", "hold the two labels of a binary problem", shown(labels))
    if binary:
        if p.ndim == 2:
            p = p[:, _positive_column(y_raw, pos_label, labels, name)]
        codes, classes = _outcomes(y_raw, pos_label, labels), (0, 1)
        if multiclass != "raise":
            p = np.column_stack([1 - p.astype(precision), p])  # 1 - p as its own type has it
    else:
        if pos_label is not None:
            fail("pos_label", f"be None with multiclass={multiclass!r}", repr(pos_label))
        codes, classes = _codes(y_raw, p.shape[1], labels, name)
    if _only_hard(p.ravel()):
        warn(
            f"{name} holds only 0 and 1: these look like predicted labels, not probabilities "
            "(pass predict_proba)."
        )
    if multiclass == "raise":
        p = np.ascontiguousarray(p, dtype=np.float64)
        return Samples(None, (weighted_sample(codes, p, w, precision),))
    if multiclass == "top_label":
        top = p.argmax(axis=1)
        right = (codes == top).view(np.int8)
        return Samples(None, (weighted_sample(right, p.max(axis=1), w, precision),))
    columns = enumerate(np.ascontiguousarray(p.T))
    samples = (weighted_sample((codes == k).view(np.int8), c, w, precision) for k, c in columns)
    return Samples(classes, tuple(samples))


def check_sample(y_true, y_proba, sample_weight=None, pos_label=None, labels=None):
    """The one sample of a binary problem, for what has no ``multiclass``."""
    only = ("raise",)
    return check_samples(y_true, y_proba, sample_weight, pos_label, labels, among=only).samples[0]


def _unless(multiclass):
    return ", unless multiclass is " + " or ".join(map(repr, multiclass)) if multiclass else ""


def weighted_sample(y, p, w, precision):
    """A `Sample` of checked arrays, without the rows of weight zero."""
    if w is not None and not w.all():
        kept = w > 0
        dropped = np.flatnonzero(~kept), y[~kept], p[~kept]
        return Sample(y[kept], p[kept], w[kept], precision, dropped)
    return Sample(y, p, w, precision)


def check_probabilities(y_proba, n_columns=None, ravel=True, name="y_proba", otherwise=""):
    """Finite probabilities, shape (n,) or (n, K), and the floating type they came in.

    A column vector is ravelled, unless it is the matrix of a one-class estimator. The rows of a
    matrix must sum to one.
    """
    p = read(y_proba, name)
    if p.dtype.kind not in "fiub":
        fail(name, "hold numbers in [0, 1]", f"values of type {p.dtype}")
    if ravel and p.ndim == 2 and p.shape[1] == 1:
        p = p[:, 0]
    if p.ndim > 2:
        fail(name, "have one or two dimensions", f"shape {p.shape}")
    if p.ndim == 2 and n_columns not in (None, p.shape[1]):
        number = {1: "one", 2: "two"}.get(n_columns, n_columns)
        columns = "one column" if n_columns == 1 else f"{number} columns, one for each class"
        fail(name, f"have {columns}{otherwise}", f"shape {p.shape}")
    not_empty(p, name)
    if not p.size:
        fail(name, "have a column for each class", f"shape {p.shape}")
    precision = p.dtype.type if p.dtype.kind == "f" else np.float64
    p = p.astype(np.float64, copy=False)
    low, high = p.min(), p.max()
    if not (low >= 0 and high <= 1):
        if low < -OVERSHOOT or high > 1 + OVERSHOOT:
            fail(name, "lie in [0, 1]", f"values from {low:.6g} to {high:.6g}")
        p = np.clip(p, 0.0, 1.0)
    if p.ndim == 2:
        sums = p.sum(axis=1) if p.shape[1] != 2 else p[:, 0] + p[:, 1]
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > max(OVERSHOOT, np.sqrt(np.finfo(precision).eps)):
            fail(name, "have rows that sum to 1", f"a sum of {sums[worst]:.6g} in row {worst}")
    return p, precision


def check_weights(sample_weight, n, name="sample_weight", others="y_true"):
    """Non-negative, finite, not all zero; None stays None.

    Measures do not change when all weights are scaled, so extreme ones are divided by an exact
    power of two: their sums can then neither overflow nor vanish. They stay so large, or so small,
    that calibrators, for which weights count repetitions, still take them for proof, or for none.
    """
    if sample_weight is None:
        return None
    w = read(sample_weight, name)
    if w.dtype.kind not in "fiub":
        fail(name, "hold numbers", f"values of type {w.dtype}")
    w = ravelled(w, name).astype(np.float64, copy=False)
    if w.size != n:
        fail(name, f"have the length of {others} ({n})", f"length {w.size}")
    low, high = w.min(), w.max()
    if not (low >= 0 and high < np.inf):
        fail(name, "be finite and not negative", f"values from {low:.6g} to {high:.6g}")
    if high == 0:
        fail(name, "hold a positive weight", "zeros only")
    exponent = int(np.frexp(high)[1])
    if abs(exponent) > EXTREME:
        w = np.ldexp(w, -exponent)  # first near one: what vanishes there, vanishes in every share
        w = np.ldexp(w, EXTREME if exponent > 0 else -EXTREME)
    return w


def check_groups(groups, n):
    """Labels of groups of dependent rows, one for each row."""
    groups = ravelled(read(groups, "groups"), "groups")
    if groups.size != n:
        fail("groups", f"have the length of y_true ({n})", f"length {groups.size}")
    return groups


def check_classes(labels, name="labels"):
    """Distinct class labels as a one-dimensional array, in the order given."""
    labels = ravelled(read(labels, name), name)
    distinct = np.unique(labels)
    if distinct.size != labels.size:
        fail(name, "be distinct", shown(labels))
    return labels


def infer_classes(y_true):
    """The classes that unlabelled tables and matrices speak of: sorted labels, as scikit-learn."""
    y = _check_labels(read(y_true, "y_true"))
    if y.dtype.kind in "biu":
        for pair in ([0, 1], [-1, 1]):
            if sum(np.count_nonzero(y == label) for label in pair) == y.size:
                return np.array(pair)
    return np.unique(y)


def _codes(y, n_columns, labels, name):
    """Column of the class of each row, and the labels of the columns."""
    y = _check_labels(y)
    if labels is None:
        labels = infer_classes(y)
        if labels.size < n_columns:
            must = f"name the {n_columns} columns of {name} when y_true lacks some of its classes"
            fail("labels", must, f"None, and the labels {shown(labels)}")
        if labels.size > n_columns:
            must = f"hold one label for each of the {n_columns} columns of {name}"
            fail("y_true", must, f"{labels.size}: {shown(labels)}")
    if labels.size != n_columns:
        fail("labels", f"name the {n_columns} columns of {name}", shown(labels))
    return check_codes(y, labels), tuple(labels.tolist())


def check_codes(y_true, classes, name="y_true"):
    """Index into ``classes`` of every label of y_true."""
    y = _check_labels(read(y_true, name), name)
    _only_known(y, classes, name)
    order = np.argsort(classes)
    return order[np.searchsorted(classes, y, sorter=order)]


def is_conventional(labels):
    """Whether the positive one of two labels goes without saying: 0/1, -1/1, False/True."""
    return labels.dtype.kind in "biuf" and set(labels.tolist()) in ({0, 1}, {-1, 1})


def _positive_column(y, pos_label, labels, name):
    """Column of a two-column y_proba that belongs to the positive label."""
    if labels is None:
        labels = infer_classes(y)
        if labels.size > 2:
            _too_many(labels)
        if labels.size == 1:
            fail("labels", f"name both columns of {name} when y_true holds one label", "None")
    if pos_label is None:
        if not is_conventional(labels):
            fail("pos_label", f"name the positive one of the labels {shown(labels)}", "None")
        pos_label = labels.max()
    column = np.flatnonzero(equal(labels, pos_label))
    if column.size != 1:
        fail("pos_label", f"be one of the labels {shown(labels)}", repr(pos_label))
    return column[0]


def _check_labels(y, name="y_true"):
    """One-dimensional labels; whole numbers as integers, other numbers are refused."""
    y = ravelled(y, name)
    if y.dtype.kind != "f":
        return y
    with np.errstate(invalid="ignore"):  # infinite labels cast to nonsense and are refused
        whole = y.astype(np.int64)
    if not np.array_equal(whole, y):
        value = y[whole != y][0]
        must = "hold class labels" + " (y_true comes before y_proba)" * (name == "y_true")
        fail(name, must, f"continuous values such as {value:.6g}")
    return whole


def _outcomes(y, pos_label, labels):
    """0/1 outcomes, without a copy when y holds just these as integers."""
    y = _check_labels(y)
    if labels is not None:
        _only_known(y, labels)
        if pos_label is not None and not np.any(equal(labels, pos_label)):
            fail("pos_label", f"be one of the labels {shown(labels)}", repr(pos_label))
    if pos_label is not None:
        return _compare(y, pos_label)
    if y.dtype.kind == "b":
        return y.view(np.int8)
    if y.dtype.kind in "iu":
        low, high = y.min(), y.max()
        if low >= 0 and high <= 1:
            return y if y.dtype.kind == "i" else y.astype(np.int64)
        if low == -1 and high <= 1 and y.all():
            return (y > 0).view(np.int8)
    distinct = np.unique(y)
    if distinct.size > 2:
        _too_many(distinct)
    fail("pos_label", f"name the positive one of the labels {shown(distinct)} of y_true", "None")


def _compare(y, pos_label):
    """Outcomes y == pos_label; all other rows must carry one and the same label."""
    text = isinstance(pos_label, str | bytes)
    if not isinstance(pos_label, LABEL) or text != _is_text(y) or pos_label != pos_label:
        fail("pos_label", f"be one of the labels {shown(np.unique(y))} of y_true", repr(pos_label))
    positive = equal(y, pos_label)
    other = int(np.argmin(positive))
    if not positive[other] and np.count_nonzero(y == y[other]) + positive.sum() != y.size:
        distinct = np.unique(y)
        if distinct.size > 2:
            _too_many(distinct)
        fail("pos_label", f"be one of the labels {shown(distinct)} of y_true", repr(pos_label))
    return positive.view(np.int8)


def _is_text(labels):
    return labels.dtype.kind in "USO"


def equal(labels, label):
    """Where labels equal one, which may be anything.

    Text never equals a number, whatever NumPy's version says to that; and integers that NumPy does
    not have equal no label.
    """
    known = isinstance(label, LABEL) and isinstance(label, str | bytes) == _is_text(labels)
    if not known or (isinstance(label, Integral) and not -(2**63) <= label < 2**64):
        return np.zeros(labels.shape, dtype=bool)
    return np.asarray(labels == label, dtype=bool)


def _too_many(distinct):
    fail("y_true", "hold at most two labels", f"{distinct.size}: {shown(distinct)}")


def _only_known(y, labels, name="y_true"):
    if sum(np.count_nonzero(equal(y, label)) for label in labels) != y.size:
        same_kind = _is_text(y) == _is_text(labels)
        unknown = np.setdiff1d(np.unique(y), labels) if same_kind else np.unique(y)
        fail(name, f"hold only the labels {shown(labels)}", f"also {shown(unknown)}")


def _same_length(y, p, name):
    if y.shape[0] != p.shape[0]:
        fail(name, f"have the length of y_true ({y.shape[0]})", f"length {p.shape[0]}")


def _only_hard(p):
    return not p[0] % 1 and not p[-1] % 1 and bool(np.all((p == 0) | (p == 1)))


def check_forecasts(p):
    """Forecasts of one outcome as a recalibrator takes them: finite float64 in [0, 1]."""
    p = read(p, "p")
    if p.dtype.kind not in "fiub":
        fail("p", "hold numbers in [0, 1]", f"values of type {p.dtype}")
    p = ravelled(p, "p").astype(np.float64, copy=False)
    low, high = p.min(), p.max()
    if not (low >= -OVERSHOOT and high <= 1 + OVERSHOOT):
        fail("p", "lie in [0, 1]", f"values from {low:.6g} to {high:.6g}")
    return np.ascontiguousarray(np.clip(p, 0.0, 1.0) if low < 0 or high > 1 else p)


def check_calibration_rows(p, y, sample_weight=None):
    """The rows of a recalibrator: a `Sample` in which both outcomes occur."""
    p, y = check_forecasts(p), ravelled(read(y, "y"), "y")
    if y.size != p.size:
        fail("y", f"have the length of p ({p.size})", f"length {y.size}")
    distinct = np.unique(y)
    if y.dtype.kind not in "biuf" or not (
        np.isin(distinct, [0, 1]).all() or np.isin(distinct, [-1, 1]).all()
    ):
        must = "hold the outcomes 0 and 1 (RecalibratedClassifier takes labels of any kind)"
        fail("y", must, shown(distinct))
    weights = check_weights(sample_weight, p.size, others="p")
    if weights is not None and weights.mean() < LIGHT:
        warn(
            f"sample_weight has a mean of {weights.mean():.3g}: here weights count repetitions of "
            "rows, and so few rows are hardly evidence. Scale normalised weights to a mean of 1."
        )
    sample = weighted_sample((y > 0).astype(np.int8), p, weights, np.float64)
    positive = np.count_nonzero(sample.y)
    if positive in (0, sample.n):
        only = f"only {int(bool(positive))} in {sample.n} rows of positive weight"
        fail("y", "hold both outcomes", only)
    return sample
