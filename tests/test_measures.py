"""What every measure promises, whatever its definition: invariances, range, precision, values."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import (
    DecisionTask,
    calibration_report,
    get_scorer,
    metrics,
    swap_regret,
)
from skcal.metrics._names import MEASURES
from skcal.report._gates import parse_limit
from skcal.scorers import calibration_scorers
from tests.measures import ROWS, each_measure, each_quick_measure, each_row, each_row_that
from tests.strategies import DYADIC, INTEGERS, NO_WEIGHTS, WEIGHTS, samples

# Most samples here are small: distinct, or hard, or both. The warnings have tests of their own.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

SHORT_NAMES = {
    "scdl": "soft_calibration_decision_loss",
    "cdl": "calibration_decision_loss",
    "cutoff": "cutoff_calibration_error",
    "smce": "smooth_calibration_error",
    "smece": "smooth_ece",
    "caldist": "calibration_distance",
    "distcal": "lower_calibration_distance",
    "sintce": "interval_calibration_error",
    "ece": "expected_calibration_error",
    "bece": "actionable_binned_error",
}


NOT_MEASURES = {"score_decomposition"}  # three numbers of a score, not a calibration error


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


def test_the_table_is_complete():
    others = {*SHORT_NAMES, *NOT_MEASURES}
    assert {row.name for row in ROWS} == set(metrics.__all__) - others
    assert all(row.function is getattr(metrics, row.name) for row in ROWS)


@pytest.mark.parametrize(("short", "name"), SHORT_NAMES.items())
def test_short_names_are_the_same_objects_everywhere(short, name):
    measure = getattr(metrics, name)
    assert getattr(metrics, short) is measure
    assert get_scorer(f"neg_{short}")._kwargs["measure"] is measure
    named, limit = parse_limit(f"{short}=0.5")
    written, reported = MEASURES[named]
    assert (named, written.lower(), limit) == (short, short, 0.5)
    assert reported is measure


def test_no_other_short_names():
    assert list(MEASURES) == list(SHORT_NAMES)  # in the order of a report
    assert list(calibration_scorers()) == sorted(f"neg_{short}" for short in SHORT_NAMES)
    report = calibration_report([0, 1], [0.4, 0.5], n_resamples=None, output="dict")
    assert list(report["measures"]) == list(SHORT_NAMES)


@each_row_that(lambda row: row.oracle is not None)
@given(rows=samples())
def test_value_by_definition(row, rows):
    expected = row.oracle(rows.y, rows.p, rows.w, **row.settings)
    assert row(rows.y, rows.p, sample_weight=rows.w) == close(expected, row.tolerance)


@each_row
@given(rows=samples())
def test_is_a_float_in_range(row, rows):
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert type(value) is float
    assert 0 <= value <= row.bound  # which is false for NaN


@each_row
@given(rows=samples(), data=st.data())
def test_row_order_does_not_matter(row, rows, data):
    other = rows.take(np.array(data.draw(st.permutations(range(rows.p.size)))))
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(other.y, other.p, sample_weight=other.w) == close(value, row.tolerance)


@each_row
@given(rows=samples(weights=WEIGHTS), power=st.sampled_from([-1000, -40, -1, 1, 40, 1015]))
def test_power_of_two_scale_of_the_weights_changes_no_bit(row, rows, power):
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(rows.y, rows.p, sample_weight=np.ldexp(rows.w, power)) == value


@each_row
@given(rows=samples(weights=INTEGERS), scale=st.sampled_from([1e-300, 0.1, 1 / 3, 1e300]))
def test_scale_of_the_weights_does_not_matter(row, rows, scale):
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(rows.y, rows.p, sample_weight=rows.w * scale) == close(value, row.tolerance)


@each_row
@given(rows=samples(weights=NO_WEIGHTS), weight=st.sampled_from([0.1, 1.0, 3.0, 5e-324, 1e308]))
def test_equal_weights_are_no_weights(row, rows, weight):
    value = row(rows.y, rows.p)
    assert row(rows.y, rows.p, sample_weight=np.full(rows.p.size, weight)) == close(
        value, row.tolerance
    )


@each_row_that(lambda row: row.copies)
@given(rows=samples(weights=INTEGERS))
def test_integer_weights_are_copies(row, rows):
    copies = rows.take(np.repeat(np.arange(rows.p.size), rows.w.astype(int)))
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(copies.y, copies.p) == close(value, row.tolerance)


@each_row
@given(rows=samples(weights=WEIGHTS), data=st.data())
def test_rows_of_weight_zero_are_no_rows(row, rows, data):
    n = rows.p.size
    dropped = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n - 1))
    weights = rows.w.copy()
    weights[dropped] = 0.0
    kept = rows.take(np.setdiff1d(np.arange(n), dropped))
    value = row(kept.y, kept.p, sample_weight=kept.w)
    assert row(rows.y, rows.p, sample_weight=weights) == value


@each_row_that(lambda row: row.symmetric)
@given(rows=samples(DYADIC))
def test_flip_of_the_classes(row, rows):
    other = rows.flipped()
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(other.y, other.p, sample_weight=other.w) == close(value, row.tolerance)


@each_row_that(lambda row: row.zero_if_calibrated)
def test_zero_on_a_calibrated_sample(row):
    p = np.repeat([0.2, 0.8], 10)
    y = np.r_[[1] * 2, [0] * 8, [1] * 8, [0] * 2]
    assert row(y, p) == close(0.0)
    # Shares of ones that are .2 and .8 on paper, though not in floats.
    w = np.repeat([0.3, 0.7], 10)
    assert row(y, p, sample_weight=w) == close(0.0)


@each_row
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_low_precision_is_computed_in_double(row, dtype):
    rng = np.random.default_rng(3)
    p = rng.random(500).astype(dtype)
    # Off the edges of the grids of the table, which follow the type of p.
    p = p[np.abs(p.astype(float) * 120 % 1 - 0.5) < 0.45]
    y = (rng.random(p.size) < p).astype(int)
    w = rng.random(p.size).astype(np.float32)
    assert row(y, p) == row(y, p.astype(float))
    assert row(y, p, sample_weight=w) == row(y, p, sample_weight=w.astype(float))


@each_measure
@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("proba", [0.0, 5e-324, 0.3, 0.5, 1 - 2**-53, 1.0])
def test_one_row(row, outcome, proba):
    value = row([outcome], [proba])
    assert 0 <= value <= row.bound
    if row.oracle is not None:
        expected = row.oracle(np.array([outcome]), np.array([proba]), None, **row.settings)
        assert value == close(expected, row.tolerance)


@each_measure
@pytest.mark.parametrize("outcome", [0, 1])
def test_perfect_hard_predictions_score_zero(row, outcome):
    assert row([outcome] * 3, [float(outcome)] * 3) == 0
    assert row([0, 1, 1], [0.0, 1.0, 1.0]) == 0


@each_quick_measure
def test_large_samples_take_memory_in_proportion(row):
    # An n by n array would take 20 GB.
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    assert 0 <= row((rng.random(p.size) < p).astype(int), p) <= row.bound


# Containers: the same numbers give the same bits, paired by position


N = 40
RNG = np.random.default_rng(7)
P = np.round(RNG.random(N), 2)
Y = (RNG.random(N) < P**2).astype(int)
W = RNG.integers(1, 5, N).astype(float)
SHUFFLED = RNG.permutation(N)  # an index that must not be used
NAMES = np.where(Y == 1, "yes", "no")


def _pandas(values, dtype=None):
    pandas = pytest.importorskip("pandas")
    if dtype is not None and "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    return pandas.Series(values, index=SHUFFLED, dtype=dtype)


def _polars(values, dtype=None):
    polars = pytest.importorskip("polars")
    return polars.Series(values, dtype=dtype and getattr(polars, dtype))


def _frame(module, *columns):
    named = {f"column {k}": column for k, column in enumerate(columns)}
    return pytest.importorskip(module).DataFrame(named)


OUTCOMES = {
    "list": lambda: Y.tolist(),
    "tuple": lambda: tuple(Y.tolist()),
    "object": lambda: Y.astype(object),
    "column": lambda: Y[:, None],
    "strided": lambda: np.repeat(Y, 2)[::2],
    "reversed": lambda: Y[::-1].copy()[::-1],
    **{
        f"numpy {dtype}": lambda dtype=dtype: Y.astype(dtype)
        for dtype in ("bool", "int8", "uint8", "uint64", "int32", ">i8", "float16", "float64")
    },
    **{
        f"pandas {dtype}": lambda dtype=dtype: _pandas(Y, dtype)
        for dtype in ("int64", "bool", "Int64", "boolean", "Float64", "category", "object")
    },
    **{
        f"pandas {dtype}[pyarrow]": lambda dtype=dtype: _pandas(
            Y.astype(bool) if dtype == "bool" else Y, f"{dtype}[pyarrow]"
        )
        for dtype in ("int64", "bool", "double")
    },
    "pandas frame": lambda: _frame("pandas", Y),
    "polars": lambda: _polars(Y),
    "polars Boolean": lambda: _polars(Y.astype(bool)),
    "polars Float64": lambda: _polars(Y.astype(float)),
    "minus one": lambda: 2 * Y - 1,
    "minus one, float": lambda: 2.0 * Y - 1,
    "minus one, int8": lambda: (2 * Y - 1).astype(np.int8),
    "booleans": lambda: Y.astype(bool).tolist(),
}

STRINGS = {
    "list": lambda: NAMES.tolist(),
    "numpy": lambda: NAMES,
    "numpy object": lambda: NAMES.astype(object),
    "numpy bytes": lambda: NAMES.astype("S"),
    "pandas": lambda: _pandas(NAMES.tolist()),
    "pandas string": lambda: _pandas(NAMES.tolist(), "string"),
    "pandas category": lambda: _pandas(NAMES.tolist(), "category"),
    "polars": lambda: _polars(NAMES.tolist()),
    "polars Categorical": lambda: _polars(NAMES.tolist(), "Categorical"),
    "one and two": lambda: Y + 1,
    "zero and minus one": lambda: Y - 1,
    "strings of digits": lambda: Y.astype(str),
}

PROBABILITIES = {
    "list": lambda: P.tolist(),
    "tuple": lambda: tuple(P.tolist()),
    "object": lambda: P.astype(object),
    "column": lambda: P[:, None],
    "columns": lambda: np.column_stack([1 - P, P]),
    "columns, Fortran": lambda: np.asfortranarray(np.column_stack([1 - P, P])),
    "columns, list": lambda: np.column_stack([1 - P, P]).tolist(),
    "strided": lambda: np.repeat(P, 2)[::2],
    "big-endian": lambda: P.astype(">f8"),
    "pandas": lambda: _pandas(P),
    "pandas Float64": lambda: _pandas(P, "Float64"),
    "pandas double[pyarrow]": lambda: _pandas(P, "double[pyarrow]"),
    "pandas frame": lambda: _frame("pandas", 1 - P, P),
    "polars": lambda: _polars(P),
    "polars frame": lambda: _frame("polars", 1 - P, P),
}

WEIGHTINGS = {
    "list": lambda: W.tolist(),
    "integers": lambda: W.astype(int),
    "uint8": lambda: W.astype(np.uint8),
    "float32": lambda: W.astype(np.float32),
    "column": lambda: W[:, None],
    "pandas": lambda: _pandas(W),
    "pandas Int64": lambda: _pandas(W.astype(int), "Int64"),
    "pandas int64[pyarrow]": lambda: _pandas(W.astype(int), "int64[pyarrow]"),
    "polars": lambda: _polars(W),
}


@each_quick_measure
@pytest.mark.parametrize("container", OUTCOMES)
def test_containers_of_outcomes(row, container):
    y_true = OUTCOMES[container]()
    assert row(y_true, P) == row(Y, P)
    assert row(y_true, P, sample_weight=W) == row(Y, P, sample_weight=W)


@each_quick_measure
@pytest.mark.parametrize("container", STRINGS)
def test_containers_of_other_labels(row, container):
    y_true = STRINGS[container]()
    positive = np.asarray(y_true, dtype=object).ravel()[np.argmax(Y)]
    assert row(y_true, P, pos_label=positive) == row(Y, P)


@each_quick_measure
@pytest.mark.parametrize("container", PROBABILITIES)
def test_containers_of_probabilities(row, container):
    y_proba = PROBABILITIES[container]()
    assert row(Y, y_proba) == row(Y, P)
    assert row(Y, y_proba, sample_weight=W) == row(Y, P, sample_weight=W)


@each_quick_measure
@pytest.mark.parametrize("container", WEIGHTINGS)
def test_containers_of_weights(row, container):
    assert row(Y, P, sample_weight=WEIGHTINGS[container]()) == row(Y, P, sample_weight=W)


@each_measure
def test_all_containers_at_once(row):
    arguments = (_pandas(Y, "Int64"), _polars(P))
    assert row(*arguments, sample_weight=W.tolist()) == row(Y, P, sample_weight=W)


@each_measure
def test_columns_follow_the_labels(row):
    columns = np.column_stack([1 - P, P])
    value = row(Y, P)
    assert row(Y, columns, labels=[0, 1]) == value
    assert row(Y, columns[:, ::-1], labels=[1, 0]) == value
    assert row(NAMES, columns, pos_label="yes") == value  # sorted: no, yes
    assert row(NAMES, columns[:, ::-1], pos_label="yes", labels=["yes", "no"]) == value
    assert row(NAMES, columns, pos_label="no") == row(1 - Y, 1 - P)


# Certificates


def other_task():
    return DecisionTask([[1.0, 0.0], [0.0, 1.0]])


def tampered(value):
    """Another value of the same kind."""
    if isinstance(value, np.ndarray):
        return value + np.linspace(0.01, 0.1, value.size)
    if isinstance(value, tuple):
        return tuple(end + 0.1 for end in value)
    if isinstance(value, DecisionTask):
        return other_task()
    return 2 * value if isinstance(value, int) else value + 0.01


@each_row
@given(rows=samples())
def test_certificate_is_the_value_and_verifies(row, rows):
    certificate = row(rows.y, rows.p, sample_weight=rows.w, return_certificate=True)
    assert certificate.value == row(rows.y, rows.p, sample_weight=rows.w)
    assert float(certificate) == certificate.value
    assert certificate.verify() is True


@each_row
def test_certificate_notices_a_changed_value(row):
    certificate = row(Y, P, sample_weight=W, return_certificate=True)
    for change in (1e-6, -1e-6, np.nan):
        assert dataclasses.replace(certificate, value=certificate.value + change).verify() is False


@pytest.mark.parametrize(
    ("row", "name"),
    [pytest.param(row, name, id=f"{row}-{name}") for row in ROWS for name in row.witness],
)
def test_certificate_notices_a_changed_witness(row, name):
    certificate = row(Y, P, sample_weight=W, return_certificate=True)
    changed = tampered(getattr(certificate, name))
    assert dataclasses.replace(certificate, **{name: changed}).verify() is False


@pytest.mark.parametrize("task", [None, other_task()])
def test_certificate_notices_a_foreign_task(task):
    # Its threshold 1/2 lies beyond the last prediction.
    loss = metrics.cdl([1, 1, 0], [0.1, 0.2, 0.2], return_certificate=True)
    assert loss.verify() is True
    assert dataclasses.replace(loss, task=task).verify() is False


def test_certificate_notices_a_task_that_breaks_its_ties_well():
    # With the actions in the other order the regret is 0, so this task proves nothing.
    y, p = [1, 1, 1, 1], [0.5] * 4
    loss = metrics.cdl(y, p, return_certificate=True)
    harmless = DecisionTask(loss.task.utility[:, ::-1].copy())
    assert swap_regret(y, p, harmless) == 0
    assert dataclasses.replace(loss, task=harmless).verify() is False


def test_certificate_notices_a_task_that_is_not_the_worst():
    loss = metrics.cdl(Y, P, return_certificate=True)
    v = P[np.argmax(Y < P)]
    other = metrics.cdl(Y, P, thresholds=(v, v), return_certificate=True)
    forged = {name: getattr(other, name) for name in ("value", "task", "line")}
    assert other.verify() is True
    assert 0 < other.value < loss.value
    assert dataclasses.replace(loss, **forged).verify() is False


def test_certificate_notices_a_line_below_the_ends():
    # The curve is known at 3/4 only; it is 0 at 0, where this line is negative.
    loss = metrics.cdl([0], [0.75], thresholds=(0.75, 0.75), return_certificate=True)
    assert loss.value == 1
    task = DecisionTask([[0.0, 0.75], [0.25, 0.0]])
    assert swap_regret([0], [0.75], task) == 0.75
    forged = dataclasses.replace(loss, value=0.75, line=(-0.375, 1.125), task=task)
    assert forged.verify() is False


def test_certificate_notices_a_task_that_is_not_allowed():
    loss = metrics.cdl([1], [0.5], return_certificate=True)
    double = {
        "value": 2 * loss.value,
        "line": tuple(2 * height for height in loss.line),
        "task": DecisionTask(2 * loss.task.utility),
    }
    assert dataclasses.replace(loss, **double).verify() is False  # utilities up to 2
    assert dataclasses.replace(loss, thresholds=(0.6, 1.0)).verify() is False


@pytest.mark.parametrize("rounding", ["random", "floor"])
def test_certificate_notices_a_lost_balance(rounding):
    options = {"rounding": rounding, "return_certificate": True}
    loss = metrics.scdl(Y, P, **options)
    assert loss.verify() is True
    assert dataclasses.replace(loss, next_loss=0.99 / loss.n_bins).verify() is False
    finer = metrics.scdl(Y, P, n_bins=2 * loss.n_bins, **options)
    value = max(finer.loss, 1 / finer.n_bins)
    assert dataclasses.replace(finer, value=value, balanced=True).verify() is False


@each_row
def test_certificate_is_a_frozen_record(row):
    certificate = row(Y, P, return_certificate=True)
    names = [each.name for each in dataclasses.fields(certificate)]
    assert names[0] == "value"
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.value = 0.0
    record = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert list(record) == names
    assert record["value"] == certificate.value
    assert pickle.loads(pickle.dumps(certificate)).verify() is True


@each_row
def test_certificate_has_a_short_repr(row):
    rng = np.random.default_rng(1)
    p = rng.random(3000)
    text = repr(row((rng.random(3000) < 0.5).astype(int), p, return_certificate=True))
    assert "value=" in text
    assert len(text) < 700


@pytest.mark.parametrize("rounding", ["random", "floor"])
def test_certificate_notices_finer_bins_of_another_sample(rounding):
    loss = metrics.scdl(Y, P, rounding=rounding, return_certificate=True)
    points, weight, rate = loss.finer
    other = (points, weight, np.clip(rate + 1e-3, 0, 1))
    assert loss.verify() is True
    assert dataclasses.replace(loss, finer=other).verify() is False
