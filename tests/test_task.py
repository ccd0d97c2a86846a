"""DecisionTask: forms of its table, dominated actions, immutability; errors of the helpers too."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from skcal import CalibrationWarning, DecisionTask
from skcal.decision import add_action, utility_from_costs, utility_from_threshold
from tests.tasks import FRAME, SQUARE, TABLE

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


def test_repr_shows_the_labelled_table():
    text = repr(DecisionTask(TABLE))
    for part in ("DecisionTask", "rows: true classes", "sick", "well", "wait", "treat", "-5"):
        assert part in text


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
