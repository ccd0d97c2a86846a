"""The calibration report: one computation, shown as text or as a dict."""

import textwrap
from dataclasses import asdict

import numpy as np

from skcal import metrics
from skcal._validation import Integral, Interval, StrOptions, check_sample, validate_params
from skcal.decision._worst_case import regret_envelope, task_of_edge
from skcal.inference._intervals import assess
from skcal.inference._procedures import N_JOBS
from skcal.metrics._binned import binned_error, rounded_error
from skcal.metrics._calibration_distance import distance_of
from skcal.metrics._cutoff import cutoff_error
from skcal.metrics._decision_loss import decision_loss, soft_decision_loss
from skcal.metrics._decomposition import decompose
from skcal.metrics._distance import lower_distance_of
from skcal.metrics._interval import interval_error
from skcal.metrics._smooth import kernel_error, smooth_error

__all__ = ["calibration_report"]

WIDTH = 79
CONFIDENCE = 0.95
MEASURES = {
    "scdl": ("SCDL", metrics.soft_calibration_decision_loss),
    "cdl": ("CDL", metrics.calibration_decision_loss),
    "cutoff": ("cutoff", metrics.cutoff_calibration_error),
    "smce": ("smCE", metrics.smooth_calibration_error),
    "smece": ("smECE", metrics.smooth_ece),
    "caldist": ("CalDist", metrics.calibration_distance),
    "distcal": ("DistCal", metrics.lower_calibration_distance),
    "sintce": ("SintCE", metrics.interval_calibration_error),
    "ece": ("ECE", metrics.expected_calibration_error),
    "bece": ("bECE", metrics.actionable_binned_error),
}
# Rows beyond which a measure is not drawn again and again: a draw takes too long.
PARTITIONED = 10_000  # rows beyond which the nearest partition takes longer than all the rest
MOST_ROWS = {"caldist": 0, "distcal": 0, "sintce": 10_000}


@validate_params(
    {
        "n_resamples": [Interval(Integral, 19, None, closed="left"), None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "output": [StrOptions({"text", "dict"})],
    },
    prefer_skip_nested_validation=True,
)
def calibration_report(
    y_true,
    y_proba,
    *,
    sample_weight=None,
    pos_label=None,
    labels=None,
    n_resamples=199,
    n_jobs=None,
    random_state=0,
    output="text",
):
    """Every measure of one set of forecasts, with how sure it is and what it promises.

    Measures come with a 95% interval, the p-value of the hypothesis that the forecasts are
    calibrated, and what a calibrated forecaster with these forecasts would show: see
    `skcal.inference`. (The distances do not: each draw would be an optimisation.)

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
    n_resamples : int or None, default=199
        Draws behind each interval and each p-value; None leaves these out.
    n_jobs : int, default=None
        Workers, as in joblib. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
    output : {"text", "dict"}, default="text"
        A text for people, or plain numbers, strings and lists that JSON can hold.

    Returns
    -------
    str or dict

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
    sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
    report = describe(sample, n_resamples, n_jobs, random_state)
    return report if output == "dict" else render_text(report)


def describe(sample, n_resamples, n_jobs, random_state):
    """The report of a checked sample as a dict."""
    soft = soft_decision_loss(sample)
    edge = regret_envelope(sample)[2]
    task, m, weights = task_of_edge(sample, edge), soft.n_bins, sample.w
    measures = _values(sample, soft, edge)
    for name, (_, measure) in MEASURES.items():
        drawn = n_resamples is not None and sample.n <= MOST_ROWS.get(name, np.inf)
        measures[name].update(
            _draws(measure, sample, n_resamples, n_jobs, random_state)
            if drawn
            else {"confidence_interval": None, "pvalue": None, "by_chance": None}
        )
    return {
        "n": sample.n,
        "weight": sample.total,
        "base_rate": float(np.average(sample.y, weights=weights)),
        "mean_forecast": float(np.average(sample.p, weights=weights)),
        "distinct_forecasts": int(sample.atoms.x.size),
        "brier_score": asdict(decompose(sample)),
        "confidence": CONFIDENCE,
        "measures": measures,
        "regret_bound": min(2 * (soft.loss + 1 / m), 1.0),
        "worst_case": None if task is None else _describe_task(task),
    }


def _values(sample, soft, edge):
    """The measures, each with what its sentence needs."""
    ece, rounded, cutoff = binned_error(sample), rounded_error(sample), cutoff_error(sample)
    distance, m = lower_distance_of(sample), soft.n_bins
    worst = list(cutoff.interval) if cutoff.value else None
    return {
        "scdl": {"value": soft.scdl, "n_bins": m if np.isfinite(m) else None},
        "cdl": {"value": decision_loss(edge)},
        "cutoff": {"value": cutoff.value, "worst_interval": worst},
        "smce": {"value": smooth_error(sample, proofs=False).value},
        "smece": {"value": kernel_error(sample).error},
        "caldist": _nearest_partition(sample),
        "distcal": {"value": distance.value, "lower": distance.lower},
        "sintce": {"value": interval_error(sample).value},
        "ece": {"value": ece.value, "n_bins": ece.n_bins},
        "bece": {"value": rounded.value, "n_bins": rounded.n_bins},
    }


def _nearest_partition(sample):
    if sample.n > PARTITIONED:
        return {"value": None, "lower": None, "n_parts": None}
    nearest = distance_of(sample, "bounds")
    return {"value": nearest.value, "lower": nearest.lower, "n_parts": nearest.n_parts}


def _draws(measure, sample, n_resamples, n_jobs, random_state):
    work = (n_jobs, 0)
    interval, pvalue, chance = assess(measure, sample, CONFIDENCE, n_resamples, work, random_state)
    low, high = chance.quantiles[0.05], chance.quantiles[0.95]
    return {
        "confidence_interval": [interval.low, interval.high],
        "pvalue": pvalue,
        "by_chance": {"mean": chance.mean, "low": low, "high": high},
    }


def _describe_task(task):
    return {
        "thresholds": task.thresholds_.tolist(),
        "utility": [[float(value) for value in row] for row in task.utility],
    }


def render_text(report):
    """A report dict as lines of text."""
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
        *_table(report["measures"]),
        "",
    ]
    sentences = _sentences(report)
    for name, (short, _) in MEASURES.items():
        lines += _paragraph(f"{short:<9}", sentences[name])
    for closing in (_worst_case(report), _verdict(report)):
        if closing is not None:
            lines += ["", *_paragraph("", closing)]
    return "\n".join(lines)


def _worst_case(report):
    worst = report["worst_case"]
    if worst is None:
        return None
    cuts = " and ".join(f"{v:.4g}" for v in worst["thresholds"])
    return (
        "Of all decisions with utilities in [0, 1], trusting these forecasts hurts one the most "
        f"that changes its action at {cuts}: {report['measures']['cdl']['value']:.4f} a row."
    )


def _paragraph(start, text):
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def _table(measures):
    """A line for each measure; 0 is best."""
    if all(measure["pvalue"] is None for measure in measures.values()):
        yield f"{'measure':<9}{'value':>8}"
        for name, (short, _) in MEASURES.items():
            yield f"{short:<9}{_number(measures[name]['value']):>8}"
        return
    yield f"{'':<40}a calibrated forecaster"
    yield f"{'measure':<9}{'value':>8}{'95% interval':>19}    shows, 9 times in 10   p-value"
    for name, (short, _) in MEASURES.items():
        measure = measures[name]
        line = f"{short:<9}{_number(measure['value']):>8}"
        if measure["pvalue"] is not None:
            (low, high), chance = measure["confidence_interval"], measure["by_chance"]
            line += f"{low:>11.4f}{high:>8.4f}{chance['low']:>12.4f}{chance['high']:>8.4f}"
            line += f"{measure['pvalue']:>12.3f}"
        yield line


def _number(value):
    return "-" if value is None else f"{value:.4f}"


def _verdict(report):
    """One sentence, by the measure that is exact, stable and tests at its level."""
    smooth = report["measures"]["smce"]
    if smooth["pvalue"] is None:
        return None
    low, high = smooth["confidence_interval"]
    if smooth["pvalue"] <= 1 - report["confidence"]:
        return (
            f"Not calibrated: chance gives a smCE as large in at most {smooth['pvalue']:.3g} of "
            f"samples; it lies between {low:.4f} and {high:.4f} with 95% confidence."
        )
    return (
        f"No evidence against calibration: the interval of the smCE reaches from 0 to {high:.4f}."
    )


def _nearest(distance):
    if distance["value"] is None:
        return f"left out beyond {PARTITIONED} rows: see skcal.metrics.calibration_distance"
    return (
        "how far forecasts must move, on average, to be calibrated: at most this, and at least "
        f"{distance['lower']:.4f}; so calibrated, they take {distance['n_parts']} values"
    )


def _sentences(report):
    """What each measure promises, in one sentence."""
    measures = report["measures"]
    m, worst = measures["scdl"]["n_bins"], measures["cutoff"]["worst_interval"]
    steps = measures["bece"]["n_bins"]
    distinct = 2 * report["distinct_forecasts"] > report["n"]
    return {
        "scdl": "exactly calibrated on these rows"
        if m is None
        else f"round forecasts at random to the grid of step 1/{m} and act on them: swap regret at "
        f"most {report['regret_bound']:.4f} in any decision with utilities in [0, 1]",
        "cdl": "largest swap regret, on these rows, of acting on the forecasts as they are"
        + ("; most of them differ, so it would not shrink with more rows" if distinct else ""),
        "cutoff": "no interval of forecasts is off by more, summed over its rows"
        + ("; the worst is [{:.4g}, {:.4g}]".format(*worst) if worst else ""),
        "smce": "no slowly varying reweighting of the residuals shows more; within constant "
        "factors of how far forecasts must move to be calibrated",
        "smece": "the same question with a Gaussian kernel that picks its width",
        "caldist": _nearest(measures["caldist"]),
        "distcal": "the same when rows may be split "
        f"(known to {measures['distcal']['value'] - measures['distcal']['lower']:.1g})",
        "sintce": "a bound on that distance from shifted bins that pick their width",
        "ece": f"mean gap of forecast and rate in {measures['ece']['n_bins']} equal-width bins",
        "bece": f"round forecasts down to the grid of step 1/{steps} and act on them: swap regret "
        f"at most this; rounding adds up to {2 / steps:.2g} of it",
    }
