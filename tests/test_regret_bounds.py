"""Bounds on regret: the promises of SCDL, and their coverage in simulation."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skcal import metrics, swap_regret
from skcal.decision import realized_regret_bound, regret_bound, round_predictions, rounding_weights
from tests import oracles
from tests.forecasters import forecasts
from tests.strategies import random_rows
from tests.tasks import SCALES, random_table, task_of

# Random tables hold dominated actions, and small samples hard predictions.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


# Expected regret: bounds for all tasks at once


def worst_by_pairs(y, p, m, rounding, ranges):
    """Swap regret of the worst task with at most two kinks of weight.

    A kink v of stake c adds c v to the range of row 0 and c (1 - v) to that of row 1; two kinks use
    up both ranges. They lie a little left or right of a grid point, so that there are no ties. Tiny
    stakes between grid points give each an action of its own.
    """
    total, worst = sum(ranges), 0.0
    at = ranges[0] / total
    near = {v for i in range(m + 1) for v in (i / m - 1e-9, i / m + 1e-9) if 0 <= v <= 1}
    for v1, v2 in product(near | {at}, repeat=2):
        if not v1 <= at <= v2:
            continue
        stakes = {(i + 0.5) / m: 1e-8 * total for i in range(m)}
        weights = {v1: 1.0} if v1 == v2 else {v1: (v2 - at) / (v2 - v1), v2: (at - v1) / (v2 - v1)}
        for v, weight in weights.items():
            stakes[v] = stakes.get(v, 0) + total * weight
        kinks = sorted(v for v in stakes if stakes[v] > 0)
        table = oracles.task_of_kinks(kinks, [stakes[v] for v in kinks])
        np.testing.assert_allclose(np.ptp(table, axis=1), ranges, rtol=0, atol=1e-6 * total)
        for columns in (table, table[:, ::-1]):  # kinks at 0 and at 1 are ties: either may hurt
            regret = swap_regret(y, p, task_of(columns), rounding=rounding, n_bins=m)
            worst = max(worst, regret)
    return worst


@pytest.mark.parametrize("rounding", ["random", "floor"])
@pytest.mark.parametrize("ranges", [(1, 1), (1, 3), (0.2, 0.1), (0, 1), (2, 0), (1e5, 1)])
def test_universal_bound_is_the_supremum(rounding, ranges):
    rng = np.random.default_rng(4)
    for m in (2, 3, 4):
        y, p, _ = random_rows(rng, max_size=10)
        bound = realized_regret_bound(y, p, m, ranges=ranges, rounding=rounding)
        attained = worst_by_pairs(y, p, m, rounding, ranges)
        assert bound == pytest.approx(attained, abs=1e-6 * sum(ranges))


def exceeds_universal(rng, count):
    """Random samples and tasks whose regret is above the bound for all tasks of these ranges."""
    found = []
    for _ in range(count):
        y, p, _ = random_rows(rng)
        m = int(rng.choice([1, 2, 3, 8, 10, 64]))
        dtype = rng.choice([np.float64, np.float32])
        p, rounding = p.astype(dtype), str(rng.choice(["random", "floor"]))
        ranges = rng.choice(SCALES, 2)
        bound = realized_regret_bound(y, p, m, ranges=ranges, rounding=rounding)
        for _ in range(10):
            task = task_of(random_table(rng, ranges=ranges))
            regret = swap_regret(y, p, task, rounding=rounding, n_bins=m)
            if regret > bound + 1e-12 * (1 + ranges.sum()):
                found.append((rounding, m, dtype, y.tolist(), p.tolist(), task.to_dict()))
    return found


def test_universal_bound_holds():
    assert exceeds_universal(np.random.default_rng(5), 80) == []


def test_universal_bound_floors_as_the_response_does():
    # In single precision .7 starts the bin 7/10, also once it is widened.
    y, p = [1, 1, 1, 0, 0], np.full(5, 0.7, dtype=np.float32)
    task = task_of([[0.65, 0], [0, 0.35]])
    regret = swap_regret(y, p, task, rounding="floor", n_bins=10)
    assert regret == pytest.approx(0.05)
    bound = realized_regret_bound(y, p, 10, ranges=task.ranges, rounding="floor")
    assert regret <= bound + 1e-12


def exceeds_soft_loss(rng, count):
    """Random samples and tasks whose regret is above 2 SCDL (L0 + L1)."""
    found = []
    for _ in range(count):
        y, p, w = random_rows(rng)
        rounding = str(rng.choice(["random", "floor"]))
        certificate = metrics.scdl(
            y, p, sample_weight=w, rounding=rounding, return_certificate=True
        )
        alpha, m = certificate.value, certificate.n_bins
        if m > 2**52:  # calibrated (or nearly so): r* needs no rounding
            rounding, m, alpha = None, None, max(alpha, 2**-52)
        else:
            assert m == next(2**k for k in range(1, 60) if 2**k * Fraction(alpha) >= 1)
        for _ in range(10):
            task = task_of(random_table(rng))
            regret = swap_regret(y, p, task, sample_weight=w, rounding=rounding, n_bins=m)
            total = task.ranges.sum()
            bound = total * 2 * alpha
            if rounding is not None:
                bound = min(bound, total * (certificate.loss + 1 / m))
                assert regret_bound(certificate.loss, m, ranges=task.ranges) == pytest.approx(
                    total * (certificate.loss + 1 / m)
                )
            if regret > bound + 1e-12 * (1 + total):
                found.append((rounding, m, y.tolist(), p.tolist(), w, task.to_dict()))
    return found


def test_regret_of_the_rounded_response_is_at_most_twice_scdl():
    assert exceeds_soft_loss(np.random.default_rng(6), 80) == []


@pytest.mark.verify
def test_bounds_on_many_samples():
    assert exceeds_universal(np.random.default_rng(7), 10_000) == []
    assert exceeds_soft_loss(np.random.default_rng(8), 10_000) == []


@pytest.mark.parametrize("n", [1, 2, 50])
def test_tight_case(n):
    y, p = [1] * n, [0.5] * n
    assert metrics.scdl(y, p) == 0.25
    assert regret_bound(0.25, 4) == 1.0  # 4 alpha
    assert realized_regret_bound(y, p, 4) == pytest.approx(1.0)
    # Reached by a task with utilities in [0, 1] that gives the tie at 1/2 to the wrong action.
    task = {0: {"no": 1, "yes": 0}, 1: {"no": 0, "yes": 1}}
    assert swap_regret(y, p, task, rounding="random", n_bins=4) == pytest.approx(1.0)
    assert realized_regret_bound(y, p, 4, confidence=0.99) == pytest.approx(1.0)  # nothing moves


def test_bound_of_one_task_is_its_expected_regret():
    rng = np.random.default_rng(9)
    for _ in range(100):
        y, p, _ = random_rows(rng)
        task, m = task_of(random_table(rng)), int(rng.integers(1, 20))
        rounding = str(rng.choice(["random", "floor"]))
        bound = realized_regret_bound(y, p, m, utility=task, rounding=rounding)
        regret = swap_regret(y, p, task, rounding=rounding, n_bins=m)
        assert bound == pytest.approx(regret, abs=1e-12 * (1 + np.abs(task.utility).max()))


def test_formulas():
    assert regret_bound(0.1, 16, ranges=(2, 3)) == pytest.approx(5 * (0.1 + 1 / 16))
    assert regret_bound(0, np.inf) == 0
    spread = np.sqrt(2 * 17 / 1000) + 2 * np.sqrt(np.log(1 / 0.05) / 2000)
    found = regret_bound(0.1, 16, n_decisions=1000, confidence=0.95)
    assert found == pytest.approx(2 * (0.1 + 1 / 16) + spread)
    assert regret_bound(0.1, 16, n_decisions=10**14, confidence=0.95) < 0.326
    # All tasks at once: a bin of 1/2 -+ 1/8 under m = 4, ones and zeros apart.
    y, p = [1, 1, 0, 0], [0.375, 0.625, 0.375, 0.625]
    drift = 2 * (2 * np.sqrt(0.25) + np.sqrt(0.5)) / 4
    deviation = 2 * np.sqrt(np.log(1 / 0.1) / 8)
    expected = realized_regret_bound(y, p, 4)
    found = realized_regret_bound(y, p, 4, confidence=0.9)
    assert found == pytest.approx(expected + drift + deviation)
    # One task that tells 1/4 and 1/2 apart, but not 1/2 and 3/4: two rows move.
    task = task_of([[0.625, 0], [0, 1]])
    drift = (0.625 + 1) * 2 * np.sqrt(0.25) / 4
    deviation = np.sqrt(np.log(1 / 0.1) / 2 * ((2 * 0.625) ** 2 + 2**2)) / 4
    expected = realized_regret_bound(y, p, 4, utility=task)
    found = realized_regret_bound(y, p, 4, utility=task, confidence=0.9)
    assert found == pytest.approx(expected + drift + deviation)


# Realised regret: coverage in simulation


def realized(y, p, m, task, draws, seed=0):
    """Realised swap regrets of one task over many draws of all roundings."""
    lower, upper, share = rounding_weights(p, m)
    down, up = (task.best_response(x).astype(int) for x in (lower, upper))
    rng, regrets = np.random.default_rng(seed), []
    for _ in range(draws):
        action = np.where(rng.random(p.size) < share, up, down)
        mass = np.bincount(2 * action + y, minlength=2 * task.actions.size).reshape(-1, 2)
        values = mass @ task.utility / p.size
        regrets.append((values.max(axis=1) - np.diag(values)).sum())
    return np.array(regrets)


# A referral that is almost never regretted, on many rows; an overconfident forecaster where it
# hurts; and one that is worth nothing, on few rows and at a larger scale.
EXAMPLES = [
    ("calibrated", 10_000, 8, [[1, 0, 0.8], [0, 1, 0.8]]),
    ("overconfident", 1000, 16, [[0, -4], [-1, 0]]),
    ("constant", 150, 4, [[0, -1, -2, -3], [-3, -1.9, -1, 0]]),
]


@pytest.mark.parametrize(("kind", "n", "m", "table"), EXAMPLES)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_bound_for_one_task_covers_and_is_not_empty(kind, n, m, table, confidence):
    (y, p), task = forecasts(kind, n), task_of(table)
    regrets = realized(y, p, m, task, draws=1000)
    bound = realized_regret_bound(y, p, m, utility=task, confidence=confidence)
    assert (regrets <= bound + 1e-12).mean() >= confidence
    if confidence == 0.95:
        quantile = np.quantile(regrets, 0.95)
        assert bound <= max(5 * quantile, quantile + 0.02)
        # and tighter than the bound that holds for all tasks at once
        assert bound <= realized_regret_bound(y, p, m, ranges=task.ranges, confidence=0.95)


@pytest.mark.parametrize("kind", ["calibrated", "overconfident", "constant"])
@pytest.mark.parametrize(("n", "m", "confidence"), [(60, 2, 0.5), (200, 4, 0.9), (40, 16, 0.5)])
def test_bound_for_all_tasks_covers(kind, n, m, confidence):
    # The CDL of a draw is the realised regret of the worst task, chosen after the draw.
    y, p = forecasts(kind, n)
    bound = realized_regret_bound(y, p, m, confidence=confidence)
    worst = [metrics.cdl(y, round_predictions(p, m, random_state=seed)) for seed in range(100)]
    assert np.mean(np.array(worst) <= bound + 1e-12) >= confidence


POPULATION = {"x": np.array([0.1, 0.3, 0.45, 0.8]), "q": np.array([0.1, 0.4, 0.4, 0.95])}


def future_coverage(n, m, confidence, repetitions):
    """Share of i.i.d. samples, with rounding, whose worst task stays within the bound."""
    x, q = POPULATION.values()
    y, p, w = np.repeat([1, 0], x.size), np.tile(x, 2), np.concatenate([q, 1 - q])
    loss = metrics.scdl(y, p, sample_weight=w, n_bins=m)
    bound = regret_bound(loss, m, n_decisions=n, confidence=confidence)
    rng, inside = np.random.default_rng(n), 0
    for seed in range(repetitions):
        k = rng.integers(x.size, size=n)
        outcome = (rng.random(n) < q[k]).astype(int)
        inside += metrics.cdl(outcome, round_predictions(x[k], m, random_state=seed)) <= bound
    return inside / repetitions


@pytest.mark.parametrize(("n", "m"), [(30, 2), (100, 4), (400, 8)])
def test_bound_for_future_decisions_covers(n, m):
    assert future_coverage(n, m, 0.5, 200) >= 0.5


@pytest.mark.verify
@pytest.mark.parametrize(("n", "m"), [(30, 2), (100, 4), (400, 8), (5000, 16)])
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95])
def test_bound_for_future_decisions_covers_in_many_samples(n, m, confidence):
    assert future_coverage(n, m, confidence, 3000) >= confidence


@pytest.mark.verify
@pytest.mark.parametrize(("kind", "n", "m", "table"), EXAMPLES)
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.9, 0.99])
def test_bound_for_one_task_covers_in_many_draws(kind, n, m, table, confidence):
    for seed in range(5):
        (y, p), task = forecasts(kind, n, seed), task_of(table)
        regrets = realized(y, p, m, task, draws=3000, seed=seed)
        bound = realized_regret_bound(y, p, m, utility=task, confidence=confidence)
        assert (regrets <= bound + 1e-12).mean() >= confidence
