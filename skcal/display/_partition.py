"""How the nearest calibrated partition moves predictions."""

from dataclasses import dataclass

import numpy as np

from skcal import metrics
from skcal.display._base import Display, of_one_class, positive_label, reference, require_matplotlib
from skcal.metrics._calibration_distance import CalibrationDistanceCertificate

MOST_PARTS = 1000  # drawn at most, the heaviest
LARGEST = 400.0  # area of the marker of all the weight, in square points


@dataclass(eq=False, repr=False)
class PartitionDisplay(Display):
    """The nearest calibrated partition: each part from its predictions to its mean outcome.

    A part is a horizontal segment at the target that its rows move to, from the lowest to the
    highest of their predictions and on to the target; the marker there shows its weight.
    Make it by `from_estimator` or `from_predictions`.

    Parameters
    ----------
    certificate : CalibrationDistanceCertificate
        As `skcal.metrics.calibration_distance` gives it.
    name : str, default=None
        In the legend.
    pos_label : label, default=None
        The positive class, which the axes name.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The segments, by increasing target, with NaN between them: the 1000 heaviest parts.
    sizes_ : matplotlib PathCollection
        Their markers, of an area in proportion to the weight.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from skcal.display import PartitionDisplay
    >>> display = PartitionDisplay.from_predictions([0, 1, 0, 1, 1], [0.4, 0.4, 0.6, 0.6, 0.9])
    >>> display.line_.get_xydata()[:2]
    array([[0.4, 0.5],
           [0.6, 0.5]])
    """

    certificate: CalibrationDistanceCertificate
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
        method="auto",
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the nearest calibrated partition of predictions.

        Parameters
        ----------
        y_true, y_proba, sample_weight, pos_label, labels, method
            As in `skcal.metrics.calibration_distance`; "bounds" is the quickest method.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Style of the line, as in `plot`.

        Returns
        -------
        PartitionDisplay

        Raises
        ------
        ValueError
            If an argument is not of this form; the message names it.
        ImportError
            Without matplotlib.

        Notes
        -----
        Costs seconds at thousands of rows; with "bounds" a minute at a hundred thousand.
        """
        require_matplotlib(cls.__name__)
        certificate = metrics.calibration_distance(
            y_true,
            of_one_class(y_proba),
            sample_weight=sample_weight,
            pos_label=pos_label,
            labels=labels,
            method=method,
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
        PartitionDisplay
        """
        ax = self._axes(ax)
        low, high, target, weight = self._parts()
        gap = np.full(target.size, np.nan)
        path = np.column_stack([low, high, gap]), np.column_stack([target, target, gap])
        color = self._curve(*map(np.ravel, path), name, self._distance(), kwargs, linewidth=1)
        reference(ax, "unmoved", [0, 1], [0, 1], linestyle=":")
        self.sizes_ = ax.scatter(target, target, s=LARGEST * weight, color=color, alpha=0.4)
        ax.set(
            xlabel="Predicted probability" + self._positive,
            ylabel="Nearest calibrated prediction",
            xlim=(-0.03, 1.03),
            ylim=(-0.03, 1.03),
        )
        ax.legend(loc="best", fontsize="small")
        return self

    def _parts(self):
        """Ends of the segments, targets and weights of the parts that are drawn."""
        proof = self.certificate
        kept = proof.weight > 0
        p, targets = proof.p[kept], proof.targets[kept]
        target, part = np.unique(targets, return_inverse=True)
        low, high = target.copy(), target.copy()
        np.minimum.at(low, part, p)
        np.maximum.at(high, part, p)
        weight = np.bincount(part, proof.weight[kept])
        drawn = np.sort(np.argsort(-weight, kind="stable")[:MOST_PARTS])
        return low[drawn], high[drawn], target[drawn], weight[drawn]

    def _distance(self):
        """The distance as far as it is known."""
        proof = self.certificate
        low, high = f"{proof.lower:.3f}", f"{proof.upper:.3f}"
        return f"CalDist {high}" if low == high else f"CalDist {low} to {high}"
