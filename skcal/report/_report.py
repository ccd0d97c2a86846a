"""The calibration report of a set of forecasts, or of a sketch."""

from skcal._validation import (
    N_JOBS,
    Integral,
    Interval,
    StrOptions,
    check_sample,
    check_samples,
    validate_params,
)
from skcal.display._base import require_matplotlib
from skcal.inference._procedures import MOST_DRAWS
from skcal.report._describe import describe, describe_sketch
from skcal.report._html import render_html
from skcal.report._pictures import pictures
from skcal.report._text import render_text
from skcal.sketch import CalibrationSketch

__all__ = ["calibration_report", "sketch_report"]

MULTICLASS = ("raise", "top_label")  # a report is of one sample
OUTPUT = [StrOptions({"text", "dict", "html"})]


@validate_params(
    {
        "n_resamples": [Interval(Integral, 19, MOST_DRAWS, closed="both"), None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "output": OUTPUT,
    },
    prefer_skip_nested_validation=True,
)
def calibration_report(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    multiclass="raise",
    labels=None,
    n_resamples=199,
    n_jobs=None,
    random_state=0,
    output="text",
):
    """Every measure of one set of forecasts, with how sure it is and what it promises.

    Measures come with a 95% interval, the p-value of the hypothesis that the forecasts are
    calibrated, and what a calibrated forecaster with these forecasts would show: see
    `skcal.inference`. The verdict rests on the p-values of smCE and smooth ECE, each at half the
    level 0.05.

    CalDist and DistCal are not drawn, as each draw would be an optimisation; nor is SintCE beyond
    10,000 rows. There CalDist is left out altogether. bECE has no p-value: rounding hides what is
    wrong.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes, or of K with ``multiclass``.
    y_proba : array-like of shape (n,), (n, 1) or (n, K)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; rows of weight 0 are ignored.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    multiclass : {"raise", "top_label"}, default="raise"
        What to do with a column of ``y_proba`` for each of K classes: "top_label" is the report of
        the largest probability of a row, and of whether its class is right; decisions are then
        about that. "raise" takes two classes only. For the report of each class against the rest,
        pass ``y_true == k`` and ``y_proba[:, k]``.
    labels : array-like of shape (K,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    n_resamples : int or None, default=199
        Draws behind each interval and each p-value, at least 19; None leaves these out. A verdict
        takes 39.
    n_jobs : int, default=None
        Workers, as in joblib. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws. An int gives the same report each time, None another one.
    output : {"text", "dict", "html"}, default="text"
        A text for people; plain numbers, strings and lists that JSON can hold; or a web page with
        pictures, in one file that refers to nothing outside (needs matplotlib).

    Returns
    -------
    str or dict

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.
    ImportError
        If ``output="html"`` and matplotlib is missing.

    See Also
    --------
    skcal.report.sketch_report : The report of more rows than fit in memory.

    Notes
    -----
    With 199 draws about 10 seconds at a hundred thousand rows, on one core; without draws one.

    Examples
    --------
    >>> from skcal import calibration_report
    >>> report = calibration_report([1, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], output="dict")
    >>> report["measures"]["scdl"]["value"], report["base_rate"]
    (0.125, 0.75)
    """
    if output == "html":
        require_matplotlib("the HTML report")  # before the work
    samples = check_samples(
        y_true, y_proba, sample_weight, pos_label, labels, multiclass, among=MULTICLASS
    )
    (sample,) = samples.samples
    report = describe(sample, n_resamples, n_jobs, random_state, multiclass=multiclass)
    if output == "html":
        positive = "right" if multiclass == "top_label" else pos_label
        return render_html(report, pictures(sample, positive))
    return report if output == "dict" else render_text(report)


@validate_params(
    {"sketch": [CalibrationSketch], "output": OUTPUT}, prefer_skip_nested_validation=True
)
def sketch_report(sketch, *, output="text"):
    """The calibration report of a sketch, for more rows than fit in memory.

    Values come with the two ends between which those of the rows lie. There are no draws and no
    p-values: at so many rows chance is small. The nearest partition and the interval error are left
    out.

    Parameters
    ----------
    sketch : CalibrationSketch
        With a row at least.
    output : {"text", "dict", "html"}, default="text"
        As in `calibration_report`; the dict has the same form.

    Returns
    -------
    str or dict

    Raises
    ------
    ValueError
        If the sketch has no row of positive weight.
    ImportError
        If ``output="html"`` and matplotlib is missing.

    See Also
    --------
    skcal.calibration_report : The report of rows, with intervals and p-values.

    Notes
    -----
    Takes seconds, however many rows the sketch has seen.

    Examples
    --------
    >>> from skcal.sketch import CalibrationSketch
    >>> from skcal.report import sketch_report
    >>> sketch = CalibrationSketch().update([1, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    >>> sketch_report(sketch, output="dict")["measures"]["scdl"]["value"]
    0.125
    """
    if output == "html":
        require_matplotlib("the HTML report")
    report = describe_sketch(sketch)
    if output == "html":
        return render_html(report, pictures(check_sample(*sketch.sample()), sketch.pos_label))
    return report if output == "dict" else render_text(report)
