"""What a sample says against its predictions, and what chance alone would say.

Many samples of outcomes for the same predictions are treated at once: row 0 is the real one. They
share the order of the predictions, the places where parts may start and all sums but those of ones.
"""

import numpy as np
from scipy.optimize import isotonic_regression

from skcal.recalibration._partition import candidate_cuts

CELLS = 4096  # of equal weight: more distinct predictions are merged
CUTS = 256  # places where a part may start
LARGEST = 2.0**53  # repetitions beyond which the draws of an outcome are as good as their mean


def coarse(x, mass, ones):
    """The atoms merged into cells of nearly equal predictions, if there are many."""
    cuts = candidate_cuts(mass, [0], CELLS)
    if cuts is None:
        return x, mass, ones
    total = np.add.reduceat(mass, cuts)
    return np.add.reduceat(mass * x, cuts) / total, total, np.add.reduceat(ones, cuts)


def draw_outcomes(rng, x, mass, n_draws):
    """Weights of ones when the predictions x are right; weights count repetitions."""
    shape = n_draws, x.size
    if np.all(mass == 1):
        return (rng.random_sample(shape) < x).astype(np.float64)
    whole = np.floor(np.minimum(mass, LARGEST))
    rest = (mass - whole) * (rng.random_sample(shape) < x)
    ones = rng.binomial(whole.astype(np.int64), x, shape) + rest
    return np.where(mass < LARGEST, ones, mass * x)


def least_movements(x, mass, ones):
    """Sum of the distances to the nearest partition into intervals, for each row of ones.

    The program of ``contiguous_partition`` over the same places for all rows: those places are
    quantiles, so it is an upper value, for all rows alike.
    """
    cuts = candidate_cuts(mass, [0], CUTS)
    edges = np.append(np.arange(x.size) if cuts is None else cuts, x.size)
    weight, moment = _sums(mass), _sums(mass * x)
    total = _sums(ones)[:, edges]
    best = np.zeros(total.shape)
    for r in range(1, edges.size):
        left, right = edges[:r], edges[r]
        mean = (total[:, r, None] - total[:, :r]) / (weight[right] - weight[left])
        k = np.minimum(np.maximum(np.searchsorted(x, mean), left), right)
        cost = mean * (2 * weight[k] - weight[left] - weight[right])
        cost += moment[left] + moment[right] - 2 * moment[k]
        cost += best[:, :r]
        best[:, r] = cost.min(axis=1)
    return np.maximum(best[:, -1], 0.0)


def isotonic_gains(x, mass, ones):
    """What isotonic regression gains in squared error, for each row of ones.

    Sum over rows of (y - x)^2 - (y - mean of the block)^2.
    """
    claimed = (x * (mass * x - 2 * ones)).sum(axis=1)
    return claimed + [_explained(mass, row) for row in ones]


def _explained(mass, ones):
    """Sum over blocks of isotonic regression of weight times squared mean."""
    starts = isotonic_regression(ones / mass, weights=mass).blocks[:-1]
    return (np.add.reduceat(ones, starts) ** 2 / np.add.reduceat(mass, starts)).sum()


def _sums(values):
    return np.cumsum(np.insert(values, 0, 0.0, axis=-1), axis=-1)
