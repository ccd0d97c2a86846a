"""Swap and external regret by brute force."""

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
from tests.forecasters import forecasts
from tests.strategies import random_rows
from tests.tasks import random_table, task_of

# Random tables hold dominated actions, and small samples hard predictions.
pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

NAMES = ["wait", "treat", "refer"]
UTILITY = np.array([[0, -1, -0.3], [-5, 0, -0.3]])
ORACLE = ([0, 1, 1, 0], [0.125, 0.5, 0.75, 0.875])
ROUNDINGS = [(None, None), ("random", 3), ("random", 8), ("floor", 5), ("floor", 4)]
PAIR = [[0, -1], [-5, 0]]
TABLE = {"no": {"wait": 0, "act": -1}, "yes": {"wait": -5, "act": 0}}
STRINGS = ["no", "yes"]


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


# Errors

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
