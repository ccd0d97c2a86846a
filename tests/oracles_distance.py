"""Slow twins of the distance programs, from the definitions, and data to try them on.

They share no code with the package and take plain arrays: predictions p, outcomes y, weights w.
"""

import numpy as np

KINDS = ("cal", "over", "under", "biased", "tied")


def nearest_partition_cost(p, y, w=None):
    """Least sum of w |p - mean of the part| over all partitions of the rows; up to 12 rows or so.

    best[S] is the least cost of the set S of rows; the part of the lowest row of S is any subset.
    """
    p, y = np.asarray(p, dtype=float), np.asarray(y, dtype=float)
    w = np.ones(p.size) if w is None else np.asarray(w, dtype=float)
    sets = (np.arange(1 << p.size)[:, None] >> np.arange(p.size)) & 1
    mass = np.maximum(sets @ w, 1e-300)
    mean = sets @ (w * y) / mass
    part = ((sets * w) * np.abs(p - mean[:, None])).sum(axis=1).tolist()
    best = [0.0] * (1 << p.size)
    for rows in range(1, 1 << p.size):
        lowest = rows & -rows
        others = subset = rows ^ lowest
        least = part[rows]
        while subset:  # rows of others that are left for further parts
            cost = part[rows ^ subset] + best[subset]
            if cost < least:
                least = cost
            subset = (subset - 1) & others
        best[rows] = least
    return best[-1]


def set_partitions(rows):
    """All partitions of some rows into parts."""
    if not rows:
        yield []
        return
    for partition in set_partitions(rows[1:]):
        yield [[rows[0]], *partition]
        for k, part in enumerate(partition):
            yield [*partition[:k], [rows[0], *part], *partition[k + 1 :]]


def by_class(p, y):
    """Sorted predictions of the zeros and of the ones."""
    p, y = np.asarray(p, dtype=float), np.asarray(y)
    return np.sort(p[y == 0]), np.sort(p[y == 1])


def make(n, kind, rng):
    """Uniform predictions and outcomes of a forecaster that is as its kind says."""
    p = rng.random(n)
    if kind == "tied":
        p = np.round(p, 1)
    rate = {
        "over": np.clip(0.5 + 0.6 * (p - 0.5), 0, 1),
        "under": p**3 / (p**3 + (1 - p) ** 3),
        "biased": p**2,
    }.get(kind, p)
    return p, (rng.random(n) < rate).astype(int)


def awkward(n, rng):
    """A few coarse values with 0 and 1, nearly equal ones, one class, or tiny ones."""
    kind = rng.integers(6)
    p = rng.choice([0.0, 1.0, 0.5, 0.25, rng.random()], n)
    y = (rng.random(n) < 0.5).astype(int)
    if kind == 1:
        p = 0.5 + 1e-16 * rng.integers(-3, 4, n)
    elif kind == 2:
        p = np.clip(0.5 + 1e-9 * rng.standard_normal(n), 0, 1)
    elif kind == 3:
        y[:] = rng.integers(2)
    elif kind == 4:
        p = rng.choice([0.0, 1e-300, 5e-324, 1e-17, 1 - 1e-16, 1.0, 1 / 3], n)
    elif kind == 5:
        p = np.clip(1.4 * rng.random(n) - 0.2, 0, 1)
        y = (rng.random(n) < p**3).astype(int)
    return p, y
