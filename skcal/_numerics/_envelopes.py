"""The regret curve B(v) of a sample and the hull edge of its concave envelope over one abscissa.

B(v) is the sum of mass * abs(q - v) over the atoms with v between x and q, both ends included: the
regret, at stake one, of the decision "act iff p >= v". An atom is linear in v on its interval,

    rising  (q > x):  s - m v    on [x, q]
    falling (q < x):  m v - s    on [q, x]          (s = m q)

so B(v) = S(v) - M(v) v with two step functions: an atom adds (s, m) at x, a falling one just after
x, and takes (s, m) away at q. B has convex kinks at every q and jumps up at predictions only, hence
the vertices of its concave envelope lie in 0, 1 and the distinct x: no q is ever evaluated.
"""

import numpy as np

Edge = tuple[tuple[float, float], tuple[float, float]]


def regret_curve(x: np.ndarray, mass: np.ndarray | None, ones: np.ndarray) -> np.ndarray:
    """B at the distinct, increasing x, times the total mass.

    ``mass=None`` stands for rows of mass one, all distinct. Unweighted sums are integers, so they
    are exact. An atom of mass 0 adds nothing and asks for the value of B at its place.
    """
    k = x.size
    if mass is None:  # q = y: rising atoms leave at 1, falling ones enter at 0, nothing to search
        below = np.cumsum(ones)
        # ones(<= i) - zeros(>= i), with zeros(>= i) counted from the total
        slope = ones + np.arange(below[-1] - k, below[-1])
        return below - slope * x
    q = np.divide(ones, mass, out=x.astype(float), where=mass > 0)
    falling = (q < x) | (ones <= 0)  # q = 0 counts as falling even at x = 0
    leave = np.where(falling, 0, k)
    inner = np.flatnonzero((ones > 0) & (q < 1))
    if inner.size:
        if inner.size > 4096:  # sorted keys keep the binary search local
            inner = inner[np.argsort(q[inner])]
        down = falling[inner]
        leave[inner[down]] = np.searchsorted(x, q[inner[down]], "left")
        leave[inner[~down]] = np.searchsorted(x, q[inner[~down]], "right")
    enter = np.arange(k) + falling
    slope = np.cumsum(np.bincount(enter, mass, k + 1) - np.bincount(leave, mass, k + 1))[:k]
    height = np.cumsum(np.bincount(enter, ones, k + 1) - np.bincount(leave, ones, k + 1))[:k]
    return np.maximum(height - slope * x, 0.0)


def edge_over(x: np.ndarray, b: np.ndarray, at: float = 0.5) -> Edge:
    """Hull edge over ``at`` of the points (x, b) and of height 0 at 0 and 1 where x has neither.

    Returns ((v1, b1), (v2, b2)) with v1 <= at <= v2, equal when a vertex lies at ``at``. Quickhull
    towards one abscissa: split at the point farthest above the chord, keep the half over ``at``,
    forget what lies under the new chord.
    """
    low = (0.0, float(b[0]) if x.size and x[0] == 0 else 0.0)
    high = (1.0, float(b[-1]) if x.size and x[-1] == 1 else 0.0)
    if at in (0.0, 1.0):
        return (low, low) if at == 0 else (high, high)
    while x.size:
        slope = (high[1] - low[1]) / (high[0] - low[0])
        above = b - slope * x if slope else b
        chord = low[1] - slope * low[0]
        k = int(np.argmax(above))
        if above[k] <= chord + 1e-15 * (abs(chord) + abs(b[k])):
            break
        vertex = (float(x[k]), float(b[k]))
        if vertex[0] == at:
            return vertex, vertex
        low, high, part = (
            (vertex, high, slice(k + 1, None)) if vertex[0] < at else (low, vertex, slice(0, k))
        )
        x, b = x[part], b[part]
        if x.size > 1000:
            slope = (high[1] - low[1]) / (high[0] - low[0])
            keep = np.flatnonzero(b - slope * x > low[1] - slope * low[0])
            if 2 * keep.size < x.size:
                x, b = x[keep], b[keep]
    return low, high


def edge_height(edge: Edge, at: float = 0.5) -> float:
    """Height of a hull edge at one abscissa."""
    (v1, b1), (v2, b2) = edge
    if v1 == v2:
        return b1
    return (b1 * (v2 - at) + b2 * (at - v1)) / (v2 - v1)


def supporting_line(
    x: np.ndarray, b: np.ndarray, edge: Edge, at: float = 0.5
) -> tuple[float, float]:
    """Heights at 0 and 1 of a line above all points that touches the hull edge over ``at``."""
    (v1, b1), (v2, b2) = edge
    if v1 != v2:
        slope = (b2 - b1) / (v2 - v1)
    else:  # a vertex: any slope between those of its two neighbours
        left, right = x < at, x > at
        from_left = np.min((b1 - b[left]) / (at - x[left]), initial=b1 / at)
        from_right = np.max((b[right] - b1) / (x[right] - at), initial=-b1 / (1 - at))
        slope = 0.5 * (from_left + from_right)
    return b1 - slope * v1, b1 + slope * (1 - v1)
