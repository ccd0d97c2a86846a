"""DecisionTask and the helpers that make utility tables: forms, exact thresholds, ties, errors."""

import copy
import pickle
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from skcal import CalibrationWarning, DecisionTask
from skcal.decision import add_action, utility_from_costs, utility_from_threshold

TABLE = {"well": {"wait": 0, "treat": -1}, "sick": {"wait": -5, "treat": 0}}
SQUARE = [[0, -1], [-5, 0]]  # acts iff p >= 1/6
FRAME = pd.DataFrame(TABLE).T
ignore_dominated = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


# Forms


@pytest.mark.parametrize(
    "task",
    [
        DecisionTask(TABLE, classes=["well", "sick"]),
        DecisionTask(dict(reversed(TABLE.items())), classes=["well", "sick"]),
        DecisionTask(FRAME, classes=["well", "sick"]),
        DecisionTask(FRAME.iloc[::-1], classes=np.array(["well", "sick"])),
        DecisionTask(FRAME[["treat", "wait"]], ["well", "sick"], ["wait", "treat"]),
        DecisionTask(SQUARE, ["well", "sick"], ["wait", "treat"]),
        DecisionTask(np.array(SQUARE), pd.Series(["well", "sick"]), np.array(["wait", "treat"])),
        DecisionTask(DecisionTask(TABLE, classes=["well", "sick"])),
        DecisionTask(DecisionTask(TABLE), classes=["well", "sick"]),
    ],
)
def test_all_forms_say_the_same(task):
    assert task.utility.dtype == float
    assert task.utility.tolist() == SQUARE
    assert task.classes.tolist() == ["well", "sick"]
    assert task.actions.tolist() == ["wait", "treat"]
    assert task.thresholds_.tolist() == [1 / 6]
    assert task.chosen_ == ["wait", "treat"]
    assert task.ranges.tolist() == [1, 5]
    assert task.to_dict() == TABLE


def test_a_labelled_table_is_sorted_by_class_and_keeps_its_actions():
    task = DecisionTask(TABLE)
    assert task.classes.tolist() == ["sick", "well"]
    assert task.actions.tolist() == ["wait", "treat"]
    assert task.utility.tolist() == [[-5, 0], [0, -1]]


def test_rows_are_true_classes_and_columns_actions():
    utility = [[0, -2], [-14, 0]]
    p = [0.05, 0.13, 0.2, 0.6]
    assert DecisionTask(utility).best_response(p).tolist() == [0, 1, 1, 1]  # threshold 2/16
    assert DecisionTask(np.transpose(utility)).best_response(p).tolist() == [0, 0, 0, 0]
    assert "rows are true" in " ".join(DecisionTask.__doc__.split())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_layout_is_that_of_a_confusion_matrix(n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(20):
        utility = rng.normal(size=(n_classes, n_classes)) + 3 * np.eye(n_classes)
        proba = rng.dirichlet(np.ones(n_classes), 30)
        y = rng.integers(n_classes, size=30)
        action = DecisionTask(utility).best_response(proba)
        counts = confusion_matrix(y, action, labels=range(n_classes))
        assert utility[y, action].mean() == pytest.approx((counts / 30 * utility).sum())


# Thresholds


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


# Dominated actions


@pytest.mark.parametrize(
    ("table", "count"),
    [
        ([[0, -1, -2], [0, 1, 0]], 1),
        ([[0, 1, -9], [1, 0, -9]], 1),  # worse than two others
        ([[1, 0, 0.4], [0, 1, 0.4]], 0),  # never best, but better than either for one class
        ([[1, 0], [0, 1]], 0),
        ([[3], [4]], 0),
    ],
)
def test_a_dominated_action_warns_once(table, count):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        DecisionTask(table, actions=[f"a{k}" for k in range(len(table[0]))])
    assert [w.category for w in record] == [CalibrationWarning] * count
    assert all("never better" in str(w.message) for w in record)


def test_equal_columns_warn():
    with pytest.warns(CalibrationWarning, match="'a'.*'b'|'b'.*'a'"):
        DecisionTask([[0, 0], [1, 1]], actions=["a", "b"])


def test_the_warning_names_the_action_and_the_line_of_the_caller():
    with pytest.warns(CalibrationWarning, match="'c'.*never better.*'a'") as record:
        DecisionTask([[0, -1, -2], [0, 1, 0]], actions=list("abc"))
    assert record[0].filename == __file__


# Immutability


def pickled(task):
    return pickle.loads(pickle.dumps(task))


COPIES = {"itself": lambda t: t, "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickled}


@pytest.mark.parametrize("name", ["utility", "classes", "actions", "thresholds_", "chosen_"])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_immutable(copied, name):
    task = copied(DecisionTask(TABLE))
    before = task.best_response([[0.9, 0.1], [0.1, 0.9]]).tolist()
    with pytest.raises(AttributeError):
        setattr(task, name, 0)
    value = getattr(task, name)
    if name != "chosen_":  # a list made anew by each access
        with pytest.raises(ValueError, match="read-only"):
            value[:] = value[::-1].copy()
    assert task.best_response([[0.9, 0.1], [0.1, 0.9]]).tolist() == before


def test_attributes_are_neither_added_nor_deleted():
    task = DecisionTask(TABLE)
    with pytest.raises(AttributeError):
        task.new = 1
    with pytest.raises(AttributeError):
        del task.utility


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_equal(copied):
    task = copied(DecisionTask({k: {**row, "refer": -0.3} for k, row in TABLE.items()}))
    assert task.utility.tolist() == [[-5, 0, -0.3], [0, -1, -0.3]]
    assert task.best_response([0.05, 0.5, 0.9], pos_label="sick").tolist() == [
        "wait", "refer", "treat",
    ]  # fmt: skip
    assert task.chosen_ == ["treat", "refer", "wait"]


def test_arguments_are_neither_changed_nor_kept():
    utility, classes, actions = np.array(SQUARE, dtype=float), np.array([0, 1]), np.array([0, 1])
    task = DecisionTask(utility, classes, actions)
    for array in (utility, classes, actions):
        array[:] = 7  # stays the caller's own
    assert task.utility.tolist() == SQUARE
    assert task.classes.tolist() == task.actions.tolist() == [0, 1]


def test_repr_shows_the_labelled_table():
    text = repr(DecisionTask(TABLE))
    for part in ("DecisionTask", "rows: true classes", "sick", "well", "wait", "treat", "-5"):
        assert part in text


# Responses


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


# Helpers


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


# Errors


ERRORS = [
    (lambda: DecisionTask(np.zeros((3, 2)), [0, 1]), ["utility", "3 rows", "[0, 1]", ".T"]),
    (lambda: DecisionTask(np.zeros((3, 3)), [0, 1]), ["utility", "3 rows", "[0, 1]"]),
    (lambda: DecisionTask(np.eye(2), list("abc")), ["utility", "2 rows", "3 classes"]),
    (lambda: DecisionTask(pd.DataFrame(TABLE), ["sick", "well"]), ["'treat'", "transpose"]),
    (
        lambda: DecisionTask(
            {"treat": {"sick": 0, "well": -1}, "wait": {"sick": -5, "well": 0}},
            ["sick", "well"],
        ),
        ["utility", "['sick', 'well']", "['treat', 'wait']", "transpose"],
    ),
    (lambda: DecisionTask(TABLE, ["sick", "fine"]), ["utility", "'fine'", "'well'"]),
    (lambda: DecisionTask(TABLE, actions=["wait", "act"]), ["'act'", "'treat'"]),
    (lambda: DecisionTask(np.ones((2, 3))), ["actions", "3", "square"]),
    (lambda: DecisionTask(SQUARE, actions=["a"]), ["actions", "2 columns", "1"]),
    (lambda: DecisionTask(SQUARE, actions=["a", "a"]), ["actions", "distinct", "'a', 'a'"]),
    (lambda: DecisionTask(SQUARE, ["a", "a"]), ["classes", "distinct", "'a', 'a'"]),
    (
        lambda: DecisionTask(pd.DataFrame(SQUARE, columns=["a", "a"])),
        ["utility", "once", "'a', 'a'"],
    ),
    (
        lambda: DecisionTask(pd.DataFrame(SQUARE, index=["a", "a"]), ["a", "b"]),
        ["utility", "once", "'a', 'a'"],
    ),
    (
        lambda: DecisionTask({"a": {"x": 1, "y": 2}, "b": {"x": 1, "z": 2}}),
        ["utility", "'x', 'y'", "'x', 'z'", "'b'"],
    ),
    (lambda: DecisionTask({"a": 1, "b": 2}), ["utility", "map each class"]),
    (lambda: DecisionTask({}), ["utility", "map each class"]),
    (lambda: DecisionTask([[0, np.nan], [1, 0]]), ["utility", "nan", "very low utility"]),
    (lambda: DecisionTask([[0, -np.inf], [1, 0]]), ["utility", "-inf", "very low utility"]),
    (lambda: DecisionTask([[0, None], [1, 0]]), ["utility"]),
    (lambda: DecisionTask([[0, 1], [1]]), ["utility", "table of numbers"]),
    (lambda: DecisionTask([["x", 1], [1, 2]]), ["utility", "table of numbers"]),
    (lambda: DecisionTask(None), ["utility"]),
    (lambda: DecisionTask([0, 1]), ["utility", "(n_classes, n_actions)", "(2,)"]),
    (lambda: DecisionTask(np.zeros((2, 0))), ["utility", "(2, 0)"]),
    (
        lambda: DecisionTask(np.zeros((5, 2, 2))),
        ["utility", "(5, 2, 2)", "per-row", "predict", "sample_utility"],
    ),
    (lambda: DecisionTask(SQUARE).best_response([0.5, np.nan]), ["y_proba", "missing"]),
    (lambda: DecisionTask(SQUARE).best_response([0.5, 1.2]), ["y_proba", "[0, 1]", "1.2"]),
    (lambda: DecisionTask(SQUARE).best_response([[0.5, 0.6]]), ["y_proba", "sum", "1.1"]),
    (lambda: DecisionTask(SQUARE).best_response([]), ["y_proba", "empty"]),
    (lambda: DecisionTask(SQUARE).best_response([[0.2, 0.3, 0.5]]), ["y_proba", "(1, 3)"]),
    (lambda: DecisionTask(np.eye(3)).best_response([0.5]), ["y_proba", "[0, 1, 2]"]),
    (lambda: DecisionTask(np.eye(3)).best_response([[0.5, 0.5]]), ["y_proba", "3", "(1, 2)"]),
    (lambda: utility_from_threshold(0), ["threshold", "(0, 1)", "0"]),
    (lambda: utility_from_threshold(1.5), ["threshold", "(0, 1)", "1.5"]),
    (lambda: utility_from_threshold(np.nan), ["threshold", "(0, 1)", "nan"]),
    (lambda: utility_from_threshold(0.5, pos_label=0), ["neg_label", "differ", "0"]),
    (lambda: utility_from_costs(fp=1, fn=5, neg_label=1), ["neg_label", "differ", "1"]),
    (lambda: add_action(TABLE, "wait", 1), ["name", "'wait'", "'treat'"]),
    (lambda: add_action(TABLE, "refer", {"sick": 1}), ["value", "'sick', 'well'", "['sick']"]),
]


@pytest.mark.parametrize(("call", "parts"), ERRORS)
def test_errors_name_the_argument_and_both_sides(call, parts):
    with pytest.raises(ValueError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def test_all_errors_come_before_any_warning():
    with pytest.raises(ValueError, match="distinct"), warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTask([[0, 0], [1, 1]], actions=["a", "a"])
