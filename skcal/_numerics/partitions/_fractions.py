"""Primitive parts of a cell of targets, and their Farey parents.

A part of a zeros and b ones has the target b / (a + b). It is primitive if gcd(a, b) = 1: any part
is some copies of a primitive part with the same target, so primitive parts suffice.
"""

import numpy as np

FEW = 2  # parts with so few rows of a class are never left out for their size
FAR = 1e9  # beyond any count of rows; keeps quotients by tiny targets within the integers


def primitive_fractions(
    low: float, high: float, most_zeros: int, most_ones: int, most_rows: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coprime (a, b) with target in [low, high) by increasing target: arrays a, b, target.

    (1, 0) counts if low <= 0, (0, 1) if high > 1. ``most_rows`` leaves out parts of more rows,
    except those with one or two rows of a class: targets near 0 and 1 have no others.
    """
    most = most_zeros + most_ones if most_rows is None else max(most_rows, 2 * FEW)
    found = [_of_both(low, high, most_zeros, most_ones, most)]
    for few in range(1, FEW + 1):
        if few <= most_ones:
            zeros = _long(most - few + 1, most_zeros, few, 1 - high, 1 - low)
            found.append((zeros, np.full(zeros.size, few)))
        if few <= most_zeros:
            ones = _long(most - few + 1, most_ones, few, low, high)
            found.append((np.full(ones.size, few), ones))
    if low <= 0 and most_zeros >= 1:
        found.append((np.array([1]), np.array([0])))
    if high > 1 and most_ones >= 1:
        found.append((np.array([0]), np.array([1])))
    a = np.concatenate([pair[0] for pair in found])
    b = np.concatenate([pair[1] for pair in found])
    target = b / (a + b)
    keep = np.flatnonzero((target >= low) & (target < high))
    keep = keep[np.gcd(a[keep], b[keep]) == 1]
    keep = keep[np.argsort(target[keep], kind="stable")]
    return a[keep], b[keep], target[keep]


def _of_both(
    low: float, high: float, most_zeros: int, most_ones: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """All (a, b) with a, b >= 1 and a + b <= most that may lie in the cell, and a few beside it."""
    b = np.arange(1, min(most_ones, int(most * min(high, 1.0))) + 1)
    fewest = np.maximum(_times_odds(b, 1 - high, high).astype(np.int64) - 1, 1)
    last = np.ceil(_times_odds(b, 1 - low, low)).astype(np.int64) + 1
    last = np.minimum(last, np.minimum(most_zeros, most - b))
    count = np.maximum(last - fewest + 1, 0)
    before = np.cumsum(count) - count
    a = np.arange(count.sum()) + np.repeat(fewest - before, count)
    return a, np.repeat(b, count)


def _long(fewest: int, most: int, few: int, low: float, high: float) -> np.ndarray:
    """Counts x in [fewest, most] with x / (x + few) in [low, high], and a few beside it."""
    first = int(_times_odds(np.array(few), low, 1 - low)) - 1
    last = int(_times_odds(np.array(few), high, 1 - high)) + 2
    return np.arange(max(first, fewest, 1), min(last, most) + 1)


def _times_odds(count: np.ndarray, share: float, rest: float) -> np.ndarray:
    """count * share / rest, within [0, FAR] also where rest is 0 or lost on rounding."""
    if rest <= share / FAR:
        return np.full(count.shape, FAR if share > 0 else 0.0)
    return np.clip(count * (share / rest), 0.0, FAR)


def farey_parents(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Targets below and above of the parents of coprime (a, b), a, b >= 1.

    The parents (a', b') and (a'', b'') add up to (a, b) and satisfy b (a' + b') - b' (a + b) = 1:
    so the rows of the lower parent are the inverse of b modulo a + b, found by Euclid's algorithm.
    """
    rows = a + b
    rest, divisor = rows, b % rows
    before, inverse = np.zeros_like(rows), np.ones_like(rows)
    running = divisor > 1
    while running.any():
        quotient = np.where(running, rest // np.maximum(divisor, 1), 0)
        rest, divisor = (
            np.where(running, divisor, rest),
            np.where(running, rest - quotient * divisor, divisor),
        )
        before, inverse = (
            np.where(running, inverse, before),
            np.where(running, before - quotient * inverse, inverse),
        )
        running = divisor > 1
    low_rows = inverse % rows
    low_ones = (b * low_rows - 1) // rows
    return low_ones / low_rows, (b - low_ones) / (rows - low_rows)
