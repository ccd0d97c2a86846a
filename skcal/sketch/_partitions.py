"""A sketch of many partitions, by joblib or dask."""

from collections.abc import Iterable
from itertools import chain, islice

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skcal._validation import N_JOBS, Integral, Interval, fail, validate_params
from skcal.sketch._sketch import CalibrationSketch

AHEAD = 4  # partitions sketched for each worker before their sketches are added up
FORM = "be tuples (y_true, y_proba) or (y_true, y_proba, sample_weight)"
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
        needed. Values of ``dask.delayed``, tuples of them, or tuples of dask series make dask do
        the work.
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
    if hasattr(type(partitions), "dtypes"):  # a frame is iterable, over the names of its columns
        fail("partitions", FORM, f"one {type(partitions).__name__}")
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

    parts = chain.from_iterable(map(_parts, partitions))
    sketches = [dask.delayed(_sketched)(empty, part) for part in parts]
    while len(sketches) > 1:
        starts = range(0, len(sketches), BRANCHES)
        sketches = [dask.delayed(sum)(sketches[i : i + BRANCHES]) for i in starts]
    return sketches[0].compute()


def _parts(partition):
    """Series of dask may hold many partitions, and go to other tasks in these only."""
    columns = partition if isinstance(partition, tuple | list) else [partition]
    if not any(hasattr(type(column), "map_partitions") for column in columns):
        return [partition]
    if columns is not partition:
        fail("partitions", FORM, f"a {type(partition).__name__}")
    if not all(hasattr(type(column), "to_delayed") for column in columns):
        kinds = ", ".join(type(column).__name__ for column in columns)
        fail("partitions", "hold collections of dask beside its series", kinds)
    parts = [np.ravel(column.to_delayed()) for column in columns]
    sizes = [part.size for part in parts]
    if len(set(sizes)) > 1:
        fail("partitions", "hold series of as many partitions", f"{sizes}")
    return zip(*parts, strict=True)


def _is_lazy(partition):
    items = partition if isinstance(partition, tuple | list) else [partition]
    return any(hasattr(item, "__dask_graph__") for item in items)


def _sketched(empty, partition):
    rows = partition() if callable(partition) else partition
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        sized = f" of {len(rows)}" if isinstance(rows, tuple | list) else ""
        fail("partitions", FORM, f"a {type(rows).__name__}{sized}")
    return empty.copy().update(*rows)
