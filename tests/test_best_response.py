"""Best responses of a DecisionTask: exact thresholds, ties, labels and names of actions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skcal import DecisionTask
from tests.tasks import SQUARE, TABLE

ignore_dominated = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


# Thresholds and ties


def heights(table, p):
    """Expected utility of every action, exactly."""
    return [(1 - p) * Fraction(a) + p * Fraction(b) for a, b in zip(*table.tolist(), strict=True)]


def best(table, p):
    """All actions that are best at p."""
    values = heights(table, p)
    return [a for a, value in enumerate(values) if value == max(values)]


def break_points(table):
    """Where the best line changes inside (0, 1), from all crossings of two lines."""
    zeros, ones = ([Fraction(value) for value in row] for row in table.tolist())
    crossings = {Fraction(0), Fraction(1)}
    for a in range(len(zeros)):
        for b in range(a):
            slope = (ones[a] - zeros[a]) - (ones[b] - zeros[b])
            if slope and 0 < (zeros[b] - zeros[a]) / slope < 1:
                crossings.add((zeros[b] - zeros[a]) / slope)
    crossings = sorted(crossings)
    leaders = [best(table, (low + high) / 2)[0] for low, high in pairwise(crossings)]
    turns = pairwise((zeros[a], ones[a]) for a in leaders)
    return [x for x, (before, after) in zip(crossings[1:-1], turns, strict=True) if before != after]


def random_tables(kind, count):
    rng = np.random.default_rng(len(kind))
    for _ in range(count):
        shape = (2, int(rng.integers(1, 7)))
        if kind == "integers":  # many ties: at the ends, between three lines, equal columns
            yield rng.integers(-3, 4, shape).astype(float)
        elif kind == "decimals":
            yield rng.integers(-30, 31, shape) / 10
        else:
            yield rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, (1, shape[1]))


@ignore_dominated
@pytest.mark.parametrize("kind", ["integers", "decimals", "floats of every scale"])
def test_thresholds_and_decisions_are_exact(kind):
    rng = np.random.default_rng(0)
    for table in random_tables(kind, 250):
        task = DecisionTask(table, actions=range(table.shape[1]))
        breaks = break_points(table)
        inside = task.thresholds_[(task.thresholds_ > 0) & (task.thresholds_ < 1)]
        assert inside.tolist() == [float(x) for x in breaks]  # each rounded once
        at_break = {float(x): best(table, x)[0] for x in breaks}
        near = [np.nextafter(x, end) for x in at_break for end in (0, 1)]
        p = np.array([0.0, 1.0, 5e-324, *at_break, *near, *rng.random(5)])
        # At a threshold the actions that meet there are tied, whatever its rounding.
        expected = [at_break.get(x, best(table, Fraction(x))[0]) for x in p.tolist()]
        assert task.best_response(p).tolist() == expected
        assert task.best_response(np.column_stack([1 - p, p])).tolist() == expected


@ignore_dominated
@pytest.mark.parametrize(
    "table",
    [
        [[0, -1, -2], [1, 1, 1]],  # three lines that meet at 1
        [[1, 1, 1], [0, -1, -2]],  # and at 0
        [[0, -1], [1, 1]],
        [[1, 1], [0, -1]],
        [[0, 0], [1, 1]],
    ],
)
def test_no_threshold_where_the_answer_does_not_change(table):
    task = DecisionTask(table, actions=range(len(table[0])))
    assert task.best_response([0.0, 0.3, 1.0]).tolist() == [0, 0, 0]
    assert task.thresholds_.tolist() == []
    assert task.chosen_ == [0]


@pytest.mark.parametrize(
    ("table", "p", "expected"),
    [
        ([[1, 0], [0, 1]], 0.5, 0),
        ([[0, 1], [1, 0]], 0.5, 0),
        ([[2, 0, 1], [0, 2, 1]], 0.5, 0),  # three lines meet at 1/2
        ([[1, 2, 0], [1, 0, 2]], 0.5, 0),  # also when the first is not on the envelope elsewhere
        ([[2, 1, 0], [0, 1, 2]], 0.5, 0),
        ([[0, 2, 1], [2, 0, 1]], 0.5, 0),
        ([[0, 0, 5], [7, 7, 0]], 1.0, 0),  # duplicate columns
        ([[5, 0, 0], [0, 7, 7]], 1.0, 1),
        ([[0, -1], [0, 1]], 0.0, 0),
        ([[0, 0], [0, 1]], 0.0, 0),
        ([[0, 0], [1, 0]], 0.0, 0),
        ([[-1, 0], [1, 1]], 1.0, 0),
    ],
)
@ignore_dominated
def test_ties_go_to_the_first_listed_of_all(table, p, expected):
    names = [f"action {a}" for a in range(len(table[0]))]
    assert DecisionTask(table, actions=names).best_response([p])[0] == names[expected]


def test_probabilities_next_to_a_threshold_are_told_apart():
    t = 1 / 6
    p = [np.nextafter(t, 0), t, np.nextafter(t, 1)]
    assert DecisionTask(SQUARE).best_response(p).tolist() == [0, 0, 1]


# Labels and names


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [False, True], [0.0, 1.0]])
def test_conventional_classes_need_no_pos_label(classes):
    task = DecisionTask(SQUARE, classes=classes, actions=["wait", "treat"])
    p = np.array([0.1, 0.2])
    expected = ["wait", "treat"]
    for given in (p, p[:, None], p.tolist(), pd.Series(p), np.column_stack([1 - p, p])):
        assert task.best_response(given).tolist() == expected
    assert task.best_response(1 - p, pos_label=classes[0]).tolist() == expected
    assert task.best_response(p, pos_label=classes[1]).tolist() == expected


@pytest.mark.parametrize("classes", [["well", "sick"], ["sick", "well"], None])
def test_named_classes_need_a_pos_label_for_a_vector(classes):
    task = DecisionTask(TABLE, classes=classes)
    p = np.array([0.1, 0.2])
    expected = ["wait", "treat"]
    assert task.best_response(p, pos_label="sick").tolist() == expected
    assert task.best_response(1 - p, pos_label="well").tolist() == expected
    assert task.best_response(p[:, None], pos_label="sick").tolist() == expected
    matrix = np.column_stack([p if label == "sick" else 1 - p for label in task.classes])
    assert task.best_response(matrix).tolist() == expected
    claims = np.column_stack([-5 * p, -(1 - p)])
    np.testing.assert_allclose(task.expected_utility(matrix), claims)
    np.testing.assert_allclose(task.expected_utility(p, pos_label="sick"), claims)
    with pytest.raises(ValueError, match=r"pos_label.*'sick'.*None"):
        task.best_response(p)
    with pytest.raises(ValueError, match=r"pos_label.*'sick'.*'maybe'"):
        task.expected_utility(p, pos_label="maybe")


def test_oracle_of_expected_utility():
    task = DecisionTask([[0, -1, -0.3], [-5, 0, -0.3]], actions=["wait", "treat", "refer"])
    proba = [[0.875, 0.125], [0.5, 0.5], [0.25, 0.75], [0.125, 0.875]]
    claims = task.expected_utility(proba)
    expected = [[-0.625, -0.875, -0.3], [-2.5, -0.5, -0.3], [-3.75, -0.25, -0.3]]
    np.testing.assert_allclose(claims, [*expected, [-4.375, -0.125, -0.3]], rtol=0, atol=1e-15)
    assert task.best_response(proba).tolist() == ["refer", "refer", "treat", "treat"]
    assert claims.max(axis=1).mean() == pytest.approx(-0.24375)


@ignore_dominated
def test_more_than_two_classes():
    utility = np.array([[4, 0, 1, 1], [0, 4, 1, 1], [0, 0, 2, 2]])
    names = ["a", "b", "hold", "copy of hold"]
    task = DecisionTask(utility, classes=["x", "y", "z"], actions=names)
    proba = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.5, 0]])
    assert task.best_response(proba).tolist() == ["a", "b", "hold", "a"]
    np.testing.assert_allclose(task.expected_utility(proba), proba @ utility)
    assert not hasattr(task, "thresholds_")  # they belong to one probability


@pytest.mark.parametrize(
    ("actions", "types"),
    [
        (["a", "ask", "abstain at all costs"], [str] * 3),
        ([0, "ask", 1.5], [int, str, float]),
        (np.array(["a", "ask", "b"]), [str] * 3),
        (pd.Index([0, 1, 2]), [int] * 3),
        ([True, None, "None"], [bool, type(None), str]),
        ([("treat", 1), ("treat", 2), ("wait", 0)], [tuple] * 3),
    ],
)
def test_names_of_actions_stay_what_they_are(actions, types):
    table = [[2, 0, 1.5], [0, 2, 1.5]]
    task = DecisionTask(table, classes=["a", "b"], actions=actions)
    labelled = DecisionTask(
        {k: dict(zip(list(actions), row, strict=True)) for k, row in zip("ab", table, strict=True)}
    )
    for each in (task, labelled):
        found = each.best_response([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
        assert found.dtype == object
        assert found.tolist() == list(actions)
        assert [type(name) for name in found] == types


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], [False, True], [1.5, 2.5]])
def test_actions_that_are_the_classes_have_their_type(classes):
    classes_ = np.array(classes)  # as a fitted classifier has them
    task = DecisionTask(np.eye(2), classes=classes_)
    assert task.actions.dtype == task.classes.dtype == classes_.dtype
    assert task.best_response([[0.2, 0.8], [0.8, 0.2]]).tolist() == classes[::-1]
