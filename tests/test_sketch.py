"""Sketches against the measures of all rows: exact where they say so, else within their ends."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from skcal import CalibrationWarning, metrics
from skcal._numerics._bins import cell_sums
from skcal.sketch import CalibrationSketch, SketchValue, SoftSketchValue
from tests import strategies

MEASURES = {
    "scdl": metrics.scdl,
    "cdl": metrics.cdl,
    "ece": metrics.ece,
    "smce": metrics.smce,
    "smece": metrics.smooth_ece,
    "cutoff": metrics.cutoff_calibration_error,
    "distcal": metrics.lower_calibration_distance,
}
QUICK = [name for name in MEASURES if name != "distcal"]
# How far the array measure itself may be off: the linear program stops at 1e-5.
TOLERANCE = {"distcal": 1e-5}
PLACES = ("uniform", "tenths", "grid", "ends", "hard")

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


def _rows(rng, m, n):
    """Rows whose outcomes may hang on where in its cell of width 1/m a prediction lies."""
    p = {
        "uniform": lambda: rng.random(n),
        "tenths": lambda: rng.integers(0, 11, n) / 10,
        "grid": lambda: rng.integers(0, m + 1, n) / m,
        "ends": lambda: (rng.integers(0, m, n) + rng.choice([0, 0.5, 1 - 1e-9], n)) / m,
        "hard": lambda: rng.integers(0, 2, n).astype(float),
    }[rng.choice(PLACES)]()
    inside = p * m % 1
    rate = rng.choice(["p", "p**2", "high", "low", "middle", "one"])
    outcomes = {
        "p": rng.random(n) < p,
        "p**2": rng.random(n) < p**2,
        "high": inside > 0.7,
        "low": inside < 0.3,
        "middle": np.abs(inside - 0.5) < 0.2,
        "one": np.ones(n),
    }
    w = None if rng.random() < 0.5 else rng.uniform(0.01, 5, n)
    return outcomes[rate].astype(int), p, w


def _values(sketch, names=QUICK):
    return [getattr(sketch, name)() for name in names]


def _exact(*values):
    """Values that the sketch itself says are exact, as floats."""
    assert all(value.exact for value in values)
    return [float(value) for value in values]


# The sums


@given(strategies.samples())
def test_cells_by_definition(sample):
    mass, moved = cell_sums(*sample, 8)
    want = [[[0, 0], [0, 0]] for _ in range(9)]
    weights = np.ones(sample.y.size) if sample.w is None else sample.w
    for y, p, w in zip(sample.y, sample.p, weights, strict=True):
        i = int(Fraction(p) * 8)
        want[i][0][y] += Fraction(w)
        want[i][1][y] += Fraction(w) * (Fraction(p) * 8 - i)
    assert mass.shape == moved.shape == (9, 2)
    np.testing.assert_allclose(mass, [[float(x) for x in cell[0]] for cell in want], rtol=1e-15)
    np.testing.assert_allclose(moved, [[float(x) for x in cell[1]] for cell in want], rtol=1e-14)


@pytest.mark.parametrize("n_parts", [1, 2, 17, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_make_the_whole(n_parts, weighted):
    rng = np.random.default_rng(n_parts)
    n = 4000
    p = rng.random(n).round(rng.integers(2, 9))
    y = (rng.random(n) < p**1.3).astype(int)
    w = rng.uniform(0.1, 10, n) if weighted else None
    whole = CalibrationSketch(2**7).update(y, p, w)
    order = rng.permutation(n)
    chunks = np.split(order, np.sort(rng.integers(0, n + 1, n_parts - 1)))  # some are empty
    parts = [CalibrationSketch(2**7).update(y[c], p[c], w if w is None else w[c]) for c in chunks]
    for sketch in (sum(parts), sum(parts[::-1]), _as_tree(parts)):
        assert (sketch.n_rows, sketch.n_parts) == (n, n_parts)
        assert sketch.weight == pytest.approx(whole.weight, rel=1e-13)
        for got, want in zip(_values(sketch), _values(whole), strict=True):
            assert abs(got.value - want.value) <= 1e-12
            assert abs(got.lower - want.lower) <= 1e-12
            assert abs(got.upper - want.upper) <= 1e-12


def _as_tree(parts):
    while len(parts) > 1:
        parts = [sum(parts[i : i + 3]) for i in range(0, len(parts), 3)]
    return parts[0]


def test_counts_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    p, y = rng.random(3000), rng.integers(0, 2, 3000)
    whole = CalibrationSketch(64).update(y, p)
    parts = sum(CalibrationSketch(64).update(y[i::17], p[i::17]) for i in range(17))
    assert parts.weight == whole.weight == 3000
    assert parts.base_rate == whole.base_rate == y.mean()
    assert parts.mean_forecast == pytest.approx(p.mean(), rel=1e-14)


# What is exact


@given(strategies.samples())
def test_scdl_is_exact_up_to_n_bins(sample):
    truth = metrics.scdl(sample.y, sample.p, sample_weight=sample.w, return_certificate=True)
    for n_bins in (2, 8, 2**10):
        got = CalibrationSketch(n_bins).update(*sample).scdl()
        assert got.lower - 1e-12 <= truth.value <= got.upper + 1e-12
        assert got.exact or truth.n_bins > n_bins
        if truth.n_bins <= n_bins:
            assert got.value == pytest.approx(truth.value, abs=1e-12)
            assert got.n_bins == truth.n_bins
            assert got.loss == pytest.approx(truth.loss, abs=1e-12)
            assert got.regret_bound == pytest.approx(truth.regret_bound, abs=1e-12)


@given(strategies.samples())
def test_grids_that_are_powers_of_two_are_exact(sample):
    sketch = CalibrationSketch(16).update(*sample)
    for m in (1, 2, 4, 8, 16, 32):
        got = _exact(sketch.ece(m), sketch.bece(m))
        want = [
            measure(sample.y, sample.p, sample_weight=sample.w, n_bins=m)
            for measure in (metrics.ece, metrics.actionable_binned_error)
        ]
        if m > 1:
            got += _exact(sketch.soft_cdl(m))
            want.append(metrics.scdl(sample.y, sample.p, sample_weight=sample.w, n_bins=m))
        assert got == pytest.approx(want, abs=1e-12)


@given(strategies.samples(predictions=strategies.DYADIC))
def test_predictions_on_the_grid_are_exact(sample):
    sketch = CalibrationSketch(32).update(*sample)  # multiples of 1/64
    for name in ("cdl", "ece", "smce", "cutoff"):
        want = MEASURES[name](sample.y, sample.p, sample_weight=sample.w)
        assert _exact(getattr(sketch, name)()) == pytest.approx([want], abs=1e-12)


def test_by_hand():
    sketch = CalibrationSketch(8).update([1, 1, 1], [0.5, 0.5, 0.5])
    assert isinstance(sketch.scdl(), SoftSketchValue)
    assert sketch.scdl() == SoftSketchValue(0.25, 0.25, 0.25, 4, 0.25)
    assert sketch.scdl().regret_bound == 1.0
    assert sketch.soft_cdl(2) == SketchValue(0.0, 0.0, 0.0)
    assert sketch.soft_cdl(8).value == 0.375
    assert sketch.cdl() == SketchValue(1.0, 1.0, 1.0)
    assert float(sketch.smce()) == float(sketch.cutoff()) == float(sketch.ece()) == 0.5
    assert sketch.bece(4).value == 1.0
    assert (sketch.base_rate, sketch.mean_forecast, sketch.weight) == (1.0, 0.5, 3.0)


def test_beyond_the_grid():
    y, p = [1, 0], [0.5 - 1e-9, 0.5 + 1e-9]  # SCDL 2**-15 at m* = 2**15
    truth = metrics.scdl(y, p)
    fine, coarse = (CalibrationSketch(n_bins).update(y, p).scdl() for n_bins in (2**15, 2**10))
    assert fine.exact
    assert fine.value == truth == 2**-15
    assert coarse.lower == pytest.approx(metrics.scdl(y, p, n_bins=2**11), abs=1e-12)
    assert (coarse.upper, coarse.n_bins) == (2**-11, 2**11)
    assert coarse.lower <= truth <= coarse.upper


def test_scdl_of_a_calibrated_sample():
    y, p = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1], [0.2] * 5 + [0.8] * 5
    got = CalibrationSketch(2**10).update(y, p).scdl()
    assert (got.value, got.lower, got.upper) == (0.0, 0.0, 2**-11)


# What has bounds


def _held(names, sets, seed):
    """Check the ends on random sets; return by measure how much of its error some set used up."""
    used = dict.fromkeys(names, 0.0)
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        m = 2 ** rng.integers(2, 8)
        y, p, w = _rows(rng, m, int(rng.integers(1, rng.choice([20, 400]))))
        sketch = CalibrationSketch(m // 2).update(y, p, w)
        for name in names:
            settings = {"n_bins": 3 if m == 4 else 7} if name == "ece" else {}
            got = getattr(sketch, name)(**settings)
            truth = MEASURES[name](y, p, sample_weight=w, **settings)
            slack = TOLERANCE.get(name, 1e-12)
            assert 0 <= got.lower <= got.value <= got.upper <= 1
            assert got.lower - slack <= truth <= got.upper + slack
            room = (got.upper if truth > got.value else got.lower) - got.value
            if abs(room) > 1e-3:
                used[name] = max(used[name], (truth - got.value) / room)
    return used


def test_bounds_hold_and_are_tight():
    assert min(_held(QUICK, 200, 0).values()) >= 0.25


def test_bounds_of_the_distance():
    _held(["distcal"], 5, 1)


def test_bounds_by_hand():
    # One cell, [1/2, 3/4), in which the rows are calibrated on the whole: ends reach to what rows
    # on the ends of the cell can do, E[abs(p - 5/8)] = 1/8. That is nearly done when those on the
    # left are ones, and the zeros lie on the right.
    y, p = [1, 1, 1, 1, 1, 0, 0, 0], [0.5] * 4 + [0.75 - 1e-9] * 4
    sketch = CalibrationSketch(2).update(y, p)
    distance, smooth = sketch.distcal(), sketch.smce()
    assert (distance.lower, distance.upper) == pytest.approx((0, 1 / 8), abs=1e-5)
    assert metrics.lower_calibration_distance(y, p) == pytest.approx(0.1, abs=1e-5)
    assert smooth.upper == pytest.approx(1 / 8 * (3 / 8 * 3 / 4 + 5 / 8 * 1 / 2), abs=1e-8)
    assert metrics.smce(y, p) == pytest.approx(1 / 16, abs=1e-8)


@pytest.mark.verify
def test_bounds_hold_on_many():
    assert min(_held(QUICK, 3000, 2).values()) >= 0.5
    assert _held(["distcal"], 200, 3)["distcal"] >= 0.5


def test_bounds_of_binned_errors_by_hand():
    # The edge 1/3 lies in the cell [1/4, 1/2): its zero is on the left of it and its one is not,
    # where it adds to a residual that is there already.
    y, p = [0, 1, 1], [0.26, 0.49, 0.5]
    got = CalibrationSketch(2).update(y, p).ece(3)
    assert metrics.ece(y, p, n_bins=3) == pytest.approx((0.26 + 0.51 + 0.5) / 3)
    assert got.upper == pytest.approx((0.51 + 1.01) / 3)
    assert got.lower == pytest.approx((1.25 - 0.5) / 3)  # no less than the mean residual
    assert got.value == pytest.approx((0.51 - 0.26 + 0.5) / 3)


def test_lower_ends_know_the_mean_residual():
    sketch = CalibrationSketch(2).update([1, 1], [0.5, 0.7])
    for value in (sketch.smce(), sketch.distcal(), sketch.smece()):
        assert value.lower == pytest.approx(0.4, abs=1e-4)


def test_errors_vanish_with_the_grid():
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    y = (rng.random(5000) < p**1.2).astype(int)
    for n_bins in (2**8, 2**12, 2**16):
        sketch = CalibrationSketch(n_bins).update(y, p)
        smooth, distance = sketch.smce(), sketch.distcal()
        assert smooth.upper - smooth.lower <= 1 / n_bins
        assert distance.upper - distance.lower <= 1 / n_bins + 1e-5
        assert abs(smooth.value - metrics.smce(y, p)) <= 0.5 / n_bins


def test_decision_loss_knows_ties_from_near_ties():
    # One row of each outcome in a cell: apart they lose, together they are calibrated.
    tied = CalibrationSketch(2).update([0, 1], [0.5, 0.5]).cdl()
    apart = CalibrationSketch(2).update([0, 1], [0.52, 0.51]).cdl()
    assert tied == SketchValue(0.0, 0.0, 0.0)
    assert apart.lower <= metrics.cdl([0, 1], [0.52, 0.51]) <= apart.upper
    assert apart.lower == 0.0
    assert apart.upper >= metrics.cdl([0, 1], [0.74, 0.5]) > 0.6


def test_sample_stands_for_the_rows():
    rng = np.random.default_rng(0)
    p, w = rng.random(2000), rng.uniform(1, 2, 2000)
    y = (rng.random(2000) < p).astype(int)
    sketch = CalibrationSketch(2**9).update(y, p, w)
    sample = sketch.sample()
    assert all(values.shape == (sample[0].size,) for values in sample)
    assert sample[0].size <= 2 * 2**10
    assert sample[2].sum() == pytest.approx(w.sum(), rel=1e-13)
    assert np.average(sample[1], weights=sample[2]) == pytest.approx(sketch.mean_forecast)
    for name in ("smce", "cutoff", "cdl"):
        again = MEASURES[name](*sample[:2], sample_weight=sample[2])
        assert again == pytest.approx(getattr(sketch, name)().value, abs=1e-12)


# What it takes


def test_containers():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y, p, w = [0, 1, 1], [0.25, 0.5, 0.75], [1.0, 2.0, 0.0]
    want = CalibrationSketch(8).update(y, p, w).to_dict()
    columns = np.column_stack([1 - np.array(p), p])
    frozen = np.array(p)
    frozen.flags.writeable = False
    for arguments in (
        (np.array(y), frozen, np.array(w)),
        (np.array(y, dtype=bool), np.array(p, dtype="f4"), np.array(w, dtype="f4")),
        (np.array(y, dtype="u1"), columns, w),
        (np.array(y, dtype=float)[:, None], np.array(p)[:, None], w),
        (pandas.Series(y, index=[5, 6, 7], dtype="Int64"), pandas.Series(p), pandas.Series(w)),
        (polars.Series(y), polars.Series(p), polars.Series(w)),
    ):
        got = CalibrationSketch(8).update(*arguments).to_dict()
        differ = dict.fromkeys(("negative", "precision", "checksum"))
        assert {**got, **differ} == {**want, **differ}


def test_labels():
    text = CalibrationSketch(8, pos_label="yes")
    text.update(["no"], [0.25]).update(np.array(["yes", "no"]), [0.5, 0.5])
    signs = CalibrationSketch(8).update([-1], [0.25]).update([1, -1], [0.5, 0.5])
    named = CalibrationSketch(8, pos_label="yes", labels=["yes", "no"])
    named.update(["no"], [[0.25, 0.75]]).update(["yes", "no"], [[0.5, 0.5], [0.5, 0.5]])
    plain = CalibrationSketch(8).update([0], [0.25]).update([True, False], [0.5, 0.5])
    assert text.scdl() == signs.scdl() == plain.scdl()
    assert named.mean_forecast == pytest.approx((0.25 + 1) / 3)


@pytest.mark.parametrize(
    ("settings", "chunks", "message"),
    [
        ({}, [[0, 1], [-1, 1]], r"\[0, 1\] here; got also -1"),
        ({}, [[-1], [1, 0]], r"\[-1, 1\] here; got also 0"),
        ({}, [[0, 1], [2, 1]], r"pos_label must name .* labels \[1, 2\]"),
        ({}, [[0, 1, 2]], "at most two labels"),
        ({}, [["no"]], r"pos_label must name .* labels \['no'\]"),
        ({"pos_label": "a"}, [["a", "b"], ["a", "c"]], r"\['b', 'a'\] here; got also 'c'"),
        ({"pos_label": "a"}, [["b"], ["c"]], "got also 'c'"),
        ({"pos_label": 2}, [[1, 2], [3, 2]], "got also 3"),
        ({"pos_label": 2}, [[1, 2], ["1", "2"]], "pos_label must be one of the labels"),
        ({"pos_label": "a", "labels": ["a", "b"]}, [["a"], ["c"]], r"also \['c'\]"),
    ],
)
def test_labels_that_change(settings, chunks, message):
    *before, last = ([y, [0.5] * len(y)] for y in chunks)
    sketch = CalibrationSketch(8, **settings)
    for chunk in before:
        sketch.update(*chunk)
    kept = sketch.to_dict()
    with pytest.raises(ValueError, match=message):
        sketch.update(*last)
    assert sketch.to_dict() == kept
    other = CalibrationSketch(8, **settings)
    if before:
        with pytest.raises(ValueError):  # also when it is another sketch that saw them
            sketch.merge(other.update(*last))
        assert sketch.to_dict() == kept


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"n_bins": n}, "power of two from 2 to 4194304") for n in (0, 1, 3, 8.0, 2**23, "8")),
        ({"labels": ["a", "b"]}, "pos_label must name"),
        ({"labels": [0, 1, 2]}, "labels must hold the two labels"),
        ({"labels": [1, 1]}, "labels must be distinct"),
        ({"labels": ["a", "b"], "pos_label": "c"}, r"one of the labels \['a', 'b'\]; got 'c'"),
        *(({"pos_label": label}, "'pos_label' parameter") for label in (b"a", [1], np.nan)),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        CalibrationSketch(**settings)


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (([0, 1], [0.5]), "y_proba must have the length of y_true"),
        (([], [0.5]), "y_proba must be as empty as y_true; got length 1"),
        (([1], []), "y_proba must hold at least one row"),
        (([0, 1], [0.5, np.nan]), "NaN in row 1"),
        (
            ([0, 1], [[0.2, 0.3, 0.5]] * 2),
            r"must have two columns.* y_true == k .*\(2, 3\)",
        ),
        (([0, 1], [0.5, 1.5]), r"y_proba must lie in \[0, 1\]"),
        (([0.2, 1], [0.5, 0.5]), "y_true must hold class labels"),
        (([0, 1], [0.5, 0.5], [1]), r"sample_weight must have the length of y_true \(2\)"),
        (([0, 1], [0.5, 0.5], [0]), r"sample_weight must have the length of y_true \(2\)"),
        (([0, 1], [0.5, 0.5], [1, -1]), "not negative"),
        (([0, 1], [0.5, 0.5], [1, np.inf]), "finite"),
        (([0, 1], [0.5, 0.5], [1, 1e101]), "maximum between 1e-100 and 1e[+]100"),
        (([0, 1], [0.5, 0.5], [0, 1e-101]), "maximum between"),
    ],
)
def test_bad_chunks(chunk, message):
    sketch = CalibrationSketch(8).update([0, 1], [0.25, 0.5], [1, 2])
    kept = sketch.to_dict()
    with pytest.raises(ValueError, match=message):
        sketch.update(*chunk)
    assert sketch.to_dict() == kept


def test_weights_keep_their_scale_between_chunks():
    chunks = ([0, 1], [0.25, 0.5], [1.0, 3.0]), ([1], [0.5]), ([0, 0], [0.75, 0.25], [2, 0])
    for power in (-99, -95, -80, 0, 80, 95, 99):
        sketch = CalibrationSketch(8)
        for y, p, *w in chunks:
            sketch.update(y, p, np.multiply(w[0] if w else 1.0, 10.0**power) * np.ones(len(y)))
        assert sketch.weight == pytest.approx(7 * 10.0**power)
        assert sketch.mean_forecast == pytest.approx(3.75 / 7)
    mixed = CalibrationSketch(8).update([0], [0.25], [2.0]).update([1, 1], [0.5, 0.5])
    assert mixed.scdl() == CalibrationSketch(8).update([0, 0, 1, 1], [0.25] * 2 + [0.5] * 2).scdl()


def test_rows_of_weight_zero_count_as_rows_only():
    sketch = CalibrationSketch(8).update([0, 1], [0.25, 0.5], [0, 1]).update([1], [0.1], [0.0])
    assert (sketch.n_rows, sketch.n_parts, sketch.weight) == (3, 2, 1.0)
    assert sketch.scdl() == CalibrationSketch(8).update([1], [0.5]).scdl()


def test_empty_sketches_and_chunks():
    sketch = CalibrationSketch(8).update([], []).update(np.zeros(0), np.zeros((0, 2)))
    assert (sketch.n_rows, sketch.n_parts, sketch.weight) == (0, 2, 0.0)
    assert repr(sketch) == "CalibrationSketch(n_rows=0, n_parts=2)"
    for ask in (sketch.scdl, sketch.cdl, sketch.sample, lambda: sketch.base_rate):
        with pytest.raises(ValueError, match="the sketch must hold a row of positive weight"):
            ask()
    whole = CalibrationSketch(8).update([1], [0.5])
    assert (sketch + whole).scdl() == whole.scdl()


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("y", [0, 1])
def test_one_row(y, p):
    sketch = CalibrationSketch(2**10).update([y], [p])
    for name in QUICK:
        got, truth = getattr(sketch, name)(), MEASURES[name]([y], [p])
        assert got.lower - 1e-12 <= truth <= got.upper + 1e-12
        assert got.value == pytest.approx(truth, abs=1e-5 if name == "smece" else 1e-12)


def test_hard_predictions_warn_as_measures_do():
    with pytest.warns(CalibrationWarning, match="predicted labels"):
        CalibrationSketch(8).update([0, 1], [0.0, 1.0])


@pytest.mark.parametrize(
    ("method", "n_bins"),
    [
        *(("soft_cdl", n_bins) for n_bins in (1, 6, 32)),
        *(("bece", n_bins) for n_bins in (0, 3, 32)),
        *(("ece", n_bins) for n_bins in (0, 17, None)),
    ],
)
def test_grids_that_it_does_not_know(method, n_bins):
    sketch = CalibrationSketch(8).update([1], [0.5])
    with pytest.raises(ValueError, match=f"'n_bins' parameter of {method} must be"):
        getattr(sketch, method)(n_bins)
