"""The calibration report: one computation, shown as text or as a dict."""

import textwrap
from dataclasses import asdict

import numpy as np

from skcal._validation import StrOptions, check_sample, validate_params
from skcal.decision._worst_case import regret_envelope, task_of_edge
from skcal.metrics._binned import binned_error, expected_by_chance, rounded_error
from skcal.metrics._cutoff import cutoff_error
from skcal.metrics._decision_loss import decision_loss, soft_decision_loss
from skcal.metrics._decomposition import decompose
from skcal.metrics._smooth import kernel_error, smooth_error

__all__ = ["calibration_report"]

WIDTH = 79
SHORT_NAMES = {
    "scdl": "SCDL",
    "cdl": "CDL",
    "cutoff": "cutoff",
    "smce": "smCE",
    "smece": "smECE",
    "ece": "ECE",
    "bece": "bECE",
}


@validate_params(
    {"output": [StrOptions({"text", "dict"})]},
    prefer_skip_nested_validation=True,
)
def calibration_report(
    y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None, output="text"
):
    """Every measure of one set of forecasts, with what each one promises.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_proba : array-like of shape (n,), (n, 1) or (n, 2)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; rows of weight 0 are ignored.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    labels : array-like of shape (2,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    output : {"text", "dict"}, default="text"
        A text for people, or plain numbers, strings and lists that JSON can hold.

    Returns
    -------
    str or dict

    Examples
    --------
    >>> from skcal import calibration_report
    >>> report = calibration_report([1, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], output="dict")
    >>> report["measures"]["scdl"]["value"], report["base_rate"]
    (0.125, 0.75)
    """
    sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
    report = describe(sample)
    return report if output == "dict" else render_text(report)


def describe(sample):
    """The report of a checked sample as a dict."""
    soft = soft_decision_loss(sample)
    edge = regret_envelope(sample)[2]
    ece, rounded = binned_error(sample), rounded_error(sample)
    cutoff = cutoff_error(sample)
    task = task_of_edge(sample, edge)
    m = soft.n_bins
    worst_interval = list(cutoff.interval) if cutoff.value else None
    measures = {
        "scdl": {"value": soft.scdl, "n_bins": m if np.isfinite(m) else None},
        "cdl": {"value": decision_loss(edge)},
        "cutoff": {
            "value": cutoff.value,
            "interval": worst_interval,
        },
        "ece": {
            "value": ece.value,
            "n_bins": ece.n_bins,
            "by_chance": expected_by_chance(sample),
        },
        "bece": {"value": rounded.value, "n_bins": rounded.n_bins},
        "smce": {"value": smooth_error(sample, proofs=False).value},
        "smece": {"value": kernel_error(sample).error},
    }
    weights = sample.w
    return {
        "n": sample.n,
        "weight": sample.total,
        "base_rate": float(np.average(sample.y, weights=weights)),
        "mean_forecast": float(np.average(sample.p, weights=weights)),
        "distinct_forecasts": int(sample.atoms.x.size),
        "brier_score": asdict(decompose(sample)),
        "measures": measures,
        "regret_bound": min(2 * (soft.loss + 1 / m), 1.0),
        "worst_case": None if task is None else _describe_task(task),
    }


def _describe_task(task):
    return {
        "thresholds": task.thresholds_.tolist(),
        "utility": [[float(value) for value in row] for row in task.utility],
    }


def render_text(report):
    """A report dict as lines of text."""
    measures = report["measures"]
    total, brier = report["weight"], report["brier_score"]
    lines = [
        f"{report['n']} forecasts"
        + (f" of weight {total:.6g}" if total != report["n"] else "")
        + f", mean {report['mean_forecast']:.4f}; "
        f"rate of positive outcomes {report['base_rate']:.4f}",
        f"{report['distinct_forecasts']} distinct values",
        f"Brier score {brier['score']:.4f} = miscalibration {brier['miscalibration']:.4f} - "
        f"discrimination {brier['discrimination']:.4f}",
        f"{'':>18} + uncertainty {brier['uncertainty']:.4f}",
        "",
        f"{'measure':<9}{'value':>9}  what it says (0 is best)",
    ]
    sentences = _sentences(report)
    for name in SHORT_NAMES:
        start = f"{SHORT_NAMES[name]:<9}{measures[name]['value']:>9.4f}  "
        lines += textwrap.wrap(
            sentences[name], WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
        )
    worst = report["worst_case"]
    if worst is not None:
        cuts = " and ".join(f"{v:.4g}" for v in worst["thresholds"])
        sentence = (
            f"Of all decisions with utilities in [0, 1], trusting these forecasts hurts one the "
            f"most that changes its action at {cuts}: {measures['cdl']['value']:.4f} a row."
        )
        lines += ["", *textwrap.wrap(sentence, WIDTH)]
    return "\n".join(lines)


def _sentences(report):
    """What each measure promises, in one sentence."""
    measures = report["measures"]
    m, interval = measures["scdl"]["n_bins"], measures["cutoff"]["interval"]
    distinct = 2 * report["distinct_forecasts"] > report["n"]
    return {
        "scdl": "exactly calibrated on these rows"
        if m is None
        else f"round forecasts at random to the grid of step 1/{m} and act on them: swap regret at "
        f"most {report['regret_bound']:.4f} in any decision with utilities in [0, 1]",
        "cdl": "largest swap regret, on these rows, of acting on the forecasts as they are"
        + ("; most of them differ, so it would not shrink with more rows" if distinct else ""),
        "cutoff": "no interval of forecasts is off by more, summed over its rows"
        + ("; the worst is [{:.4g}, {:.4g}]".format(*interval) if interval else ""),
        "ece": f"mean gap of forecast and rate in {measures['ece']['n_bins']} equal-width bins; "
        f"with these forecasts chance alone gives about {measures['ece']['by_chance']:.4f}",
        "bece": f"round forecasts down to the grid of step 1/{measures['bece']['n_bins']} and act "
        "on them: swap regret at most this; rounding adds up to "
        f"{2 / measures['bece']['n_bins']:.2g} of it",
        "smce": "no slowly varying reweighting of the residuals shows more; within constant "
        "factors of how far forecasts must move to be calibrated",
        "smece": "the same question with a Gaussian kernel that picks its width",
    }
