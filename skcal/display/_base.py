"""What the displays share: the response of an estimator, axes, labels and thin paths."""

import numpy as np

from skcal._validation import (
    OR_ONE_CLASS,
    check_classes,
    fail,
    infer_classes,
    read,
    shown,
    validate_params,
)
from skcal.sketch import CalibrationSketch

COLUMNS = 1000  # of a path with many vertices: about the pixels of a figure
QUIET = {"color": "0.5", "linewidth": 1.0, "zorder": 1.5}  # grey shows on any background


class Display:
    """The interface of scikit-learn's displays.

    Subclasses keep what they draw, with ``name`` and ``pos_label``, and have `from_predictions` and
    `plot`.
    """

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, sample_weight=None, pos_label=None, name=None, ax=None, **kwargs
    ):
        """Draw the probabilities that a fitted classifier predicts.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of two classes with ``predict_proba``.
        X : array-like of shape (n, n_features)
            Rows that it was not fitted on.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Non-negative weights; rows of weight 0 are ignored.
        pos_label : label, default=None
            The positive class; None means ``estimator.classes_[1]``.
        name : str, default=None
            In the legend; None is the name of the estimator's class.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Further arguments of `from_predictions`.

        Returns
        -------
        display
            An object of this class, drawn.

        Raises
        ------
        AttributeError
            If the estimator has no ``predict_proba``.
        ValueError
            If an argument is not of this form; the message names it.
        ImportError
            Without matplotlib.
        """
        require_matplotlib(cls.__name__)
        y_proba, pos_label = response_of(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            y_proba,
            sample_weight=sample_weight,
            pos_label=pos_label,
            labels=estimator.classes_,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    def _axes(self, ax):
        require_matplotlib(type(self).__name__)
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots()[1]
        elif not (hasattr(ax, "plot") and hasattr(ax, "figure")):
            fail("ax", "be axes of matplotlib or None", f"{ax!r:.50}")
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _curve(self, x, y, name, fact, style, **defaults):
        """Draw the curve of the model: the legend says whose it is, and what was measured."""
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        words = [self.name if name is None else name, fact]
        label = ", ".join(str(word) for word in words if word is not None) or None
        style = {"label": label, **defaults, **normalize_kwargs(style, Line2D)}
        (self.line_,) = self.ax_.plot(x, y, **style)
        return self.line_.get_color()

    @property
    def _positive(self):
        return "" if self.pos_label is None else f" (positive class: {self.pos_label})"


class FromSketch:
    """For displays that the condensed sample of a sketch is enough for."""

    @classmethod
    @validate_params({"sketch": [CalibrationSketch]}, prefer_skip_nested_validation=True)
    def from_sketch(cls, sketch, *, name=None, ax=None, **kwargs):
        """Draw the rows that a sketch has seen.

        The predictions of a cell are taken for equal, at their mean, in the curve and in the
        measure alike.

        Parameters
        ----------
        sketch : CalibrationSketch
            With at least one row of positive weight.
        name : str, default=None
            In the legend.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Further arguments of `from_predictions`.

        Returns
        -------
        display
            An object of this class, drawn.
        """
        require_matplotlib(cls.__name__)
        y, y_proba, weight = sketch.sample()
        y_true = np.array([sketch.neg_label, sketch.pos_label], dtype=object)[y]
        return cls.from_predictions(
            y_true,
            y_proba,
            sample_weight=weight,
            pos_label=sketch.pos_label,
            name=name,
            ax=ax,
            **kwargs,
        )


def require_matplotlib(what):
    """Refuse early, and in one sentence, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{what} needs matplotlib, which is not installed: pip install skcal[plot]"
        ) from error


def response_of(estimator, X, pos_label):
    """Probabilities of both classes, and the positive label."""
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f"{type(estimator).__name__} has no predict_proba, which a display needs: its margins "
            "are not probabilities. Wrap it in a recalibrator, such as "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    y_proba = estimator.predict_proba(X)
    if not hasattr(estimator, "classes_"):
        fail("estimator", "have classes_, as fitted classifiers do", type(estimator).__name__)
    classes = check_classes(estimator.classes_, "estimator.classes_")
    if classes.size != 2:
        fail("estimator", "be fitted on two classes", f"{classes.size}: {shown(classes)}")
    return y_proba, classes[1] if pos_label is None else pos_label


def positive_label(y_true, pos_label, labels):
    """The positive label of checked arguments, written out."""
    if pos_label is not None:
        return pos_label
    return (infer_classes(y_true) if labels is None else check_classes(labels)).max()


def once(ax, label):
    """The label, or none where another model has brought it into the legend of these axes."""
    return "_nolegend_" if label in ax.get_legend_handles_labels()[1] else label


def reference(ax, label, x, y, **style):
    """A line that models share: drawn unless the axes hold the same one."""
    for line in ax.get_lines():
        if line.get_label() == label and np.array_equal(line.get_xydata(), np.column_stack([x, y])):
            return line
    return ax.plot(x, y, label=label, **{**QUIET, **style})[0]


def thin(x, *curves, columns=COLUMNS):
    """Paths that look the same with at most a few vertices in each of many narrow columns.

    There the ends stay, and the lowest and the highest of each curve; x is increasing.
    """
    if x.size <= 4 * columns:
        return x, *curves
    column = np.floor((x - x[0]) / (x[-1] - x[0]) * columns)
    first = np.flatnonzero(np.diff(column, prepend=-1))
    last = np.append(first[1:], x.size) - 1
    kept = [first, last]
    for curve in curves:
        order = np.lexsort((curve, column))
        kept += [order[first], order[last]]
    kept = np.unique(np.concatenate(kept))
    return x[kept], *(curve[kept] for curve in curves)


def of_one_class(y_proba):
    """Probabilities as an array of at most two columns, where no ``multiclass`` takes more."""
    p = read(y_proba, "y_proba")
    if p.ndim == 2 and p.shape[1] > 2:
        fail("y_proba", f"have one or two columns{OR_ONE_CLASS}", f"shape {p.shape}")
    return p
