"""SCDL at the ends of its scale: tiny and zero losses, large samples, plateaus."""

import tracemalloc

import numpy as np
import pytest

from skcal._numerics import _soft_loss
from skcal.metrics import cdl, scdl
from tests import oracles

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

ROUNDINGS = pytest.mark.parametrize("rounding", ["random", "floor"])


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


def uniform(seed, n, power=1.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


def _no_giant_arrays(function, *arguments, megabytes=4, **options):
    function([1, 0], [0.25, 0.75])  # what is imported or cached at first use
    tracemalloc.start()
    try:
        value = function(*arguments, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes * 2**20
    return value


@ROUNDINGS
@pytest.mark.parametrize("copies", [1, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_tiny_scdl_needs_no_giant_arrays(rounding, copies, weighted):
    y = np.tile([1, 0], copies)
    p = np.tile([0.5 - 1e-9, 0.5 + 1e-9], copies)
    w = np.full(2 * copies, 0.3) if weighted else None
    loss = _no_giant_arrays(scdl, y, p, sample_weight=w, rounding=rounding, return_certificate=True)
    if rounding == "random":
        assert (loss.value, loss.n_bins) == (2.0**-15, 32768)
    assert loss.value == close(oracles.soft_decision_loss(y[:2], p[:2], rounding=rounding))
    assert loss.verify() is True
    assert cdl(y, p, sample_weight=w) == pytest.approx(1, abs=1e-8)


@ROUNDINGS
@pytest.mark.parametrize("m", [2**24, 2**24 - 1, 10**7, 2**43, 2**43 - 1])
def test_scdl_m_of_a_giant_grid_needs_no_giant_arrays(rounding, m):
    y, p = [1, 0, 1], [0.1, 0.3, 0.8]
    value = _no_giant_arrays(scdl, y, p, n_bins=m, rounding=rounding)
    triples = oracles.atoms(y, p)
    assert value == close(max(oracles.regret_at(v, triples) for v in p), tolerance=2 / m)


@ROUNDINGS
@pytest.mark.parametrize("error", [1e-3, 1e-6, 1e-9, 1e-11])
def test_scdl_of_a_small_error(rounding, error):
    # One prediction off by a little: SCDL shrinks with the error and is not lost.
    y, p = [0, 1], [0.5 + error] * 2
    value = scdl(y, p, rounding=rounding)
    assert 0 < value <= cdl(y, p)
    assert value == close(oracles.soft_decision_loss(y, p, rounding=rounding))
    assert value >= error / 4


@ROUNDINGS
def test_calibrated_samples_score_exactly_zero(rounding):
    rng = np.random.default_rng(6)
    for n_groups in (1, 2, 7, 300):
        x = np.unique(rng.integers(0, 1001, n_groups) / 1000)
        # Weights of ones and zeros in the proportion x to 1 - x, split into rows at random.
        y, p = np.repeat([0, 1], x.size), np.tile(x, 2)
        for scale in (1.0, 0.1, 1 / 3, 1e-300, 1e300):
            mass = rng.choice([1.0, 3.0, 7.0], x.size)
            w = np.concatenate([mass * (1 - x), mass * x]) * scale
            loss = scdl(y, p, sample_weight=w, rounding=rounding, return_certificate=True)
            assert (loss.value, loss.n_bins, loss.next_loss) == (0.0, np.inf, 0.0)
            assert loss.verify() is True
            assert cdl(y, p, sample_weight=w) == close(0.0)


@ROUNDINGS
def test_large_calibrated_samples_return_at_once(rounding, monkeypatch):
    x = np.repeat(np.arange(1, 400) / 400, 400)
    y = (np.tile(np.arange(400), 399) < np.round(400 * x)).astype(int)
    levels = []
    for name in ("grid_loss", "soft_loss"):
        kernel = getattr(_soft_loss, name)
        monkeypatch.setattr(
            _soft_loss, name, lambda *a, kernel=kernel: levels.append(0) or kernel(*a)
        )
    assert scdl(y, x, rounding=rounding) == 0.0
    assert 0 < len(levels) <= 4  # not the forty down to 2**-43
    # Less than a hundred numbers a row.
    assert _no_giant_arrays(scdl, y, x, rounding=rounding, megabytes=100) == 0.0


@pytest.mark.verify
def test_certificate_of_a_million_rows():
    rng = np.random.default_rng(0)
    p = rng.random(10**6)
    y = (rng.random(p.size) < p).astype(int)
    for measure in (cdl, scdl):
        assert measure(y, p, return_certificate=True).verify() is True


def test_next_loss_orders_samples_on_a_plateau():
    found = {}
    for seed in range(8):
        y, p = uniform(seed, 10_000)
        loss = scdl(y, p, return_certificate=True)
        assert loss.next_loss == close(scdl(y, p, n_bins=2 * loss.n_bins))
        found.setdefault(loss.value, set()).add(loss.next_loss)
    plateau = max(found.values(), key=len)
    assert len(plateau) >= 3  # several samples with one SCDL, told apart


def test_distinct_predictions_fool_cdl_and_not_scdl():
    # A calibrated forecaster near 1/2: CDL stays near 1/2 at every size, SCDL does not.
    for n, limit in ((400, 0.07), (6400, 0.02)):
        rng = np.random.default_rng(n)
        p = 0.5 + rng.uniform(-0.01, 0.01, n)
        y = (rng.random(n) < p).astype(int)
        assert cdl(y, p) > 0.45
        assert scdl(y, p) < limit
