"""The cutoff calibration error: all pairs of ends, its certificate, and its laws."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from skcal import metrics
from skcal.metrics import cutoff_calibration_error
from tests import oracles
from tests.strategies import DYADIC, random_rows, samples

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

REGIONS = pytest.mark.parametrize("region", ["interval", "threshold"])


def close(value):
    return pytest.approx(value, rel=0, abs=1e-12)


@REGIONS
def test_all_pairs_of_ends(region):
    rng = np.random.default_rng(0)
    for _ in range(100):
        y, p, w = random_rows(rng)
        expected = oracles.cutoff_error(y, p, w, region)
        assert cutoff_calibration_error(y, p, sample_weight=w, region=region) == close(expected)


@pytest.mark.parametrize(
    ("y", "p", "interval", "threshold"),
    [
        # Too high at .25 and too low at .75: an interval sees one side, the tail {p >= .75} too.
        ([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], 0.125, 0.125),
        # Wrong in the middle only: no tail isolates it.
        ([0, 1, 1, 1, 1, 1], [0.5, 0.5, 0.75, 0.75, 1.0, 1.0], 1 / 12, 1 / 12),
        ([1, 0, 0, 1, 1], [0.125, 0.25, 0.5, 0.75, 1.0], 0.175, 0.1),
        # Tied rows are one point: their residuals cancel, whatever the order.
        ([1, 0, 1, 0], [0.5] * 4, 0.0, 0.0),
        ([1], [0.5], 0.5, 0.5),
        ([0], [1.0], 1.0, 1.0),
    ],
)
def test_by_hand(y, p, interval, threshold):
    assert cutoff_calibration_error(y, p) == close(interval)
    assert cutoff_calibration_error(y, p, region="threshold") == close(threshold)


@given(rows=samples())
def test_laws(rows):
    interval, threshold = (
        cutoff_calibration_error(rows.y, rows.p, sample_weight=rows.w, region=region)
        for region in ("interval", "threshold")
    )
    error = metrics.ece(rows.y, rows.p, sample_weight=rows.w, n_bins=None)
    assert threshold <= interval + 1e-12
    assert interval <= error + 1e-12
    # An interval is the difference of two tails.
    assert interval <= 2 * threshold + 1e-12


@given(rows=samples(DYADIC))
def test_flip_of_lower_tails(rows):
    # {p <= c} is {1 - p >= 1 - c}: the flipped sample has the error of the lower tails.
    low = max(
        abs(np.average((rows.y - rows.p) * (rows.p <= c), weights=rows.w)) for c in set(rows.p)
    )
    other = rows.flipped()
    value = cutoff_calibration_error(other.y, other.p, sample_weight=other.w, region="threshold")
    assert value == close(low)


@REGIONS
@given(rows=samples())
def test_certificate_names_the_worst_interval(region, rows):
    cutoff = cutoff_calibration_error(
        rows.y, rows.p, sample_weight=rows.w, region=region, return_certificate=True
    )
    assert abs(cutoff.residual) == cutoff.value
    low, high = cutoff.interval
    if cutoff.value == 0:
        assert np.isnan([low, high]).all()
        return
    assert {low, high} <= set(rows.p)
    inside = (low <= rows.p) & (rows.p <= high)
    assert np.average((rows.y - rows.p) * inside, weights=rows.w) == close(cutoff.residual)
    assert region == "interval" or high == rows.p.max()
    assert cutoff.x.tolist() == sorted(set(rows.p))
    assert cutoff.sums[0] == 0
    for x, total in zip(cutoff.x, cutoff.sums[1:], strict=True):
        below = np.average((rows.y - rows.p) * (rows.p <= x), weights=rows.w)
        assert total == close(below)


def test_certificate_of_another_interval_does_not_verify():
    y, p = [0, 0, 1, 1, 0], [0.125, 0.125, 0.75, 0.75, 0.875]
    cutoff = cutoff_calibration_error(y, p, return_certificate=True)
    assert cutoff.interval == (0.875, 0.875)
    assert cutoff.residual == close(-0.175)
    smaller = dataclasses.replace(cutoff, interval=(0.125, 0.125), residual=-0.05, value=0.05)
    assert cutoff.verify() is True
    assert smaller.verify() is False  # attained, yet not the largest
