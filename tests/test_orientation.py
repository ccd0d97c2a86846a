"""Which class a vector of probabilities speaks of must not change any answer."""

import numpy as np
import pytest

from skcal import DecisionTask, metrics, swap_regret, worst_case_task
from skcal.decision import realized_regret_bound, regret_bound

NAMES = np.array(["ham", "spam"])
TABLE = {"ham": {"keep": 1.0, "drop": 0.0}, "spam": {"keep": 0.0, "drop": 1.0}}


def forecasts(seed, n=200):
    rng = np.random.default_rng(seed)
    p = (0.05 + 0.15 * rng.random(n)).round(3)
    return NAMES[(rng.random(n) < p**2).astype(int)], p


@pytest.mark.parametrize("pos_label", NAMES)
@pytest.mark.parametrize("rounding", ["floor", "random"])
def test_bounds_hold_for_either_class(pos_label, rounding):
    for seed in range(20):
        y, p = forecasts(seed)
        options = {"pos_label": pos_label, "rounding": rounding}
        scdl = metrics.scdl(y, p, n_bins=8, **options)
        regret = swap_regret(y, p, TABLE, n_bins=8, **options)
        one = realized_regret_bound(y, p, 8, utility=TABLE, **options)
        every = realized_regret_bound(y, p, 8, **options)
        assert regret == one
        assert regret <= every + 1e-12 <= regret_bound(scdl, 8) + 2e-12


def test_floor_rounds_the_vector_that_was_given():
    y, p = ["spam"] * 3, [0.05] * 3  # 0 on the grid, as a probability of ham
    options = {"pos_label": "ham", "labels": NAMES, "rounding": "floor"}
    assert swap_regret(y, p, TABLE, n_bins=1, **options) == 0
    assert realized_regret_bound(y, p, 1, **options) == 0


@pytest.mark.parametrize("pos_label", NAMES)
def test_worst_task_speaks_of_the_labels(pos_label):
    y, p = forecasts(3, 400)
    task = worst_case_task(y, p, pos_label=pos_label)
    assert task.classes.tolist() == NAMES.tolist()
    loss = metrics.cdl(y, p, pos_label=pos_label)
    regret = swap_regret(y, p, task, pos_label=pos_label, swaps="forecast")
    assert regret == pytest.approx(loss, abs=1e-12)


def test_worst_task_of_signs_and_of_one_class():
    assert worst_case_task([-1, 1, 1], [0.5, 0.5, 0.25]).classes.tolist() == [-1, 1]
    assert worst_case_task(["a", "a"], [0.5, 0.5], pos_label="a").classes.tolist() == [0, 1]
    task = worst_case_task(["a", "a"], [0.5, 0.5], pos_label="a", labels=["a", "b"])
    assert task.classes.tolist() == ["a", "b"]


def test_naming_the_classes_of_a_task_again_keeps_its_thresholds():
    p, y = [0.9, 0.9, 0.7, 0.1, 0.2], [0, 0, 1, 0, 1]
    task = worst_case_task(y, p)
    loss = metrics.cdl(y, p)
    for labels in (None, [0, 1]):
        regret = swap_regret(y, p, task, labels=labels, swaps="forecast")
        assert regret == pytest.approx(loss, abs=1e-12)
    assert DecisionTask(task, classes=[0, 1]).thresholds_.tolist() == task.thresholds_.tolist()
