"""The examples of the theory find what the papers claim."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from skcal import metrics
from skcal.decision import round_predictions
from skcal.theory import distance_lower_bound

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "theory"


@pytest.fixture
def run(monkeypatch):
    """Run an example and return its variables."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    plt.close("all")


def test_smooth_error_needs_its_square_root(run):
    found = run("powers")
    error, regret = found["families"]["smCE"][0].T
    np.testing.assert_allclose(regret, np.sqrt(2 * error) / 3, rtol=1e-6)
    error, regret = found["families"]["cutoff"][0].T
    assert np.all(np.diff(regret / error) > 0)  # no multiple of the error bounds the regret
    # The constant settles: from 12 forecasts to 24 it moves by less than two percent.
    constant = regret / error ** (2 / 3)
    assert abs(constant[-1] / constant[3] - 1) < 0.02
    assert 0.65 < found["slopes"]["cutoff"] < 0.67


def test_least_regret_is_that_of_a_search_over_responses(run):
    least_regret, task = (run("powers")[name] for name in ("least_regret", "task"))
    x, rate, mass = np.array([0.35, 0.6]), np.array([0.7, 0.45]), np.array([0.4, 0.6])
    utility = task(np.array([0.5]))
    np.testing.assert_allclose(utility, [[1, 0], [0, 1]])
    steps = np.linspace(0, 1, 501)
    first, second = steps[:, None], steps  # probability of action 1 at either forecast
    advantage = mass * (2 * rate - 1)  # of action 1 over action 0
    swap_one = np.maximum(-(advantage[0] * first + advantage[1] * second), 0)
    swap_zero = np.maximum(advantage[0] * (1 - first) + advantage[1] * (1 - second), 0)
    believed = np.maximum(0.3 * first, 0.2 * (1 - second))
    searched = np.maximum(believed, swap_one + swap_zero).min()
    assert least_regret(x, mass, rate, utility) == pytest.approx(searched, abs=2e-3)
    assert least_regret(x, mass, rate, utility) <= searched + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_root_of_cutoff_is_enough(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(*rng.uniform(0.3, 3, 2), size=200)
    y = (rng.random(200) < np.clip(p + rng.uniform(-0.3, 0.3), 0, 1)).astype(int)
    cutoff = metrics.cutoff_calibration_error(y, p)
    for m in (3, 8, 30):
        rounded = round_predictions(p, m, rounding="floor")
        assert metrics.cdl(y, rounded) <= 2 * ((m + 1) * cutoff + 1 / m) + 1e-12


def test_bias_of_the_distance_without_confidence():
    n = 10_000
    bias = min(1 / (2 * k) + np.sqrt(k / n) / 2 for k in range(1, 1000))
    assert 1 - distance_lower_bound(1.0, n, confidence=1e-12) == pytest.approx(bias, abs=1e-7)


@pytest.mark.verify
def test_slopes_of_the_estimation_error(run):
    found = run("estimation_error")
    slopes, populations = found["slopes"], found["populations"]
    for kind, error in found["errors"].items():
        assert error.shape == (12, 6)
        for k, name in enumerate(found["measures"]):
            assert abs(slopes[kind, name][0] - found["expected"][kind][k]) < 0.025
        for name in ("SCDL", "cutoff"):
            assert slopes[kind, name][2] <= -1 / 2 <= slopes[kind, name][3]
    for row in (("calibrated", "bECE"), "bECE, more rows"):
        assert slopes[row][2] <= -1 / 3 <= slopes[row][3]
    # The closed forms, against the population in the form of a weighted sample.
    x, outcome, weight = np.tile(found["x"], 2), found["outcome"], found["weight"]
    for k, measure in enumerate(found["measures"].values()):
        options = {"n_bins": 2**16} if measure is metrics.actionable_binned_error else {}
        value = measure(outcome, x, sample_weight=weight, **options)
        assert value == pytest.approx(populations["miscalibrated"][k], abs=1e-4)
    assert populations["miscalibrated"][0] == pytest.approx(0.02822, abs=1e-5)


@pytest.mark.verify
def test_losses_of_distinct_forecasts(run):
    found = run("distinct_forecasts")
    for w, losses in found["cdl"].items():
        assert losses[-1] == pytest.approx((1 - w) / 2, abs=0.002)
        assert found["scdl"][w][-1] < 0.002
    assert found["gain"] > 0.49
    assert abs(found["again"]) < 0.01


@pytest.mark.verify
def test_regrets_of_random_tasks(run):
    for regrets, worst in run("actionability")["ratios"].values():
        assert regrets.size == 900
        assert regrets.max() <= worst + 1e-12
        assert worst <= 1 + 1e-12
    assert worst == pytest.approx(1)  # the last forecaster attains the bound


@pytest.mark.verify
def test_ratios_of_changes(run):
    ratios = run("continuity")["ratios"]
    assert max(ratios.values()) <= 2
    assert ratios["steepest"] > 1.99


@pytest.mark.verify
def test_ratios_to_the_distance(run):
    for pairs in run("distance")["found"].values():
        distance, scdl = pairs.T
        assert np.all(scdl <= 2 * np.sqrt(distance))
        assert np.all(scdl >= 0.18 * distance**2)


@pytest.mark.verify
def test_excess_of_the_distance(run):
    found = run("one_sided")
    _, low, high = found["slopes"]["upper end"]
    assert low <= -1 / 3 <= high
    assert np.all(found["ends"][:, 1] <= found["bias"])


@pytest.mark.verify
def test_pair_is_told_apart_by_repeated_inputs_only(run):
    found = run("indistinguishable")
    for curve in found["curves"].values():
        np.testing.assert_allclose(curve, found["limit"], atol=0.06)


@pytest.mark.verify
def test_subset_sums_are_exposed(run):
    found = run("subset_sum")
    for excess in found["excess"].values():
        np.testing.assert_array_equal(np.abs(excess) < 1e-12, found["reached"])
        assert np.all(excess > -1e-12)
