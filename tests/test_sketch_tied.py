"""Sketches of forecasts that repeat: what is tied is known exactly, and after merging too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import calibration_report, metrics
from skcal.report import sketch_report
from skcal.sketch import CalibrationSketch
from tests import strategies

MEASURES = {
    "scdl": metrics.scdl,
    "cdl": metrics.cdl,
    "smce": metrics.smce,
    "cutoff": metrics.cutoff_calibration_error,
}
SMOOTH = 1e-6  # the width of a smooth ECE is found so far
ENDS = 2e-5  # and to this its ends tell its error

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


def _outcomes(rng, p):
    return (rng.random(p.size) < p**1.2).astype(int)


def _weights(rng, n):
    return rng.choice([0.0, 0.3, 1.0, 2.7], n)


def _parts(rng, n_bins, y, p, w, n_parts):
    """Sketches of the rows in a random order, cut at random; some are empty."""
    cuts = np.sort(rng.integers(0, y.size + 1, n_parts - 1))
    return [
        CalibrationSketch(n_bins).update(y[c], p[c], w if w is None else w[c])
        for c in np.split(rng.permutation(y.size), cuts)
    ]


def _merged(rng, parts):
    """The sum of parts in a random order and grouping."""
    parts = [parts[k] for k in rng.permutation(len(parts))]
    while len(parts) > 1:
        k = int(rng.integers(len(parts) - 1))
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
    return parts[0]


def _assert_known(sketch, y, p, w):
    """Every measure is that of the rows."""
    for name, measure in MEASURES.items():
        got = getattr(sketch, name)()
        assert got.exact or name == "scdl"
        assert got.value == pytest.approx(measure(y, p, sample_weight=w), abs=1e-12)
    for n_bins in (k for k in (1, 3, 7, 10, 15, 16) if k <= 2 * sketch.n_bins):
        got = sketch.ece(n_bins)
        assert got.exact
        want = metrics.ece(y, p, sample_weight=w, n_bins=n_bins)
        assert got.value == pytest.approx(want, abs=1e-12)
    smooth, want = sketch.smece(), metrics.smooth_ece(y, p, sample_weight=w)
    assert smooth.value == pytest.approx(want, abs=SMOOTH)
    assert smooth.upper - smooth.lower <= 2 * ENDS + 1e-12


# What is exact


@pytest.mark.parametrize("n_parts", [1, 2, 17])
@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_decimals_are_known(decimals, n_parts, weighted):
    rng = np.random.default_rng(decimals + 10 * n_parts)
    p = rng.random(3000).round(decimals)
    y, w = _outcomes(rng, p), _weights(rng, p.size) if weighted else None
    for n_bins in (2**10, 2**16):
        sketch = _merged(rng, _parts(rng, n_bins, y, p, w, n_parts))
        _assert_known(sketch, y, p, w)
        assert sketch.mean_forecast == pytest.approx(np.average(p, weights=w), rel=1e-13)
        kept = slice(None) if w is None else w > 0
        assert set(sketch.sample()[1]) == set(p[kept])


@pytest.mark.parametrize("decimals", [1, 2])
def test_their_distance_is_known(decimals):
    rng = np.random.default_rng(decimals)
    p = rng.random(500).round(decimals)
    y = _outcomes(rng, p)
    got = CalibrationSketch().update(y, p).distcal()
    want = metrics.lower_calibration_distance(y, p)
    assert got.value == pytest.approx(want, abs=1e-5)
    assert got.upper - got.lower <= 1e-5 + 1e-12


@given(strategies.samples())
def test_whatever_is_tied_in_its_cell_is_known(sample):
    sketch = CalibrationSketch(2**12).update(*sample)
    cells = {(int(p * 2**13), p) for p in sample.p}
    if len({i for i, _ in cells}) == len(cells):
        _assert_known(sketch, *sample)


@pytest.mark.parametrize("p", [0.0, -0.0, 0.3, 0.999, 1.0, 5e-324, np.nextafter(1, 0)])
@pytest.mark.parametrize("y", [[0], [1], [0, 1, 1]])
def test_one_forecast(p, y):
    sketch = CalibrationSketch(2).update(y, [p] * len(y))
    _assert_known(sketch, np.array(y), np.full(len(y), p), None)
    assert set(sketch.sample()[1]) == {p}


def test_the_place_of_an_atom_is_no_quotient_of_sums():
    """Sums of many equal numbers round off: they would move these ones below the edge 3/10."""
    n, p = 1_000_000, 0.3
    ones = CalibrationSketch(8).update(np.ones(n, dtype=int), np.full(n, p))
    assert (4 + ones._moved.sum() / n) / 16 < p - 1e-15
    assert set(ones.sample()[1]) == {p}
    assert abs(ones.mean_forecast - p) <= 1e-15
    both = ones + CalibrationSketch(8).update(np.zeros(n, dtype=int), np.full(n, 0.2))
    assert both.ece(10).exact
    assert both.ece(10).value == pytest.approx((0.7 + 0.2) / 2, abs=1e-12)


def test_report_agrees_with_that_of_the_rows():
    rng = np.random.default_rng(0)
    p = rng.random(2000).round(2)
    y = _outcomes(rng, p)
    of_sketch = sketch_report(CalibrationSketch().update(y, p), output="dict")["measures"]
    of_rows = calibration_report(y, p, n_resamples=None, output="dict")["measures"]
    for name in ("scdl", "cdl", "cutoff", "smce", "ece"):
        assert of_sketch[name]["value"] == pytest.approx(of_rows[name]["value"], abs=1e-12)
        assert of_sketch[name]["lower"] == of_sketch[name]["upper"] == of_sketch[name]["value"]
    rows = CalibrationSketch().update(y, p).sample()
    assert metrics.cdl(*rows[:2], sample_weight=rows[2]) == pytest.approx(
        of_rows["cdl"]["value"], abs=1e-12
    )


# What is not


def test_the_last_bit_tells_forecasts_apart():
    y, p = [0, 1, 1, 0], [0.3, 0.1 + 0.2, 0.3, 0.9]
    sketch = CalibrationSketch().update(y, p)
    got = sketch.cdl()
    assert not got.exact
    assert got.lower <= metrics.cdl(y, p) <= got.upper
    assert got.lower < metrics.cdl(y, [0.3, 0.3, 0.3, 0.9]) < got.upper
    assert CalibrationSketch().update(y, [0.3, 0.3, 0.3, 0.9]).cdl().exact


def _mixture(rng, n):
    """Rows of which some share a few forecasts, on the grid and off it, and some do not."""
    tied = rng.choice([0.0, 0.1, 0.25, 0.3, 0.35, 0.5, 0.62, 0.625, 0.9, 1.0], n)
    lone = rng.uniform(*np.sort(rng.random(2)), n)
    p = np.where(rng.random(n) < rng.random(), tied, lone)
    rate = (p, np.round(p), rng.random(), 1 - p)[rng.integers(4)]
    w = None if rng.random() < 0.5 else _weights(rng, n)
    if w is not None and not w.any():
        w[0] = 1.0
    return (rng.random(n) < rate).astype(int), p, w


def _assert_held(seed, sets):
    rng = np.random.default_rng(seed)
    opened = exact = 0
    for _ in range(sets):
        y, p, w = _mixture(rng, int(rng.integers(1, rng.choice([8, 60]))))
        n_bins = int(2 ** rng.integers(1, 7))
        parts = _parts(rng, n_bins, y, p, w, 3)
        sketch = _merged(rng, parts)
        values = [(getattr(sketch, name)(), measure(y, p, sample_weight=w))
                  for name, measure in MEASURES.items()]  # fmt: skip
        values += [(sketch.ece(k), metrics.ece(y, p, sample_weight=w, n_bins=k))
                   for k in (3, 2 * n_bins - 1)]  # fmt: skip
        for got, truth in values:
            assert 0 <= got.lower <= got.value <= got.upper <= 1
            assert got.lower - 1e-12 <= truth <= got.upper + 1e-12
        smooth, truth = sketch.smece(), metrics.smooth_ece(y, p, sample_weight=w)
        assert smooth.lower - 1e-12 <= truth <= smooth.upper + 1e-12
        exact, opened = exact + sketch.cdl().exact, opened + (not sketch.cdl().exact)
    assert min(exact, opened) >= sets / 10


def test_ends_hold_for_mixtures():
    _assert_held(0, 150)


@pytest.mark.verify
def test_ends_hold_for_many_mixtures():
    _assert_held(1, 5000)


def _worst_rows(y, p, w, m, upper):
    """Rows with the same sketch whose CDL nearly is the end: open cells are arranged anew."""
    far, rows = 1e-9, []
    for i in range(m + 1):
        inside = np.floor(p * m) == i
        zeros, ones = w[inside & (y == 0)].sum(), w[inside & (y == 1)].sum()
        places = set(p[inside & (w > 0)])
        if len(places) == 1:
            (place,) = places
            rows += [(0, place, zeros), (1, place, ones)]
        elif places and upper:
            rows += [(0, (i + 1) / m - far, zeros), (1, i / m + far, ones)]
        elif places:
            place = np.clip(ones / (zeros + ones), i / m + far, (i + 1) / m - far)
            rows += [(0, place, zeros), (1, place, ones)]
    y, p, w = (np.array(values) for values in zip(*rows, strict=True))
    return metrics.cdl(y, p, sample_weight=w)


@pytest.mark.parametrize("upper", [False, True])
def test_ends_of_the_decision_loss_are_attained(upper):
    rng = np.random.default_rng(5)
    moved = 0
    for _ in range(150):
        y, p, w = _mixture(rng, 40)
        w = np.ones(40) if w is None else w
        n_bins = int(2 ** rng.integers(1, 6))
        got = CalibrationSketch(n_bins).update(y, p, w).cdl()
        end = got.upper if upper else got.lower
        assert end == pytest.approx(_worst_rows(y, p, w, 2 * n_bins, upper), abs=1e-7)
        moved += abs(end - got.value) > 1e-3
    assert moved > 50


# What merges


NEIGHBOURS = (0.0, -0.0, 0.3, 0.1 + 0.2, 0.31, 0.5, np.nextafter(0.5, 1), 0.75, 5e-324, 1.0)


@given(st.integers(0, 10**6), st.sampled_from([1, 4, 30]))
def test_ties_do_not_depend_on_order_or_grouping(seed, n):
    rng = np.random.default_rng(seed)
    p, y, w = rng.choice(NEIGHBOURS, n), rng.integers(0, 2, n), rng.choice([0.0, 1.0], n)
    seen = {}
    for place in p[w > 0]:
        seen.setdefault(int(place * 8), set()).add(float(place))
    want = [max(seen[i]) if len(seen[i]) == 1 else None for i in sorted(seen)]
    for _ in range(3):
        sketch = _merged(rng, _parts(rng, 4, y, p, w, 5))
        assert sketch.to_dict()["only"] == want
        again = CalibrationSketch.from_dict(sketch.to_dict())
        assert again._only.tobytes() == sketch._only.tobytes()
        assert (again + sketch).to_dict()["only"] == want


def test_zero_has_no_sign():
    positive, negative = (CalibrationSketch(8).update([1], [p]) for p in (0.0, -0.0))
    assert negative._only.tobytes() == positive._only.tobytes()


def test_copies_see_apart():
    sketch = CalibrationSketch(8).update([1], [0.3])
    sketch.copy().update([1], [0.31])
    assert sketch.to_dict()["only"] == [0.3]


def test_blocks_of_rows_know_of_each_other():
    """Chunks are read in blocks; what comes late opens a cell too, and closes none."""
    n = 200_000
    y, p = np.zeros(n, dtype=int), np.full(n, 0.3)
    assert CalibrationSketch(8).update(y, p).cdl().exact
    for late in (0, 1, n // 2, n - 1):
        other = p.copy()
        other[late] = 0.26
        sketch = CalibrationSketch(8).update(y, other)
        assert not sketch.cdl().exact
        assert not sketch.update(y, p).cdl().exact


def test_rows_of_weight_zero_open_no_cell():
    y, p = [1, 0, 1], [0.3, 0.31, 0.9]
    tied = CalibrationSketch(8).update([1, 1], [0.3, 0.9], [1.0, 2.0])
    for sketch in (
        CalibrationSketch(8).update(y, p, [1.0, 0.0, 2.0]),
        CalibrationSketch(8).update(y, p, [0, 0, 0]) + tied,
        CalibrationSketch(8).update([0, 0], [0.31, 0.1], [0, 0]).merge(tied),
    ):
        for key in ("index", "mass", "moved", "only"):
            assert sketch.to_dict()[key] == tied.to_dict()[key]
        assert sketch.cdl() == tied.cdl()
    late = tied.update(y, p, [0.0, 1e-90, 0.0])  # the least weight does
    assert late.to_dict()["only"] == [None, 0.9]


def test_memory_is_as_documented():
    sketch = CalibrationSketch(2**12)
    tables = [value for value in vars(sketch).values() if isinstance(value, np.ndarray)]
    assert sum(table.nbytes for table in tables) // 2**12 == 80
    assert "Takes 80 bytes" in CalibrationSketch.__doc__
