"""Measures from the sums of cells: exact where they can be, else between two proven ends.

Moving the predictions p of an open cell to their mean c leaves the summed residual of the cell as
it is. What that does to each measure is bounded in its function. The rows of all other cells are
where they were: without open cells the ends meet, but for what the measure itself leaves open.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from skcal._numerics._bins import bin_index, bins_of_cells, coarsen
from skcal._numerics._envelopes import edge_over, regret_curve
from skcal._numerics._soft_loss import TIE, grid_loss, most_regret
from skcal._results import Certificate
from skcal.decision._worst_case import regret_envelope
from skcal.metrics._decision_loss import decision_loss, soft_decision_loss
from skcal.metrics._distance import lower_distance_of
from skcal.metrics._smooth import kernel_error, smooth_error

SMOOTHING = 2e-5  # error of the computation of a smooth ECE
STEEPNESS = np.sqrt(2 / np.pi)  # integral of abs(K'), K the Gaussian kernel of width 1


@dataclass(frozen=True)
class SketchValue:
    """A measure of all rows that a sketch has seen.

    It rounds, formats and compares by size as its value does; it equals only a result with the same
    fields, never a number.

    Parameters
    ----------
    value : float
    lower, upper : float
        The measure of the rows themselves lies between them.

    Examples
    --------
    >>> from skcal.sketch import CalibrationSketch
    >>> loss = CalibrationSketch().update([1, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]).cdl()
    >>> round(loss, 1), f"{loss:.2f}", loss < 0.6
    (0.5, '0.50', True)
    """

    value: float
    lower: float
    upper: float

    @property
    def exact(self):
        """Whether the value is that of the rows, up to rounding errors of floating point."""
        return self.lower == self.upper

    _repr_html_ = Certificate._repr_html_

    def __float__(self):
        return self.value

    def __round__(self, ndigits=None):
        return round(self.value, ndigits)

    def __format__(self, spec):
        return format(self.value, spec) if spec else str(self)

    def __lt__(self, other):
        return self.value < other

    def __le__(self, other):
        return self.value <= other

    def __gt__(self, other):
        return self.value > other

    def __ge__(self, other):
        return self.value >= other


@dataclass(frozen=True)
class SoftSketchValue(SketchValue):
    """A soft-binned calibration decision loss (SCDL) of all rows that a sketch has seen.

    Parameters
    ----------
    value : float
    lower, upper : float
        The SCDL of the rows themselves lies between them.
    n_bins : int
        The self-balancing m*, or the finest grid of the sketch when m* lies beyond it.
    loss : float
        SCDL_m at that grid, exact.
    """

    n_bins: int
    loss: float

    @property
    def regret_bound(self):
        """Swap regret that responding to forecasts rounded to that grid cannot exceed.

        In expectation over the rounding, for every task with utilities in [0, 1].
        """
        return most_regret(self.loss, self.n_bins)


def soft_losses(cells):
    """SCDL_m for m = 2, 4, ..., the finest grid: exact, by coarsening the finest bins."""
    level = tuple(bins / cells.total for bins in bins_of_cells(cells.mass, cells.offsets))
    losses = {}
    while (m := level[0].size - 1) >= 2:
        losses[m] = float(grid_loss(*level))
        level = tuple(map(coarsen, level))
    return dict(reversed(losses.items()))


def soft_loss(cells, m):
    return _exact(soft_losses(cells)[m])


def scdl(cells):
    """SCDL is max(SCDL_m, 1/m) at m*, the first m with SCDL_2m >= 1/m.

    Beyond the finest grid M: SCDL_M <= SCDL_m* <= SCDL <= max(SCDL_M, 1/M). So M itself decides
    when SCDL_M >= 1/M.
    """
    losses = soft_losses(cells)
    for m in losses:
        if losses.get(2 * m, 0.0) >= TIE / m:
            value = max(losses[m], 1 / m)
            return SoftSketchValue(value, value, value, m, losses[m])
    m, loss = cells.m, losses[cells.m]
    upper = max(loss, 1 / m)
    value = min(max(soft_decision_loss(cells.sample).scdl, loss), upper)
    return SoftSketchValue(value, loss, upper, m, loss)


def cdl(cells):
    """CDL, with open cells merged in between two worst arrangements of their rows.

    B(v) sums mass * abs(q - v) over predictions p with v between p and their rate q. Atoms add to
    it what they do among the rows. Merging the rows of an open cell lowers B (Jensen), and so does
    moving p towards q. Lower end: an open cell as one prediction, at the end nearest to its rate,
    and as none where the rate lies inside. Upper end: all its predictions distinct, zeros at the
    upper end of the cell, which is the last number below the next cell, and ones at the lower one.
    """
    value = decision_loss(regret_envelope(cells.sample)[2])
    i, tied = np.flatnonzero(cells.open), np.flatnonzero(cells.tied)
    if not i.size:
        return _exact(value)
    atoms = cells.only[tied], cells.mass[tied].sum(axis=1), cells.mass[tied, 1]
    left, right, (zeros, ones) = cells.grid[i], np.nextafter(cells.grid[i + 1], 0), cells.mass[i].T
    mass = zeros + ones
    above, below = ones > mass * right, ones < mass * left
    lower = (right[above], mass[above], ones[above]), (left[below], mass[below], ones[below])
    upper = (right, zeros, 0 * zeros), (left, ones, ones)
    return _between(value, *(_loss_of(cells.total, atoms, *groups) for groups in (lower, upper)))


def ece(cells, n_bins):
    """Rows of an open cell with an edge inside may lie on either side of it.

    So much of its summed residual as they can take along, from -fall to rise, counts in the bin on
    the left, and the rest, which lies between the same ends, in the bin on the right. Bins grow
    with the prediction, in any precision: those of the ends of a cell are the outermost.
    """
    sample, bins = cells.sample, partial(bin_index, m=n_bins, precision=cells.sample.precision)
    residual = (sample.y - sample.p) * sample.w
    sums = np.bincount(bins(sample.p), residual, n_bins)
    value = np.abs(sums).sum() / cells.total
    i = np.flatnonzero(cells.open)
    first, last = bins(cells.grid[i]), bins(np.nextafter(cells.grid[i + 1], 0))
    split = np.flatnonzero(first < last)
    if not split.size:
        return _exact(value)
    i, sides = i[split], np.concatenate([first[split], last[split]])
    rise, fall = cells.rise[i], cells.fall[i]
    mean = bins((i + cells.mean[i]) / cells.m)
    settled = sums - np.bincount(mean, rise - fall, n_bins)
    most = settled + np.bincount(sides, np.tile(rise, 2), n_bins)
    least = settled - np.bincount(sides, np.tile(fall, 2), n_bins)
    lower = np.maximum(np.maximum(least, -most), 0.0).sum() / cells.total
    upper = np.maximum(most, -least).sum() / cells.total
    return _between(value, max(lower, _bias(cells)), upper)


def bece(cells, n_bins):
    """Exact: cells are parts of the bins."""
    first = np.arange(cells.m + 1) * n_bins // cells.m
    zeros, ones = (np.bincount(first, mass, n_bins + 1) for mass in cells.mass.T)
    grid = np.arange(n_bins + 1) / n_bins
    return _exact(2 * np.abs(ones - (zeros + ones) * grid).sum() / cells.total)


def smce(cells):
    """smCE is the supremum of E[(y - p) h(p)].

    With c for p it changes by E[(y - p) (h(p) - h(c))], as the residuals of a cell keep their sum:
    at most E[abs(y - p) abs(p - c)], for slopes up to 1.
    """
    value, error = smooth_error(cells.sample, proofs=False).value, _weighted_spread(cells)
    return _between(value, max(value - error, _bias(cells)), value + error)


def smece(cells):
    """smECE is the s with F(s) = s, F falling in s.

    F(s), the integral of abs(E[(y - p) K_s(p, .)]), changes as smCE does, but for slopes of the
    kernel: at most by a/s, a = STEEPNESS E[abs(y - p) abs(p - c)]. With v = F(v) for the means, the
    rows have F(s) <= v + a/s = s at the upper end, and F(s) >= v - a/s = s at the lower one.
    """
    value, a = kernel_error(cells.sample).error, STEEPNESS * _weighted_spread(cells)
    low, high = value - SMOOTHING, value + SMOOTHING
    lower = (low + np.sqrt(low**2 - 4 * a)) / 2 if low > 0 and low**2 >= 4 * a else 0.0
    upper = (high + np.sqrt(high**2 + 4 * a)) / 2
    return _between(value, max(lower, _bias(cells) - SMOOTHING), upper)


def cutoff(cells):
    """Summed residuals are known up to each cell; inside, the ones or the zeros may come first."""
    residual = cells.rise - cells.fall
    sums = np.concatenate([[0.0], np.cumsum(residual)])
    start = sums[:-1][cells.open]
    top = max(sums.max(), np.max(start + cells.rise[cells.open], initial=0.0))
    bottom = min(sums.min(), np.min(start - cells.fall[cells.open], initial=0.0))
    value = np.ptp(sums) / cells.total
    return _between(value, value, (top - bottom) / cells.total)


def distcal(cells):
    """Moving predictions by E abs(p - c) changes the distance by no more (triangle inequality)."""
    distance = lower_distance_of(cells.sample)
    error = float(cells.spread.sum()) / cells.total
    lower = max(distance.lower - error, _bias(cells))
    return _between(distance.value, lower, distance.upper + error)


def _loss_of(total, *groups):
    """CDL of atoms (place, mass, ones), not merged where groups share a place: their B add up."""
    x = np.unique(np.concatenate([place for place, _, _ in groups]))
    b = np.zeros(x.size)
    for place, *sums in groups:
        k = np.searchsorted(x, place)
        b += regret_curve(x, *(np.bincount(k, values, x.size) for values in sums))
    return decision_loss(edge_over(x, b / total))


def _weighted_spread(cells):
    """The most that abs(y - p) abs(p - c) can be on average; a one is within 1 - i/m of 1."""
    away = np.column_stack([np.minimum(cells.grid + 1 / cells.m, 1.0), 1 - cells.grid])
    return float((cells.spread * away).sum()) / cells.total


def _bias(cells):
    """The mean residual, exact; smCE, smECE and the lower distance are at least as large."""
    return abs(float((cells.rise - cells.fall).sum())) / cells.total


def _exact(value):
    return SketchValue(*3 * [float(value)])


def _between(value, lower, upper):
    """Ends within [0, 1] that rounding errors do not push past the value."""
    lower, upper = max(min(lower, value), 0.0), min(max(upper, value), 1.0)
    return SketchValue(float(value), float(lower), float(upper))
