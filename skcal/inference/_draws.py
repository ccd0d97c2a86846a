"""Draws of a measure: rows resampled or outcomes redrawn, dealt out to workers."""

from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import isotonic_regression
from sklearn.utils import check_random_state

from skcal import metrics
from skcal._numerics import _replicates as kernels
from skcal._numerics._atoms import tie_starts
from skcal._validation import (
    Real,
    check_classes,
    check_groups,
    check_samples,
    check_weights,
    fail,
    infer_classes,
    quiet,
)
from skcal.metrics._binned import balanced_bins

ELEMENTS = 200_000  # of one batch: its temporaries stay in the cache
ALIKE = 1e-12  # rates as near to 0 or 1 are of outcomes that were all alike
PIECE = 1 << 14  # rows of a stretch from which draws are made at once, for the same reason
SHARES = 64  # pieces of work that are dealt out to the workers


@dataclass(frozen=True)
class Problem:
    """A measure and one checked sample, sorted by prediction; picklable, for workers.

    A study is a list of problems on the same rows, and its value the sum of theirs times their
    factors: one problem for two classes, one for each class with multiclass="classwise", and those
    of two forecasters, the second with negative factors, for their difference.
    """

    measure: object
    params: dict
    names: np.ndarray | None  # labels of outcomes 0 and 1, None when they go without saying
    y: np.ndarray
    p: np.ndarray
    w: np.ndarray | None
    groups: np.ndarray | None
    place: np.ndarray  # where each sorted row stood
    precision: type
    factor: float
    start: np.ndarray | None  # sum of the probabilities of earlier classes

    @property
    def slow(self):
        return _fast_kernel(self) is None

    def kernel(self):
        """What evaluates many weightings: a fast kernel where there is one."""
        make = _fast_kernel(self)
        return self._one_by_one if make is None else make(self.p)

    def value(self):
        """The measure of the sample itself, with its rows in the caller's order."""
        y, p = np.empty_like(self.y), np.empty_like(self.p)
        y[self.place], p[self.place], w = self.y, self.p, None
        if self.w is not None:
            w = np.empty_like(self.w)
            w[self.place] = self.w
        value = self._call(y, p, w)
        if not isinstance(value, Real) or not np.isfinite(value):
            fail("measure", "return a finite number", f"{value!r:.50}")
        return float(value)

    def _one_by_one(self, mass, ones):
        lines = zip(*np.broadcast_arrays(np.atleast_2d(mass), np.atleast_2d(ones)), strict=True)
        return np.array([[self._call(*kernels.rows_of(self.p, *line))] for line in lines])

    def _call(self, y, p, w):
        options = self.params if w is None else dict(self.params, sample_weight=w)
        if self.names is not None:
            y = self.names[y]
            options = dict(options, pos_label=self.names[1], labels=np.sort(self.names))
        with quiet():
            return self.measure(y, p.astype(self.precision), **options)


def _fast_kernel(problem):
    """What makes the fast kernel from the predictions; None where there is none."""
    measure, params = problem.measure, problem.params
    if measure is metrics.soft_calibration_decision_loss and set(params) <= {"n_bins"}:
        n_bins = params.get("n_bins")
        too_fine = n_bins is not None and n_bins > problem.p.size
        return None if too_fine else partial(kernels.SoftKernel, n_bins=n_bins)
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


def study_of(measure, y_true, y_proba, given, params, groups=None, sign=1.0, name="y_proba"):
    """The study of a call, checked; ``given`` holds the other arguments of `check_samples`."""
    if isinstance(measure, partial) and not measure.args:
        measure, params = measure.func, {**measure.keywords, **params}
    _check_measure(measure, params)
    samples = check_samples(y_true, y_proba, **given, name=name).samples
    names = None
    if given["multiclass"] == "raise" and {"pos_label", "labels"} <= _parameters(measure).keys():
        names = _names(y_true, given["pos_label"], given["labels"])
    if groups is not None:
        groups = _codes_of_groups(groups, y_true, given["sample_weight"])
    return study_of_samples(measure, samples, params, names, groups, sign)


def study_of_samples(measure, samples, params, names=None, groups=None, sign=1.0):
    """The study of checked samples: one, or one for each class."""
    if measure is metrics.actionable_binned_error and params.get("n_bins", "auto") == "auto":
        params = dict(params, n_bins=balanced_bins(samples[0].n))  # also of resampled rows
    if measure is metrics.calibration_distance:
        params = _of_copies(samples[0].w, params)
    study, start = [], np.zeros(samples[0].n) if len(samples) > 1 else None
    for sample in samples:
        order = np.argsort(sample.p, kind="stable")
        y, p = sample.y[order].astype(np.int64), sample.p[order]
        w, codes, before = (
            None if rows is None else rows[order] for rows in (sample.w, groups, start)
        )
        study.append(
            Problem(
                measure=measure, params=params, names=names, y=y, p=p, w=w, groups=codes,
                place=order, precision=sample.precision, factor=sign / len(samples), start=before,
            )
        )  # fmt: skip
        start = None if start is None else start + sample.p
    return study


def _of_copies(w, params):
    """The calibration distance of resamples: a row that is drawn twice is two rows."""
    if params.get("weights", "repeat") != "repeat":
        fail(
            "weights", "be 'repeat': a row that is drawn twice is two rows", repr(params["weights"])
        )
    if w is not None and np.any(w % 1):
        must = "hold whole numbers for the calibration distance: they count copies of rows"
        fail("sample_weight", must, f"{w[w % 1 > 0][0]:.6g}")
    return dict(params, weights="repeat")


def value_of(study):
    return float(sum(problem.factor * problem.value() for problem in study))


def isotonic_rates(study):
    """Rates of positive outcomes as the outcomes suggest them, increasing with the forecasts."""
    rates = [_isotonic(problem) for problem in study]
    if len(study) == 1:
        return rates
    rows, forecasts = np.empty((2, len(study), study[0].p.size))
    for k, problem in enumerate(study):
        rows[k, problem.place], forecasts[k, problem.place] = rates[k], problem.p
    total = rows.sum(axis=0)  # of the classes of a row: must be one
    rows = np.where(total > 0, rows, forecasts) / np.where(total > 0, total, 1.0)
    return [row[problem.place] for row, problem in zip(rows, study, strict=True)]


def _isotonic(problem):
    """Isotonic rates; where outcomes were all alike, as if one more of each had been seen.

    Rates of 0 and 1 would have the draws agree that nothing else can happen.
    """
    n = problem.p.size
    first = tie_starts(problem.p)
    first = np.arange(n) if first is None else first
    mass = np.ones(n) if problem.w is None else problem.w
    sums = np.add.reduceat(mass, first)
    rate = isotonic_regression(np.add.reduceat(mass * problem.y, first) / sums, weights=sums).x
    rate = np.repeat(rate, np.diff(np.append(first, n)))
    unseen = 1 / (np.array([np.sum(rate <= ALIKE), np.sum(rate >= 1 - ALIKE)]) + 2)
    return np.where(rate <= ALIKE, unseen[0], np.where(rate >= 1 - ALIKE, 1 - unseen[1], rate))


def towards(study, rates, share):
    """Rates on the way from the forecasts to other rates."""
    pairs = zip(study, rates, strict=True)
    return [problem.p + share * (rate - problem.p) for problem, rate in pairs]


def at_rates(study, rates):
    """The measure of the rows when each is positive at its rate, and not by chance."""
    total = 0.0
    for problem, rate in zip(study, rates, strict=True):
        mass = np.ones(rate.size) if problem.w is None else problem.w
        exact = problem._call(*kernels.rows_of(problem.p, mass, mass * rate))
        total += problem.factor * float(exact)
    return total


def seeds_of(random_state, n_resamples):
    """One seed for each replicate, so that results do not depend on how they are dealt out."""
    return check_random_state(random_state).randint(2**31 - 1, size=n_resamples)


def replicate(draw, study, seeds, n_jobs, verbose):
    """Values of all replicates, in the order of their seeds, shape (n_resamples, k)."""
    size = max(1, ELEMENTS // study[0].p.size)  # never of n_jobs: sums must not depend on it
    if any(problem.slow for problem in study):  # one call after the other: share them out
        size = min(size, 16)
    elif all(_by_rows(draw, problem) for problem in study):  # no counts of all rows in memory
        size = max(size, 16)
    step = size * max(1, -(-seeds.size // (size * SHARES)))
    parts = (seeds[start : start + step] for start in range(0, seeds.size, step))
    tasks = (delayed(_work)(draw, study, part, size) for part in parts)
    values = np.concatenate(Parallel(n_jobs=n_jobs, verbose=verbose)(tasks))
    if not np.isfinite(values).all():
        fail("measure", "return finite numbers on resampled rows", "NaN or an infinite one")
    return values


def _work(draw, study, seeds, size):
    kernels_of = [problem.kernel() for problem in study]
    batches = (seeds[start : start + size] for start in range(0, seeds.size, size))
    return np.concatenate([_values(draw, study, kernels_of, batch) for batch in batches])


def _values(draw, study, kernels_of, seeds):
    """The values of a batch of replicates."""
    total = 0.0
    for k, (problem, kernel) in enumerate(zip(study, kernels_of, strict=True)):
        total = total + problem.factor * _values_of(draw, study, k, seeds, kernel)
    return total


def _values_of(draw, study, k, seeds, kernel):
    """The values of problem ``k``, from how often a draw holds each row and its positives."""
    problem = study[k]
    if _by_rows(draw, problem):
        values = kernel.of_rows(draw.rows(study, k, seeds))
        rest = np.isnan(values[:, 0])
        if rest.any():
            values[rest] = kernel(*draw(study, k, seeds[rest]))
        return values
    count, ones = draw(study, k, seeds)
    if problem.w is not None:
        count, ones = count * problem.w, ones * problem.w
    return kernel(count, ones)


def _by_rows(draw, problem):
    """Whether the kernel takes drawn rows as they come: quicker than to count them first."""
    soft = getattr(_fast_kernel(problem), "func", None) is kernels.SoftKernel
    return soft and isinstance(draw, Redraw) and problem.w is None


def bootstrap(study, k, seeds):
    """Rows, or groups of rows, resampled with their outcomes."""
    problem = study[k]
    count = np.empty((seeds.size, problem.p.size))
    for line, seed in zip(count, seeds, strict=True):
        line[:] = _rows(problem, len(study) == 1, np.random.default_rng(seed))
    return count, count * problem.y


def _rows(problem, alone, rng):
    """How often a bootstrap sample holds each sorted row; several problems share their rows."""
    n = problem.p.size
    if problem.groups is None:
        drawn = rng.integers(0, n, n)
        # rows are exchangeable: those of a single problem may as well be drawn in sorted order
        count = np.bincount(drawn, minlength=n)
        return count if alone else count[problem.place]
    size = problem.groups.max() + 1
    return np.bincount(rng.integers(0, size, size), minlength=size)[problem.groups]


@dataclass(frozen=True)
class Jackknife:
    """Rows left out in turn: the seeds are the numbers of the blocks."""

    block: np.ndarray  # of each row, in the caller's order

    def __call__(self, study, k, seeds):
        count = (self.block[study[k].place] != seeds[:, None]).astype(float)
        return count, count * study[k].y


def null(study, k, seeds):
    """Outcomes drawn from the forecasts themselves, each row once."""
    problem = study[k]
    ones = np.empty((seeds.size, problem.p.size))
    for line, seed in zip(ones, seeds, strict=True):
        u = np.random.default_rng((seed, 1)).random(problem.p.size)  # a stream of its own
        if problem.start is None:
            np.less(u, problem.p, out=line, casting="unsafe")
        else:  # one number for all classes of a row
            u = u[problem.place] - problem.start
            line[:] = (u >= 0) & (u < problem.p)
    return np.ones(problem.p.size), ones


@dataclass(frozen=True)
class Redraw:
    """Rows resampled, each copy with an outcome of its own drawn at the rate of its row.

    One uniform number draws both: its whole part the row, the rest the class, which comes out where
    the rest falls between ``starts`` and ``ends``. Both are sorted as the rows of each problem.
    Numbers are drawn stretch by stretch: first how many fall into each, then where. So they and
    what they look up stay in the cache, and rates are resolved to `PIECE` / 2^53 at any n.
    """

    starts: list
    ends: list

    @classmethod
    def at(cls, study, rates):
        """From the rates of the rows of each problem."""
        starts, ends, lower = [], [], np.zeros(study[0].p.size)
        for problem, rate in zip(study, rates, strict=True):
            starts.append(lower[problem.place])
            ends.append(starts[-1] + rate)
            lower[problem.place] = ends[-1]
        return cls(starts, ends)

    def __call__(self, study, k, seeds):
        n = study[k].p.size
        count, ones = np.empty((2, seeds.size, n))
        for r, pieces in enumerate(self.rows(study, k, seeds)):
            drawn = np.concatenate([2 * row + positive for row, positive in pieces])
            zeros, ones[r] = np.bincount(drawn, minlength=2 * n).reshape(n, 2).T
            np.add(zeros, ones[r], out=count[r])
        return count, ones

    def rows(self, study, k, seeds):
        """For each seed the drawn rows, as sorted, with their outcomes, in one piece a stretch."""
        n, start, end = study[k].p.size, self.starts[k], self.ends[k]
        first = np.arange(0, n, PIECE)
        width = np.minimum(PIECE, n - first)
        rank = None  # a single problem may as well number its rows as they are sorted
        if len(study) > 1:
            rank = np.empty(n, dtype=np.int64)
            rank[study[k].place] = np.arange(n)

        def piece(rng, first, width, size):
            rest = rng.random(size)
            rest *= width  # below width, also when rounded
            whole = np.floor(rest)
            rest -= whole
            row = whole.astype(np.int64)
            row += first
            if rank is None:
                return row, rest < end.take(row)
            row = rank.take(row)
            return row, (rest >= start.take(row)) & (rest < end.take(row))

        for seed in seeds:
            rng = np.random.default_rng(seed)
            sizes = rng.multinomial(n, width / n)
            yield (piece(rng, *each) for each in zip(first, width, sizes, strict=True))


def _parameters(measure):
    try:
        return signature(measure).parameters
    except ValueError:  # some built-in functions have no signature
        must = "be a function of y_true, y_proba and sample_weight"
        fail("measure", must, repr(measure))


def _check_measure(measure, params):
    if "return_certificate" in params:
        fail("params", "leave return_certificate out: draws are numbers", repr(params))
    name, known = getattr(measure, "__name__", repr(measure)), _parameters(measure)
    rest = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    if "sample_weight" not in known and not rest:
        fail("measure", "take sample_weight, by which rows are resampled", f"{name}, without it")
    try:
        signature(measure).bind(None, None, sample_weight=None, **params)
    except TypeError as error:
        fail("params", f"be the further arguments of {name}", str(error).removeprefix("got "))


def _names(y_true, pos_label, labels):
    """Labels of outcomes 0 and 1; None when these are their labels."""
    classes = infer_classes(y_true) if labels is None else check_classes(labels)
    if classes.size == 1:
        fail("labels", "name both classes when y_true holds one of them", "None")
    positive = classes.max() if pos_label is None else pos_label
    pair = classes if classes[1] == positive else classes[::-1]
    return None if pair.dtype.kind in "biuf" and pair.tolist() == [0, 1] else pair


def _codes_of_groups(groups, y_true, sample_weight):
    groups = check_groups(groups, np.shape(y_true)[0])
    w = check_weights(sample_weight, groups.size)
    codes = np.unique(groups if w is None else groups[w > 0], return_inverse=True)[1]
    if codes.max() == 0:
        fail("groups", "name at least two groups", "one")
    return codes
