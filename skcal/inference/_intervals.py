"""Intervals, p-values and references from draws of a study."""

import numpy as np
from scipy.special import ndtr, ndtri

from skcal import metrics
from skcal._validation import fail
from skcal.decision import swap_regret
from skcal.inference._draws import (
    Jackknife,
    Redraw,
    at_rates,
    bootstrap,
    isotonic_rates,
    null,
    replicate,
    seeds_of,
    study_of_samples,
    towards,
    value_of,
)
from skcal.inference._results import IntervalResult, NullReference

# never below 0, and 0 for calibrated populations: only these have a floor, and a test against it
ERRORS = {getattr(metrics, name) for name in metrics.__all__} - {metrics.score_decomposition}
ERRORS.add(swap_regret)
# the most that they can be, where it is not 1; swap regret is on the scale of its utilities
HIGHEST = {
    metrics.soft_calibration_decision_loss: 0.5,
    metrics.actionable_binned_error: 2.0,
    swap_regret: np.inf,
}
# of which the value at given rates is that of many copies of each row: not of a sample's distance
REDRAWN = ERRORS - {metrics.calibration_distance}
# whose bias falls as the error grows; so does that of SCDL at a given number of bins. That of SCDL
# itself, or of ECE in those bins that are calibrated, need not fall
STEADY = {metrics.cutoff_calibration_error, metrics.smooth_calibration_error}
SEMINORMS = STEADY | {metrics.expected_calibration_error}  # of residuals: no less than their mean

BLOCKS = 200  # of rows, left out in turn
LEVELS = (0.05, 0.5, 0.95)


def interval_of(study, confidence, method, seeds, work, null_draws=None):
    """The interval of a measure; the draws of a test that was made anyway save some."""
    measure, grouped = study[0].measure, study[0].groups is not None
    if method == "auto":
        method = "isotonic" if measure in REDRAWN and not grouped else "percentile"
    value = value_of(study)  # first: the measure refuses what does not suit it
    tails = _tails(confidence)
    few = seeds[: int(np.ceil(10 / (1 - confidence)))]  # enough to place one end, or a p-value
    tested = measure in ERRORS and not grouped
    if tested and null_draws is None:
        null_draws = replicate(null, study, few, *work)
    if method == "isotonic":
        low, high, spread = _isotonic_interval(study, value, tails, seeds, few, work, null_draws)
    else:
        interval = _percentile_interval if method == "percentile" else _bca_interval
        low, high, spread = interval(study, value, tails, seeds, work)
    if measure not in ERRORS:
        return IntervalResult(value, low, high, spread)
    if tested and pvalue_of(study, null_draws) > 1 - confidence + 1e-9:
        low = 0.0
    high = max(min(high, HIGHEST.get(measure, 1.0)), value)
    return IntervalResult(value, float(np.clip(low, 0.0, value)), float(high), spread)


def assess(measure, sample, confidence, n_resamples, work, random_state):
    """Interval, p-value and null reference of a checked sample; the null draws serve all three."""
    study = study_of_samples(measure, (sample,), {})
    seeds = seeds_of(random_state, n_resamples)
    null_draws = replicate(null, study, seeds, *work)
    interval = interval_of(study, confidence, "auto", seeds, work, null_draws)
    return interval, pvalue_of(study, null_draws), reference_of(null_draws)


def difference_of(study, confidence, seeds, work):
    """The interval of a difference of two forecasters."""
    value = value_of(study)
    interval = _percentile_interval(study, value, _tails(confidence), seeds, work)
    return IntervalResult(value, *interval)


def reference_of(draws):
    """Mean and quantiles of null draws."""
    quantiles = np.quantile(draws[:, 0], LEVELS).tolist()
    return NullReference(float(draws[:, 0].mean()), dict(zip(LEVELS, quantiles, strict=True)))


def _tails(confidence):
    return np.array([(1 - confidence) / 2, (1 + confidence) / 2])


def _quantiles(draws, levels):
    """Quantiles that one more draw, the sample, exceeds as often as the levels say."""
    return np.quantile(draws, levels, method="weibull")


def _isotonic_interval(study, value, tails, seeds, few, work, null_draws):
    """Errors of estimation where the truth is known: outcomes redrawn at isotonic rates."""
    measure, rates = study[0].measure, isotonic_rates(study)

    def draws_at(rates, seeds):
        return replicate(Redraw.at(study, rates), study, seeds, *work)[:, 0]

    draws, known = draws_at(rates, seeds), at_rates(study, rates)
    chance, reach = _quantiles(null_draws[:, 0], tails[1]), _quantiles(draws, tails[1])
    below, above = known - _quantiles(draws, tails[0]), reach - known
    high = value + below
    if measure not in STEADY:  # errors cannot fall below 0: that cuts draws short below their mean
        high = max(high, value + above - max(float(draws.mean()) - known, 0.0))
    if measure in SEMINORMS:
        high = max(high, _most_bias(study, rates, tails[1]))
    least = value - chance
    if least > 0 and (measure in STEADY or _one_resolution(study[0])):
        # the error, on the way from the forecasts to the rates, whose draws just reach the value
        middle = _quantiles(draws_at(towards(study, rates, 0.5), few), tails[1])
        reaches = np.maximum.accumulate([chance, middle, reach])
        least = at_rates(study, towards(study, rates, np.interp(value, reaches, [0.0, 0.5, 1.0])))
    return min(value - above, least), high, float(draws.std(ddof=1))


def _one_resolution(problem):
    return problem.measure is metrics.scdl and problem.params.get("n_bins") is not None


def _most_bias(study, rates, level):
    """Upper end of the mean residual, whichever its sign: a seminorm is no smaller.

    Where the error is a bias, draws from samples that happen to show little of it vary too little.
    """
    total = 0.0
    for problem, rate in zip(study, rates, strict=True):
        w = np.ones(rate.size) if problem.w is None else problem.w
        bias = np.average(problem.y - problem.p, weights=w)
        variance = rate * (1 - rate) + (rate - problem.p - bias) ** 2
        error = np.sqrt(w**2 @ variance) / w.sum()
        total += problem.factor * (abs(bias) + ndtri(level) * error)
    return total


def _percentile_interval(study, value, tails, seeds, work):
    """Quantiles of resampled values, shifted by the bias that they show."""
    draws = replicate(bootstrap, study, seeds, *work)[:, 0]
    low, high = np.quantile(draws, tails) - (draws.mean() - value)
    return float(low), float(high), float(draws.std(ddof=1))


def _bca_interval(study, value, tails, seeds, work):
    """Bias-corrected and accelerated quantiles; the acceleration by leaving out blocks of rows."""
    draws = replicate(bootstrap, study, seeds, *work)[:, 0]
    first = study[0]
    if first.groups is None:
        unit = np.random.default_rng(seeds[0]).permutation(first.p.size)
    else:
        unit = np.empty_like(first.groups)
        unit[first.place] = first.groups
    n_blocks = min(BLOCKS, int(unit.max()) + 1)
    if n_blocks == 1:
        fail("y_true", "hold at least two rows for method='bca'", "one")
    left_out = replicate(Jackknife(unit % n_blocks), study, np.arange(n_blocks), *work)[:, 0]
    influence = left_out.mean() - left_out
    square = (influence**2).sum()
    acceleration = (influence**3).sum() / (6 * square**1.5) if square > 0 else 0.0
    # draws that all lie on one side of the value still leave it between quantiles
    below = (np.sum(draws < value) + np.sum(draws <= value)) / 2
    shift = ndtri(np.clip(below, 0.5, draws.size - 0.5) / draws.size)
    z = shift + ndtri(tails)
    levels = ndtr(shift + z / np.maximum(1 - acceleration * z, 1e-3))
    low, high = np.quantile(draws, levels)
    return float(low), float(high), float(draws.std(ddof=1))


def pvalue_of(study, draws):
    """How often null draws are at least as large as the sample, the sample included."""
    # the sample itself, by the same arithmetic, so that equal values are equal
    observed = 0.0
    for problem in study:
        w = np.ones(problem.p.size) if problem.w is None else problem.w
        observed = observed + problem.factor * problem.kernel()(w, w * problem.y)
    above, tied = np.zeros(len(draws), dtype=bool), np.ones(len(draws), dtype=bool)
    for column, own in zip(draws.T, observed[0], strict=True):
        slack = 1e-12 * (1 + abs(own))
        above |= tied & (column > own + slack)
        tied &= np.abs(column - own) <= slack
    return float(1 + np.sum(above | tied)) / (len(draws) + 1)
