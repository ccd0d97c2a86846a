"""The mean residual of the cells of a randomly shifted grid, in exact expectation over the shift.

A cell of width e starting at t holds C(t + e) - C(t), C being the cumulative residual. Over a
uniform shift the expected sum of absolute cell residuals is (1/e) times the integral over t of
abs(C(t + e) - C(t)), a step function of t.
"""

import numpy as np

FINEST = 2.0**-40


def shifted_cells(x: np.ndarray, residual: np.ndarray, width: float) -> float:
    """RintCE(width) for residual masses at the distinct, increasing x."""
    place = np.concatenate([x - width, x])  # the cell at t gains x when t passes x - width
    order = np.argsort(place, kind="stable")  # two sorted runs: merged, not sorted
    inside = np.cumsum(np.concatenate([residual, -residual])[order])[:-1]
    return float((np.abs(inside) * np.diff(place[order])).sum() / width)


def smallest_surrogate(x: np.ndarray, residual: np.ndarray) -> tuple[float, float]:
    """min over widths 2^-k of RintCE(width) + width, and the minimising width.

    Width 0 stands for the limit, the sum of abs(residual). RintCE(2^-k) does not decrease in k and
    the sum is at least the width, so both ends of the search are known.
    """
    best, best_width = float(np.abs(residual).sum()), 0.0
    closest = float(np.diff(x).min(initial=1.0))
    width = 1.0
    # cells that hold one prediction at most are the limit; finer than floats they cannot be
    while width > max(closest, FINEST):
        if width < best:
            value = shifted_cells(x, residual, width)
            if value + width < best:
                best, best_width = value + width, width
            if value >= best:
                break
        width /= 2
    return best, best_width
