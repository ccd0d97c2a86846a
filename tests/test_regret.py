"""Swap and external regret by brute force, and the promises of SCDL in simulation."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from skcal import DecisionTask, metrics, swap_regret, worst_case_task
from skcal.decision import (
    external_regret,
    realized_regret_bound,
    regret_bound,
    round_predictions,
    rounding_weights,
)
from tests import oracles
from tests.strategies import random_rows

# Random tables hold dominated actions, and small samples hard predictions.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

NAMES = ["wait", "treat", "refer"]
UTILITY = np.array([[0, -1, -0.3], [-5, 0, -0.3]])
ORACLE = ([0, 1, 1, 0], [0.125, 0.5, 0.75, 0.875])
ROUNDINGS = [(None, None), ("random", 3), ("random", 8), ("floor", 5), ("floor", 4)]
SCALES = [0.0, 1e-6, 0.3, 1.0, 7.0, 1e5]


def task_of(table):
    return DecisionTask(table, actions=range(np.shape(table)[1]))


def random_table(rng, n_actions=None, ranges=None):
    """A table of any scale and offset, or with just these ranges of its rows."""
    n_actions = n_actions or int(rng.integers(1, 6))
    table = rng.random((2, n_actions)) if rng.random() < 0.6 else rng.integers(0, 3, (2, n_actions))
    if ranges is None:
        ranges, table = rng.choice(SCALES, 2), table + rng.choice([-9, 0, 0.1, 30], (2, 1))
    spread = np.ptp(table, axis=1, keepdims=True)
    table = table / np.where(spread > 0, spread, 1)  # ranges of one, or of zero
    return table * np.reshape(ranges, (2, 1))


def distribution(task, p, rounding, m):
    """Probability of each action by row, from best responses to the two grid points."""
    if rounding is None:
        return np.eye(task.actions.size)[task.best_response(p).astype(int)]
    lower, upper, share = rounding_weights(p, m, rounding=rounding)
    down, up = (
        np.eye(task.actions.size)[task.best_response(x).astype(int)] for x in (lower, upper)
    )
    return (1 - share)[:, None] * down + share[:, None] * up


def brute_force(y, pi, table, w):
    """Swap and external regret by trying every map from actions to actions."""
    w = np.ones(len(y)) / len(y) if w is None else w / w.sum()
    actions = range(table.shape[1])
    own = (w[:, None] * pi * table[y]).sum()
    swapped = {
        swap: sum(w @ (pi[:, a] * table[y, swap[a]]) for a in actions) - own
        for swap in product(actions, repeat=len(actions))
    }
    return swapped, max(w @ table[y, b] for b in actions) - own


# Values


@pytest.mark.parametrize(("rounding", "m"), ROUNDINGS)
def test_regret_is_the_best_of_all_swaps(rounding, m):
    rng = np.random.default_rng(0)
    for _ in range(40):
        y, p, w = random_rows(rng, max_size=15)
        table = random_table(rng, int(rng.integers(1, 5)))
        task = task_of(table)
        pi = distribution(task, p, rounding, m)
        swapped, external = brute_force(y, pi, table, w)
        options = {"rounding": rounding, "n_bins": m, "sample_weight": w}
        regret, best = swap_regret(y, p, task, return_map=True, **options)
        tiny = 1e-13 * max(1, np.abs(table).max())
        assert type(regret) is float
        assert regret >= 0
        assert regret == pytest.approx(max(swapped.values()), abs=tiny, rel=1e-12)
        assert swap_regret(y, p, table, **options) == regret if len(table[0]) == 2 else True
        taken = np.flatnonzero(pi[slice(None) if w is None else w > 0].any(axis=0))
        assert list(best) == taken.tolist()
        attained = swapped[tuple(best.get(a, a) for a in range(table.shape[1]))]
        assert attained == pytest.approx(regret, abs=tiny, rel=1e-12)
        found = external_regret(y, p, task, **options)
        assert found == pytest.approx(external, abs=tiny, rel=1e-12)
        assert found <= regret + tiny


@pytest.mark.parametrize("m", [3, 8])
def test_random_rounding_is_in_exact_expectation(m):
    rng = np.random.default_rng(1)
    p = rng.random(12)
    y = rng.integers(0, 2, 12)
    task = task_of(rng.random((2, 3)))
    drawn = round_predictions(np.repeat(p, 4000), m, random_state=0)
    draws = task.best_response(drawn).astype(int).reshape(12, 4000).T
    played = np.eye(3)[draws].mean(axis=0)
    # The expectation is inside the supremum: the mean of the regrets of the draws is larger.
    swapped, _ = brute_force(y, played, task.utility, None)
    regret = swap_regret(y, p, task, rounding="random", n_bins=m)
    assert regret == pytest.approx(max(swapped.values()), abs=0.02)
    each = [max(brute_force(y, np.eye(3)[a], task.utility, None)[0].values()) for a in draws[:200]]
    assert np.mean(each) >= regret - 0.02


@pytest.mark.parametrize(("rounding", "m"), ROUNDINGS)
def test_swaps_by_forecast_are_the_best_action_for_every_grid_point(rounding, m):
    rng = np.random.default_rng(11)
    for _ in range(30):
        y, p, w = random_rows(rng, max_size=15)
        w = np.ones(y.size) if w is None else w
        task = task_of(random_table(rng))
        parts = [(p, 1.0)]
        if rounding is not None:
            lower, upper, share = rounding_weights(p, m, rounding=rounding)
            parts = [(lower, 1 - share), (upper, share)]
        masses = {}
        for values, part in parts:
            for x, outcome, mass in zip(values.tolist(), y, part * w, strict=True):
                masses.setdefault(x, np.zeros(2))[outcome] += mass
        expected = 0.0
        for x, mass in masses.items():
            worth = mass @ task.utility
            expected += worth.max() - worth[int(task.best_response([x])[0])]
        options = {"rounding": rounding, "n_bins": m, "sample_weight": w}
        found = swap_regret(y, p, task, swaps="forecast", **options)
        tiny = 1e-12 * (1 + np.abs(task.utility).max())
        assert found == pytest.approx(expected / w.sum(), abs=tiny)
        assert found >= swap_regret(y, p, task, **options) - tiny


def test_swaps_by_forecast_attain_the_decision_loss():
    rng = np.random.default_rng(12)
    for _ in range(50):
        y, p, w = random_rows(rng)
        task = worst_case_task(y, p, sample_weight=w)
        if task is not None:
            found = swap_regret(y, p, task, sample_weight=w, swaps="forecast")
            assert found == pytest.approx(metrics.cdl(y, p, sample_weight=w), abs=1e-12)


def test_swaps_by_forecast_of_more_than_two_classes():
    proba = np.array([[0.5, 0.3, 0.2]] * 3 + [[0.6, 0.3, 0.1]] * 2)
    y = [1, 1, 0, 0, 2]  # every action is 0: swaps by forecast may part the two groups
    assert swap_regret(y, proba, np.eye(3)) == pytest.approx(0)
    assert swap_regret(y, proba, np.eye(3), swaps="forecast") == pytest.approx(1 / 5)


def test_oracle():
    table = {k: dict(zip(NAMES, row, strict=True)) for k, row in enumerate(UTILITY.tolist())}
    for utility in (table, pd.DataFrame(table).T, DecisionTask(table)):
        regret, swap = swap_regret(*ORACLE, utility, return_map=True)
        assert regret == pytest.approx(0.1, abs=1e-15)
        assert swap == {"treat": "refer", "refer": "refer"}
        assert external_regret(*ORACLE, utility) == pytest.approx(0.1, abs=1e-15)


def test_regret_zero_says_nothing_about_claims():
    # All forecasts .01 off the threshold and wrong by much: no swap of one action helps.
    y, p = [0] * 8 + [1] * 2, [0.001] * 10
    assert swap_regret(y, p, [[0, -1], [-3, 0]]) == 0
    assert metrics.ece(y, p, n_bins=None) == pytest.approx(0.199)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_more_than_two_classes(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = np.array(["b", "a", "d", "c"])[:n_classes]
    for _ in range(20):
        proba = rng.dirichlet(np.ones(n_classes), 12)
        codes = rng.integers(n_classes, size=12)
        table = rng.normal(size=(n_classes, 3))
        task = DecisionTask(table, classes=classes, actions=range(3))
        pi = np.eye(3)[task.best_response(proba).astype(int)]
        swapped, external = brute_force(codes, pi, table, None)
        regret = swap_regret(classes[codes], proba, task)
        assert regret == pytest.approx(max(swapped.values()), abs=1e-13)
        assert external_regret(classes[codes], proba, task) == pytest.approx(external, abs=1e-13)
    # Unlabelled: rows of the table and columns of y_proba are the sorted classes, or `labels`.
    square, order = table @ rng.normal(size=(3, n_classes)), np.argsort(classes)
    expected = swap_regret(classes[codes], proba, square, labels=classes)
    if np.unique(codes).size == n_classes:
        found = swap_regret(classes[codes], proba[:, order], square[np.ix_(order, order)])
        assert found == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("rounding", "m"), ROUNDINGS)
def test_weights_are_repetitions(rounding, m):
    rng = np.random.default_rng(2)
    p, y, w = rng.random(30), rng.integers(0, 2, 30), rng.integers(0, 4, 30)
    task = DecisionTask(UTILITY, actions=NAMES)
    for function in (swap_regret, external_regret):
        options = {"rounding": rounding, "n_bins": m}
        weighted = function(y, p, task, sample_weight=w, **options)
        repeated = function(np.repeat(y, w), np.repeat(p, w), task, **options)
        assert weighted == pytest.approx(repeated, abs=1e-14)


@pytest.mark.parametrize(("neg", "pos"), [("no", "yes"), ("good", "bad"), (0, 1), (-1, 1), (1, 2)])
@pytest.mark.parametrize(("rounding", "m"), ROUNDINGS[:3])
def test_labels_and_the_side_of_pos_label(neg, pos, rounding, m):
    rng = np.random.default_rng(3)
    p, code = rng.integers(0, 65, 40) / 64, rng.integers(0, 2, 40)  # 1 - p is exact
    y = np.where(code == 1, pos, neg)
    table = {k: dict(zip(NAMES, row, strict=True)) for k, row in zip((neg, pos), UTILITY)}  # noqa: B905
    options = {"rounding": rounding, "n_bins": m}
    expected = swap_regret(code, p, dict(zip((0, 1), table.values(), strict=True)), **options)
    both = np.column_stack([1 - p, p])
    order = np.argsort([neg, pos])
    for found in (
        swap_regret(y, p, table, pos_label=pos, **options),
        swap_regret(y, 1 - p, table, pos_label=neg, **options),
        swap_regret(y.tolist(), p[:, None], table, pos_label=pos, **options),
        swap_regret(pd.Series(y), both[:, order], table, **options),
        swap_regret(y, both, table, labels=[neg, pos], **options),
        swap_regret(y, both, DecisionTask(table, classes=[neg, pos]), **options),
    ):
        assert found == pytest.approx(expected, abs=1e-14)


def test_one_class_of_a_known_pair():
    table = {"no": {"wait": 0, "act": -1}, "yes": {"wait": -5, "act": 0}}
    assert swap_regret(["yes"] * 3, [0.1, 0.1, 0.9], table, pos_label="yes") == pytest.approx(
        10 / 3
    )
    assert swap_regret(["no"] * 2, [[0.9, 0.1], [0.1, 0.9]], table) == pytest.approx(0.5)
    assert swap_regret([-1, -1], [0.1, 0.9], [[0, -1], [-5, 0]]) == pytest.approx(0.5)


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


def forecasts(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    rate = {"calibrated": p, "overconfident": 0.25 + p / 2, "constant": np.full(n, 0.4)}[kind]
    return (rng.random(n) < rate).astype(int), p


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


# Errors

PAIR = [[0, -1], [-5, 0]]
TABLE = {"no": {"wait": 0, "act": -1}, "yes": {"wait": -5, "act": 0}}
STRINGS = ["no", "yes"]
ERRORS = [
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, n_bins=4), ["n_bins", "without rounding", "4"]),
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, rounding="floor"), ["n_bins", "None"]),
    (
        lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, rounding="floor", n_bins=np.inf),
        ["n_bins", "inf"],
    ),
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, rounding="up", n_bins=4), ["rounding", "'up'"]),
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, swaps="bin"), ["swaps", "'bin'"]),
    (
        lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, swaps="forecast", return_map=True),
        ["return_map", "swaps='forecast'"],
    ),
    (lambda: swap_regret([0, 1], [0.2], PAIR), ["y_proba", "2", "1"]),
    (lambda: swap_regret([0, 1], [0.2, 1.8], PAIR), ["y_proba", "[0, 1]", "1.8"]),
    (lambda: swap_regret([0.2, 0.8], [0, 1], PAIR), ["y_true", "0.2"]),
    (lambda: swap_regret([0, 1, 2], [0.2, 0.8, 0.3], PAIR), ["utility", "2 rows", "3"]),
    (lambda: swap_regret([0, 1], [0.2, 0.8], np.eye(3)), ["utility", "3 rows", "2 classes"]),
    (lambda: swap_regret([0, 1], [0.2, 0.8], np.ones((2, 3))), ["actions", "3"]),
    (lambda: swap_regret(STRINGS, [0.2, 0.8], TABLE), ["pos_label", "'no', 'yes'", "None"]),
    (
        lambda: swap_regret(STRINGS, [0.2, 0.8], TABLE, pos_label="maybe"),
        ["pos_label", "'no', 'yes'", "'maybe'"],
    ),
    (
        lambda: swap_regret(["no", "new"], [0.2, 0.8], TABLE, pos_label="yes"),
        ["y_true", "'no', 'yes'", "'new'"],
    ),
    (lambda: swap_regret([0, 1], [0.2, 0.8], TABLE, pos_label="yes"), ["y_true", "'yes'", "0"]),
    (
        lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, sample_weight=[1, -1]),
        ["sample_weight", "-1"],
    ),
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, sample_weight=[0, 0]), ["sample_weight"]),
    (lambda: swap_regret([0, 1], [0.2, 0.8], PAIR, sample_weight=[1]), ["sample_weight", "2", "1"]),
    (
        lambda: swap_regret([0, 1, 2], np.eye(3), np.eye(3), rounding="random", n_bins=4),
        ["rounding", "two classes", "'random'"],
    ),
    (lambda: swap_regret([0, 1, 2], np.full((3, 2), 0.5), np.eye(3)), ["y_proba", "3", "(3, 2)"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], np.inf), ["n_bins", "inf"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 0), ["n_bins", "0"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 4, ranges=(1, -1)), ["ranges", "-1"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 4, ranges=(1, np.inf)), ["ranges", "inf"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 4, ranges=1.0), ["ranges", "1.0"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 4, confidence=1.0), ["confidence", "1.0"]),
    (lambda: realized_regret_bound([0, 1], [0.2, 0.8], 4, utility=np.eye(3)), ["utility", "3"]),
    (lambda: regret_bound(-0.1, 4), ["scdl", "-0.1"]),
    (lambda: regret_bound(np.nan, 4), ["scdl", "nan"]),
    (lambda: regret_bound(0.1, 0), ["n_bins", "0"]),
    (lambda: regret_bound(0.1, 4, n_decisions=10), ["confidence", "None"]),
    (lambda: regret_bound(0.1, 4, n_decisions=0, confidence=0.9), ["n_decisions", "0"]),
    (lambda: regret_bound(0.1, 4, n_decisions=10, confidence=0.0), ["confidence", "0.0"]),
    (lambda: regret_bound(0, np.inf, n_decisions=10, confidence=0.9), ["n_bins", "finite", "inf"]),
    (lambda: regret_bound(0.1, 4, ranges=(1, 2, 3)), ["ranges", "[1.0, 2.0, 3.0]"]),
]


@pytest.mark.parametrize(("call", "parts"), ERRORS)
def test_errors_name_the_argument_and_both_sides(call, parts):
    with pytest.raises(ValueError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("column", ["permuted", "sorted"])
def test_order_of_columns_is_the_order_of_the_task(column):
    classes = ["yes", "no"] if column == "permuted" else ["no", "yes"]
    p = np.array([0.9, 0.1, 0.4])  # of "yes"
    matrix = np.column_stack([p if label == "yes" else 1 - p for label in classes])
    y = ["yes", "yes", "no"]
    expected = swap_regret(y, p, TABLE, pos_label="yes")
    assert swap_regret(y, matrix, DecisionTask(TABLE, classes=classes)) == expected
    assert swap_regret(y, matrix, TABLE, labels=classes) == expected


def test_every_order_of_actions_has_the_same_regret_without_ties():
    y, p = forecasts("overconfident", 60)
    expected = swap_regret(y, p, task_of(UTILITY))
    for order in permutations(range(3)):
        assert swap_regret(y, p, task_of(UTILITY[:, order])) == pytest.approx(expected, abs=1e-14)
