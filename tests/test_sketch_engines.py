"""Sketches as the reduction of joblib and dask: any backend gives the sketch of the whole."""

import os
import signal
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest

from skcal.sketch import CalibrationSketch, _partitions, sketch_from_partitions

BINS = 2**10
# Named parallel_backend until joblib 1.3.
use_backend = getattr(joblib, "parallel_config", None) or joblib.parallel_backend


def _rows(seed, n=500):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**1.2).astype(int), p


def _weighted_rows(seed):
    return *_rows(seed), np.random.default_rng(seed).uniform(1, 2, 500)


def _slow_rows(seed):
    time.sleep(0.4)
    return _rows(seed)


def _kill_oneself():
    os.kill(os.getpid(), signal.SIGKILL)


PARTS = [_rows(seed) for seed in range(17)]
WHOLE = CalibrationSketch(BINS).update(*(np.concatenate(rows) for rows in zip(*PARTS, strict=True)))


def _assert_whole(sketch, n_parts=17):
    assert (sketch.n_rows, sketch.n_parts, sketch.weight) == (8500, n_parts, 8500.0)
    for name in ("scdl", "smce", "cutoff", "cdl"):
        got, want = getattr(sketch, name)(), getattr(WHOLE, name)()
        assert abs(got.value - want.value) <= 1e-12
        assert abs(got.upper - want.upper) <= 1e-12


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_backends_of_joblib(backend):
    with use_backend(backend):
        _assert_whole(sketch_from_partitions(iter(PARTS), n_bins=BINS, n_jobs=2, n_rows=8500))


def test_the_surrounding_backend_gives_the_workers(monkeypatch):
    seen = set()
    rows = [lambda part=part: (seen.add(threading.get_ident()), time.sleep(0.01), part)[-1]
            for part in PARTS]  # fmt: skip
    with use_backend("threading", n_jobs=2):
        _assert_whole(sketch_from_partitions(rows, n_bins=BINS))
    assert len(seen) > 1 and threading.main_thread().ident not in seen


def test_plain_loops():
    sketch = CalibrationSketch(BINS)
    for part in PARTS:
        sketch.update(*part)
    _assert_whole(sketch)
    _assert_whole(sum(CalibrationSketch(BINS).update(*part) for part in PARTS))
    _assert_whole(sketch_from_partitions(PARTS, n_bins=BINS))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_workers_load_their_own_rows(n_jobs):
    parts = [partial(_weighted_rows, seed) for seed in range(9)]
    sketch = sketch_from_partitions(parts, n_bins=BINS, n_jobs=n_jobs)
    want = CalibrationSketch(BINS)
    for part in parts:
        want.update(*part())
    assert sketch.n_parts == 9
    assert sketch.weight == pytest.approx(want.weight, rel=1e-13)
    assert sketch.smce().value == pytest.approx(want.smce().value, abs=1e-13)


def test_generators_are_read_as_needed():
    """However many partitions there are, few are in memory at a time."""
    alive, most = 0, 0

    class Rows:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __call__(self):
            nonlocal alive
            alive -= 1
            return PARTS[0]

    sketch = sketch_from_partitions((Rows() for _ in range(200)), n_bins=BINS)
    assert sketch.n_parts == 200
    assert most <= _partitions.AHEAD


def test_settings_reach_the_workers():
    part = ["no", "yes", "no"], [[0.3, 0.7], [0.5, 0.5], [0.5, 0.5]]
    settings = {"pos_label": "no", "labels": ["no", "yes"], "n_bins": 8}
    sketch = sketch_from_partitions([part, (["no"], [[0.3, 0.7]])], n_jobs=2, **settings)
    assert sketch.base_rate == 0.75
    assert sketch.mean_forecast == pytest.approx(0.4)
    with pytest.raises(ValueError, match="got also 'maybe'"):
        sketch_from_partitions([(["no"], [0.3]), (["yes"], [0.3]), (["maybe"], [0.2])],
                               pos_label="no")  # fmt: skip


@pytest.mark.parametrize("parts", [PARTS[:-1], [*PARTS, PARTS[3]], []])
def test_lost_and_repeated_partitions(parts):
    got = f"partitions must hold n_rows=8500 rows; got {500 * len(parts)} in {len(parts)} parts"
    with pytest.raises(ValueError, match=got):
        sketch_from_partitions(parts, n_bins=BINS, n_rows=8500)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        (3, "partitions must be iterable; got int"),
        ([3], "partitions must be tuples .* got a int"),
        ([np.zeros((2, 2))], "partitions must be tuples .* got a ndarray"),
        ([([0],)], "partitions must be tuples .* got a tuple of 1"),
        ([([0], [0.5], [1], [1])], "partitions must be tuples .* got a tuple of 4"),
        ([lambda: None], "partitions must be tuples .* got a NoneType"),
        ([([0], [1.5])], "y_proba must lie in"),
    ],
)
def test_partitions_that_are_none(partitions, message):
    with pytest.raises(ValueError, match=message):
        sketch_from_partitions(partitions, n_bins=BINS)


def test_a_frame_is_no_sequence_of_partitions():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [0, 1], "p": [0.5, 0.5]})
    for partitions, got in ((frame, "one DataFrame"), (frame["y"], "one Series")):
        with pytest.raises(ValueError, match=f"partitions must be tuples .* got {got}"):
            sketch_from_partitions(partitions)
    with pytest.raises(ValueError, match=r"partitions must be tuples .* got a DataFrame"):
        sketch_from_partitions([frame])


@pytest.mark.parametrize(("name", "value"), [("n_jobs", "2"), ("n_rows", -1), ("n_bins", 3)])
def test_bad_settings(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of"):
        sketch_from_partitions(PARTS, **{name: value})


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs")
def test_a_worker_of_joblib_that_dies_is_an_error():
    parts = [partial(_slow_rows, seed) for seed in range(6)]
    with pytest.raises(Exception, match="terminated"):
        sketch_from_partitions([*parts, _kill_oneself, *parts], n_bins=BINS, n_jobs=2)


# dask


def _dask_arrays(dask):
    array = pytest.importorskip("dask.array")
    y, p = (np.concatenate(rows) for rows in zip(*PARTS, strict=True))
    return [array.from_array(values, chunks=500).to_delayed() for values in (y, p)]


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_dask_delayed(scheduler):
    dask = pytest.importorskip("dask")
    parts = [dask.delayed(_rows)(seed) for seed in range(17)]
    with dask.config.set(scheduler=scheduler):
        _assert_whole(sketch_from_partitions(iter(parts), n_bins=BINS, n_rows=8500))
        _assert_whole(sketch_from_partitions(parts[:1] + PARTS[1:], n_bins=BINS))
        with pytest.raises(ValueError, match="got 8000 in 16 parts"):
            sketch_from_partitions(parts[1:], n_bins=BINS, n_rows=8500)
        with pytest.raises(ValueError, match="got a int"):
            sketch_from_partitions([dask.delayed(abs)(-3)], n_bins=BINS)


def test_dask_array():
    dask = pytest.importorskip("dask")
    pairs = zip(*_dask_arrays(dask), strict=True)
    _assert_whole(sketch_from_partitions(pairs, n_bins=BINS))


def _dask_frame():
    dataframe, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    y, p = (np.concatenate(rows) for rows in zip(*PARTS, strict=True))
    return dataframe.from_pandas(pandas.DataFrame({"y": y, "p": p}), npartitions=5)


def test_dask_dataframe():
    dask = pytest.importorskip("dask")
    frame = _dask_frame()
    parts = [dask.delayed(lambda rows: (rows["y"], rows["p"]))(part) for part in frame.to_delayed()]
    _assert_whole(sketch_from_partitions(parts, n_bins=BINS), 5)


def test_dask_series():
    pytest.importorskip("dask")
    frame = _dask_frame()
    each = [(part["y"], part["p"]) for part in frame.partitions]
    whole = frame["y"], frame["p"]
    beside_an_array = frame["y"], frame["p"].to_dask_array(lengths=True)
    for partitions in (each, [whole], [list(whole)], [beside_an_array]):
        _assert_whole(sketch_from_partitions(partitions, n_bins=BINS, n_rows=8500), 5)
    y, p = PARTS[0]
    plain = CalibrationSketch(BINS).update(y, p, p).scdl().value
    first = frame.partitions[:1].loc[:499]
    weighted = sketch_from_partitions([(first["y"], first["p"], first["p"])], n_bins=BINS)
    assert weighted.scdl().value == pytest.approx(plain, abs=1e-12)


def test_dask_series_that_are_no_partitions():
    dask = pytest.importorskip("dask")
    frame = _dask_frame()
    y, p = frame["y"], frame["p"]
    for partitions, message in (
        (frame, "must be .* got .*DataFrame"),
        ([frame], "must be tuples .* got a DataFrame"),
        ([y], "must be tuples .* got a Series"),
        ((y, p), "must be tuples .* got a Series"),
        ([(y,)], "must be tuples .* got a tuple of 1"),
        ([(y, p.compute())], "must hold collections of dask beside its series; got Series, Series"),
        ([(y, dask.delayed(p))], "must hold collections of dask beside its series; got Series, De"),
        ([(y, p.repartition(npartitions=2))], r"series of as many partitions; got \[5, 2\]"),
    ):
        with pytest.raises(ValueError, match=f"partitions .*{message}"):
            sketch_from_partitions(partitions, n_bins=BINS)


def test_dask_sum():
    dask = pytest.importorskip("dask")
    sketches = [
        dask.delayed(lambda y, p: CalibrationSketch(BINS).update(y, p))(*pair)
        for pair in zip(*_dask_arrays(dask), strict=True)
    ]
    _assert_whole(dask.delayed(sum)(sketches).compute())


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")  # of the cluster, which loses a worker
def test_dask_with_a_worker_killed():
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
        killer.start()
        parts = [dask.delayed(_slow_rows)(seed) for seed in range(17)]
        sketch = sketch_from_partitions(parts, n_bins=BINS, n_rows=8500)
        assert not killer.is_alive()  # it struck in the middle
        _assert_whole(sketch)
        assert victim not in client.run(os.getpid).values()
