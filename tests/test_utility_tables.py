"""The helpers that make utility tables: costs, thresholds, actions to add."""

import copy

import numpy as np
import pytest

from skcal import DecisionTask
from skcal.decision import add_action, utility_from_costs, utility_from_threshold
from tests.tasks import FRAME, TABLE


@pytest.mark.parametrize(("pos", "neg"), [(1, 0), ("yes", "no"), ("bad", "good")])
def test_utility_from_costs(pos, neg):
    table = utility_from_costs(fp=3, fn=7, tp=1, tn=-1, pos_label=pos, neg_label=neg)
    assert table == {neg: {neg: 1, pos: -3}, pos: {neg: -7, pos: -1}}
    task = DecisionTask(table)
    t = (3 + 1) / (3 + 1 + 7 - 1)  # (fp - tn) / (fp - tn + fn - tp)
    p = [t - 1e-9, t + 1e-9]
    assert task.best_response(p, pos_label=pos).tolist() == [neg, pos]


def test_a_fixed_table_trusts_the_probabilities():
    # Another cut than 1/5 would have cost 1 here: best response does not look at outcomes.
    y, p = np.array([0, 1, 1, 0, 0, 1]), [0.55, 0.7, 0.35, 0.3, 0.2, 0.9]
    task = DecisionTask(utility_from_costs(fp=1, fn=4))
    assert task.thresholds_.tolist() == [0.2]
    p_above = np.nextafter(p, 1)  # the tie at 0.2 goes to the action listed first
    assert task.utility[y, task.best_response(p_above).astype(int)].sum() == -3
    cuts = [(np.array(p) >= c).astype(int) for c in np.linspace(0, 1, 101)]
    assert max(task.utility[y, action].sum() for action in cuts) == -1


def thresholds():
    rng = np.random.default_rng(0)
    small = 10.0 ** -rng.uniform(0, 300, 100)
    near_one = 1 - 10.0 ** -rng.uniform(0, 15, 100)
    hundredths = np.arange(1, 100) / 100
    return np.concatenate([hundredths, rng.random(2000), small, near_one]).tolist()


def test_utility_from_threshold_has_exactly_that_threshold():
    tasks = {t: DecisionTask(utility_from_threshold(t)) for t in thresholds()}
    assert [t for t, task in tasks.items() if task.thresholds_.tolist() != [t]] == []
    for t, task in tasks.items():
        p = [np.nextafter(t, 0), t, np.nextafter(t, 1)]
        assert task.best_response(p).tolist() == ["wait", "act", "act"]


def test_utility_from_threshold_acts_at_the_threshold_whatever_the_order_of_labels():
    wrong = []
    for t in thresholds()[:99]:
        task = DecisionTask(utility_from_threshold(t, pos_label="bad", neg_label="good"))
        proba = [[t, 1 - t]]  # columns: bad, good
        found = [*task.best_response([t], pos_label="bad"), *task.best_response(proba)]
        wrong += [t] if found != ["act", "act"] else []
    assert wrong == []


@pytest.mark.parametrize("t", [0.05, 0.2, 0.5, 0.9])
def test_utility_from_threshold_is_net_benefit(t):
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    task = DecisionTask(utility_from_threshold(t))
    act = task.best_response(p) == "act"
    benefit = (act & (y == 1)).mean() - (act & (y == 0)).mean() * t / (1 - t)
    columns = np.where(act, 0, 1)
    assert task.actions.tolist() == ["act", "wait"]
    assert task.utility[y, columns].mean() == pytest.approx(benefit, abs=1e-12)


@pytest.mark.parametrize("table", [TABLE, FRAME, DecisionTask(TABLE)])
@pytest.mark.parametrize("value", [-0.3, {"well": -0.1, "sick": -0.5}])
def test_add_action(table, value):
    before = copy.deepcopy(table)
    more = DecisionTask(add_action(table, "refer", value), classes=["well", "sick"])
    assert more.actions.tolist() == ["wait", "treat", "refer"]
    worth = [value["well"], value["sick"]] if isinstance(value, dict) else [value, value]
    assert more.utility.tolist() == [[0, -1, worth[0]], [-5, 0, worth[1]]]
    if isinstance(table, dict):
        assert table == before
