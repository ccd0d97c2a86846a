"""The words of a report, for the text and the web page alike."""

from skcal.metrics._names import MEASURES
from skcal.report._describe import REACH

HEADINGS = {
    "values": ["measure", "value"],
    "bounds": ["measure", "value", "known to lie in"],
    "draws": [
        "measure",
        "value",
        "95% interval",
        "if calibrated, 9 times in 10",
        "p-value",
    ],
}
SUBJECTS = {  # what is forecast, what comes true, and what decisions must be about
    "raise": ("forecasts", "positive outcomes", ""),
    "top_label": ("top-label forecasts", "right ones", " on whether the top label is right"),
}
JUDGES = ("smce", "smece")  # stable, and blind to different faults
COMPARED = {
    "interval": "the lower end of its 95% interval",
    "bound": "the lower end of what is proven of these rows",
    "point": "its value",
}


def summary(report):
    """What was measured, in lines."""
    total, sketch, brier = report["weight"], report["sketch"], report["brier_score"]
    forecasts, positive, _ = SUBJECTS[report["multiclass"]]
    yield (
        f"{report['n']} {forecasts}"
        + (f" of weight {total:.6g}" if total != report["n"] else "")
        + f", mean {report['mean_forecast']:.4f}; "
        f"rate of {positive} {report['base_rate']:.4f}"
    )
    if sketch is not None:
        yield f"summed in chunks over a grid of {sketch['n_bins']} bins"
        return
    yield f"{report['distinct_forecasts']} distinct values"
    yield (
        f"Brier score {brier['score']:.4f} = miscalibration {brier['miscalibration']:.4f} - "
        f"discrimination {brier['discrimination']:.4f}\n"
        f"{'':>18} + uncertainty {brier['uncertainty']:.4f}"
    )


def layout(report):
    """Which of the `HEADINGS` the table has."""
    if report["sketch"] is not None:
        return "bounds"
    return "values" if report["n_resamples"] is None else "draws"


def table(report):
    """The short name of each measure and its cells below the headings: one number, or two."""
    shown = layout(report)
    return [
        (short, _cells(report["measures"][name], shown)) for name, (short, _) in MEASURES.items()
    ]


def _cells(measure, shown):
    if measure["value"] is None:
        return [("-",)]
    cells = [(f"{measure['value']:.4f}",)]
    if shown == "bounds":
        cells.append((f"{measure['lower']:.4f}", f"{measure['upper']:.4f}"))
    elif measure["confidence_interval"] is not None:
        (low, high), chance = measure["confidence_interval"], measure["by_chance"]
        cells.append((f"{low:.4f}", f"{high:.4f}"))
        cells.append((f"{chance['low']:.4f}", f"{chance['high']:.4f}"))
        cells.append(("-" if measure["pvalue"] is None else f"{measure['pvalue']:.3f}",))
    return cells


def verdict(report):
    """One sentence, by two tests that share the level of 1 - confidence; or None."""
    if report["sketch"] is not None:
        return _verdict_of_sketch(report)
    if report["n_resamples"] is None:
        return None
    level = (1 - report["confidence"]) / len(JUDGES)
    if 1 / (report["n_resamples"] + 1) > level:
        return f"No verdict: it takes {round(1 / level) - 1} draws at least."
    measures = {MEASURES[name][0]: report["measures"][name] for name in JUDGES}
    ends = [measure["confidence_interval"][1] for measure in measures.values()]
    clearest = min(measures, key=lambda short: measures[short]["pvalue"])
    pvalue, (low, high) = (measures[clearest][key] for key in ("pvalue", "confidence_interval"))
    if pvalue <= level:
        return (
            f"Not calibrated: chance gives a {clearest} as large in at most {pvalue:.3g} of "
            f"samples; it lies between {low:.4f} and {high:.4f} with 95% confidence."
        )
    return (
        f"No evidence against calibration in the {' and '.join(measures)}, tested together at the "
        f"level {1 - report['confidence']:.2g}: their 95% intervals reach up to "
        f"{' and '.join(f'{end:.4f}' for end in ends)}."
    )


def _verdict_of_sketch(report):
    smooth = report["measures"]["smce"]
    return (
        f"The smCE of these rows lies between {smooth['lower']:.4f} and "
        f"{smooth['upper']:.4f}. Of a sketch no rows can be drawn again; chance alone would "
        f"show a smCE of the order of {report['sketch']['smce_by_chance']:.1g}."
    )


def worst_case(report):
    """The decision that suffers most, or None."""
    worst = report["worst_case"]
    if worst is None:
        return None
    cuts = " and ".join(f"{v:.4g}" for v in worst["thresholds"])
    _, _, about = SUBJECTS[report["multiclass"]]
    return (
        f"The worst decision{about} with utilities in [0, 1] changes its action at {cuts}; its "
        f"mean regret is {report['measures']['cdl']['value']:.4f} a row."
    )


def gates(report):
    """A sentence for each limit that was set."""
    return [_gate(gate, report["sketch"] is not None) for gate in report.get("gates", ())]


def _gate(gate, sketched):
    kept = "does not exceed" if gate["compared"] == "point" else "is not shown to exceed"
    verb = "FAILED: {} exceeds" if gate["exceeded"] else f"Passed: {{}} {kept}"
    return (
        f"{verb.format(MEASURES[gate['measure']][0])} {gate['limit']:g}. Compared was "
        f"{COMPARED[gate['compared']]}, {gate['value']:.4f}; {_of_chance(gate, sketched)}."
    )


def _of_chance(gate, sketched):
    chance = gate["by_chance"]
    if chance is not None:
        ends = f"{chance['low']:.4f} to {chance['high']:.4f}"
        return f"a calibrated forecaster shows {ends}, 9 times in 10"
    if gate["compared"] == "point":
        return "what a calibrated forecaster shows was not drawn"
    better = "" if sketched else "; smCE has an interval for that"
    return f"chance is part of it, and may make a calibrated forecaster fail{better}"


def promises(report):
    """The short name of each measure and what it promises, in one sentence."""
    sentences = _sentences(report)
    return [(short, sentences[name]) for name, (short, _) in MEASURES.items()]


def _sentences(report):
    measures = report["measures"]
    m, worst = measures["scdl"]["n_bins"], measures["cutoff"]["worst_interval"]
    steps, (_, _, about) = measures["bece"]["n_bins"], SUBJECTS[report["multiclass"]]
    return {
        "scdl": "exactly calibrated on these rows"
        if m is None
        else f"round forecasts at random to the grid of step 1/{m} and act on them: swap regret at "
        f"most {report['regret_bound']:.4f} in any decision{about} with utilities in [0, 1]",
        "cdl": f"largest swap regret, on these rows, of any decision{about} that acts on the "
        "forecasts as they are" + _of_distinct(report),
        "cutoff": "no interval of forecasts is off by more, summed over its rows"
        + ("; the worst is [{:.4g}, {:.4g}]".format(*worst) if worst else ""),
        "smce": "no slowly varying reweighting of the residuals shows more; within constant "
        "factors of how far forecasts must move to be calibrated",
        "smece": "the same question with a Gaussian kernel that picks its width",
        "caldist": _nearest(measures["caldist"], report["sketch"] is not None),
        "distcal": "the same when rows may be split "
        f"(known to {measures['distcal']['value'] - measures['distcal']['lower']:.1g})",
        "sintce": "a bound on that distance from shifted bins that pick their width"
        + (", left out here" if measures["sintce"]["value"] is None else ""),
        "ece": f"mean gap of forecast and rate in {measures['ece']['n_bins']} equal-width bins",
        "bece": f"round forecasts down to the grid of step 1/{steps} and act on them: swap regret "
        f"at most this in any decision{about}; rounding adds up to {2 / steps:.2g} of it, or hides "
        "as much: no p-value",
    }


def left_out(name, sketched):
    """Where a report has not this measure."""
    return "left out " + ("of a sketch" if sketched else f"beyond {REACH[name].rows} rows")


def _of_distinct(report):
    cdl, distinct = report["measures"]["cdl"], report["distinct_forecasts"]
    if distinct is None:
        known = cdl["lower"] == cdl["upper"]
        return "" if known else "; the value takes forecasts closer than a bin for equal"
    if 2 * distinct > report["n"]:
        return "; most of them differ: part of it is chance that more rows do not remove"
    return ""


def _nearest(distance, sketched):
    if distance["value"] is None:
        return f"{left_out('caldist', sketched)}: see skcal.metrics.calibration_distance"
    return (
        "how far forecasts must move, on average, to be calibrated: at most this, and at least "
        f"{distance['lower']:.4f}; so calibrated, they take {distance['n_parts']} values"
    )
