"""Values for the fuzz test: good ones for every parameter of the package, and odd ones for any."""

import warnings
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut

from skcal import decision, metrics
from skcal.recalibration import BetaCalibrator, PartitionCalibrator, ShrinkageCalibrator
from skcal.sketch import CalibrationSketch
from tests.forecasters import Given

NAN, INF = float("nan"), float("inf")


class Margins(ClassifierMixin, BaseEstimator):
    """A classifier without probabilities."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] * 6 - 3


class Odd:
    """An object that knows nothing."""

    def __repr__(self):
        return "Odd()"


# Made anew for each example; what some parameter takes for good is odd for the others.
ODD = [
    lambda: None, lambda: True, lambda: False, lambda: 0, lambda: 1, lambda: -1, lambda: 7,
    lambda: 0.5, lambda: 1.5, lambda: -0.0, lambda: 5e-324, lambda: 1e300, lambda: NAN,
    lambda: INF, lambda: -INF, lambda: 2**70, lambda: -(2**70), lambda: 10**400,
    lambda: np.int64(3), lambda: np.uint8(3), lambda: np.float32(0.5), lambda: np.float16(0.5),
    lambda: np.longdouble(0.5), lambda: np.bool_(True), lambda: 1j, lambda: Fraction(1, 3),
    lambda: Decimal("0.25"), lambda: "x", lambda: "", lambda: b"x", lambda: np.str_("x"),
    lambda: [], lambda: [1, 2], lambda: (0.25, 0.75), lambda: ["a", "b"], lambda: [[1], [2, 3]],
    lambda: {}, lambda: {"a": 1}, lambda: {0: {0: 1}, 1: {0: "x"}}, lambda: {1, 2},
    lambda: iter([1, 2]), lambda: Odd(), lambda: Odd, lambda: len, lambda: lambda y: 0.0,
    lambda: pd.NA, lambda: pd.NaT, lambda: datetime(2020, 1, 1), lambda: np.datetime64("NaT"),
    lambda: np.array(1), lambda: np.array([1, 2]), lambda: np.array([0.5, NAN]),
    lambda: np.zeros((2, 2)), lambda: np.array([], dtype=object), lambda: np.ones((2, 2, 2)),
    lambda: pd.Series([1, 2]), lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}),
    lambda: sparse.csr_matrix(np.eye(2)), lambda: slice(3), lambda: Ellipsis, lambda: range(2),
    lambda: np.array([1 + 2j, 0]), lambda: np.array(["2020", "NaT"], dtype="datetime64[D]"),
    lambda: np.ma.array([1.0, 2.0], mask=[0, 1]), lambda: [None, None], lambda: [[0, 1], [1, 0]],
    lambda: [[0.0, NAN], [1, 0]], lambda: [10**400, 1], lambda: ["a", 1], lambda: [Odd(), Odd()],
    lambda: np.zeros(2, dtype=[("a", "f8")]), lambda: "\ud800", lambda: bytearray(b"ab"),
    lambda: memoryview(b"ab"), lambda: [{1: 2}, {3: 4}], lambda: [[], []], lambda: np.float64(0),
]  # fmt: skip


def nullable(kind):
    return lambda a: pd.Series(a, index=np.arange(len(a))[::-1]).astype(kind)


def read_only(a):
    a = np.array(a)
    a.flags.writeable = False
    return a


def strided(a):
    return np.repeat(a, 2)[::2]


def reversed_twice(a):
    return np.array(a[::-1])[::-1]


def column(a):
    return np.asarray(a)[:, None]


def ragged(a):
    return [[v] if k else [v, v] for k, v in enumerate(a)]


def one_missing(missing):
    def spoil(a):
        values = list(a)
        values[len(values) // 2] = missing
        return values

    return spoil


def replaced(*odd):
    """The first rows replaced."""

    def spoil(a):
        return np.array([*odd, *a][: len(a)])

    return spoil


PLAIN = [np.asarray, list, tuple, read_only, strided, reversed_twice, column, pd.Series, pl.Series]
CONTAINERS = [
    *PLAIN, pd.Index, pa.array, lambda a: pa.chunked_array([pa.array(a)]), nullable(object),
    lambda a: np.asarray(a).astype(object), lambda a: np.ma.array(a), pd.DataFrame,
    lambda a: pl.DataFrame({"a": a}), lambda a: pd.Series(a).astype("category"), memoryview,
]  # fmt: skip
SPOILERS = [
    one_missing(NAN), one_missing(None), one_missing(pd.NA), one_missing("x"), one_missing(INF),
    one_missing(10**400), one_missing(Odd()), one_missing([1]), one_missing(1j), ragged,
    lambda a: a[:0], lambda a: [*a, 0], lambda a: a[:-1], set, lambda a: dict(enumerate(a)),
    lambda a: np.asarray(a, dtype=complex), lambda a: np.asarray(a, dtype="datetime64[s]"),
    lambda a: sparse.csr_matrix(np.asarray(a, dtype=float)), lambda a: column(a)[:, :, None],
    lambda a: np.ma.array(a, mask=np.arange(len(a)) == 0), lambda a: np.column_stack([a, a, a]),
    lambda a: pl.Series([None, *a][: len(a)]), lambda a: pa.array([None, *a][: len(a)]),
    lambda a: str(list(a)), lambda a: (v for v in a), lambda a: pd.Series(a).astype(str),
    lambda a: [str(v).encode() for v in a], lambda a: np.asarray(a, dtype="timedelta64[s]"),
    lambda a: np.asarray(a).reshape(1, -1), lambda a: np.asarray(a, dtype="S3"),
]  # fmt: skip
LABELS = [
    lambda y: y, lambda y: y.astype(bool), lambda y: 2 * y - 1, lambda y: y.astype(float),
    lambda y: y.astype(np.uint8), lambda y: np.array(["no", "yes"])[y], lambda y: y + 1,
    lambda y: np.array(["no", "yes"], dtype=object)[y], lambda y: nullable("Int64")(y),
    lambda y: nullable("boolean")(y), lambda y: nullable("string")(y).where(pd.Series(y) > 0),
    lambda y: y * 2**62, lambda y: y * 1e300, lambda y: np.array([b"a", b"b"])[y],
    lambda y: y.astype(np.float16), lambda y: y.astype(np.longdouble), lambda y: -y,
    lambda y: np.array([0, 2**63], dtype=np.uint64)[y], lambda y: [Fraction(int(v)) for v in y],
    lambda y: [Decimal(int(v)) for v in y], lambda y: np.arange(y.size) % 3, lambda y: y + 0.5,
    lambda y: [2**70 * int(v) for v in y], lambda y: pd.arrays.SparseArray(y),
]  # fmt: skip
CHANCES = [
    lambda p: p, lambda p: p.astype(np.float32), lambda p: p.astype(np.float16),
    lambda p: p.astype(np.longdouble), lambda p: np.round(p).astype(int), lambda p: p > 0.5,
    lambda p: -p * 0.0, lambda p: p * 5e-324, lambda p: p * (1 + 1e-7), lambda p: p - 1e-7,
    lambda p: p * (1 + 1e-3), lambda p: p - 1e-3, lambda p: np.column_stack([1 - p, p]),
    lambda p: np.column_stack([1 - p, p]).astype(np.float32), lambda p: nullable("Float64")(p),
    lambda p: np.column_stack([1 - p, p / 2, p / 2]), lambda p: [Fraction(v) for v in p.tolist()],
    lambda p: [Decimal(v) for v in p.tolist()], lambda p: np.column_stack([p, p]),
    lambda p: np.asfortranarray(np.column_stack([1 - p, p])), lambda p: p * 1e308,
    lambda p: np.full(p.size, 2**63, dtype=np.uint64), lambda p: [10**400] * p.size,
    lambda p: pd.DataFrame({"b": 1 - p, "a": p}), lambda p: np.full((p.size, 0), 0.5),
    lambda p: np.full(p.size, np.nextafter(1, 0)), lambda p: pd.arrays.SparseArray(p),
]  # fmt: skip
WEIGHTS = [
    lambda w: w, lambda w: w.astype(np.float32), lambda w: w.astype(np.float16),
    lambda w: np.ceil(w).astype(int), lambda w: w > w.mean(), lambda w: w * 1e300,
    lambda w: w * 1e-300, lambda w: w * 5e-324, lambda w: w * 0, lambda w: -w, lambda w: w - 1,
    lambda w: np.where(np.arange(w.size) % 2, 1e300, 1e-300), lambda w: np.full(w.size, 1e308),
    lambda w: np.full(w.size, 2**63, dtype=np.uint64), lambda w: np.ceil(w).astype(np.longdouble),
    lambda w: w * np.longdouble("1e4000"), lambda w: np.where(np.arange(w.size) % 2, 1.0, 0.0),
    lambda w: [10**400] * w.size, lambda w: [Fraction(1, 3)] * w.size, lambda w: w / w.sum(),
    lambda w: nullable("Float64")(w), lambda w: np.ceil(w), lambda w: [10**30] * w.size,
]  # fmt: skip


def rows_of(kind, forms):
    """Columns of the sample, in all forms and containers, some of them spoilt."""

    def draw(random, rows):
        values = {"y": rows.y, "p": rows.p, "w": rows.w}[kind]
        values = np.ones(rows.y.size) if values is None else values
        formed = random.choice(forms)(values)
        wrap = random.choice([*CONTAINERS, *SPOILERS])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return formed if wrap is None else wrap(formed)
        except Exception:  # a container that cannot hold these values; each holds some: test_fuzz
            return formed

    return draw


def one_of(*values):
    return lambda random, rows: random.choice(values)


def made(*makers):
    return lambda random, rows: random.choice(makers)()


TABLES = [
    lambda: [[0, -1], [-5, 0]], lambda: np.array([[0, -1], [-5, 0]]), lambda: np.eye(2),
    lambda: {"no": {"a": 0, "b": -1}, "yes": {"a": -5, "b": 0}}, lambda: np.zeros((2, 2)),
    lambda: {0: {"a": 0, "b": -1}, 1: {"a": -5, "b": 0}}, lambda: np.eye(3), lambda: [[1, 2, 3]],
    lambda: pd.DataFrame([[0, -1], [-5, 0]]), lambda: np.array([[0, 1e307], [-1e307, 0]]),
    lambda: [[0, INF], [1, 0]], lambda: [[0, NAN], [1, 0]], lambda: [[0, 1e308], [1, 0]],
    lambda: decision.DecisionTask([[0, -1], [-5, 0]]), lambda: [[0, -1, 2], [-5, 0, 1]],
    lambda: {0: {"a": 0}, 1: {"b": 1}}, lambda: {0: {"a": None}, 1: {"a": 1}},
    lambda: [[1, 2], [3]],
    lambda: {"no": {"a": Odd()}}, lambda: {(0, 1): {"a": 1}, (1, 2): {"a": 2}}, lambda: {0: [1, 2]},
    lambda: pd.DataFrame([[0, -1], [-5, 0]], index=["no", "yes"], columns=["a", "a"]),
    lambda: pd.DataFrame({"a": [1, pd.NA], "b": [0, 1]}), lambda: pl.DataFrame({"a": [1.0, 2.0]}),
    lambda: {0: {"a": 5e-324, "b": 0}, 1: {"a": 0, "b": 5e-324}}, lambda: [[10**400, 1], [1, 0]],
    lambda: {NAN: {"a": 1}, 1: {"a": 2}}, lambda: {"no": {"a": 1}, 1: {"a": 2}},
    lambda: {"no": {"a": 1}, "yes": {"a": 2, "b": 1}}, lambda: np.array([["1", "2"], ["3", "4"]]),
    lambda: sparse.csr_matrix(np.eye(2)), lambda: [[1 + 1j, 0], [0, 1]],
    lambda: [[True, False]] * 2,
]  # fmt: skip


def unlike(y_true, y_proba, sample_weight=None):
    return 0.5


def broken(y_true, y_proba, sample_weight=None):
    return NAN


OUTCOMES, PROBA, MASS = rows_of("y", LABELS), rows_of("p", CHANCES), rows_of("w", WEIGHTS)
GOOD = {
    "y_true": OUTCOMES,
    "y": OUTCOMES,
    "y_proba": PROBA,
    "proba_a": PROBA,
    "proba_b": PROBA,
    "p": PROBA,
    "q": PROBA,
    "mean": PROBA,
    "sample_weight": MASS,
    "mass": MASS,
    "groups": rows_of("y", [*LABELS, lambda y: np.arange(y.size) // 2]),
    "pos_label": one_of(None, 0, 1, -1, True, 1.0, "yes", "no", b"b", np.int64(1), 2**62),
    "neg_label": one_of(0, -1, "no"),
    "multiclass": one_of("raise", "classwise", "top_label"),
    "labels": one_of(None, [0, 1], [-1, 1], ["no", "yes"], [1, 0], [0, 1, 2], (False, True), [1]),
    "return_certificate": one_of(False, True),
    "n_bins": one_of(None, "auto", 1, 2, 5, 16, np.int64(7), 2**12, INF, 3.5),
    "strategy": one_of("uniform", "quantile"),
    "norm": one_of("l1", "l2", "max"),
    "debias": one_of(False, True),
    "region": one_of("interval", "threshold"),
    "thresholds": one_of((0.0, 1.0), (0.25, 0.5), [0.3, 0.3], np.array([0, 1]), (0.5, 0.2), "ab"),
    "rounding": one_of(None, "random", "floor"),
    "sigma": one_of(None, 0.05, 1e-4, 1, 1e300, 1e-5),
    "method": one_of("auto", "exact", "bounds", "dp", "types", "ptas", "isotonic", "bca"),
    "weights": one_of("indivisible", "repeat"),
    "eps": one_of(None, 0.25, 0.1, 0.9, 1e-5, 1e-300),
    "max_work": one_of(None, 1, 10**4, 2**70),
    "tol": one_of(1e-5, 0.1, 1e-300, 0.999),
    "score": one_of("brier", "log"),
    "utility": made(*TABLES, lambda: None),
    "classes": one_of(None, [0, 1], ["no", "yes"], [1, 2, 3], [0, 0]),
    "actions": one_of(None, ["a", "b"], [0, 1], ["a", "b", "c"], ["a", "a"], "ab", [[1], [2]]),
    "swaps": one_of("action", "forecast"),
    "return_map": one_of(False, True),
    "scdl": one_of(0, 0.25, 1),
    "ranges": one_of((1.0, 1.0), [0, 2], (1e308, 1e308), (-1, 1), (1, 2, 3), (NAN, 1)),
    "n_decisions": one_of(None, 1, 1000, 2**70),
    "confidence": one_of(None, 0.5, 0.95, 0, 1, 1e-300, np.nextafter(1, 0)),
    "fp": one_of(1, 0.5, 0, 1e308),
    "fn": one_of(1, 5, -1e308),
    "tp": one_of(0, 1),
    "tn": one_of(0, -1),
    "threshold": one_of(0.2, 0.5, 5e-324, np.nextafter(1, 0), 0, 1),
    "name": one_of("neg_scdl", "neg_bece", "neg_smooth_ece", "refer", "a", 3, "scdl"),
    "value": one_of(0.5, {0: 1, 1: 2}, {"no": 1, "yes": 0}, {0: "x", 1: 2}, INF),
    "measure": one_of(
        *(getattr(metrics, name) for name in ("scdl", "ece", "smce", "cdl")),
        metrics.cutoff_calibration_error,
        metrics.actionable_binned_error,
        decision.swap_regret,
        partial(metrics.ece, n_bins=4),
        unlike,
        broken,
        max,
        metrics.score_decomposition,
        metrics.interval_calibration_error,
        partial(metrics.caldist, method="bounds"),
    ),
    "params": one_of({}, {"n_bins": 4}, {"n_bins": 0}, {"nothing": 1}, {"norm": "l2"}),
    "n_resamples": one_of(9, 19, 20, None, 8),
    "n_jobs": one_of(None, 1, -1.0, 0, 1.5, "x", True),
    "random_state": one_of(None, 0, 2**32 - 1, 2**32),
    "verbose": one_of(0, 1, False),
    "output": one_of("text", "dict"),
    "loss": one_of("neg_log_loss", "neg_scdl"),
    "max_error": one_of(None, 0.1, 0, INF),
    "error": one_of("neg_scdl", "neg_ece"),
    "a": one_of(
        [1, 2, 4], np.array([3, 5]), (2**60, 1), [1], [0, 1], [-1, 2], [1.5, 2], [2**52] * 2
    ),
    "partitions": made(
        list,
        lambda: [([0, 1], [0.25, 0.5]), ([1, 1], [0.5, 0.5], [1, 2])],
        lambda: iter([lambda: ([0, 1], [0.25, 0.5])]),
        lambda: [([0, 1], [0.25])],
        lambda: [([0, 1],)],
    ),
    "n_rows": one_of(None, 0, 2, 4),
    "sketch": made(lambda: CalibrationSketch(4).update([0, 1, 1], [0.2, 0.4, 0.9])),
    "ax": made(lambda: None, lambda: Figure().subplots()),
    "theta": one_of(1, 3, 7, 2**60),
    "kind": one_of("noiseless", "uniform"),
    "distance": one_of(0, 0.25, 1),
    "n": one_of(1, 1000, 2**53, 2**54),
    "k": one_of(1, 4, 100),
    "rng": made(lambda: None, lambda: 0, np.random.default_rng, np.random.RandomState),
    "estimator": made(Given, Margins, lambda: FrozenEstimator(Given().fit([[0.5], [0.2]], [0, 1]))),
    "calibrator": made(
        lambda: None,
        PartitionCalibrator,
        BetaCalibrator,
        IsotonicRegression,
        lambda: Given(),
        lambda: ShrinkageCalibrator(PartitionCalibrator(), n_null=2),
        lambda: BetaCalibrator,
    ),
    "cv": made(
        lambda: None,
        lambda: 2,
        lambda: 3,
        lambda: KFold(2),
        LeaveOneOut,
        lambda: GroupKFold(2),
        lambda: [],
        lambda: [([0, 1], [0, 1])],
        lambda: iter([([0, 1], [2, 3])]),
        lambda: 1,
        lambda: [([0, 1], [99])],
        lambda: [(0, 1)],
        lambda: [([], [])],
    ),
    "ensemble": one_of(False, True),
    "alpha": one_of(None, 0, 0.1, 1, 5e-324),
    "resolution": one_of("chance", None),
    "interpolate": one_of(True, False),
    "prior_count": one_of(0, 0.5, 1e15),
    "max_cuts": one_of(None, 1, 5, 256),
    "n_null": one_of(1, 3),
    "sample_utility": made(lambda: None, lambda: np.ones((2, 2, 2)), lambda: [[[1, 2]]]),
}
NEVER_ODD = {"n_jobs"}  # odd numbers of workers would be started
