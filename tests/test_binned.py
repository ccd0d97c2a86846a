"""Binned errors: bins and their edges, norms, quantile bins, the debiased error."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import CalibrationWarning
from skcal.metrics import actionable_binned_error, ece, scdl
from tests import oracles
from tests.strategies import INTEGERS, NO_WEIGHTS, random_rows, samples

pytestmark = pytest.mark.filterwarnings("ignore:y_proba holds only 0 and 1")

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
QUANTILE = {"strategy": "quantile", "return_certificate": True}


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


# Oracles


@pytest.mark.parametrize("n_bins", [1, 2, 7, 10, 15, 100])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_errors_by_loops(n_bins, norm):
    rng = np.random.default_rng(n_bins)
    for _ in range(15):
        y, p, w = random_rows(rng, max_size=30)
        expected = oracles.binned_error(y, p, w, n_bins, norm)
        assert ece(y, p, sample_weight=w, n_bins=n_bins, norm=norm) == close(expected)


@pytest.mark.filterwarnings("ignore:more than half")
@given(rows=samples())
def test_exact_error_is_the_limit_of_fine_bins(rows):
    exact = ece(rows.y, rows.p, sample_weight=rows.w, n_bins=None)
    expected = sum(mass * abs(q - x) for x, q, mass in oracles.atoms(*rows))
    assert exact == close(expected)
    # Wider bins let errors cancel.
    for n_bins in (1, 4, 15):
        assert ece(rows.y, rows.p, sample_weight=rows.w, n_bins=n_bins) <= exact + 1e-12


@given(rows=samples())
def test_norms_are_ordered(rows):
    l1, l2, largest = (
        ece(rows.y, rows.p, sample_weight=rows.w, norm=norm) for norm in ("l1", "l2", "max")
    )
    assert l1 <= l2 + 1e-12
    assert l2 <= largest + 1e-12


def test_one_bin_compares_the_means():
    assert ece([1, 0, 1, 1], [0.1, 0.2, 0.4, 0.5], n_bins=1) == close(0.45)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 10, 64])
def test_actionable_error_is_twice_the_error_of_the_floors(m):
    rng = np.random.default_rng(m)
    for _ in range(15):
        y, p, w = random_rows(rng, max_size=30)
        value = actionable_binned_error(y, p, sample_weight=w, n_bins=m)
        assert value == close(oracles.rounded_error(y, p, w, m))
        assert value <= 2


@pytest.mark.parametrize(
    ("n", "m"), [(1, 1), (3, 1), (4, 2), (15, 2), (16, 3), (100, 5), (1000, 10)]
)
def test_actionable_grid_is_the_cube_root_of_the_rows(n, m):
    rng = np.random.default_rng(n)
    p, y = rng.random(n), rng.integers(0, 2, n)
    certificate = actionable_binned_error(y, p, return_certificate=True)
    assert certificate.n_bins == m  # steps between the grid points 0, 1/m, ..., 1
    assert certificate.value == actionable_binned_error(y, p, n_bins=m)


def test_one_stays_one_when_rounded_down():
    assert actionable_binned_error([1, 1, 1], [1.0, 1.0, 1.0], n_bins=4) == 0
    assert actionable_binned_error([0], [1.0], n_bins=4) == 2
    assert actionable_binned_error([1], [0.99], n_bins=4) == close(0.5)


# Edges: k/m starts bin k, in every precision


@DTYPES
@pytest.mark.parametrize("m", range(1, 101))
def test_multiples_of_the_width_start_their_bin(m, dtype):
    p = (np.arange(m + 1) / m).astype(dtype)
    y = np.zeros(m + 1, dtype=int)
    count = ece(y, p, n_bins=m, return_certificate=True).count
    assert count.tolist() == [1] * (m - 1) + [2]  # the last bin is closed: it holds 1
    grid = actionable_binned_error(y, p, n_bins=m, return_certificate=True).count
    assert grid.tolist() == [1] * (m + 1)
    weight = scdl(y, p, n_bins=m, rounding="floor", return_certificate=True).weight
    np.testing.assert_allclose(weight, np.full(m + 1, 1 / (m + 1)))


@DTYPES
@pytest.mark.parametrize("m", [1, 2, 3, 7, 10, 15, 49, 64, 100])
def test_their_lower_neighbours_do_not(m, dtype):
    edges = (np.arange(1, m + 1) / m).astype(dtype)
    p = np.nextafter(edges, dtype(0))
    y = np.zeros(m, dtype=int)
    assert ece(y, p, n_bins=m, return_certificate=True).count.tolist() == [1] * m
    grid = actionable_binned_error(y, p, n_bins=m, return_certificate=True).count
    assert grid.tolist() == [1] * m + [0]


@DTYPES
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_edges_follow_the_precision_of_columns_too(dtype, container):
    # .7 in single precision lies below .7 in double precision, and still starts its bin.
    p = np.array([0.7, 0.3, 0.1, 0.9], dtype=dtype)
    module = pytest.importorskip(container)
    if dtype is np.float16 and container == "polars" and not hasattr(module, "Float16"):
        pytest.skip("no half precision in older releases")
    expected = ece([0, 0, 0, 0], p, n_bins=10, return_certificate=True).count.tolist()
    assert [k for k in range(10) if expected[k]] == [1, 3, 7, 9]
    series = module.Series(p)
    found = ece([0, 0, 0, 0], series, n_bins=10, return_certificate=True).count.tolist()
    assert found == expected


def test_edges_follow_the_precision_of_nullable_columns():
    pandas = pytest.importorskip("pandas")
    p = pandas.Series(np.array([0.7, 0.3, 0.1, 0.9], dtype=np.float32), dtype="Float32")
    count = ece([0, 0, 0, 0], p, n_bins=10, return_certificate=True).count
    assert np.flatnonzero(count).tolist() == [1, 3, 7, 9]


@given(
    p=st.floats(0, 1), m=st.integers(1, 3000), neighbour=st.integers(-1, 1), k=st.integers(0, 3000)
)
def test_bins_by_exact_comparison(p, m, neighbour, k):
    beside = np.clip(np.nextafter(min(k, m) / m, min(k, m) / m + neighbour), 0, 1)
    for x in (p, float(beside)):
        count = ece([1], [x], n_bins=m, return_certificate=True).count
        index = int(np.flatnonzero(count)[0])
        assert index / m <= x
        assert x < (index + 1) / m or index == m - 1
        grid = actionable_binned_error([1], [x], n_bins=m, return_certificate=True).count
        assert np.flatnonzero(grid)[0] == index + (x == 1)


# The table of bins


@given(rows=samples(), n_bins=st.integers(1, 20))
def test_table_of_bins(rows, n_bins):
    table = ece(rows.y, rows.p, sample_weight=rows.w, n_bins=n_bins, return_certificate=True)
    assert table.n_bins == n_bins
    assert table.edges.tolist() == [k / n_bins for k in range(n_bins + 1)]
    groups = oracles.bins(rows.y, rows.p, rows.w, n_bins)
    w = np.ones(rows.p.size) if rows.w is None else rows.w
    for k in range(n_bins):
        members = groups.get(k, [])
        assert table.count[k] == len(members)
        assert table.weight[k] == close(w[members].sum(), 1e-9)
        if members:
            assert table.mean_proba[k] == close(np.average(rows.p[members], weights=w[members]))
            assert table.mean_outcome[k] == close(np.average(rows.y[members], weights=w[members]))
        else:
            assert np.isnan([table.mean_proba[k], table.mean_outcome[k]]).all()


def test_empty_bins_are_visible_and_change_nothing():
    table = ece([0, 1], [0.05, 0.95], n_bins=10, return_certificate=True)
    assert table.value == close(0.05)
    assert table.count.tolist() == [1, *[0] * 8, 1]
    assert np.isnan(table.mean_proba[1:-1]).all()
    assert table.edges.size == 11
    for norm in ("l1", "l2", "max"):
        assert ece([0, 1], [0.05, 0.95], n_bins=1000, norm=norm) == close(0.05)


def test_a_bin_of_zero_weight_is_an_empty_bin():
    table = ece([0, 1], [0.05, 0.95], sample_weight=[0, 2], n_bins=10, return_certificate=True)
    assert table.count.tolist() == [*[0] * 9, 1]
    assert table.value == close(0.05)


# Quantile bins


@given(rows=samples(), n_bins=st.integers(1, 15))
def test_quantile_bins_never_split_ties(rows, n_bins):
    table = ece(rows.y, rows.p, sample_weight=rows.w, n_bins=n_bins, **QUANTILE)
    assert 1 <= table.n_bins <= n_bins
    assert table.count.sum() == rows.p.size
    assert (table.count > 0).all()
    # Every prediction has one bin: the first edge below or at it, the last bin closed.
    edges = table.edges
    assert (edges[0], edges[-1]) == (rows.p.min(), rows.p.max())
    index = np.minimum(np.searchsorted(edges[:-1], rows.p, "right") - 1, table.n_bins - 1)
    assert np.bincount(index, minlength=table.n_bins).tolist() == table.count.tolist()
    w = np.ones(rows.p.size) if rows.w is None else rows.w
    gaps = [abs(np.sum((w * (rows.y - rows.p))[index == k])) / w.sum() for k in range(table.n_bins)]
    assert table.value == close(sum(gaps))


@pytest.mark.parametrize(("n", "n_bins"), [(12, 4), (15, 15), (10, 1), (20, 10), (7, 7), (9, 3)])
def test_quantile_bins_hold_equal_shares(n, n_bins):
    rng = np.random.default_rng(n)
    p = rng.random(n)
    table = ece(rng.integers(0, 2, n), p, n_bins=n_bins, **QUANTILE)
    assert table.count.tolist() == [n // n_bins] * n_bins


@pytest.mark.parametrize("weight", [0.1, 0.3, 1 / 3, 0.7, 1e-3])
@pytest.mark.parametrize("n", [3, 5, 6, 12, 30])
def test_quantile_bins_do_not_hang_on_the_last_bit_of_a_sum(n, weight):
    p = np.arange(1, n + 1) / (n + 1)
    y = np.arange(n) % 2
    for n_bins in (2, 3, 4, 5):
        plain = ece(y, p, n_bins=n_bins, **QUANTILE)
        weighted = ece(y, p, sample_weight=np.full(n, weight), n_bins=n_bins, **QUANTILE)
        assert weighted.count.tolist() == plain.count.tolist()


def test_quantile_bins_of_tied_predictions_merge():
    table = ece([0, 1, 1, 0, 1], [0.5] * 5, n_bins=4, **QUANTILE)
    assert table.count.tolist() == [5]
    table = ece([0] * 8 + [1, 1], [0.1] * 8 + [0.6, 0.9], n_bins=5, **QUANTILE)
    assert table.count[0] == 8


def test_more_quantile_bins_than_rows():
    table = ece([0, 1, 1], [0.1, 0.2, 0.9], n_bins=100, **QUANTILE)
    assert table.count.tolist() == [1, 1, 1]


# The debiased l2 error


DEBIASED = {"norm": "l2", "debias": True}


@given(rows=samples(weights=(*NO_WEIGHTS, *INTEGERS)))
def test_debiased_error_by_loops(rows):
    mixed_singles = any(
        len({rows.y[row] for row in group}) == 2 and np.sum(rows.w[group]) <= 1
        for group in oracles.bins(rows.y, rows.p, rows.w, 10).values()
        if rows.w is not None
    )
    assert not mixed_singles  # integer weights count repetitions
    expected = oracles.binned_error(rows.y, rows.p, rows.w, 10, **DEBIASED)
    found = ece(
        rows.y, rows.p, sample_weight=rows.w, n_bins=10, **DEBIASED, return_certificate=True
    )
    assert found.value == close(expected, 1e-8)  # a root: its error is that of the square
    assert found.value**2 == close(max(found.signed_square, 0.0))
    assert found.value <= ece(rows.y, rows.p, sample_weight=rows.w, n_bins=10, norm="l2") + 1e-12
    assert found.verify() is True


def test_signed_estimate_shows_what_the_value_hides():
    table = ece([0, 1], [0.5, 0.5], **DEBIASED, return_certificate=True)
    assert table.value == 0
    assert table.signed_square == close(-0.25)
    plain = ece([0, 1, 1], [0.5] * 3, norm="l2", return_certificate=True)
    assert plain.signed_square == close((1 / 6) ** 2)


def test_debiased_square_is_unbiased():
    # 4 predictions, 6 rows each: of calibrated outcomes, and of outcomes off by a known amount.
    rng = np.random.default_rng(12)
    x = np.array([0.1, 0.35, 0.6, 0.85])
    p = np.repeat(x, 6)
    for rate in (x, np.array([0.2, 0.35, 0.4, 0.8])):
        truth = np.mean((rate - x) ** 2)
        draws = (rng.random((1500, p.size)) < np.repeat(rate, 6)).astype(int)
        tables = [ece(y, p, n_bins=10, **DEBIASED, return_certificate=True) for y in draws]
        squares = np.array([table.signed_square for table in tables])
        error = squares.std() / np.sqrt(squares.size)
        assert abs(squares.mean() - truth) < 4 * error
        plain = np.array([ece(y, p, n_bins=10, norm="l2") ** 2 for y in draws[:200]])
        assert plain.mean() - truth > 20 * error  # what there was to remove


def test_debiased_error_needs_repetitions():
    with pytest.raises(ValueError, match="sample_weight must count repetitions"):
        ece([0, 1], [0.5, 0.5], sample_weight=[0.5, 0.5], **DEBIASED)


# The warning of the exact error


def test_exact_error_warns_when_predictions_are_their_own():
    with pytest.warns(CalibrationWarning, match="more than half") as caught:
        ece([0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.4], n_bins=None)
        ece([0, 1, 1], [0.1, 0.2, 0.3], n_bins=None)
    # At the lines above, so that Python's once-per-line filter works for the user's own lines.
    assert [each.filename for each in caught] == [__file__] * 2
    assert caught[1].lineno == caught[0].lineno + 1


def test_exact_error_rewards_sharpening_there():
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y = (rng.random(2000) < p).astype(int)
    with pytest.warns(CalibrationWarning):
        calibrated = ece(y, p, n_bins=None)
    assert calibrated == pytest.approx(1 / 3, abs=0.02)
    assert ece(y, np.round(p), n_bins=None) == pytest.approx(1 / 4, abs=0.02)


@pytest.mark.parametrize("p", [[0.1, 0.2, 0.3, 0.3, 0.3, 0.3], [0.5, 0.5, 0.25, 0.75]])
def test_exact_error_is_quiet_when_half_of_them_are_tied(p):
    ece(np.arange(len(p)) % 2, p, n_bins=None)  # warnings are errors here


# Values by hand


@pytest.mark.parametrize(
    ("norm", "expected"),
    [("l1", 0.14), ("l2", np.sqrt(0.9 * 0.05**2 + 0.1 * 0.95**2)), ("max", 0.95)],
)
def test_norms_by_hand(norm, expected):
    assert ece([0] * 10, [0.05] * 9 + [0.95], n_bins=10, norm=norm) == close(expected)


def test_sums_keep_their_digits():
    # The sum of many equal residuals, by rationals.
    n = 10**5
    p = np.full(n, 0.3)
    y = (np.arange(n) % 3 == 0).astype(int)
    exact = Fraction(int(y.sum()), n) - Fraction(0.3)
    assert ece(y, p, n_bins=10) == close(float(exact), 1e-12)
