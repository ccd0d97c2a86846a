"""Smooth calibration error against a linear program and a heap; smooth ECE against its images."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import metrics
from skcal._numerics import _flat_norm, _isotonic_l1
from skcal._numerics._flat_norm import flat_norm, flat_norms
from skcal._numerics._isotonic_l1 import isotonic_l1
from skcal.metrics import smooth_calibration_error, smooth_ece
from tests import oracles
from tests.strategies import INTEGERS, random_rows, samples

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


def forecasts(kind, n, seed=0):
    """Predictions and outcomes of a forecaster of a kind, with ties in one of them."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    if kind == "tied":
        p = rng.integers(0, 101, n) / 100
    rate = {
        "over": 0.5 + 0.5 * (p - 0.5),
        "under": np.clip(0.5 + 1.6 * (p - 0.5), 0, 1),
        "biased": p**2,
    }.get(kind, p)
    return (rng.random(n) < rate).astype(int), p


each_kind = pytest.mark.parametrize("kind", ["calibrated", "over", "under", "biased", "tied"])


# Smooth calibration error: the value


@pytest.mark.parametrize("instances", [100, pytest.param(3000, marks=pytest.mark.verify)])
def test_equals_the_linear_program(instances):
    # The tolerance is what the solver promises, slopes over gaps of 1e-9 included.
    rng = np.random.default_rng(instances)
    for _ in range(instances):
        y, p, w = random_rows(rng)
        value = smooth_calibration_error(y, p, sample_weight=w)
        assert value == close(oracles.smooth_program(y, p, w), 1e-9)


@each_kind
@pytest.mark.parametrize("n", [3000, pytest.param(100_000, marks=pytest.mark.verify)])
def test_equals_the_heap_on_large_samples(kind, n):
    y, p = forecasts(kind, n)
    w = np.random.default_rng(1).uniform(0.01, 100, n)
    for weights in (None, w):
        x, where = np.unique(p, return_inverse=True)
        each = np.ones(n) if weights is None else weights
        residual = np.bincount(where, each * (y - p)) / each.sum()
        expected = oracles.smooth_error_of(x, residual)
        assert smooth_calibration_error(y, p, sample_weight=weights) == close(expected)


@each_kind
@pytest.mark.parametrize("n", [1, 2, 3, 1000, 100_000])
def test_both_proofs_meet(kind, n):
    smooth = smooth_calibration_error(*forecasts(kind, n), return_certificate=True)
    assert abs(smooth.gap) <= 1e-12
    assert smooth.verify() is True


@pytest.mark.parametrize(
    ("y", "p", "expected"),
    [
        ([1, 0, 0, 0, 0], [0.9, 0.4, 0.3, 0.4, 0.3], 0.27),
        ([1, 0], [0.0, 1.0], 0.5),  # h falls from 1/2 to -1/2
        ([1, 0, 0, 1, 1], [0.5] * 5, 0.1),  # one prediction: abs(mean residual)
        ([1] * 7, [0.5] * 7, 0.5),
        # 1/2 -+ e with both outcomes: residuals +-e, at a distance of 2 e.
        ([0, 1, 0, 1], [0.45, 0.45, 0.55, 0.55], 0.05 * 0.05),
    ],
)
def test_by_hand(y, p, expected):
    assert smooth_calibration_error(y, p) == close(expected)
    assert metrics.smce is smooth_calibration_error


def test_without_bias_it_is_the_area_under_the_cumulative_residual():
    rng = np.random.default_rng(3)
    for _ in range(50):
        # Every row with its mirror image: the residuals cancel, exactly on this grid.
        p = rng.integers(0, 65, 20) / 64
        y = rng.integers(0, 2, 20)
        y, p = np.append(y, 1 - y), np.append(p, 1 - p)
        x, residual = oracles.residual_masses(y, p)
        area = (np.abs(np.cumsum(residual)[:-1]) * np.diff(x)).sum()
        assert smooth_calibration_error(y, p) == close(area)


def test_a_batch_is_its_rows():
    rng = np.random.default_rng(4)
    for m in (1, 2, 3, 50, 400):
        x = np.sort(rng.choice(2**20, m, replace=False)) / 2**20
        c = rng.normal(size=(12, m))
        c[1] = -c[0]
        c[2] = 0
        c[3] = rng.integers(-1, 2, m)  # many equal sums
        c[4] -= c[4].mean()  # no bias, but for rounding
        c[5, rng.random(m) < 0.7] = 0  # rows that a bootstrap left out
        c[6], c[7] = np.abs(c[6]), -np.abs(c[7])
        c[8] = np.where(np.arange(m) % 2, 1.0, -1.0)
        c[9] *= 1e-200
        values = flat_norms(x, c)
        for row, value in zip(c, values, strict=True):
            scale = np.abs(row).sum() * 1e-13
            assert value == close(flat_norm(x, row).value, scale)
            assert value == close(oracles.smooth_error_of(x, row), scale)


# The isotonic regression, on sequences made against it


def bit_reversal(n):
    bits = (n - 1).bit_length()
    return [int(f"{k:0{bits}b}"[::-1], 2) for k in range(n)]


def against_thresholds(n):
    """Decreasing but at the places of the three elements that a median of three looks at."""
    values = np.arange(n, 0, -1.0)
    for cut in range(n, 8, -4):
        values[[cut // 4, cut // 2, cut - cut // 4 - 1]] = n - cut
    return values


SEQUENCES = {
    "descending": lambda n: np.arange(n, 0, -1.0),
    "ascending": lambda n: np.arange(float(n)),
    "sawtooth": lambda n: np.arange(n) % 7 - 0.01 * np.arange(n),
    "geometric": lambda n: 10.0 ** np.linspace(150, -150, n),
    "geometric sawtooth": lambda n: 10.0 ** (np.arange(n) * 37 % n * (300 / n) - 150),
    "geometric, two signs": lambda n: 10.0 ** np.linspace(-150, 150, n) * (-1.0) ** np.arange(n),
    "organ pipe": lambda n: np.minimum(np.arange(n), n - np.arange(n)).astype(float),
    "bit reversal": lambda n: np.array(bit_reversal(n), dtype=float),
    "two values": lambda n: np.arange(n) * 5 % 8 // 4 * 1.0,
    "against thresholds": against_thresholds,
}


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("patience", [0, 2, 40])  # exact medians at once, soon, and as it is
@pytest.mark.parametrize("n", [7, 64, 4096])
def test_isotonic_regression_of_hard_sequences(sequence, patience, n, monkeypatch):
    monkeypatch.setattr(_isotonic_l1, "PATIENCE", patience)
    work, split = [], _isotonic_l1._split
    monkeypatch.setattr(
        _isotonic_l1,
        "_split",
        lambda pieces, *at: work.append(pieces.value.size) or split(pieces, *at),
    )
    values = SEQUENCES[sequence](n)
    for weights in (np.ones(n), np.random.default_rng(5).uniform(0.01, 1, n)):
        for each in (values, -values, values[::-1].copy()):
            work.clear()
            fit = isotonic_l1(each, weights)
            assert np.all(np.diff(fit) >= 0)
            assert set(fit) <= set(each)
            cost = (weights * np.abs(each - fit)).sum()
            heap = (weights * np.abs(each - oracles.isotonic_by_heap(each, weights))).sum()
            assert cost == pytest.approx(heap, rel=1e-12, abs=0)
            if n <= 64:
                table = oracles.isotonic_cost_by_table(each, weights)
                assert cost == pytest.approx(table, rel=1e-12, abs=0)
            # Elements looked at: the worst sequence known needs 21 passes, exact medians log2 n.
            assert sum(work) <= 22 * n
            assert len(work) <= patience + math.log2(n) + 2 or patience == 40


# The certificate of the smooth calibration error


def certificate():
    return smooth_calibration_error(*forecasts("over", 40), return_certificate=True)


@pytest.mark.parametrize(
    "forge",
    [
        lambda c: {"fit": np.zeros_like(c.fit)},
        lambda c: {"fit": c.sums[:-1], "value": abs(c.sums[-1])},  # not monotone
        lambda c: {"fit": c.fit[::-1].copy()},
        lambda c: {"witness": 1.01 * c.witness},
        lambda c: {"witness": -c.witness},
        lambda c: {"witness": np.sign(c.residual), "value": np.abs(c.residual).sum()},  # too steep
        lambda c: {"witness": np.sign(c.sums[-1]) * np.ones_like(c.x), "value": abs(c.sums[-1])},
        lambda c: {"witness": np.full_like(c.x, np.nan)},
        lambda c: {"fit": np.full_like(c.fit, np.nan)},
        lambda c: {"residual": -c.residual},
        lambda c: {"sums": c.sums + 1e-6},
        lambda c: {"x": c.x[::-1].copy()},
        lambda c: {"value": 2 * c.value, "residual": 2 * c.residual, "sums": 2 * c.sums},
    ],
)
def test_certificate_notices_a_forged_proof(forge):
    smooth = certificate()
    assert smooth.verify() is True
    assert dataclasses.replace(smooth, **forge(smooth)).verify() is False


def test_certificate_shows_the_sample():
    y, p = forecasts("tied", 200)
    smooth = smooth_calibration_error(y, p, return_certificate=True)
    x, residual = oracles.residual_masses(y, p)
    assert smooth.x.tolist() == x.tolist()
    np.testing.assert_allclose(smooth.residual, residual, rtol=0, atol=1e-15)
    # The witness of the certificate is a function of p: it attains the value on the rows.
    assert np.mean((y - p) * np.interp(p, smooth.x, smooth.witness)) == close(smooth.value)


# Smooth ECE


WIDTHS = (0.002, 0.01, 0.05, 0.1, 0.2, 0.4, 1.0, 3.0)
ERROR = 1e-5  # of its computation, by its documentation


@pytest.mark.parametrize("instances", [40, pytest.param(1000, marks=pytest.mark.verify)])
def test_smooth_ece_equals_the_sum_over_images(instances):
    rng = np.random.default_rng(instances + 1)
    for k in range(instances):
        y, p, w = random_rows(rng, max_size=15)
        for sigma in (None, WIDTHS[k % len(WIDTHS)]):
            value = smooth_ece(y, p, sample_weight=w, sigma=sigma)
            expected = oracles.smooth_ece(y, p, w, sigma)
            assert value == close(expected, ERROR)


@pytest.mark.parametrize("p", [[0.4, 0.6], [0.45, 0.55], [0.3, 0.7], [0.0, 1.0]])
def test_smooth_ece_of_two_rows_by_hand(p):
    # Residuals +r at p and -r at 1 - p: the density is odd about 1/2, where its integral is
    # largest. Images beyond those of the nearest two ends weigh nothing at these widths.
    r = (1 - p[0]) / 2
    for sigma in (0.02, 0.05, 0.1, 0.2):
        centres = [k + side * p[0] for k in (-2, 0, 2) for side in (1, -1)]
        others = [k + side * p[1] for k in (-2, 0, 2) for side in (1, -1)]
        half = sum(math.erf((0.5 - c) / sigma / math.sqrt(2)) for c in centres) / 2
        half -= sum(math.erf((0.5 - c) / sigma / math.sqrt(2)) for c in others) / 2
        start = sum(math.erf(-c / sigma / math.sqrt(2)) for c in centres) / 2
        start -= sum(math.erf(-c / sigma / math.sqrt(2)) for c in others) / 2
        value = smooth_ece([1, 0], p, sigma=sigma)
        assert value == close(2 * r * abs(half - start), ERROR)


def test_smooth_ece_of_rare_events():
    rng = np.random.default_rng(6)
    p = np.round(10 ** rng.uniform(-4, -2, 4000), 4)
    y = (rng.random(p.size) < 1.5 * p).astype(int)
    # One row for each prediction and outcome, with its count: the oracle is slow.
    x, where = np.unique(p, return_inverse=True)
    counts = np.bincount(2 * where + y, minlength=2 * x.size).astype(float)
    short = (np.tile([0, 1], x.size), np.repeat(x, 2), counts)
    for sigma in (None, 0.001, 0.01):
        expected = oracles.smooth_ece(*short, sigma, steps=20)
        assert smooth_ece(y, p, sigma=sigma) == close(expected, ERROR)


@each_kind
def test_smooth_ece_is_a_fixed_point(kind):
    kernel = smooth_ece(*forecasts(kind, 500), return_certificate=True)
    assert kernel.value == close(kernel.sigma, 2e-6)
    assert smooth_ece(*forecasts(kind, 500), sigma=kernel.sigma) == close(kernel.value)
    assert kernel.fixed is False
    assert kernel.grid[[0, -1]].tolist() == [0, 1]


@given(rows=samples(), widths=st.lists(st.sampled_from(WIDTHS), min_size=2, max_size=2))
def test_smooth_ece_does_not_grow_with_the_width(rows, widths):
    narrow, wide = (
        smooth_ece(rows.y, rows.p, sample_weight=rows.w, sigma=sigma) for sigma in sorted(widths)
    )
    mean = abs(np.average(rows.y - rows.p, weights=rows.w))
    error = metrics.ece(rows.y, rows.p, sample_weight=rows.w, n_bins=None)
    slack = ERROR
    assert mean - slack <= wide <= narrow + 2 * slack
    assert narrow <= error + slack


@given(rows=samples(weights=INTEGERS))
def test_smooth_ece_of_calibrated_samples_is_zero(rows):
    # At every prediction x = k / 4 of these, k rows of 4 are positive.
    x = np.round(rows.p * 4) / 4
    p = np.repeat(x, 4)
    y = (np.tile(np.arange(4), x.size) < np.repeat(x * 4, 4)).astype(int)
    for sigma in (None, 0.01, 0.3):
        assert smooth_ece(y, p, sample_weight=np.repeat(rows.w, 4), sigma=sigma) == close(0)


def lattice(kind):
    """A sample without a generator of random numbers: predictions and levels on two lattices."""
    k = np.arange(400)
    p = 0.005 + 0.99 * (k * 0.6180339887498949 % 1)
    rate = {
        "calibrated": p,
        "over": 0.5 + 0.5 * (p - 0.5),
        "under": np.clip(0.5 + 1.6 * (p - 0.5), 0, 1),
        "biased": np.clip(p - 0.1, 0, 1),
    }[kind]
    return ((k * 0.7548776662466927 + 0.5) % 1 < rate).astype(int), p


# Computed once with relplot 1.0.3 (kernel on p, not on the logit): at width .05, and at its fixed
# point, a bisection of ten steps. No prediction within .005 of the ends, where it loses mass.
RELPLOT = {
    "calibrated": (0.0156179, 0.0218649),
    "over": (0.1333248, 0.1231669),
    "under": (0.0833472, 0.0805259),
    "biased": (0.0952299, 0.0952293),
}
# Computed once from the sum over images, by the oracle: at width .05 and at the fixed point.
STORED = {
    "calibrated": (0.0155800, 0.0220896),
    "over": (0.1328595, 0.1229375),
    "under": (0.0835397, 0.0806379),
    "biased": (0.0952779, 0.0952780),
}


@pytest.mark.parametrize("kind", RELPLOT)
def test_smooth_ece_stored_values(kind):
    values = [smooth_ece(*lattice(kind), sigma=sigma) for sigma in (0.05, None)]
    assert values == close(STORED[kind], ERROR)
    assert values == close(RELPLOT[kind], 1e-3)


def test_smooth_ece_certificate_notices_another_value():
    for sigma in (None, 0.05):
        kernel = smooth_ece(*forecasts("over", 300), sigma=sigma, return_certificate=True)
        assert kernel.verify() is True
        for change in (1e-3, -1e-3, np.nan):
            assert dataclasses.replace(kernel, value=kernel.value + change).verify() is False
        other = np.abs(kernel.density)[::-1] * 1.01
        assert dataclasses.replace(kernel, density=other).verify() is False


def test_long_lines_leave_out_places_without_mass(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(40))
    c = rng.normal(size=(5, 40)) * (rng.random((5, 40)) < 0.6)
    c[3] = 0
    expected = flat_norms(x, c)
    monkeypatch.setattr(_flat_norm, "LONG", 0)
    assert flat_norms(x, c) == pytest.approx(expected, abs=1e-13)
    assert expected[3] == 0
