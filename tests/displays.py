"""Axes, rows and comparisons for the tests of the displays."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def new_axes():
    """Axes of a figure that pyplot does not know."""
    return FigureCanvasAgg(Figure()).figure.subplots()


def rows(n=60, seed=0):
    """Outcomes, and predictions that are too high."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**2).astype(int), p


def paths(drawn):
    """Vertices of all lines of a display."""
    return [line.get_xydata() for line in drawn.ax_.get_lines()]


def same_paths(a, b):
    """Compare the lines of two displays."""
    assert len(paths(a)) == len(paths(b))
    for one, other in zip(paths(a), paths(b), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
