"""ShrinkageCalibrator: move predictions only as far as they are worse than chance explains."""

import numpy as np
from sklearn.utils import check_random_state

from skcal._validation import Integral, Interval, check_calibration_rows
from skcal.recalibration._base import ScoreCalibrator, apply_calibrator, fit_calibrator
from skcal.recalibration._evidence import coarse, draw_outcomes, isotonic_gains, least_movements


def surplus(found, by_chance, power):
    """Share of what was found that chance does not explain."""
    return max(0.0, 1.0 - (by_chance / found) ** power) if found > 0 else 0.0


class ShrinkageCalibrator(ScoreCalibrator):
    """Follow another calibrator only as far as there is evidence against the predictions.

    Predicts p + s (g(p) - p) for the map g of ``calibrator`` and a share s that the sample decides:
    s = max(1 - (m0 / v)^2, 1 - t0 / t, 0), where v is the movement to the nearest calibrated
    partition, t what isotonic regression gains in squared error, and m0 and t0 are their means over
    samples of outcomes that are drawn as if the predictions were right. A calibrated forecaster is
    left almost alone, a badly miscalibrated one gets nearly g. Both numbers are needed: movement is
    blind to predictions squeezed towards the base rate, the gain alone shrinks too much.

    Parameters
    ----------
    calibrator : object
        Anything with ``fit(p, y[, sample_weight])`` and ``predict(p)``: PartitionCalibrator,
        BetaCalibrator, IsotonicRegression (used with ``out_of_bounds="clip"``).
    n_null : int, default=20
        Samples of outcomes that are drawn, at most 10,000.
    random_state : int, RandomState instance or None, default=0
        Of these draws. The default makes fits repeatable; None draws anew in each.

    Attributes
    ----------
    calibrator_ : object
        The fitted calibrator.
    shrinkage_ : float
        s, in [0, 1].
    least_movement_, null_movement_ : float
        v and m0, means over rows.
    gain_, null_gain_ : float
        t and t0, means over rows.

    See Also
    --------
    skcal.recalibration.PartitionCalibrator : The calibrator it was made for.

    Notes
    -----
    If the map g increases, so does this one, and strictly where 0 < s < 1. It never moves a
    prediction further than g does. Weights count repetitions: scaled up they are more evidence.

    The cost is that of fitting the calibrator, a sort, and for each draw less than a fit of
    PartitionCalibrator: the draws share the sorted predictions, which are merged into cells of
    equal weight if more than 4096 are distinct, and all end their parts at the same 256 quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from skcal.recalibration import PartitionCalibrator, ShrinkageCalibrator
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> calibrator = ShrinkageCalibrator(PartitionCalibrator())
    >>> right = calibrator.fit(p, rng.random(1000) < p)
    >>> right.shrinkage_ < 0.5
    True
    >>> wrong = calibrator.fit(p, rng.random(1000) < 0.25 + p / 2)
    >>> wrong.shrinkage_ > 0.9
    True
    >>> bool(abs(wrong.predict([0.9])[0] - 0.7) < 0.05)
    True
    """

    _parameter_constraints = {
        "n_null": [Interval(Integral, 1, 10_000, closed="both")],
        "random_state": ["random_state"],
    }

    def __init__(self, calibrator, *, n_null=20, random_state=0):
        self.calibrator = calibrator
        self.n_null = n_null
        self.random_state = random_state

    def fit(self, p, y, sample_weight=None):
        """Fit the calibrator, and find how far to follow it.

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
        self.calibrator_ = fit_calibrator(self.calibrator, sample.p, sample.y, sample.w)
        x, mass, ones = coarse(*sample.atoms.written_out()[:3])
        rng = check_random_state(self.random_state)
        samples = np.vstack([ones, draw_outcomes(rng, x, mass, self.n_null)])
        movement = least_movements(x, mass, samples) / sample.total
        gain = isotonic_gains(x, mass, samples) / sample.total
        self.least_movement_, self.null_movement_ = float(movement[0]), float(movement[1:].mean())
        self.gain_, self.null_gain_ = float(gain[0]), float(gain[1:].mean())
        by_movement = surplus(self.least_movement_, self.null_movement_, power=2)
        self.shrinkage_ = max(by_movement, surplus(self.gain_, self.null_gain_, power=1))
        return self

    def _map(self, p):
        target = apply_calibrator(self.calibrator_, p)
        share = self.shrinkage_
        # Sums of increasing terms: rounding cannot turn a rank round. Nor may it overshoot.
        mixed = (1.0 - share) * p + share * target
        return np.clip(mixed, np.minimum(p, target), np.maximum(p, target))
