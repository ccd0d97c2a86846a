"""Draws of a measure: rows resampled or outcomes redrawn, dealt out to workers."""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skcal import metrics
from skcal._numerics import _replicates as kernels
from skcal._validation import (
    CalibrationWarning,
    check_classes,
    check_groups,
    check_sample,
    check_weights,
    fail,
    infer_classes,
    is_conventional,
)

ELEMENTS = 200_000  # of one batch: its temporaries stay in the cache
SHARES = 64  # pieces of work that are dealt out to the workers


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

    @property
    def slow(self):
        return _fast_kernel(self) is None

    def kernel(self):
        """What evaluates many weightings: a fast kernel where there is one."""
        make = _fast_kernel(self)
        return self._one_by_one if make is None else make(self.p)

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


def _fast_kernel(problem):
    """What makes the fast kernel from the predictions; None where there is none."""
    measure, params = problem.measure, problem.params
    if measure is metrics.soft_calibration_decision_loss and set(params) <= {"n_bins"}:
        n_bins = params.get("n_bins")
        too_fine = n_bins is not None and n_bins > problem.p.size
        return None if too_fine else partial(kernels.soft_kernel, n_bins=n_bins)
    if measure is metrics.expected_calibration_error and set(params) <= {"n_bins"}:
        m = params.get("n_bins", 15)
        binned = partial(kernels.binned_kernel, m=m, precision=problem.precision)
        return None if m is None else binned
    simple = {
        metrics.cutoff_calibration_error: kernels.cutoff_kernel,
        metrics.smooth_calibration_error: kernels.smooth_kernel,
        metrics.calibration_decision_loss: kernels.decision_kernel,
    }
    return simple.get(measure) if not params else None


def problem_of(measure, y_true, y_proba, sample_weight, pos_label, labels, params, groups=None):
    """The problem of a call, checked."""
    if "return_certificate" in params:
        fail("params", "leave return_certificate out: draws are numbers", repr(params))
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
            groups = groups[check_weights(sample_weight, groups.size) > 0]
        groups = np.unique(groups[order], return_inverse=True)[1]
        if groups.max() == 0:
            fail("groups", "name at least two groups", "one")
    return Problem(measure, params, names, y, p, w, groups, value, order, sample.precision)


def seeds_of(random_state, n_resamples):
    """One seed for each replicate, so that results do not depend on how they are dealt out."""
    return check_random_state(random_state).randint(2**31 - 1, size=n_resamples)


def replicate(draw, problems, seeds, n_jobs, verbose):
    """Values of all replicates, in the order of their seeds, shape (n_resamples, k)."""
    size = max(1, ELEMENTS // problems[0].p.size)  # never of n_jobs: sums must not depend on it
    if any(problem.slow for problem in problems):  # one call after the other: share them out
        size = min(size, 16)
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


def bootstrap(prepared, seeds):
    """Values of resampled rows; with two problems, differences on the same resamples."""
    values = []
    for problem, kernel in prepared:
        mass = np.empty((seeds.size, problem.p.size))
        for line, seed in zip(mass, seeds, strict=True):
            line[:] = _weights(problem, seed)
        values.append(kernel(mass, problem.y))
    return values[0] if len(values) == 1 else values[0] - values[1]


def null(prepared, seeds):
    """Values for outcomes drawn from the forecasts themselves, rows and weights kept."""
    ((problem, kernel),) = prepared
    n = problem.p.size
    y = np.empty((seeds.size, n))
    for line, seed in zip(y, seeds, strict=True):
        np.less(np.random.default_rng(seed).random(n), problem.p, out=line, casting="unsafe")
    return kernel(np.ones(n) if problem.w is None else problem.w, y)
