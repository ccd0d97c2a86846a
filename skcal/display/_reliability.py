"""The reliability diagram."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from skcal._numerics._bins import bin_index
from skcal._validation import (
    Integral,
    Interval,
    Real,
    Sample,
    StrOptions,
    check_sample,
    check_weights,
    fail,
    rows_of,
    shown,
    validate_params,
)
from skcal.display._base import (
    Display,
    once,
    positive_label,
    reference,
    require_matplotlib,
    response_of,
)
from skcal.metrics._binned import MOST_BINS, BinnedCertificate, binned_error
from skcal.metrics._cutoff import cutoff_error
from skcal.metrics._decision_loss import soft_decision_loss
from skcal.metrics._smooth import smooth_error
from skcal.sketch import CalibrationSketch

CELLS = 50  # of the density
FLOOR, HEIGHT = -0.15, 0.11  # where the density stands, and its peak: below the lowest rate
MEASURES = {
    "scdl": ("SCDL", lambda sample, bins: soft_decision_loss(sample).scdl),
    "smce": ("smCE", lambda sample, bins: smooth_error(sample, proofs=False).value),
    "cutoff": ("cutoff", lambda sample, bins: cutoff_error(sample).value),
    "ece": ("ECE", lambda sample, bins: bins.value),
}
BINNING = {
    "n_bins": [Interval(Integral, 1, MOST_BINS, closed="both")],
    "strategy": [StrOptions({"uniform", "quantile"})],
    "confidence": [Interval(Real, 0, 1, closed="neither")],
    "measure": [StrOptions(set(MEASURES)), None],
}


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Reliability diagram: rates of positive outcomes against mean predictions.

    Make it by `from_estimator`, `from_predictions`, `from_cv_results` or `from_sketch`.

    Parameters
    ----------
    bins : BinnedCertificate
        The bins, as `skcal.metrics.expected_calibration_error` gives them.
    low, high : ndarray of shape (n_bins,)
        Ends of the band in which a calibrated forecaster's rate lies; NaN in empty bins.
    confidence : float
        How often it lies there, in each bin by itself.
    density : ndarray of shape (50,)
        Share of the weight in each of 50 cells of [0, 1].
    score : tuple of (str, float), default=None
        Name and value of the measure in the legend.
    folds : tuple of BinnedCertificate, default=()
        Bins of each fold, drawn as faint lines.
    name : str, default=None
        In the legend.
    pos_label : label, default=None
        The positive class, which the axes name.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Rates against mean predictions of occupied bins.
    band_ : matplotlib LineCollection or None
        The band, a bar at each mean prediction.
    density_ : matplotlib PolyCollection or None
        The density of predictions, below the diagram.
    fold_lines_ : list of matplotlib Line2D
        One for each fold.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from skcal.display import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(
    ...     [0, 1, 0, 1, 1], [0.1, 0.1, 0.3, 0.8, 0.9], n_bins=2, measure="ece"
    ... )
    >>> display.line_.get_xydata().round(2)
    array([[0.17, 0.33],
           [0.85, 1.  ]])
    >>> display.line_.get_label()
    'ECE 0.160'
    """

    bins: BinnedCertificate
    low: np.ndarray
    high: np.ndarray
    confidence: float
    density: np.ndarray
    score: tuple | None = None
    folds: tuple = ()
    name: str | None = None
    pos_label: object = None

    @classmethod
    @validate_params(BINNING, prefer_skip_nested_validation=True)
    def from_predictions(
        cls,
        y_true,
        y_proba,
        *,
        sample_weight=None,
        pos_label=None,
        labels=None,
        n_bins=15,
        strategy="uniform",
        confidence=0.9,
        measure="scdl",
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the reliability diagram of predictions.

        Parameters
        ----------
        y_true, y_proba, sample_weight, pos_label, labels
            As in the measures: see `skcal.metrics.expected_calibration_error`.
        n_bins, strategy
            The bins, as there.
        confidence : float in (0, 1), default=0.9
            How often a calibrated forecaster's rate lies in the band, in each bin by itself.
        measure : {"scdl", "smce", "cutoff", "ece"} or None, default="scdl"
            The measure in the legend. "ece" is that of the bins drawn.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Further arguments of `plot`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ValueError
            If an argument is not of this form; the message names it.
        ImportError
            Without matplotlib.

        Notes
        -----
        The band holds binomial quantiles at the mean prediction of a bin. Where the predictions in
        a bin differ it is a little too wide. With weights the number of rows is the effective one,
        the squared sum of weights over the sum of their squares. Costs O(n), or a sort with
        "quantile".
        """
        require_matplotlib(cls.__name__)
        sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
        display = cls._of_sample(sample, n_bins, strategy, confidence, measure)
        display.name, display.pos_label = name, positive_label(y_true, pos_label, labels)
        return display.plot(ax, **kwargs)

    @classmethod
    @validate_params({"cv_results": [dict]} | BINNING, prefer_skip_nested_validation=True)
    def from_cv_results(
        cls,
        cv_results,
        X,
        y,
        *,
        sample_weight=None,
        pos_label=None,
        n_bins=15,
        strategy="uniform",
        confidence=0.9,
        measure="scdl",
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the diagram of the out-of-fold predictions of a cross-validation, and of each fold.

        Parameters
        ----------
        cv_results : dict
            From scikit-learn's ``cross_validate`` with ``return_estimator=True`` and
            ``return_indices=True``. No row may be tested twice.
        X : array-like of shape (n, n_features)
            The rows that were cross-validated.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Non-negative weights; rows of weight 0 are ignored.
        pos_label : label, default=None
            The positive class; None means ``classes_[1]`` of the estimators.
        n_bins, strategy, confidence, measure, name, ax, **kwargs
            As in `from_predictions`. They speak of all rows together.

        Returns
        -------
        ReliabilityDisplay
        """
        require_matplotlib(cls.__name__)
        samples, pos_label = _out_of_fold(cv_results, X, y, sample_weight, pos_label)
        display = cls._of_sample(_pooled(samples), n_bins, strategy, confidence, measure)
        display.folds = tuple(binned_error(sample, n_bins, strategy) for sample in samples)
        display.name, display.pos_label = name, pos_label
        return display.plot(ax, **kwargs)

    @classmethod
    @validate_params({"sketch": [CalibrationSketch]} | BINNING, prefer_skip_nested_validation=True)
    def from_sketch(
        cls,
        sketch,
        *,
        n_bins=15,
        strategy="uniform",
        confidence=0.9,
        measure="scdl",
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the diagram of the rows that a sketch has seen.

        The predictions of a cell are taken for equal, at their mean. There is no band for rows with
        weights: a sketch does not tell how many they count for.

        Parameters
        ----------
        sketch : CalibrationSketch
            With at least one row of positive weight.
        n_bins, strategy, confidence, measure, name, ax, **kwargs
            As in `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        require_matplotlib(cls.__name__)
        sample = check_sample(*sketch.sample())
        display = cls._of_sample(sample, n_bins, strategy, confidence, measure)
        bins = display.bins
        rows = np.full_like(bins.weight, np.nan) if sketch.weighted else bins.weight
        display.bins = replace(bins, count=rows)
        display.low, display.high = _band(bins, rows, confidence)
        display.name, display.pos_label = name, sketch.pos_label
        return display.plot(ax, **kwargs)

    @classmethod
    def _of_sample(cls, sample, n_bins, strategy, confidence, measure):
        bins = binned_error(sample, n_bins, strategy)
        band = _band(bins, _rows_of_bins(sample, bins, strategy), confidence)
        density = np.bincount(bin_index(sample.p, CELLS), sample.w, CELLS) / sample.total
        short, value = MEASURES.get(measure, (None, None))
        score = None if measure is None else (short, float(value(sample, bins)))
        return cls(bins, *band, confidence, density, score)

    def plot(self, ax=None, *, name=None, band=True, density=True, **kwargs):
        """Draw on axes.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            In the legend, instead of the one given before.
        band : bool, default=True
            Whether to draw the band of a calibrated forecaster.
        density : bool, default=True
            Whether to draw the density of the predictions.
        **kwargs : dict
            Style of the line, as in matplotlib's ``plot``.

        Returns
        -------
        ReliabilityDisplay
        """
        ax = self._axes(ax)
        fact = None if self.score is None else "{} {:.3f}".format(*self.score)
        x, y = _points(self.bins)
        color = self._curve(x, y, name, fact, kwargs, marker="o", markersize=4)
        reference(ax, "perfectly calibrated", [0, 1], [0, 1], linestyle=":")
        faint = {"color": color, "alpha": 0.4, "linewidth": 0.8}
        self.fold_lines_ = [
            ax.plot(*_points(fold), label=once(ax, "folds"), **faint)[0] for fold in self.folds
        ]
        self.band_ = self.density_ = None
        low, high = (end[self.bins.weight > 0] for end in (self.low, self.high))
        if band and not np.isnan(low).any():
            label = once(ax, f"{100 * self.confidence:g}% band if calibrated")
            style = {"color": color, "alpha": 0.25, "linewidth": 5, "zorder": 1.6}
            self.band_ = ax.vlines(x, low, high, label=label, **style)
        if density:
            heights = FLOOR + HEIGHT * self.density / self.density.max()
            edges = np.arange(CELLS + 1) / CELLS
            self.density_ = ax.fill_between(
                edges, FLOOR, np.append(heights, heights[-1]), step="post", color=color, alpha=0.4
            )
        ax.set(
            xlabel="Mean predicted probability" + self._positive,
            ylabel="Fraction of positives" + self._positive,
            xlim=(-0.03, 1.03),
            ylim=(FLOOR - 0.01, 1.03),
        )
        ax.legend(loc="best", fontsize="small")
        return self


def _points(bins):
    """Mean predictions and rates of occupied bins."""
    kept = bins.weight > 0
    return bins.mean_proba[kept], bins.mean_outcome[kept]


def _rows_of_bins(sample, bins, strategy):
    """Rows of weight one that would give the rate of each bin the same variance."""
    if sample.w is None:
        return bins.count
    m = bins.n_bins
    if strategy == "uniform":
        place = bin_index(sample.p, m, sample.precision)
    else:
        place = np.searchsorted(bins.edges[:-1], sample.p, side="right") - 1
    with np.errstate(invalid="ignore"):  # 0/0 in empty bins
        return bins.weight**2 / np.bincount(place, sample.w**2, m)


def _band(bins, rows, confidence):
    """Binomial quantiles of the rate of each bin, were its mean prediction right."""
    kept = bins.weight > 0
    rows, p = np.maximum(np.rint(rows[kept]), 1), np.clip(bins.mean_proba[kept], 0, 1)
    band = np.full((2, kept.size), np.nan)
    for line, level in zip(band, ((1 - confidence) / 2, (1 + confidence) / 2), strict=True):
        line[kept] = binom.ppf(level, rows, p) / rows
    return band


def _out_of_fold(cv_results, X, y, sample_weight, pos_label):
    """The test rows of each fold as a sample, and the positive label."""
    if not {"estimator", "indices"} <= set(cv_results):
        must = (
            "hold 'estimator' and 'indices' (cross_validate with return_estimator=True and "
            "return_indices=True)"
        )
        fail("cv_results", must, shown(cv_results))
    tested, trained = (cv_results["indices"][part] for part in ("test", "train"))
    times = np.bincount(np.concatenate(tested))
    if times.max() > 1:
        fail("cv_results", "test no row twice", f"row {times.argmax()} in {times.max()} folds")
    n = times.size
    for values, name in ((X, "X"), (y, "y")):
        length = values.shape[0] if hasattr(values, "shape") else len(values)
        if length < n:
            fail(name, f"hold the {n} rows of cv_results", f"length {length}")
    weights, samples = check_weights(sample_weight, length), []
    for estimator, rows, others in zip(cv_results["estimator"], tested, trained, strict=True):
        its_X, its_y = rows_of(estimator, X, y, rows, others)
        y_proba, pos_label = response_of(estimator, its_X, pos_label)
        w = None if weights is None else weights[rows]
        samples.append(check_sample(its_y, y_proba, w, pos_label, estimator.classes_))
    return samples, pos_label


def _pooled(samples):
    """The rows of all samples as one."""
    y, p = (np.concatenate([getattr(s, part) for s in samples]) for part in ("y", "p"))
    w = None if samples[0].w is None else np.concatenate([s.w for s in samples])
    return Sample(y, p, w, samples[0].precision)
