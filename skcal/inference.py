"""How sure one can be: bootstrap intervals, tests of calibration, comparisons, chance levels."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skcal import metrics
from skcal._numerics import _replicates as kernels
from skcal._validation import (
    CalibrationWarning,
    Integral,
    Interval,
    Real,
    check_classes,
    check_groups,
    check_sample,
    fail,
    infer_classes,
    is_conventional,
    validate_params,
)

__all__ = ["bootstrap_interval", "calibration_test", "compare", "null_reference"]

ELEMENTS = 200_000  # of one batch: its temporaries stay in the cache
SHARES = 64  # pieces of work that are dealt out to the workers

RESAMPLING = {
    "measure": [callable],
    "confidence": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 9, None, closed="left")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


@dataclass(frozen=True)
class IntervalResult:
    """An estimate with its uncertainty.

    Attributes
    ----------
    value : float
        The measure on the sample.
    low, high : float
        Ends of the confidence interval.
    standard_error : float
    """

    value: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True)
class CalibrationTestResult:
    """A test of the hypothesis that the forecasts are calibrated.

    Attributes
    ----------
    statistic : float
        The measure on the sample.
    pvalue : float
        How often calibrated forecasts would show as much.
    """

    statistic: float
    pvalue: float


@dataclass(frozen=True)
class NullReference:
    """What a calibrated forecaster with the same forecasts would score.

    Attributes
    ----------
    mean : float
    quantiles : dict
        By level.
    """

    mean: float
    quantiles: dict[float, float]


@validate_params(RESAMPLING, prefer_skip_nested_validation=True)
def bootstrap_interval(
    measure,
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    confidence=0.95,
    n_resamples=999,
    groups=None,
    n_jobs=None,
    random_state=None,
    verbose=0,
    **params,
):
    """Confidence interval of a measure by resampling rows, or groups of rows.

    The replicates' quantiles are shifted by the replicates' bias, since a calibration error of a
    sample, and that of a resample even more so, is larger than that of the population. The lower
    end is 0 when the forecasts may be calibrated: when `calibration_test` does not reject at
    1 - confidence.

    Parameters
    ----------
    measure : callable
        A function of `skcal.metrics`, `skcal.swap_regret`, or any function with ``y_true``,
        ``y_proba`` and ``sample_weight``.
    y_true, y_proba, sample_weight, pos_label, labels
        As in the measures.
    confidence : float in (0, 1), default=0.95
    n_resamples : int, default=999
    groups : array-like of shape (n,), default=None
        Rows of one group depend on each other; groups are resampled as wholes.
    n_jobs : int, default=None
        Workers, as in joblib. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Progress, as in joblib.
    **params : dict
        Further arguments of the measure.

    Returns
    -------
    IntervalResult
        With ``value``, ``low``, ``high`` and ``standard_error``.

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    Notes
    -----
    Calibration errors of small samples are strongly biased, SCDL most of all: on a few hundred rows
    its interval may lie above the value of the population.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An introduction to the bootstrap", 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from skcal import inference, metrics
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p**2
    >>> result = inference.bootstrap_interval(metrics.smce, y, p, random_state=0)
    >>> bool(result.low < 1 / 6 < result.high)  # the error of the population
    True
    """
    problem = _problem(measure, y_true, y_proba, sample_weight, pos_label, labels, params, groups)
    problem = replace(problem, place=None)
    seeds = _seeds(random_state, n_resamples)
    value = problem.value
    draws = _replicate(_bootstrap, [problem], seeds, n_jobs, verbose)[:, 0]
    bias, tail = draws.mean() - value, (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail]) - bias
    if low > 0:
        test = _test(problem, seeds, n_jobs, verbose)
        low = 0.0 if test.pvalue > 1 - confidence else low
    low, high = max(float(low), 0.0), max(float(high), value)
    return IntervalResult(value, min(low, value), high, float(draws.std(ddof=1)))


@validate_params(RESAMPLING, prefer_skip_nested_validation=True)
def calibration_test(
    measure,
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    n_resamples=999,
    n_jobs=None,
    random_state=None,
    verbose=0,
    **params,
):
    """Test whether the forecasts are calibrated, by consistency resampling.

    Outcomes are drawn anew from the forecasts themselves, and the p-value is the share of draws,
    the sample included, on which the measure is at least as large. Under calibration it is at most
    a with probability at most a + 1 / (n_resamples + 1).

    Parameters
    ----------
    measure : callable
        As in `bootstrap_interval`. SCDL is compared together with SCDL on the next finer grid, so
        that its plateaus do not tie.
    y_true, y_proba, sample_weight, pos_label, labels
        As in the measures.
    n_resamples, n_jobs, random_state, verbose
        As in `bootstrap_interval`.
    **params : dict
        Further arguments of the measure.

    Returns
    -------
    CalibrationTestResult
        With ``statistic`` and ``pvalue``.

    References
    ----------
    .. [1] J. Broecker and L. A. Smith, "Increasing the reliability of reliability diagrams",
       Weather and Forecasting 22(3), 2007. :doi:`10.1175/WAF993.1`

    Examples
    --------
    >>> import numpy as np
    >>> from skcal import inference, metrics
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> inference.calibration_test(metrics.scdl, y, p, random_state=0).pvalue < 0.05
    True
    """
    problem = _problem(measure, y_true, y_proba, sample_weight, pos_label, labels, params)
    return _test(problem, _seeds(random_state, n_resamples), n_jobs, verbose)


@validate_params(RESAMPLING, prefer_skip_nested_validation=True)
def compare(
    measure,
    y_true,
    proba_a,
    proba_b,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    confidence=0.95,
    n_resamples=999,
    groups=None,
    n_jobs=None,
    random_state=None,
    verbose=0,
    **params,
):
    """Confidence interval for the difference of two forecasters on the same rows.

    Parameters
    ----------
    measure : callable
        As in `bootstrap_interval`.
    y_true : array-like of shape (n,)
        Labels of two classes.
    proba_a, proba_b : array-like of shape (n,), (n, 1) or (n, 2)
        Probabilities of the two forecasters.
    sample_weight, pos_label, labels
        As in the measures.
    confidence, n_resamples, groups, n_jobs, random_state, verbose
        As in `bootstrap_interval`.
    **params : dict
        Further arguments of the measure.

    Returns
    -------
    IntervalResult
        Of the measure of a less that of b: below 0 where a is better. Rows are resampled in pairs,
        and the quantiles are shifted by the bias.

    Examples
    --------
    >>> import numpy as np
    >>> from skcal import inference, metrics
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> y = rng.random(500) < p
    >>> inference.compare(metrics.smce, y, p, p**2, random_state=0).high < 0
    True
    """
    common = (sample_weight, pos_label, labels, params, groups)
    problems = [_problem(measure, y_true, proba, *common) for proba in (proba_a, proba_b)]
    draws = _replicate(_bootstrap, problems, _seeds(random_state, n_resamples), n_jobs, verbose)
    value = problems[0].value - problems[1].value
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws[:, 0], [tail, 1 - tail]) - (draws[:, 0].mean() - value)
    return IntervalResult(value, float(low), float(high), float(draws[:, 0].std(ddof=1)))


@validate_params(RESAMPLING, prefer_skip_nested_validation=True)
def null_reference(
    measure,
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    n_resamples=199,
    n_jobs=None,
    random_state=None,
    verbose=0,
    **params,
):
    """What a calibrated forecaster with these forecasts would score, by chance alone.

    Parameters
    ----------
    measure, y_true, y_proba, sample_weight, pos_label, labels
        As in `bootstrap_interval`; of ``y_true`` only the labels matter.
    n_resamples, n_jobs, random_state, verbose
        As in `bootstrap_interval`.
    **params : dict
        Further arguments of the measure.

    Returns
    -------
    NullReference
        With ``mean`` and the ``quantiles`` 0.05, 0.5 and 0.95.

    Examples
    --------
    >>> import numpy as np
    >>> from skcal import inference, metrics
    >>> p = np.random.default_rng(0).random(100)
    >>> round(inference.null_reference(metrics.ece, p > 0.5, p, random_state=0).mean, 2)
    0.12
    """
    problem = _problem(measure, y_true, y_proba, sample_weight, pos_label, labels, params)
    draws = _replicate(_null, [problem], _seeds(random_state, n_resamples), n_jobs, verbose)[:, 0]
    levels = (0.05, 0.5, 0.95)
    quantiles = dict(zip(levels, np.quantile(draws, levels).tolist(), strict=True))
    return NullReference(float(draws.mean()), quantiles)


def _test(problem, seeds, n_jobs, verbose):
    draws = _replicate(_null, [problem], seeds, n_jobs, verbose)
    # the sample itself, by the same arithmetic, so that equal values are equal
    w = np.ones(problem.p.size) if problem.w is None else problem.w
    observed = problem.kernel()(w, problem.y[None])[0]
    above, tied = np.zeros(len(draws), dtype=bool), np.ones(len(draws), dtype=bool)
    for column, own in zip(draws.T, observed, strict=True):
        slack = 1e-12 * (1 + abs(own))
        above |= tied & (column > own + slack)
        tied &= np.abs(column - own) <= slack
    return CalibrationTestResult(problem.value, float(1 + np.sum(above | tied)) / (len(draws) + 1))


@dataclass(frozen=True)
class Problem:
    """A measure and a checked sample, sorted by prediction; picklable, for workers."""

    measure: object
    params: dict
    names: np.ndarray | None  # labels of outcomes 0 and 1, None when they go without saying
    y: np.ndarray
    p: np.ndarray
    w: np.ndarray | None
    groups: np.ndarray | None
    value: float
    place: np.ndarray | None  # where each sorted row stood, when rows are paired across problems
    precision: type

    def kernel(self):
        """What evaluates many weightings: a fast kernel where there is one."""
        found = _fast_kernel(self.measure, self.params, self.p, self.precision)
        return self._one_by_one if found is None else found

    def _one_by_one(self, mass, y):
        lines = zip(*np.broadcast_arrays(mass, y), strict=True)
        return np.array([[self._call(outcomes.astype(np.int64), m)] for m, outcomes in lines])

    def _call(self, y, w):
        options = dict(self.params, sample_weight=w)
        if self.names is not None:
            y = self.names[y]
            options.update(pos_label=self.names[1], labels=np.sort(self.names))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            return self.measure(y, self.p.astype(self.precision), **options)


def _fast_kernel(measure, params, p, precision):
    if measure is metrics.soft_calibration_decision_loss and set(params) <= {"n_bins"}:
        n_bins = params.get("n_bins")
        return None if n_bins is not None and n_bins > p.size else kernels.soft_kernel(p, n_bins)
    if measure is metrics.expected_calibration_error and set(params) <= {"n_bins"}:
        n_bins = params.get("n_bins", 15)
        return None if n_bins is None else kernels.binned_kernel(p, n_bins, precision)
    simple = {
        metrics.cutoff_calibration_error: kernels.cutoff_kernel,
        metrics.smooth_calibration_error: kernels.smooth_kernel,
        metrics.calibration_decision_loss: kernels.decision_kernel,
    }
    return simple[measure](p) if measure in simple and not params else None


def _problem(measure, y_true, y_proba, sample_weight, pos_label, labels, params, groups=None):
    """The problem of a call, checked."""
    sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
    given = {"sample_weight": sample_weight, "pos_label": pos_label, "labels": labels}
    given = {name: option for name, option in given.items() if option is not None}
    value = float(measure(y_true, y_proba, **params, **given))
    classes = infer_classes(y_true) if labels is None else check_classes(labels)
    names = None
    if classes.size == 2 and not is_conventional(classes):
        names = classes if classes[1] == pos_label else classes[::-1]
    order = np.argsort(sample.p, kind="stable")
    y, p = sample.y[order].astype(np.int64), sample.p[order]
    w = None if sample.w is None else sample.w[order]
    if groups is not None:
        groups = check_groups(groups, np.shape(y_true)[0])
        if sample.n != groups.size:  # rows of weight zero have gone
            groups = groups[np.asarray(sample_weight) > 0]
        groups = np.unique(groups[order], return_inverse=True)[1]
        if groups.max() == 0:
            fail("groups", "name at least two groups", "one")
    return Problem(measure, params, names, y, p, w, groups, value, order, sample.precision)


def _seeds(random_state, n_resamples):
    """One seed for each replicate, so that results do not depend on how they are dealt out."""
    return check_random_state(random_state).randint(2**31 - 1, size=n_resamples)


def _replicate(draw, problems, seeds, n_jobs, verbose):
    """Values of all replicates, in the order of their seeds, shape (n_resamples, k)."""
    rows = problems[0].p.size
    size = max(1, ELEMENTS // rows)  # never of n_jobs: sums must not depend on it
    share = size * max(1, -(-seeds.size // (size * SHARES)))
    parts = (seeds[start : start + share] for start in range(0, seeds.size, share))
    tasks = (delayed(_share)(draw, problems, part, size) for part in parts)
    return np.concatenate(Parallel(n_jobs=n_jobs, verbose=verbose)(tasks))


def _share(draw, problems, seeds, size):
    prepared = [(problem, problem.kernel()) for problem in problems]
    batches = (seeds[start : start + size] for start in range(0, seeds.size, size))
    return np.concatenate([draw(prepared, batch) for batch in batches])


def _weights(problem, seed):
    """Weights of one bootstrap sample."""
    rng, n = np.random.default_rng(seed), problem.p.size
    if problem.groups is None:
        # rows are exchangeable: unpaired ones may as well be drawn in sorted order
        count = np.bincount(rng.integers(0, n, n), minlength=n)
        count = count if problem.place is None else count[problem.place]
    else:
        size = problem.groups.max() + 1
        count = np.bincount(rng.integers(0, size, size), minlength=size)[problem.groups]
    return count if problem.w is None else count * problem.w


def _bootstrap(prepared, seeds):
    """Values of resampled rows; with two problems, differences on the same resamples."""
    values = []
    for problem, kernel in prepared:
        mass = np.empty((seeds.size, problem.p.size))
        for line, seed in zip(mass, seeds, strict=True):
            line[:] = _weights(problem, seed)
        values.append(kernel(mass, problem.y))
    return values[0] if len(values) == 1 else values[0] - values[1]


def _null(prepared, seeds):
    """Values for outcomes drawn from the forecasts themselves, rows and weights kept."""
    ((problem, kernel),) = prepared
    n = problem.p.size
    y = np.empty((seeds.size, n))
    for line, seed in zip(y, seeds, strict=True):
        np.less(np.random.default_rng(seed).random(n), problem.p, out=line, casting="unsafe")
    return kernel(np.ones(n) if problem.w is None else problem.w, y)
