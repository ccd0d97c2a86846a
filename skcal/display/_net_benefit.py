"""Decision curve: the net benefit of treating by predictions."""

from dataclasses import dataclass

import numpy as np

from skcal._validation import check_sample, fail_parameter, numbers
from skcal.display._base import (
    Display,
    FromSketch,
    positive_label,
    reference,
    require_matplotlib,
    thin,
)

BENDS = 200  # places beside the predictions, where the curve bends


@dataclass(eq=False, repr=False)
class NetBenefitDisplay(FromSketch, Display):
    """Decision curve: net benefit at each threshold, beside treating all and none.

    Whoever treats where the prediction is at least t gains the share of true positives less
    t / (1 - t) times that of false positives [1]_. Make it by `from_estimator`, `from_predictions`
    or `from_sketch`.

    Parameters
    ----------
    thresholds, net_benefit : ndarray of shape (k,)
        The curve. Each threshold occurs twice: treating there and above, and only above.
    prevalence : float
        Share of positive outcomes.
    name : str, default=None
        In the legend; None is "model".
    pos_label : label, default=None
        The positive class, which the axes name.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve. Beyond 4000 vertices it keeps the extremes of narrow columns only.
    all_, none_ : matplotlib Line2D
        Treating all and none, drawn once for models of the same share of positive outcomes.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    .. [1] A. Vickers and E. Elkin, "Decision curve analysis: a novel method for evaluating
       prediction models", Medical Decision Making, 2006.

    Examples
    --------
    >>> from skcal.display import NetBenefitDisplay
    >>> display = NetBenefitDisplay.from_predictions([0, 1], [0.5, 0.5], thresholds=(0.5, 0.75))
    >>> display.thresholds[:2], display.net_benefit[:2]
    (array([0.5, 0.5]), array([0., 0.]))
    """

    thresholds: np.ndarray
    net_benefit: np.ndarray
    prevalence: float
    name: str | None = None
    pos_label: object = None

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_proba,
        *,
        sample_weight=None,
        pos_label=None,
        labels=None,
        thresholds=(0.0, 0.99),
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the decision curve of predictions.

        Parameters
        ----------
        y_true, y_proba, sample_weight, pos_label, labels
            As in `skcal.metrics.calibration_decision_loss`.
        thresholds : tuple of float, default=(0, 0.99)
            Range of the curve, below 1.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Style of the line, as in `plot`.

        Returns
        -------
        NetBenefitDisplay

        Raises
        ------
        ValueError
            If an argument is not of this form; the message names it.
        ImportError
            Without matplotlib.

        Notes
        -----
        Costs one sort.
        """
        require_matplotlib(cls.__name__)
        sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
        low, high = _check_range(thresholds)
        curve, prevalence = _decision_curve(sample, low, high)
        positive = positive_label(y_true, pos_label, labels)
        return cls(*curve, prevalence, name, positive).plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw on axes.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            In the legend, instead of the one given before.
        **kwargs : dict
            Style of the line, as in matplotlib's ``plot``.

        Returns
        -------
        NetBenefitDisplay
        """
        ax = self._axes(ax)
        shared = [line for line in ax.get_lines() if line.get_label() == "treat all"]
        low, high, share = self.thresholds[0], self.thresholds[-1], self.prevalence
        whose = "model" if name is None and self.name is None else name
        self._curve(*thin(self.thresholds, self.net_benefit), whose, None, kwargs)
        grid = np.linspace(low, high, BENDS)
        always = share - (1 - share) * grid / (1 - grid)
        others = any(not np.array_equal(line.get_ydata(), always) for line in shared)
        every = f"treat all, {share:.3g} positive" if others else "treat all"
        self.all_ = reference(ax, every, grid, always, linestyle="--")
        self.none_ = reference(ax, "treat none", [low, high], [0, 0], linestyle=":")
        bottom, top = (-0.3 * share, 1.1 * share) if share else (-1.0, 0.1)
        if shared:  # with models of other shares of positives, of which none may leave the axes
            bottom, top = min(bottom, ax.get_ylim()[0]), max(top, ax.get_ylim()[1])
        ax.set(
            xlabel="Threshold probability" + self._positive,
            ylabel="Net benefit",
            ylim=(bottom, top),
        )
        ax.legend(loc="best", fontsize="small")
        return self


def _decision_curve(sample, low, high):
    """Thresholds, increasing, and net benefits there; and the share of positive outcomes.

    At a prediction the curve jumps, and between predictions it bends a little.
    """
    x, mass, ones, _ = sample.atoms.written_out()
    true, false = (
        np.append(np.cumsum(part[::-1])[::-1], 0) / sample.total for part in (ones, mass - ones)
    )
    t = np.union1d(x[(x >= low) & (x <= high)], np.linspace(low, high, BENDS))
    first = np.column_stack([np.searchsorted(x, t), np.searchsorted(x, t, side="right")])
    first[-1, 1] = first[-1, 0]  # the range ends at high itself
    benefit = true[first] - false[first] * (t / (1 - t))[:, None]
    return (np.repeat(t, 2), benefit.ravel()), float(true[0])


def _check_range(thresholds):
    ends = numbers(thresholds)
    low, high = ends.tolist() if ends is not None and ends.shape == (2,) else (np.nan, np.nan)
    if not 0 <= low < high < 1:
        must = "be two numbers with 0 <= low < high < 1"
        fail_parameter("NetBenefitDisplay", "thresholds", must, repr(thresholds))
    return low, high
