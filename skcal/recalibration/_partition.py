"""PartitionCalibrator: the calibrated partition into intervals that moves the predictions least."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from skcal._numerics.partitions._contiguous import contiguous_partition, run_movement
from skcal._validation import Integral, Interval, Real, StrOptions, check_calibration_rows
from skcal.recalibration._base import ScoreCalibrator

BETAS = (1.0, 3.0, 10.0, 30.0, 100.0)  # prices of squared error that the guard tries in turn


class Parts(NamedTuple):
    """Intervals of atoms, each of which predicts its mean outcome."""

    starts: np.ndarray  # first atom of each
    weight: np.ndarray
    mean_p: np.ndarray
    mean_y: np.ndarray
    movement: float  # sum over rows of weight times distance moved
    squared_error: float  # sum of weight times (y - mean_y)^2


def summarise(atoms, starts):
    """The parts of atoms (x, mass, ones) that begin at ``starts``."""
    x, mass, ones = atoms
    weight = np.add.reduceat(mass, starts)
    ends = np.append(starts[1:], x.size) - 1
    mean_p = np.clip(np.add.reduceat(mass * x, starts) / weight, x[starts], x[ends])
    mean_y = np.add.reduceat(ones, starts) / weight
    moved = float(run_movement(x, mass, ones, starts).sum())
    return Parts(
        starts, weight, mean_p, mean_y, moved, float((weight * mean_y * (1 - mean_y)).sum())
    )


def isotonic_starts(mass, ones):
    """First atom of each block of isotonic regression."""
    return isotonic_regression(ones / mass, weights=mass).blocks[:-1]


def candidate_cuts(mass, blocks, max_cuts):
    """Where parts may start: quantiles of equal weight, and where isotonic blocks start.

    Without the blocks isotonic regression might move the predictions less than the best partition
    on the grid. None: anywhere.
    """
    if max_cuts is None or mass.size <= max_cuts:
        return None
    below = np.cumsum(mass) - mass / 2
    levels = below[-1] * np.arange(1, max_cuts) / max_cuts
    return np.union1d(np.searchsorted(below, levels), blocks).astype(np.intp)


def nearest_parts(atoms, cuts, beta=0.0):
    """Parts of least movement + beta * squared error, violators of the order pooled.

    Pooling parts whose means decrease does not increase the movement: to give both their common
    mean is, by Jensen's inequality, no dearer than to mix the two targets independently of p, and
    of all ways to mix them none is dearer than the lower target for the higher p. So for beta = 0
    the parts are the best increasing ones.
    """
    starts = contiguous_partition(*atoms, beta, cuts)[1]
    _, mass, ones = atoms
    weight = np.add.reduceat(mass, starts)
    blocks = isotonic_starts(weight, np.add.reduceat(ones, starts))
    return summarise(atoms, starts[blocks])


def guarded_parts(atoms, cuts, isotonic):
    """Parts that move the predictions little and give up no more resolution than chance.

    Isotonic regression has the least squared error of all increasing maps, but k blocks earn about
    k times the variance of an outcome by chance: parts within that of it are as good. If the
    nearest ones are not, squared error is given a price, and then a higher one. Returns them and
    the price, which is infinite where only isotonic regression was left.
    """
    chance = isotonic.starts.size * isotonic.squared_error / isotonic.weight.sum()
    limit = isotonic.squared_error + chance
    for beta in (0.0, *BETAS):
        parts = nearest_parts(atoms, cuts, beta)
        # With a price, pooling may cost movement: parts must also not move more than isotonic.
        if parts.squared_error <= limit and parts.movement <= isotonic.movement:
            return parts, beta
    return isotonic, np.inf


def interpolate(p, nodes, values):
    """Linear between increasing nodes, constant outside; it never decreases by a rounding.

    The interp of NumPy divides by the distance of nodes first: an infinite slope where that is
    subnormal. Here a share of the way is computed first. Piece i ends at node i.
    """
    start = np.append(nodes[:1], nodes)
    length = np.concatenate([[1.0], np.diff(nodes), [1.0]])
    bottom, top = np.append(values[:1], values), np.append(values, values[-1:])
    piece = np.searchsorted(nodes, p, side="right")
    share = (p - start[piece]) / length[piece]
    share *= (top - bottom)[piece]
    share += bottom[piece]
    return np.minimum(share, top[piece], out=share)


class PartitionCalibrator(ScoreCalibrator):
    """Recalibrate by a calibrated partition of the predictions that moves them least.

    **Least movement alone is not safe.** The distance to calibration does not see lost resolution:
    when all predictions are squeezed towards 1/2, the nearest calibrated forecaster is almost
    constant and predicts worse than doing nothing. The default therefore gives up no more
    resolution than chance explains, against isotonic regression; only ``resolution=None`` is the
    literal projection.

    The predictions are cut into intervals, and an interval predicts its mean outcome. Of all
    increasing maps of this kind, which are exactly calibrated on the sample, it looks for the one
    that moves the predictions least on average; isotonic regression is one of them. By default the
    steps are then joined by lines.

    Parameters
    ----------
    resolution : {"chance"} or None, default="chance"
        "chance": if the squared error exceeds that of isotonic regression by more than its blocks
        earn by chance, pay for squared error too, more and more, until it does not. None: least
        movement whatever it costs.
    interpolate : bool, default=True
        False predicts the steps themselves, exactly calibrated on the sample. True joins the means
        of the parts by lines, constant outside: no exact claim, but better forecasts.
    prior_count : float, default=0.5
        With ``interpolate=True``: so many rows with the mean outcome of the whole sample are added
        to each part, so that parts of a few rows do not predict 0 or 1. Steps are not changed.
    max_cuts : int or None, default=256
        Parts end at quantiles of equal weight, so many, or where a block of isotonic regression
        ends. None: anywhere, exact, quadratic in the number of distinct predictions.

    Attributes
    ----------
    parts_ : ndarray of shape (n_parts, 4)
        A row for each part: least and greatest p, weight, mean outcome (increasing).
    thresholds_ : ndarray of shape (n_parts - 1,)
        Where the steps are.
    movement_ : float
        Mean distance that the steps move the predictions of the sample; never more than
        ``isotonic_movement_``. With ``resolution=None`` and ``max_cuts=None`` it is the least of
        all increasing calibrated maps; on a grid of cuts it is above that. It is not the
        calibration distance, which allows more than maps of p.
    isotonic_movement_ : float
        The same of isotonic regression.
    beta_ : float
        Price of squared error that was needed; infinite when nothing but isotonic regression kept
        enough resolution.

    See Also
    --------
    skcal.recalibration.ShrinkageCalibrator : Leaves forecasts alone that are calibrated already.
    skcal.recalibration.RecalibratedClassifier : Puts a calibrator on a classifier.

    Notes
    -----
    Weights count repetitions, so their scale matters to ``prior_count``.

    With m candidate cuts a fit takes O(n log n + m^2), up to six times the m^2 when squared error
    has to be paid for; a prediction takes O(log n_parts).

    For n independent rows, and whatever the number of parts, the steps g have with probability
    1 - d a smooth calibration error of at most 4 sqrt(ln(4/d) / (2n)) in the population, and move
    predictions there by at most ``movement_`` + 2 sqrt(ln(2/d) / (2n)) on average: a function of
    bounded variation in p, times 1 or times y, has nearly the same mean in sample and population
    [3]_. It holds for isotonic regression too, since that increases as well; both are loose.

    Steps tie predictions, so ranks (AUC) can change; lines tie them only outside the outermost
    nodes and where the values of nodes are equal.

    References
    ----------
    .. [1] J. Błasiok, P. Gopalan, L. Hu, P. Nakkiran, "A unifying theory of distance from
       calibration", STOC 2023. :doi:`10.1145/3564246.3585182`
    .. [2] B. Zadrozny, C. Elkan, "Transforming classifier scores into accurate multiclass
       probability estimates", KDD 2002. :doi:`10.1145/775047.775151`
    .. [3] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of
       Probability 18, 1990. :doi:`10.1214/aop/1176990746`

    Examples
    --------
    >>> from skcal.recalibration import PartitionCalibrator
    >>> p = [0.1, 0.2, 0.3, 0.6, 0.7, 0.9]
    >>> y = [0, 1, 0, 1, 0, 1]
    >>> steps = PartitionCalibrator(interpolate=False, resolution=None).fit(p, y)
    >>> steps.predict(p).round(3)
    array([0.333, 0.333, 0.333, 0.667, 0.667, 0.667])
    >>> round(steps.movement_, 3), round(steps.isotonic_movement_, 3)
    (0.122, 0.167)
    """

    _parameter_constraints = {
        "resolution": [StrOptions({"chance"}), None],
        "interpolate": ["boolean"],
        "prior_count": [Interval(Real, 0, 1e15, closed="both")],
        "max_cuts": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, *, resolution="chance", interpolate=True, prior_count=0.5, max_cuts=256):
        self.resolution = resolution
        self.interpolate = interpolate
        self.prior_count = prior_count
        self.max_cuts = max_cuts

    def fit(self, p, y, sample_weight=None):
        """Find the parts.

        Parameters
        ----------
        p : array-like of shape (n,) or (n, 1)
            Probabilities of outcome 1.
        y : array-like of shape (n,)
            Outcomes 0 and 1 (or -1 and 1); both must occur.
        sample_weight : array-like of shape (n,), default=None
            Numbers of repetitions.

        Returns
        -------
        self
        """
        self._check_parameters()
        sample = check_calibration_rows(p, y, sample_weight)
        x, mass, ones, _ = sample.atoms.written_out()
        atoms = x, mass, ones
        isotonic = summarise(atoms, isotonic_starts(mass, ones))
        cuts = candidate_cuts(mass, isotonic.starts, self.max_cuts)
        if self.resolution is None:
            # Isotonic regression is on the grid, so it can be nearer by a rounding only.
            parts = min(nearest_parts(atoms, cuts), isotonic, key=lambda parts: parts.movement)
            self.beta_ = 0.0
        else:
            parts, self.beta_ = guarded_parts(atoms, cuts, isotonic)
        self.movement_ = parts.movement / sample.total
        self.isotonic_movement_ = isotonic.movement / sample.total
        self._keep(x, parts)
        return self

    def _keep(self, x, parts):
        """Store the steps and the nodes of the lines."""
        low, high = x[parts.starts], x[np.append(parts.starts[1:], x.size) - 1]
        self.parts_ = np.column_stack([low, high, parts.weight, parts.mean_y])
        middle = high[:-1] + (low[1:] - high[:-1]) / 2
        self.thresholds_ = np.where(middle > high[:-1], middle, low[1:])
        weight = parts.weight + self.prior_count
        rate = np.average(parts.mean_y, weights=parts.weight)
        values = (parts.weight * parts.mean_y + self.prior_count * rate) / weight
        self._nodes = parts.mean_p
        self._values = np.clip(isotonic_regression(values, weights=weight).x, 0.0, 1.0)

    def _map(self, p):
        if self.interpolate:
            return interpolate(p, self._nodes, self._values)
        return self.parts_[:, 3][np.searchsorted(self.thresholds_, p, side="right")]
