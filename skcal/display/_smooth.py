"""The cumulative residual behind the smooth calibration error."""

from dataclasses import dataclass

import numpy as np

from skcal import metrics
from skcal.display._base import (
    Display,
    FromSketch,
    of_one_class,
    once,
    positive_label,
    require_matplotlib,
    thin,
)
from skcal.metrics._smooth import SmoothCertificate

SHADED = 100  # columns of the area: matplotlib simplifies lines as it writes them, areas not


@dataclass(eq=False, repr=False)
class SmoothCalibrationDisplay(FromSketch, Display):
    """Cumulative residual with its monotone fit, and the witness of the smooth calibration error.

    The error is the distance of the end of the cumulative residual from 0, plus the shaded area
    between it and the fit. Where the cumulative residual rises, outcomes are more frequent than
    predicted. Make it by `from_estimator`, `from_predictions` or `from_sketch`.

    Parameters
    ----------
    certificate : SmoothCertificate
        As `skcal.metrics.smooth_calibration_error` gives it.
    name : str, default=None
        In the legend.
    pos_label : label, default=None
        The positive class, which the axes name.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Cumulative residual, from prediction 0 to 1, as steps. Beyond 4000 vertices it keeps the
        extremes of narrow columns only, as the others do.
    fit_ : matplotlib Line2D
        Its best monotone fit between 0 and the mean residual, between the predictions.
    area_ : matplotlib PolyCollection
        What lies between.
    witness_ : matplotlib Line2D or None
        The witness, at the predictions, times ``scale_``.
    scale_ : float
        Largest absolute cumulative residual, or 1 where that is 0.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from skcal.display import SmoothCalibrationDisplay
    >>> display = SmoothCalibrationDisplay.from_predictions([1, 0, 0, 1], [0.7, 0.4, 0.3, 0.8])
    >>> display.line_.get_label()
    'smCE 0.095'
    """

    certificate: SmoothCertificate
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
        name=None,
        ax=None,
        **kwargs,
    ):
        """Draw the cumulative residual of predictions.

        Parameters
        ----------
        y_true, y_proba, sample_weight, pos_label, labels
            As in `skcal.metrics.smooth_calibration_error`.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Further arguments of `plot`.

        Returns
        -------
        SmoothCalibrationDisplay

        Raises
        ------
        ValueError
            If an argument is not of this form; the message names it.
        ImportError
            Without matplotlib.

        Notes
        -----
        Costs one sort and an isotonic regression, O(n log n).
        """
        require_matplotlib(cls.__name__)
        certificate = metrics.smooth_calibration_error(
            y_true,
            of_one_class(y_proba),
            sample_weight=sample_weight,
            pos_label=pos_label,
            labels=labels,
            return_certificate=True,
        )
        return cls(certificate, name, positive_label(y_true, pos_label, labels)).plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, witness=True, **kwargs):
        """Draw on axes.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            In the legend, instead of the one given before.
        witness : bool, default=True
            Whether to draw the witness.
        **kwargs : dict
            Style of the line, as in matplotlib's ``plot``.

        Returns
        -------
        SmoothCalibrationDisplay
        """
        ax, proof = self._axes(ax), self.certificate
        x, sums = np.repeat(proof.x, 2), np.repeat(proof.sums, 2)
        steps = np.concatenate([[0], x, [1]]), np.concatenate([[0, 0], sums])
        color = self._curve(*thin(*steps), name, f"smCE {proof.value:.3f}", kwargs, linewidth=1)
        inner, above, fit = thin(x[1:-1], sums[:-2], np.repeat(proof.fit, 2))
        (self.fit_,) = ax.plot(
            inner, fit, "--", color=color, linewidth=1, label=once(ax, "monotone fit")
        )
        area = thin(inner, above, fit, columns=SHADED)
        self.area_ = ax.fill_between(*area, color=color, alpha=0.25, linewidth=0)
        self.scale_, self.witness_ = float(np.abs(proof.sums).max()) or 1.0, None
        if witness:
            label = once(ax, "witness, scaled")
            at, h = thin(proof.x, self.scale_ * proof.witness)
            (self.witness_,) = ax.plot(at, h, ":", color=color, label=label)
        ax.set(
            xlabel="Predicted probability" + self._positive,
            ylabel="Cumulative residual",
            xlim=(-0.03, 1.03),
        )
        ax.legend(loc="best", fontsize="small")
        return self
