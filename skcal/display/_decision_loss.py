"""The regret of each threshold, and the line that bounds the worst task."""

from dataclasses import dataclass

import numpy as np

from skcal import metrics
from skcal._numerics._envelopes import regret_curve
from skcal.display._base import (
    Display,
    FromSketch,
    of_one_class,
    once,
    positive_label,
    require_matplotlib,
    thin,
)
from skcal.metrics._decision_loss import DecisionLossCertificate


@dataclass(eq=False, repr=False)
class DecisionLossDisplay(FromSketch, Display):
    """Regret of each decision threshold, with the calibration decision loss and its proof.

    The line above the curve passes 1/2 at half the loss; it touches the curve at the thresholds of
    the task that these forecasts hurt the most. Make it by `from_estimator`, `from_predictions` or
    `from_sketch`.

    Parameters
    ----------
    certificate : DecisionLossCertificate
        As `skcal.metrics.calibration_decision_loss` gives it.
    name : str, default=None
        In the legend.
    pos_label : label, default=None
        The positive class, which the axes name.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The regret curve. Beyond 4000 vertices it keeps the extremes of narrow columns only.
    bound_ : matplotlib Line2D
        The line that no part of the curve passes.
    loss_ : matplotlib Line2D
        A point on it at 1/2, at half the loss.
    worst_ : matplotlib Line2D
        Points of the curve at the thresholds of the worst task; none when the loss is 0.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from skcal.display import DecisionLossDisplay
    >>> display = DecisionLossDisplay.from_predictions([0, 1, 1], [0.75, 0.75, 0.5])
    >>> display.loss_.get_ydata() * 2 == display.certificate.value
    array([ True])
    """

    certificate: DecisionLossCertificate
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
        thresholds=(0.0, 1.0),
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the regret curve of predictions.

        Parameters
        ----------
        y_true, y_proba, sample_weight, pos_label, labels, thresholds
            As in `skcal.metrics.calibration_decision_loss`.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Style of the line, as in `plot`.

        Returns
        -------
        DecisionLossDisplay

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
        certificate = metrics.calibration_decision_loss(
            y_true,
            of_one_class(y_proba),
            sample_weight=sample_weight,
            pos_label=pos_label,
            labels=labels,
            thresholds=thresholds,
            return_certificate=True,
        )
        return cls(certificate, name, positive_label(y_true, pos_label, labels)).plot(ax, **kwargs)

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
        DecisionLossDisplay
        """
        ax, proof = self._axes(ax), self.certificate
        path, fact = thin(*self._path()), f"CDL {proof.value:.3f}"
        color = self._curve(*path, name, fact, kwargs, linewidth=1)
        (self.bound_,) = ax.plot(
            [0, 1], proof.line, "--", color=color, linewidth=1, label=once(ax, "supporting line")
        )
        (self.loss_,) = ax.plot(
            [0.5], [proof.value / 2], "D", color=color, label=once(ax, "CDL / 2")
        )
        cuts = proof.points[:0] if proof.task is None else proof.task.thresholds_
        (self.worst_,) = ax.plot(
            cuts,
            proof.curve[np.searchsorted(proof.points, cuts)],
            "o",
            color=color,
            label=once(ax, "thresholds of the worst task"),
        )
        ax.set(
            xlabel="Decision threshold" + self._positive,
            ylabel="Regret at stake one",
            xlim=(-0.03, 1.03),
        )
        ax.legend(loc="best", fontsize="small")
        return self

    def _path(self):
        """The curve in [low, high]: linear between predictions and rates, jumps at predictions.

        A prediction below its rate jumps up as the threshold reaches it, one above it down after.
        """
        proof, (low, high) = self.certificate, self.certificate.thresholds
        x, mass, rate = proof.x, proof.weight, proof.rate
        v = np.unique(np.concatenate([x, rate, [low, high]]))
        weight, ones, before, after = np.zeros((4, v.size))
        place = np.searchsorted(v, x)
        weight[place], ones[place] = mass, mass * rate
        before[place], after[place] = mass * np.maximum(rate - x, 0), mass * np.maximum(x - rate, 0)
        curve = regret_curve(v, weight, ones)
        ends = np.searchsorted(v, [low, high])
        before[ends[0]] = after[ends[1]] = 0.0  # nothing is drawn beyond
        inside = slice(ends[0], ends[1] + 1)
        height = np.column_stack([curve - before, curve, curve - after])[inside]
        return np.repeat(v[inside], 3), np.maximum(height, 0.0).ravel()
