"""Prefix sums of the residuals y - p in the order of p, and their extreme intervals and tails.

C_j is the summed residual of the rows with a prediction up to x_j, C_0 = 0. An interval of
predictions holds C_j - C_i, the tail above x_i holds C_end - C_i; whole tie groups only.
"""

import numpy as np


def residual_sums(x: np.ndarray, mass: np.ndarray | None, ones: np.ndarray) -> np.ndarray:
    """C_0 = 0, C_1, ..., at the distinct increasing x."""
    residual = ones - x if mass is None else ones - mass * x
    return np.concatenate(([0.0], np.cumsum(residual)))


def extreme_interval(sums: np.ndarray) -> tuple[int, int]:
    """Indices i <= j of the largest abs(C_j - C_i): the interval is x[i], ..., x[j - 1]."""
    ends = int(np.argmin(sums)), int(np.argmax(sums))
    return min(ends), max(ends)


def extreme_tail(sums: np.ndarray) -> tuple[int, int]:
    """Indices i, j of the largest abs(C_end - C_i), j the end: the tail is x[i], x[i + 1], ..."""
    gap = sums[-1] - sums
    start = max(int(np.argmin(gap)), int(np.argmax(gap)), key=lambda i: abs(gap[i]))
    return start, sums.size - 1
