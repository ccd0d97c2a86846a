"""Failures that users of other calibration tools reported: none of their kinds may happen here.

One test for each kind. The numbers were worked out by hand, or computed once with NumPy.
"""

import inspect

import numpy as np
import pytest

from skcal import CalibrationWarning, metrics
from skcal.metrics import cdl, ece, scdl
from tests.measures import MEASURES, each_measure

pytestmark = pytest.mark.filterwarnings("ignore:y_proba holds only 0 and 1")


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


def test_predictions_of_zero_and_one_fall_into_bins():
    y, p = [1, 0, 0], [0.0, 0.05, 0.9]
    table = ece(y, p, n_bins=10, return_certificate=True)
    assert table.value == close(0.95 / 3 + 0.9 / 3)
    assert table.count.sum() == 3
    y = [1, 0, 0, 1, 1]
    for strategy in ("uniform", "quantile"):
        table = ece(y, y, strategy=strategy, return_certificate=True)
        assert table.value == 0
        assert table.count.sum() == 5
    for row in MEASURES:
        assert row(y, y) == 0


def test_bins_use_their_mean_prediction_not_their_centre():
    y = [1] * 4 + [0] * 4
    assert ece(y, [0.99] * 4 + [0.01] * 4, n_bins=5) == close(0.01)
    assert ece(y, y, n_bins=5) == 0


def test_bins_count_by_their_share():
    y, p = [0] * 10, [0.05] * 9 + [0.95]
    assert ece(y, p, n_bins=10) == close(0.14)
    assert ece(y, p, n_bins=10, norm="max") == close(0.95)


def test_empty_bins_stay_in_the_table_and_harm_nothing():
    with np.errstate(all="raise"):
        table = ece([0, 1], [0.05, 0.95], n_bins=10, return_certificate=True)
    assert table.value == close(0.05)
    assert table.count.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    sizes = {
        len(getattr(table, name)) for name in ("count", "weight", "mean_proba", "mean_outcome")
    }
    assert sizes == {10}
    assert table.edges.size == 11


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_edge_starts_its_bin_in_every_precision(dtype):
    p = np.array([0.3, 0.25], dtype=dtype)
    table = ece([1, 0], p, n_bins=10, return_certificate=True)
    assert table.value == close(0.475, 1e-7)
    assert np.flatnonzero(table.count).tolist() == [2, 3]  # the scalar agrees with the table
    assert "[k/n_bins, (k + 1)/n_bins)" in " ".join(inspect.getdoc(ece).split())


def test_the_positive_class_is_judged_not_the_top_class():
    assert ece([1, 1], [0.25, 0.75], n_bins=10) == close(0.5)  # 0.25 for the top class
    assert "not the confidence of the predicted class" in " ".join(inspect.getdoc(ece).split())


def test_a_sharper_forecast_with_a_better_brier_score_can_be_worse_calibrated():
    y = [0, 0, 1, 1]
    constant, sharp = [0.5] * 4, [0.2, 0.2, 0.8, 0.8]
    brier = [np.mean((np.array(p) - y) ** 2) for p in (constant, sharp)]
    assert brier == close([0.25, 0.04])
    assert [ece(y, p) for p in (constant, sharp)] == close([0.0, 0.2])
    assert cdl(y, constant) == scdl(y, constant) == 0 < scdl(y, sharp) < cdl(y, sharp)


def test_small_samples_of_a_calibrated_forecaster_do_not_look_good_by_bins():
    # The plain binned error has a floor from chance; the debiased one has none, and no bias.
    rng = np.random.default_rng(0)
    found = {}
    for n, n_bins in ((100, 15), (500, 15), (2000, 15), (100, 10)):
        draws = []
        for _ in range(300):
            p = rng.random(n)
            draws.append((rng.random(n) < p, p))
        found[n, n_bins] = np.mean([ece(y, p, n_bins=n_bins) for y, p in draws])
        options = {"n_bins": n_bins, "norm": "l2", "debias": True, "return_certificate": True}
        squares = [ece(y, p, **options).signed_square for y, p in draws]
        plain = np.mean([ece(y, p, n_bins=n_bins, norm="l2") ** 2 for y, p in draws])
        assert abs(np.mean(squares)) < plain / 10
    expected = {(100, 15): 0.122, (500, 15): 0.054, (2000, 15): 0.027, (100, 10): 0.1}
    assert found == pytest.approx(expected, abs=0.005)
    assert "calibrated forecaster scores about 0.12" in " ".join(inspect.getdoc(ece).split())


def test_weights_are_taken_by_every_measure():
    y, p, w = [0, 1, 1, 0], [0.1, 0.1, 0.8, 0.8], [3, 1, 2, 2]
    assert ece(y, p, sample_weight=w, n_bins=5) == close(0.225)
    assert ece(np.repeat(y, w), np.repeat(p, w), n_bins=5) == close(0.225)
    assert ece(y, p, n_bins=5) == close(0.35)
    for row in MEASURES:
        if row.copies:
            copies = row(np.repeat(y, w), np.repeat(p, w))
            assert row(y, p, sample_weight=w) == close(copies)


@each_measure
def test_no_measure_guesses_the_positive_string(row):
    y, p = ["no", "yes", "yes", "no"], np.array([0.125, 0.75, 0.625, 0.375])
    expected = row([0, 1, 1, 0], p)
    assert row(y, p, pos_label="yes") == expected
    assert row(y, 1 - p, pos_label="no") == row([1, 0, 0, 1], 1 - p)
    with pytest.raises(ValueError, match=r"pos_label must .*'no', 'yes'.* got None"):
        row(y, p)
    with pytest.raises(ValueError, match=r"pos_label must .*'no', 'yes'.* got 'maybe'"):
        row(y, p, pos_label="maybe")


@each_measure
def test_a_column_vector_never_broadcasts(row):
    y, p = np.array([1, 0, 1, 0]), np.array([0.9, 0.1, 0.8, 0.2])
    assert row(y, p[:, None]) == row(y[:, None], p) == row(y[:, None], p[:, None]) == row(y, p)
    assert row(y, p, sample_weight=np.ones((4, 1))) == row(y, p)


@each_measure
def test_two_columns_are_the_second_and_three_an_error(row):
    y, p = [1, 0], np.array([[0.1, 0.9], [0.8, 0.2]])
    assert row(y, p) == row(y, p[:, 1])
    assert row(["b", "a"], p, pos_label="b") == row(y, p[:, 1])
    assert row(["b", "a"], p, pos_label="a") == row([0, 1], p[:, 0])
    with pytest.raises(ValueError, match=r"y_proba must have two columns.* got shape \(2, 3\)"):
        row(y, np.full((2, 3), 1 / 3))


@each_measure
@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "category"])
def test_nullable_columns_count_like_arrays_and_missing_ones_are_an_error(row, dtype):
    pandas = pytest.importorskip("pandas")
    y, p = pandas.Series([1, 0, 1, 0], dtype=dtype), [0.9, 0.1, 0.8, 0.2]
    nullable = pandas.Series(p, dtype="Float64")
    for positive in (None, 1):
        assert row(y, nullable, pos_label=positive) == row([1, 0, 1, 0], p)
    assert row(y, nullable, pos_label=0) == row([0, 1, 0, 1], p)
    missing = y.copy()
    missing[2] = np.nan if dtype == "category" else pandas.NA
    with pytest.raises(ValueError, match="y_true must hold no missing values"):
        row(missing, nullable)
    nullable[1] = pandas.NA
    with pytest.raises(ValueError, match="y_proba must hold no missing values"):
        row(y, nullable)


@each_measure
def test_polars_series_count_like_arrays(row):
    polars = pytest.importorskip("polars")
    y, p = polars.Series([1, 0, 1, 0]), polars.Series([0.9, 0.1, 0.8, 0.2])
    expected = row([1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2])
    assert row(y, p) == row(y.to_numpy(), p) == row(y, p.to_numpy()) == expected


@each_measure
def test_a_hair_above_one_is_clipped_and_margins_are_refused(row):
    above = np.float32(1) + np.finfo(np.float32).eps
    assert row([1, 0], [above, 0.2]) == row([1, 0], [1.0, 0.2])
    assert ece([1, 0], [above, 0.2], return_certificate=True).count.sum() == 2
    for bad in ([1.01, 0.2], [-0.2, 0.5], [3.1, -1.4]):
        pattern = rf"y_proba must lie in \[0, 1\]; got values from {min(bad)} to {max(bad)}"
        with pytest.raises(ValueError, match=pattern):
            row([1, 0], bad)


def test_low_precision_neither_saturates_nor_makes_nan():
    for dtype in (np.float16, np.float32, np.float64):
        p = np.array([1, 0], dtype=dtype)
        for row in MEASURES:
            assert row([1, 0], p) == 0
            assert 0 < row([0, 1], p) <= row.bound
    tenth = np.full(200_000, 0.1, dtype=np.float16)
    none = np.zeros(tenth.size, dtype=int)
    for options in ({}, {"n_bins": None}, {"strategy": "quantile"}):
        assert ece(none, tenth, **options) == close(0.0999755859375)
    assert metrics.cutoff_calibration_error(none, tenth) == close(0.0999755859375)


def test_hard_labels_are_scored_by_their_error_rate_with_a_warning():
    with pytest.warns(CalibrationWarning, match="look like predicted labels"):
        assert ece([1, 0, 1, 1], [1, 0, 0, 1]) == close(0.25)
