"""The interval calibration error: every shift of the grid, every width, and its certificate."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from skcal import metrics
from skcal._numerics._intervals import shifted_cells
from skcal.metrics import interval_calibration_error
from tests import oracles
from tests.strategies import COARSE, DYADIC, random_rows, samples

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


def close(value):
    return pytest.approx(value, rel=0, abs=1e-12)


@pytest.mark.parametrize("instances", [40, pytest.param(1000, marks=pytest.mark.verify)])
def test_expectation_over_all_shifts(instances):
    rng = np.random.default_rng(0)
    for _ in range(instances):
        x, residual = oracles.residual_masses(*random_rows(rng, max_size=10))
        for k in (0, 1, 2, 5, 12):
            expected = oracles.shifted_error(x, residual, 2.0**-k)
            assert shifted_cells(x, residual, 2.0**-k) == close(expected)


@pytest.mark.parametrize("instances", [100, pytest.param(2000, marks=pytest.mark.verify)])
def test_least_over_all_widths(instances):
    rng = np.random.default_rng(1)
    for _ in range(instances):
        # Decimals: sums that are equal on paper differ in the last bit.
        n = rng.integers(1, 9)
        y, p = rng.integers(0, 2, n), np.round(rng.random(n), 2)
        expected = oracles.interval_error(y, p, levels=16)
        assert interval_calibration_error(y, p) == close(expected)


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 0, 0, 0, 1], [0.38, 0.33, 0.99, 0.78, 0.49]),
        ([0, 1, 0, 0, 1], [0.2, 0.94, 0.37, 0.12, 0.54]),
        ([1, 1, 0, 0, 1, 0], [0.31, 0.81, 0.71, 0.54, 0.18, 0.35]),
    ],
)
def test_no_width_is_narrower_than_the_spacing_of_floats(y, p):
    # The cells of 2^-4 to 2^-10 hold one prediction each, so their error is the limit, up to the
    # last bit; at widths near 1e-17 p - width is p, and every cell looks empty.
    value = interval_calibration_error(y, p)
    assert value == close(oracles.interval_error(np.array(y), np.array(p)))
    assert value >= metrics.smce(y, p) / 2 - 1e-12


@given(rows=samples(COARSE))
def test_error_does_not_fall_with_finer_cells(rows):
    x, residual = oracles.residual_masses(*rows)
    errors = [shifted_cells(x, residual, 2.0**-k) for k in range(12)]
    assert np.all(np.diff(errors) >= -1e-12)
    limit = np.abs(residual).sum()
    assert max(errors) <= limit + 1e-12
    # Cells narrower than every gap hold one prediction each.
    gap = np.diff(x).min(initial=1.0)
    for k in range(12):
        if 2.0**-k <= gap:
            assert errors[k] == close(limit)
    assert errors[0] >= abs(residual.sum()) - 1e-12


@given(rows=samples())
def test_value_is_the_best_of_all_widths(rows):
    x, residual = oracles.residual_masses(*rows)
    interval = interval_calibration_error(
        rows.y, rows.p, sample_weight=rows.w, return_certificate=True
    )
    for k in range(12):
        assert interval.value <= shifted_cells(x, residual, 2.0**-k) + 2.0**-k + 1e-12
    assert interval.value <= metrics.ece(rows.y, rows.p, sample_weight=rows.w, n_bins=None) + 1e-12
    assert interval.value >= abs(residual.sum()) - 1e-12
    assert interval.value == close(interval.error + interval.width)
    assert interval.width == 0 or np.log2(interval.width) % 1 == 0


def dense(n):
    """Rows on a lattice, outcomes 0 and 1 in turn: the residuals cancel in every wide cell."""
    p = (np.arange(n) + 0.5) / n
    return np.arange(n) % 2, 0.5 + (p - 0.5) / 1024


@pytest.mark.parametrize(
    ("y", "p", "expected", "width"),
    [
        ([1, 1, 1], [0.5] * 3, 0.5, 0.0),  # one prediction: any cell is the limit, at no width
        ([0, 1, 0, 1], [0.45, 0.45, 0.55, 0.55], 0.05, 0.0),
        # Residuals +1/4 and -1/4 at a distance of 2^-10: a cell of width e splits them with
        # probability 2^-10 / e, so the error is 2^-11 / e + e, at its least for e = 2^-5 or 2^-6.
        ([1, 0], [0.5, 0.5 + 2.0**-10], None, 2.0**-5),
    ],
)
def test_by_hand(y, p, expected, width):
    interval = interval_calibration_error(y, p, return_certificate=True)
    if expected is None:
        # A residual of 2^-10 / 2 too much stays in every cell.
        splits = 2.0**-10 / width
        expected = splits * (0.25 + 0.25 + 2.0**-11) + (1 - splits) * 2.0**-11 + width
    assert interval.value == close(expected)
    assert interval.width == width
    assert interval.verify() is True


def test_a_crowd_of_opposite_residuals_has_wide_cells():
    y, p = dense(1000)
    interval = interval_calibration_error(y, p, return_certificate=True)
    assert 0 < interval.width < 0.1
    assert interval.value < 0.1 < 0.49 < metrics.ece(y, p, n_bins=None)
    x, residual = oracles.residual_masses(y, p)
    assert interval.error == close(shifted_cells(x, residual, interval.width))


@given(rows=samples(DYADIC, weights=(None,)))
def test_copies_of_a_sample_change_nothing(rows):
    twice = (np.tile(rows.y, 2), np.tile(rows.p, 2))
    assert interval_calibration_error(*twice) == close(interval_calibration_error(rows.y, rows.p))


def test_certificate_notices_forged_fields():
    y, p = dense(200)
    interval = interval_calibration_error(y, p, return_certificate=True)
    assert interval.verify() is True
    x, residual, width = interval.x, interval.residual, interval.width
    limit = np.abs(residual).sum()
    for forged in (
        {"x": 0.5 + (x - 0.5) * 4},
        {"residual": residual[::-1] * 2},
        {"width": width / 2},
        {"width": width / 2, "error": shifted_cells(x, residual, width / 2)},
        {"width": 0.0, "error": limit, "value": limit},  # attained, yet not the least
        {"error": 0.0, "value": width},
        {"value": np.nan},
        {"residual": np.full_like(residual, np.nan)},
    ):
        assert dataclasses.replace(interval, **forged).verify() is False
