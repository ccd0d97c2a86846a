"""Rounding to a grid: the exact weights of tau_m, the exact floor, and draws."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from skcal.decision import round_predictions, rounding_weights

GRIDS = [1, 2, 3, 7, 10, 16, 100, 1000, 2**20, 10**9 + 7, 2**52]
HUNDREDTHS = np.arange(101) / 100


def predictions(seed=0):
    """Everything that is near an edge of some grid, or nowhere near one."""
    rng = np.random.default_rng(seed)
    near = [np.nextafter(HUNDREDTHS[1:], 0), np.nextafter(HUNDREDTHS[:-1], 1)]
    tiny = [5e-324, 1e-300, 1e-17, 1 - 2**-53]
    return np.concatenate([HUNDREDTHS, *near, tiny, rng.random(200), 10 ** -rng.uniform(0, 20, 50)])


@pytest.mark.parametrize("m", GRIDS)
def test_weights_of_tau_are_exact(m):
    p = predictions()
    lower, upper, share = rounding_weights(p, m)
    index = np.rint(lower * m)
    np.testing.assert_array_equal(lower, index / m)  # grid points, each rounded once
    np.testing.assert_array_equal(upper, np.minimum(index + 1, m) / m)
    assert np.all((lower >= 0) & (upper <= 1) & (share >= 0) & (share < 1))
    for p_, low, high, s in zip(p, lower, upper, share, strict=True):
        low, high, s = map(Fraction, (low, high, s))
        assert abs((1 - s) * low + s * high - Fraction(p_)) <= 1e-15  # the mean is kept
    # tau_m by its definition: the weight of grid point i is (1 - |p m - i|)_+
    expected = np.array([float(Fraction(x) * m - int(Fraction(x) * m)) for x in p])
    moved = np.array([int(Fraction(x) * m) for x in p]) != index
    allowed = 1e-15 * m + 1e-15  # p m is one rounding off
    assert np.abs(share - np.where(moved, share, expected)).max() <= allowed
    assert np.all(share[moved] <= allowed)


@pytest.mark.parametrize("m", GRIDS)
def test_grid_points_enclose_the_prediction(m):
    p = predictions()
    lower, upper, _ = rounding_weights(p, m)
    assert p[(lower > p) | (p > upper)].tolist() == []


@pytest.mark.parametrize("rounding", ["random", "floor"])
@pytest.mark.parametrize("m", GRIDS)
def test_ends_stay_where_they_are(m, rounding):
    lower, upper, share = rounding_weights([0.0, 1.0], m, rounding=rounding)
    assert lower.tolist() == [0, 1]
    assert share.tolist() == [0, 0]
    assert upper[1] == 1
    for seed in range(5):
        found = round_predictions([0.0, 1.0], m, rounding=rounding, random_state=seed)
        assert found.tolist() == [0, 1]


@pytest.mark.parametrize("m", [*range(1, 60), 100, 128, 997, 1000])
def test_floor_of_decimals(m):
    # The decimal k/100 starts the bin whose edge it is on paper, not the one below.
    exact = [Fraction(k, 100) * m // 1 for k in range(101)]
    for dtype in (np.float64, np.float32):
        p = HUNDREDTHS.astype(dtype)
        found = round_predictions(p, m, rounding="floor")
        assert found.dtype == float
        assert found.tolist() == [float(Fraction(i, m)) for i in exact]


@pytest.mark.parametrize("m", [1, 2, 3, 7, 10, 16, 100, 1000, 2**20])
def test_floor_is_the_largest_grid_point_below(m):
    p = predictions(1)
    lower, upper, share = rounding_weights(p, m, rounding="floor")
    index = np.rint(lower * m)
    assert np.all(index / m <= p)
    assert np.all(((index + 1) / m > p) | (index == m))
    np.testing.assert_array_equal(share, 0)
    np.testing.assert_array_equal(upper, np.minimum(index + 1, m) / m)
    np.testing.assert_array_equal(round_predictions(p, m, rounding="floor"), lower)


@pytest.mark.parametrize("m", [2**30, 2**43, 2**52])
@pytest.mark.parametrize("rounding", ["random", "floor"])
def test_huge_grids_need_no_memory(m, rounding):
    p = np.array([0.0, 2.0**-52, 0.1, 0.5, 1 - 2.0**-52, 1.0])
    found = round_predictions(p, m, rounding=rounding, random_state=0)
    assert np.abs(found - p).max() <= 1 / m
    assert np.all(found * m == np.rint(found * m))


def test_draws_are_one_of_two_neighbours_with_the_right_frequency():
    n, m = 40_000, 10
    for p in (0.03, 0.5 + 1e-3, 0.2, 0.999):
        lower, upper, share = (part[0] for part in rounding_weights([p], m))
        draws = round_predictions(np.full(n, p), m, random_state=0)
        assert set(draws) <= {lower, upper}
        error = np.sqrt(share * (1 - share) / n)
        assert abs((draws == upper).mean() - share) <= 4 * error + 1e-12
        assert abs(draws.mean() - p) <= 4 * error / m + 1e-12


def test_seeds():
    p = np.random.default_rng(0).random(500)
    first = round_predictions(p, 8, random_state=3)
    np.testing.assert_array_equal(round_predictions(p, 8, random_state=3), first)
    assert np.any(round_predictions(p, 8, random_state=4) != first)
    generator = np.random.RandomState(3)
    np.testing.assert_array_equal(round_predictions(p, 8, random_state=generator), first)
    assert np.any(round_predictions(p, 8, random_state=generator) != first)
    assert np.any(round_predictions(p, 8) != round_predictions(p, 8))  # None: fresh each time


def test_rows_are_rounded_independently():
    p = np.full(20_000, 0.5)
    up = round_predictions(p, 3, random_state=0) > 0.5
    assert abs(up.mean() - 0.5) < 0.02
    assert abs((up[1:] & up[:-1]).mean() - 0.25) < 0.02


@pytest.mark.parametrize("rounding", ["random", "floor"])
def test_floor_takes_no_draw_and_forms_agree(rounding):
    p = np.random.default_rng(0).random(50)
    expected = round_predictions(p, 8, rounding=rounding, random_state=0)
    for form in (p.tolist(), p[:, None], pd.Series(p, index=np.arange(50)[::-1])):
        found = round_predictions(form, 8, rounding=rounding, random_state=0)
        np.testing.assert_array_equal(found, expected)
    if rounding == "floor":
        np.testing.assert_array_equal(round_predictions(p, 8, rounding=rounding), expected)


@pytest.mark.parametrize("function", [round_predictions, rounding_weights])
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (([0.5], np.inf), ["n_bins", "inf"]),
        (([0.5], 0), ["n_bins", "0"]),
        (([0.5], -2), ["n_bins", "-2"]),
        (([0.5], 2.5), ["n_bins", "2.5"]),
        (([0.5], None), ["n_bins", "None"]),
        (([0.5], 2**60), ["n_bins", str(2**60)]),
        (([0.5, 1.2], 4), ["y_proba", "[0, 1]", "1.2"]),
        (([0.5, np.nan], 4), ["y_proba", "missing"]),
        (([], 4), ["y_proba", "empty"]),
        ((0.5, 4), ["y_proba", "shape ()"]),
    ],
)
def test_errors(function, arguments, parts):
    with pytest.raises(ValueError) as error:
        function(*arguments)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("function", [round_predictions, rounding_weights])
def test_a_matrix_is_refused_with_the_right_reason(function):
    with pytest.raises(ValueError, match="y_proba") as error:
        function([[0.1, 0.9]], 4)
    assert "(1, 2)" in str(error.value)
    assert "must have two columns" not in str(error.value)  # it has two


@pytest.mark.parametrize("rounding", ["up", None, 3])
def test_unknown_rounding(rounding):
    with pytest.raises(ValueError, match="rounding"):
        round_predictions([0.5], 4, rounding=rounding)
