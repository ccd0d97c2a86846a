"""The input border: what is accepted, and one clear error for everything else, in every measure."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse

import skcal
from skcal import metrics
from tests.measures import each_measure, each_row

Y = [0, 1, 1, 0]
P = [0.2, 0.7, 0.6, 0.4]
COLUMNS = [[1 - p, p] for p in P]
NAMES = ["no", "yes", "yes", "no"]
NAN = float("nan")


def pandas_series(values, dtype=None):
    pandas = pytest.importorskip("pandas")
    values = [pandas.NA if value is None else value for value in values]
    return pandas.Series(values, dtype=dtype)


def polars_series(values):
    return pytest.importorskip("polars").Series(values)


def masked(values):
    return np.ma.array(values, mask=[0, 1, 0, 0])


def check(error, name, *fragments):
    """The one sentence of an error: which argument, what it must be, what it was."""
    message = str(error.value)
    assert re.search(rf"\b{name}\b", message), message
    assert re.search(r"\bmust\b.*\bgot\b", message, re.IGNORECASE | re.DOTALL), message
    for fragment in fragments:
        assert str(fragment) in message, message


# Each bad argument, next to good ones: the name in the error, and what else the error must show.
# Values are made when a test runs, since some need an optional package.
MISSING = "missing"
EITHER = "(y_true|y_proba)"  # where both are to blame
BAD_OUTCOMES = {
    "empty": (list, EITHER),
    "None": (lambda: None, "y_true"),
    "scalar": (lambda: 1, "y_true", "()"),
    "too short": (lambda: Y[:3], EITHER, "3", "4"),
    "soft": (lambda: [0.5, 1, 0, 1], "y_true", "0.5"),
    "soft only": (lambda: [0.5] * 4, "y_true", "0.5"),
    "infinite": (lambda: [0, 1, np.inf, 1], "y_true", "inf"),
    "three labels": (lambda: [0, 1, 2, 1], "y_true", "[0, 1, 2]"),
    "three strings": (lambda: ["a", "b", "c", "a"], "y_true", "'a', 'b', 'c'"),
    "no convention": (lambda: [1, 2, 2, 1], "pos_label", "[1, 2]"),
    "zero and minus one": (lambda: [0, -1, 0, -1], "pos_label", "[-1, 0]"),
    "one label, no convention": (lambda: [2] * 4, "pos_label", "[2]"),
    "strings": (lambda: NAMES, "pos_label", "'no', 'yes'"),
    "mixed": (lambda: [0, "yes", 1, 0], "y_true", "int, str"),
    "matrix": (lambda: np.eye(4), "y_true", "(4, 4)"),
    "one-hot": (lambda: [[1, 0], [0, 1], [0, 1], [1, 0]], "y_true", "(4, 2)"),
    "ragged": (lambda: [[0], [1], [1], [0, 1]], "y_true"),
    "complex": (lambda: np.array(Y, dtype=complex), "y_true", "complex128"),
    "dates": (lambda: np.array(Y, dtype="datetime64[s]"), "y_true", "datetime64"),
    "set": (lambda: {0, 1}, "y_true", "set"),
    "generator": (lambda: (y for y in Y), "y_true", "generator"),
    "sparse": (lambda: sparse.csr_matrix(Y), "y_true", "sparse"),
    "NaN": (lambda: [0, NAN, 1, 0], "y_true", MISSING, "row 1"),
    "None inside": (lambda: [0, None, 1, 0], "y_true", MISSING),
    "NaN among strings": (lambda: ["no", NAN, "yes", "no"], "y_true", MISSING),
    "None among strings": (lambda: ["no", None, "yes", "no"], "y_true", MISSING),
    "NaN, object": (lambda: np.array([0, NAN, 1, 0], dtype=object), "y_true", MISSING),
    "masked": (lambda: masked(Y), "y_true", MISSING),
    "NA Int64": (lambda: pandas_series([0, None, 1, 0], "Int64"), "y_true", MISSING),
    "NA boolean": (lambda: pandas_series([True, None, False, True], "boolean"), "y_true", MISSING),
    "NA Float64": (lambda: pandas_series([0.0, None, 1.0, 0.0], "Float64"), "y_true", MISSING),
    "NA object": (lambda: pandas_series([0, None, 1, 0], object), "y_true", MISSING),
    "NA string": (lambda: pandas_series(["a", None, "b", "a"], "string"), "y_true", MISSING),
    "NA category": (lambda: pandas_series([0, NAN, 1, 0], "category"), "y_true", MISSING),
    "polars null": (lambda: polars_series([0, None, 1, 0]), "y_true", MISSING),
    "polars null string": (lambda: polars_series(["a", None, "b", "a"]), "y_true", MISSING),
}

BAD_PROBABILITIES = {
    "empty": (list, "y_proba"),
    "None": (lambda: None, "y_proba"),
    "scalar": (lambda: 0.5, "y_proba", "()"),
    "too long": (lambda: [*P, 0.5], "y_proba", "4", "5"),
    "above one": (lambda: [1.2, 0.5, 0.1, 0.3], "y_proba", "0.1", "1.2"),
    "below zero": (lambda: [-0.1, 0.5, 0.2, 0.3], "y_proba", "-0.1", "0.5"),
    "margins": (lambda: [3.5, -1.25, 0.0, 1.0], "y_proba", "-1.25", "3.5"),
    "percent": (lambda: [20, 70, 60, 40], "y_proba", "20", "70"),
    "just too far above": (lambda: [1 + 2e-6, 0.5, 0.2, 0.3], "y_proba"),
    "just too far below": (lambda: [-2e-6, 0.5, 0.2, 0.3], "y_proba"),
    "infinite": (lambda: [np.inf, 0.5, 0.2, 0.3], "y_proba", "inf"),
    "minus infinite": (lambda: [-np.inf, 0.5, 0.2, 0.3], "y_proba", "-inf"),
    "NaN": (lambda: [0.1, 0.5, NAN, 0.3], "y_proba", MISSING, "row 2"),
    "NaN in a column": (lambda: [*COLUMNS[:3], [NAN, 0.5]], "y_proba", MISSING, "row 3"),
    "None inside": (lambda: [0.1, None, 0.2, 0.3], "y_proba", MISSING),
    "masked": (lambda: masked(P), "y_proba", MISSING),
    "NA Float64": (lambda: pandas_series([0.1, None, 0.2, 0.3], "Float64"), "y_proba", MISSING),
    "NA object": (lambda: pandas_series([0.1, None, 0.2, 0.3], object), "y_proba", MISSING),
    "polars null": (lambda: polars_series([0.1, None, 0.2, 0.3]), "y_proba", MISSING),
    "three columns": (lambda: np.full((4, 3), 1 / 3), "y_proba", "(4, 3)"),
    "transposed": (lambda: np.transpose(COLUMNS), "y_proba", "(2, 4)"),
    "three-dimensional": (lambda: np.full((4, 1, 1), 0.5), "y_proba", "(4, 1, 1)"),
    "no columns": (lambda: np.empty((4, 0)), "y_proba", "(4, 0)"),
    "sums": (lambda: [*COLUMNS[:3], [0.5, 0.25]], "y_proba", "0.75", "row 3"),
    "sums, nearly": (lambda: [*COLUMNS[:3], [0.5, 0.5001]], "y_proba", "1.0001", "row 3"),
    "ragged": (lambda: [*COLUMNS[:3], [0.5]], "y_proba"),
    "strings": (lambda: ["a", "b", "c", "d"], "y_proba"),
    "mixed": (lambda: [0.5, "a", 0.5, 0.5], "y_proba", "float, str"),
    "complex": (lambda: np.array(P, dtype=complex), "y_proba", "complex128"),
    "dates": (lambda: np.array(Y, dtype="datetime64[s]"), "y_proba", "datetime64"),
    "dict": (lambda: dict(enumerate(P)), "y_proba", "dict"),
    "sparse": (lambda: sparse.csr_matrix(P), "y_proba", "sparse"),
}

BAD_WEIGHTS = {
    "all zero": (lambda: [0, 0, 0, 0], "sample_weight", "zero"),
    "negative": (lambda: [1, -2, 1, 1], "sample_weight", "-2"),
    "infinite": (lambda: [1, np.inf, 1, 1], "sample_weight", "inf"),
    "NaN": (lambda: [1, NAN, 1, 1], "sample_weight", MISSING, "row 1"),
    "None inside": (lambda: [1, None, 1, 1], "sample_weight", MISSING),
    "NaN, object": (lambda: np.array([1, NAN, 1, 1], dtype=object), "sample_weight", MISSING),
    "masked": (lambda: masked([1.0, 2.0, 3.0, 4.0]), "sample_weight", MISSING),
    "NA Int64": (lambda: pandas_series([1, None, 1, 1], "Int64"), "sample_weight", MISSING),
    "NA Float64": (lambda: pandas_series([1.5, None, 1, 1], "Float64"), "sample_weight", MISSING),
    "polars null": (lambda: polars_series([1, None, 1, 1]), "sample_weight", MISSING),
    "empty": (list, "sample_weight"),
    "too short": (lambda: [1, 1, 1], "sample_weight", "4", "3"),
    "scalar": (lambda: 1.0, "sample_weight", "()"),
    "matrix": (lambda: np.ones((4, 4)), "sample_weight", "(4, 4)"),
    "ragged": (lambda: [[1], [1], [1], [1, 2]], "sample_weight"),
    "strings": (lambda: ["a"] * 4, "sample_weight"),
    "complex": (lambda: np.ones(4, dtype=complex), "sample_weight", "complex128"),
    "dates": (lambda: np.array(Y, dtype="datetime64[s]"), "sample_weight", "datetime64"),
    "sparse": (lambda: sparse.csr_matrix(np.ones(4)), "sample_weight", "sparse"),
}


@each_measure
@pytest.mark.parametrize("case", BAD_OUTCOMES)
def test_bad_outcomes(row, case):
    make, *expected = BAD_OUTCOMES[case]
    with pytest.raises(ValueError) as error:
        row(make(), P)
    check(error, *expected)


@each_measure
@pytest.mark.parametrize("case", BAD_PROBABILITIES)
def test_bad_probabilities(row, case):
    make, *expected = BAD_PROBABILITIES[case]
    with pytest.raises(ValueError) as error:
        row(Y, make())
    check(error, *expected)


@each_measure
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(row, case):
    make, *expected = BAD_WEIGHTS[case]
    with pytest.raises(ValueError) as error:
        row(Y, P, sample_weight=make())
    check(error, *expected)


@each_measure
def test_nothing_at_all(row):
    for empty in ([], np.empty((0, 2))):
        with pytest.raises(ValueError) as error:
            row([], empty)
        check(error, EITHER, "one row")


@each_measure
@pytest.mark.parametrize(
    ("y_true", "expected"),
    [
        (Y, ["y_true", "y_true comes before y_proba"]),
        ([True] * 4, ["y_true", "y_true comes before y_proba"]),
        ([-1, 1, 1, -1], [EITHER]),
        (NAMES, [EITHER]),
    ],
)
def test_swapped_arguments(row, y_true, expected):
    with pytest.raises(ValueError) as error:
        row(P, y_true)
    check(error, *expected)


# The positive class and the labels


@each_measure
@pytest.mark.parametrize(
    ("y_true", "pos_label", "shown"),
    [
        (NAMES, "maybe", "maybe"),
        (NAMES, 1, "'no', 'yes'"),
        (Y, "1", "[0, 1]"),
        (Y, 2, "[0, 1]"),
        (Y, 0.5, "[0, 1]"),
        (Y, NAN, "nan"),
        ([0] * 4, NAN, "nan"),
        (Y, [1], "[1]"),
        ([1, 2, 2, 1], 3, "[1, 2]"),
        ([1, 2, 3, 1], 1, "[1, 2, 3]"),
        (["a", "b", "c", "a"], "a", "'a', 'b', 'c'"),
    ],
)
def test_bad_pos_label(row, y_true, pos_label, shown):
    with pytest.raises(ValueError) as error:
        row(y_true, P, pos_label=pos_label)
    check(error, "y_true" if len(set(y_true)) > 2 else "pos_label", shown)


@each_measure
@pytest.mark.parametrize(
    ("y_true", "pos_label"),
    [
        ([0, 1, 1, 0], None),
        ([-1, 1, 1, -1], None),
        ([False, True, True, False], None),
        ([0, 1, 1, 0], 1),
        ([0, 1, 1, 0], True),
        ([0.0, 1.0, 1.0, 0.0], 1),
        ([1, 0, 0, 1], 0),
        ([1, -1, -1, 1], -1),
        ([1, 2, 2, 1], 2),
        ([2, 1, 1, 2], 1),
        ([True, False, False, True], False),
        (NAMES, "yes"),
        (NAMES, np.str_("yes")),
        ([10**9, -7, -7, 10**9], -7),
    ],
)
def test_pos_label(row, y_true, pos_label):
    assert row(y_true, P, pos_label=pos_label) == row(Y, P)


@each_measure
@pytest.mark.parametrize(
    ("label", "pos_label", "outcome"),
    [
        (0, None, 0),
        (1, None, 1),
        (-1, None, 0),
        (False, None, 0),
        (True, None, 1),
        (0, 1, 0),
        (0, 0, 1),
        ("yes", "yes", 1),
        ("no", "yes", 0),
        (2, 2, 1),
    ],
)
def test_one_class(row, label, pos_label, outcome):
    assert row([label] * 4, P, pos_label=pos_label) == row([outcome] * 4, P)


@each_measure
def test_two_columns_with_one_class_need_labels(row):
    for y_true, pos_label in ((["yes"] * 4, "yes"), ([2] * 4, 2)):
        with pytest.raises(ValueError) as error:
            row(y_true, COLUMNS, pos_label=pos_label)
        check(error, "labels")
    labels = {"labels": ["no", "yes"], "pos_label": "yes"}
    assert row(["yes"] * 4, COLUMNS, **labels) == row([1] * 4, P)
    assert row(["no"] * 4, COLUMNS, **labels) == row([0] * 4, P)
    for label, outcome in ((1, 1), (0, 0), (-1, 0), (True, 1), (False, 0)):
        assert row([label] * 4, COLUMNS) == row([outcome] * 4, P)


@each_measure
@pytest.mark.parametrize("y_proba", [P, COLUMNS], ids=["vector", "columns"])
@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        ([0, 1, 2], 1, ["labels", "[0, 1, 2]"]),
        ([0], None, ["labels", "[0]"]),
        ([1, 1], 1, ["labels", "[1, 1]"]),
        ([1, 2], 1, ["y_true", "[1, 2]", "[0]"]),
        (["no", "yes"], "yes", ["y_true", "'no', 'yes'", "[0, 1]"]),
        ([0, None], 0, ["labels", "missing"]),
        (5, None, ["labels", "()"]),
        ([], None, ["labels", "empty"]),
    ],
)
def test_bad_labels(row, y_proba, labels, pos_label, expected):
    with pytest.raises(ValueError) as error:
        row(Y, y_proba, labels=labels, pos_label=pos_label)
    check(error, *expected)


@each_measure
def test_pos_label_must_be_one_of_the_labels(row):
    for y_proba in (P, COLUMNS):
        with pytest.raises(ValueError) as error:
            row(["no"] * 4, y_proba, labels=["no", "yes"], pos_label="maybe")
        check(error, "pos_label", "'no', 'yes'", "maybe")


# Probabilities at and near the ends


@each_measure
def test_single_precision_overshoot_is_clipped(row):
    above = [np.nextafter(np.float32(1), np.float32(2)), 0.5, -9e-7, 0.3]
    value = row(Y, np.array(above, dtype=np.float32))
    assert value == row(Y, np.array([1, 0.5, 0, 0.3], dtype=np.float32))
    assert row(Y, [1 + 9e-7, 0.5, 0.2, 0.3]) == row(Y, [1.0, 0.5, 0.2, 0.3])
    assert row(Y, [-0.0, 0.5, 0.2, 0.3]) == row(Y, [0.0, 0.5, 0.2, 0.3])


@each_measure
def test_columns_may_miss_one_by_rounding(row):
    single = np.column_stack([1 - np.float32(P), np.float32(P)]) * np.float32(1 + 1e-7)
    assert row(Y, single) == pytest.approx(row(Y, single[:, 1]), abs=0)
    assert row(Y, np.array(COLUMNS) * (1 + 1e-9)) == pytest.approx(row(Y, P), abs=1e-6)


@each_row
@pytest.mark.parametrize(
    ("y_true", "y_proba"),
    [
        ([0, 1, 1, 0], [0.0, 1.0, 0.0, 1.0]),
        ([0, 1, 1, 0], [0, 1, 0, 1]),
        ([0, 1, 1, 0], [False, True, False, True]),
        ([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [0, 1]]),
        ([1], [1.0]),
    ],
)
def test_hard_predictions_warn_once_at_the_line_of_the_caller(row, y_true, y_proba):
    with pytest.warns() as caught:
        value = row.function(y_true, y_proba, **row.settings)
    hard = [each for each in caught if "only 0 and 1" in str(each.message)]
    assert len(hard) == 1
    assert hard[0].category is skcal.CalibrationWarning
    assert hard[0].filename == __file__
    assert 0 <= value <= row.bound


@each_measure
@pytest.mark.parametrize("y_proba", [[0.0, 1.0, 0.5, 1.0], [1e-12, 1.0, 0.0, 0.0], [0.5] * 4])
def test_other_predictions_do_not_warn(row, y_proba):
    row(Y, y_proba)  # warnings are errors here


# Arguments stay as they are


@each_row
@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("columns", [False, True])
def test_arguments_are_never_modified(row, writeable, columns):
    rng = np.random.default_rng(5)
    p = np.round(rng.random(50), 1)
    given = {
        "y_true": rng.integers(0, 2, 50),
        "y_proba": np.column_stack([1 - p, p]) if columns else p,
        "sample_weight": rng.integers(0, 3, 50) * 1e200,
    }
    before = {name: array.copy() for name, array in given.items()}
    for array in given.values():
        array.flags.writeable = writeable
    plain = {name: given[name] for name in ("y_true", "y_proba")}
    for arguments in (given, plain):
        for certificate in (False, True):
            row.function(**row.settings, **arguments, return_certificate=certificate)
    for name, array in given.items():
        np.testing.assert_array_equal(array, before[name])


@each_measure
def test_half_of_the_weights_may_be_zero(row):
    weights = [1, 0, 2, 0]
    assert row(Y, P, sample_weight=weights) == row([0, 1], [0.2, 0.6], sample_weight=[1, 2])
    assert row(Y, P, sample_weight=[False, True, True, True]) == row(Y[1:], P[1:])


# Parameters of the measures


@pytest.mark.parametrize(
    ("measure", "name", "value"),
    [
        *((metrics.ece, "n_bins", value) for value in (0, -1, 2.5, "auto", NAN, 2**62, 10**30)),
        *((metrics.actionable_binned_error, "n_bins", value) for value in (0, None, 1.5, 10**30)),
        *((metrics.scdl, "n_bins", value) for value in (0, "auto", 8.0, 2**62, 10**30)),
        (metrics.ece, "strategy", "kmeans"),
        (metrics.ece, "strategy", None),
        (metrics.ece, "norm", "l3"),
        (metrics.ece, "debias", "yes"),
        (metrics.ece, "debias", True),  # with the default norm="l1"
        (metrics.cutoff_calibration_error, "region", "tail"),
        (metrics.scdl, "rounding", "nearest"),
        (metrics.scdl, "rounding", None),
        *(
            (metrics.cdl, "thresholds", value)
            for value in ((0.5, 0.2), (-0.1, 1), (0, 1.1), (NAN, 1), (0.1,), (0, 0.5, 1), 0.5, "ab")
        ),
        (metrics.cdl, "thresholds", None),
        *((metrics.cdl, "return_certificate", value) for value in ("yes", None, 1)),
    ],
)
def test_bad_parameters(measure, name, value):
    with pytest.raises(ValueError) as error:
        measure(Y, P, **{name: value})
    blamed = "norm" if name == "debias" and value is True else name
    check(error, blamed, "'l1'" if blamed == "norm" else repr(value))
    check(error, measure.__name__)


@each_measure
def test_return_certificate_is_a_parameter_of_all(row):
    with pytest.raises(ValueError) as error:
        row(Y, P, return_certificate="yes")
    check(error, "return_certificate", row.name, "'yes'")


@each_measure
def test_options_are_keywords_only(row):
    with pytest.raises(TypeError):
        row.function(Y, P, [1, 1, 1, 1])


def test_arrays_are_read_without_a_hand_on_the_filters_of_warnings(monkeypatch):
    # The process has one list of filters: threads that save and restore it leave each other's.
    def taken(*arguments, **options):
        raise AssertionError("the filters are those of all threads")

    monkeypatch.setattr(warnings, "catch_warnings", taken)
    y, p = np.array([0, 1]), np.array([0.2, 0.7])
    assert metrics.ece(y, p, sample_weight=np.ones(2)) == pytest.approx(0.25)
    assert skcal.CalibrationSketch().update(y, p, np.ones(2)).n_rows == 2
