"""A sketch of many partitions, by joblib or dask."""

from collections.abc import Iterable
from itertools import chain, islice

from joblib import Parallel, delayed, effective_n_jobs

from skcal._validation import N_JOBS, Integral, Interval, fail, validate_params
from skcal.sketch._sketch import CalibrationSketch

AHEAD = 4  # partitions sketched for each worker before their sketches are added up
BRANCHES = 8  # sketches that one task of dask adds up


@validate_params(
    {
        "n_jobs": N_JOBS,
        "n_rows": [Interval(Integral, 0, None, closed="left"), None],
    },
    prefer_skip_nested_validation=True,
)
def sketch_from_partitions(
    partitions, *, n_bins=2**16, pos_label=None, labels=None, n_jobs=None, n_rows=None
):
    """A `CalibrationSketch` of data in partitions, by any backend of joblib or by dask.

    Parameters
    ----------
    partitions : iterable
        Each is (y_true, y_proba) or (y_true, y_proba, sample_weight), or a function without
        arguments that returns one, so that workers load their own data. A generator is read as
        needed. Values of ``dask.delayed``, or tuples of them, make dask do the work.
    n_bins, pos_label, labels
        As in `CalibrationSketch`.
    n_jobs : int, default=None
        Workers, as in joblib. Of no effect on dask.
    n_rows : int, default=None
        How many rows there must be in all.

    Returns
    -------
    CalibrationSketch

    Raises
    ------
    ValueError
        If a partition is not of this form, or the rows are not ``n_rows``.

    Examples
    --------
    >>> from skcal.sketch import sketch_from_partitions
    >>> parts = [([0, 1], [0.25, 0.5]), ([1, 1], [0.5, 0.5])]
    >>> sketch_from_partitions(parts, n_rows=4).scdl().value
    0.25
    """
    empty = CalibrationSketch(n_bins, pos_label=pos_label, labels=labels)
    if not isinstance(partitions, Iterable):
        fail("partitions", "be iterable", f"{type(partitions).__name__}")
    partitions = iter(partitions)
    first = list(islice(partitions, 1))
    partitions = chain(first, partitions)
    if first and _is_lazy(first[0]):
        sketch = _by_dask(partitions, empty)
    else:
        sketch = _by_joblib(partitions, empty, n_jobs)
    if n_rows is not None and sketch.n_rows != n_rows:
        got = f"{sketch.n_rows} in {sketch.n_parts} parts"
        fail("partitions", f"hold n_rows={n_rows} rows", got)
    return sketch


def _by_joblib(partitions, empty, n_jobs):
    """Batch by batch, so that few sketches are in memory at a time."""
    sketch = empty.copy()
    size = AHEAD * effective_n_jobs(n_jobs)
    with Parallel(n_jobs=n_jobs) as parallel:
        while batch := parallel(delayed(_sketched)(empty, p) for p in islice(partitions, size)):
            for part in batch:
                sketch.merge(part)
    return sketch


def _by_dask(partitions, empty):
    """A tree of tasks: no worker holds many sketches, whatever the number of partitions."""
    import dask

    sketches = [dask.delayed(_sketched)(empty, partition) for partition in partitions]
    while len(sketches) > 1:
        starts = range(0, len(sketches), BRANCHES)
        sketches = [dask.delayed(sum)(sketches[i : i + BRANCHES]) for i in starts]
    return sketches[0].compute()


def _is_lazy(partition):
    items = partition if isinstance(partition, tuple | list) else [partition]
    return any(hasattr(item, "__dask_graph__") for item in items)


def _sketched(empty, partition):
    rows = partition() if callable(partition) else partition
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        must = "be tuples (y_true, y_proba) or (y_true, y_proba, sample_weight)"
        sized = f" of {len(rows)}" if isinstance(rows, tuple | list) else ""
        fail("partitions", must, f"a {type(rows).__name__}{sized}")
    return empty.copy().update(*rows)
