"""Sketches of half and single precision: bins have the edges of all chunks together."""

import itertools

import numpy as np
import pytest

from skcal import metrics
from skcal.sketch import CalibrationSketch
from tests.test_sketch_tied import MEASURES

TYPES = (np.float16, np.float32, np.float64)
GRIDS = (3, 7, 10, 15, 100)
MIXTURES = [mix for k in (1, 2, 3) for mix in itertools.combinations(TYPES, k)]
each_mixture = pytest.mark.parametrize("types", MIXTURES)

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")


def _chunks(rng, types, places):
    """Chunks, in which no two types share a place."""
    owner = rng.integers(0, len(types), places.size)
    for k, kind in enumerate(types):
        if (mine := places[owner == k]).size:
            p = rng.choice(mine, 200).astype(kind)
            yield (rng.random(200) < p**1.3).astype(int), p


def _sketches(chunks, n_bins):
    """In one go, in the other order, merged, and merged into an empty one that was stored."""
    parts = [CalibrationSketch(n_bins).update(*chunk) for chunk in chunks]
    whole, other = CalibrationSketch(n_bins), CalibrationSketch(n_bins)
    for chunk, back in zip(chunks, chunks[::-1], strict=True):
        whole.update(*chunk)
        other.update(*back).update([], [])
    yield from (whole, other, sum(parts))
    stored = CalibrationSketch.from_dict(CalibrationSketch(n_bins).to_dict())
    yield CalibrationSketch.from_dict(stored.merge(sum(parts[::-1])).copy().to_dict())


@each_mixture
def test_tied_forecasts_have_the_measures_of_the_rows(types):
    rng = np.random.default_rng(0)
    chunks = list(_chunks(rng, types, np.arange(101) / 100))
    y, p = (np.concatenate(column) for column in zip(*chunks, strict=True))
    assert p.dtype == types[-1]
    want = {k: metrics.ece(y, p, n_bins=k) for k in GRIDS}
    for sketch in _sketches(chunks, 2**12):
        for k in GRIDS:
            got = sketch.ece(k)
            assert got.exact
            assert got.value == pytest.approx(want[k], abs=1e-12)
        for name, measure in MEASURES.items():
            assert getattr(sketch, name)().value == pytest.approx(measure(y, p), abs=1e-12)
        for m in (4, 16):
            want_rounded = metrics.bece(y, p, n_bins=m)
            assert sketch.bece(m).value == pytest.approx(want_rounded, abs=1e-12)


@each_mixture
def test_ends_hold_in_any_precision(types):
    rng = np.random.default_rng(1)
    exact = 0
    for _ in range(60):
        n_bins = int(2 ** rng.integers(1, 10))
        k = int(rng.integers(2, 2 * n_bins + 1))
        edges = np.clip(np.arange(k + 1) / k + rng.choice([-1, 0, 1]) * 1e-4, 0, 1)
        places = rng.choice([*edges, *rng.random(20)], 12)
        chunks = list(_chunks(rng, types, places))
        y, p = (np.concatenate(column) for column in zip(*chunks, strict=True))
        truth = metrics.ece(y, p, n_bins=k)
        for sketch in _sketches(chunks, n_bins):
            got = sketch.ece(k)
            assert got.lower - 1e-12 <= truth <= got.upper + 1e-12
            assert not got.exact or got.value == pytest.approx(truth, abs=1e-12)
            exact += got.exact
    assert 0 < exact < 240


def test_an_edge_on_the_end_of_a_cell_splits_no_rows():
    """In half precision 501/1000 and 502/1000 are 1026/2048 and 1028/2048, the ends of a cell."""
    y, p = [0, 1], np.array([1026, 1027]) / 2048
    half, double = (CalibrationSketch(512).update(y, p.astype(t)) for t in ("f2", "f8"))
    assert not double.ece(1000).exact
    assert half.ece(1000).exact
    assert half.ece(1000).value == pytest.approx(abs(1 - p.sum()) / 2, abs=1e-12)
    assert half.ece(1000).value == pytest.approx(metrics.ece(y, p.astype("f2"), n_bins=1000))


def test_the_edge_is_rounded_to_the_type():
    """0.7 is 7/10 in each type, though less than that in single precision."""
    for kind in TYPES:
        sketch = CalibrationSketch().update([1, 0], np.array([0.7, 0.75], dtype=kind))
        assert sketch.ece(10).value == pytest.approx((0.75 - 0.3) / 2, abs=1e-3)
    sketch = CalibrationSketch().update([1], np.array([0.7], dtype="f4"))
    below = sketch.update([0], [0.75]).ece(10)  # among doubles single 0.7 is below the edge
    assert below.value == pytest.approx((0.75 + 0.3) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("chunks", "want"),
    [
        ([], None),
        ([[]], None),
        ([np.zeros(0, dtype="f8"), np.ones(1, dtype="f2")], "float16"),
        ([np.ones(2, dtype="f2"), np.ones(2, dtype=">f4")], "float32"),
        ([[0.5], np.ones(2, dtype="f2")], "float64"),
        ([np.ones((2, 2), dtype="f4") / 2], "float32"),
        ([np.ones(2, dtype="f4"), np.ones(1, dtype="i1")], "float64"),
        ([np.ones(2, dtype=np.longdouble)], "float64"),
    ],
)
def test_the_type_of_all_chunks(chunks, want):
    for order in (chunks, chunks[::-1]):
        sketch, merged = CalibrationSketch(4), CalibrationSketch(4)
        for p in order:
            y = np.arange(len(p)) % 2
            sketch.update(y, p)
            merged.merge(CalibrationSketch(4).update(y, p))
        assert sketch.to_dict()["precision"] == merged.to_dict()["precision"] == want
