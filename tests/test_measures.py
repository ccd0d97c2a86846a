"""What every measure promises, whatever its definition: invariances, range, precision, values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import metrics
from tests.measures import MEASURES, ROWS, each_measure, each_row
from tests.strategies import DYADIC, INTEGERS, NO_WEIGHTS, WEIGHTS, samples

# Most samples here are small: distinct, or hard, or both. The warnings have tests of their own.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

SHORT_NAMES = {
    "cdl": "calibration_decision_loss",
    "ece": "expected_calibration_error",
    "scdl": "soft_calibration_decision_loss",
}


def close(value):
    return pytest.approx(value, rel=0, abs=1e-12)


def test_the_table_is_complete():
    assert {row.name for row in ROWS} == set(metrics.__all__) - set(SHORT_NAMES)
    assert len(MEASURES) == len({row.name for row in ROWS})
    assert all(row.function is getattr(metrics, row.name) for row in ROWS)


@pytest.mark.parametrize(("short", "name"), SHORT_NAMES.items())
def test_short_names_are_the_same_objects(short, name):
    assert getattr(metrics, short) is getattr(metrics, name)


@each_row
@given(rows=samples())
def test_value_by_definition(row, rows):
    if row.oracle is None:
        pytest.skip("no oracle")
    expected = row.oracle(rows.y, rows.p, rows.w, **row.settings)
    assert row(rows.y, rows.p, sample_weight=rows.w) == close(expected)


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
    assert row(other.y, other.p, sample_weight=other.w) == close(value)


@each_row
@given(rows=samples(weights=WEIGHTS), power=st.sampled_from([-996, -40, -1, 1, 40, 996]))
def test_power_of_two_scale_of_the_weights_changes_no_bit(row, rows, power):
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(rows.y, rows.p, sample_weight=np.ldexp(rows.w, power)) == value


@each_row
@given(rows=samples(weights=INTEGERS), scale=st.sampled_from([1e-300, 0.1, 1 / 3, 1e300]))
def test_scale_of_the_weights_does_not_matter(row, rows, scale):
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(rows.y, rows.p, sample_weight=rows.w * scale) == close(value)


@each_row
@given(rows=samples(weights=NO_WEIGHTS), weight=st.sampled_from([0.1, 1.0, 3.0, 1e-300, 1e300]))
def test_equal_weights_are_no_weights(row, rows, weight):
    value = row(rows.y, rows.p)
    assert row(rows.y, rows.p, sample_weight=np.full(rows.p.size, weight)) == close(value)


@each_row
@given(rows=samples(weights=INTEGERS))
def test_integer_weights_are_copies(row, rows):
    if not row.copies:
        pytest.skip("counts rows")
    copies = rows.take(np.repeat(np.arange(rows.p.size), rows.w.astype(int)))
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(copies.y, copies.p) == close(value)


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


@each_row
@given(rows=samples(DYADIC))
def test_flip_of_the_classes(row, rows):
    if not row.symmetric:
        pytest.skip("its bins or regions have a direction")
    other = rows.flipped()
    value = row(rows.y, rows.p, sample_weight=rows.w)
    assert row(other.y, other.p, sample_weight=other.w) == close(value)


@each_row
def test_zero_on_a_calibrated_sample(row):
    if not row.zero_if_calibrated:
        pytest.skip("rounding down adds an error")
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
    p = p[(p * 600) % 1 > 0.01]  # off the edges of all grids here: those follow the type of p
    y = (rng.random(p.size) < p).astype(int)
    w = rng.random(p.size).astype(np.float32)
    assert row(y, p) == row(y, p.astype(float))
    assert row(y, p, sample_weight=w) == row(y, p, sample_weight=w.astype(float))


@each_measure
@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("proba", [0.0, 0.3, 0.5, 1.0])
def test_one_row(row, outcome, proba):
    value = row([outcome], [proba])
    assert 0 <= value <= row.bound
    assert value == close(row.oracle(np.array([outcome]), np.array([proba]), None, **row.settings))


@each_measure
@pytest.mark.parametrize("outcome", [0, 1])
def test_perfect_hard_predictions_score_zero(row, outcome):
    assert row([outcome] * 3, [float(outcome)] * 3) == 0
    assert row([0, 1, 1], [0.0, 1.0, 1.0]) == 0


@each_measure
def test_large_samples_take_memory_in_proportion(row):
    # An n by n array would take 20 GB.
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    assert 0 <= row((rng.random(p.size) < p).astype(int), p) <= row.bound
