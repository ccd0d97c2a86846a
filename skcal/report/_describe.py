"""What a report says, as a dict of plain numbers, strings and lists."""

import math
from dataclasses import asdict
from typing import NamedTuple

import numpy as np

from skcal._numerics._soft_loss import most_regret
from skcal.decision._worst_case import regret_envelope, task_of_edge
from skcal.inference._intervals import assess
from skcal.metrics._binned import balanced_bins, binned_error, rounded_error
from skcal.metrics._calibration_distance import distance_of
from skcal.metrics._cutoff import cutoff_error
from skcal.metrics._decision_loss import decision_loss, soft_decision_loss
from skcal.metrics._decomposition import decompose
from skcal.metrics._distance import lower_distance_of
from skcal.metrics._interval import interval_error
from skcal.metrics._names import MEASURES
from skcal.metrics._smooth import kernel_error, smooth_error
from skcal.sketch import _values as of_cells

CONFIDENCE = 0.95
ECE_BINS = 15
ENDS = ("value", "lower", "upper")
NOT_DRAWN = {"confidence_interval": None, "pvalue": None, "by_chance": None}


class Reach(NamedTuple):
    """How far a report goes with a measure: beyond, it would take longer than all the rest."""

    rows: float = math.inf  # with more, the measure is left out
    drawn: float = math.inf  # with more, it is not drawn again and again
    sketched: bool = True  # whether a sketch has it

    @property
    def proven(self):
        """Whether its lower end is a bound on the rows, for it is never drawn."""
        return self.drawn == 0


REACH = dict.fromkeys(MEASURES, Reach()) | {
    "caldist": Reach(rows=10_000, drawn=0, sketched=False),
    "distcal": Reach(drawn=0),
    "sintce": Reach(drawn=10_000, sketched=False),
}


def describe(sample, n_resamples, n_jobs, random_state, tell=None, multiclass="raise"):
    """The report of a checked sample as a dict; ``tell`` hears which measure is being drawn."""
    soft = soft_decision_loss(sample)
    edge = regret_envelope(sample)[2]
    task, m, weights = task_of_edge(sample, edge), soft.n_bins, sample.w
    measures = _values(sample, soft, edge)
    for name, (short, measure) in MEASURES.items():
        if n_resamples is None or sample.n > REACH[name].drawn:
            measures[name].update(NOT_DRAWN)
            continue
        if tell is not None:
            tell(f"drawing {short} ...")
        measures[name].update(_draws(measure, sample, n_resamples, n_jobs, random_state))
    measures["bece"]["pvalue"] = None  # rounding hides what is wrong: no test of calibration
    return {
        "multiclass": multiclass,
        "n": sample.n,
        "weight": sample.total,
        "base_rate": float(np.average(sample.y, weights=weights)),
        "mean_forecast": float(np.average(sample.p, weights=weights)),
        "distinct_forecasts": int(sample.atoms.x.size),
        "brier_score": asdict(decompose(sample)),
        "confidence": CONFIDENCE,
        "n_resamples": n_resamples,
        "measures": measures,
        "regret_bound": most_regret(soft.loss, m),
        "worst_case": None if task is None else _describe_task(task),
        "sketch": None,
    }


def describe_sketch(sketch):
    """The report of a sketch as a dict of the same form: bounds in place of draws."""
    finest = 2 * sketch.n_bins
    rows = sketch.effective_rows
    n_bins, steps = min(ECE_BINS, finest), min(_power_of_two(balanced_bins(rows)), finest)
    cells = sketch._cells()  # once: each method of the sketch prepares them anew
    soft = of_cells.scdl(cells)
    values = {
        "scdl": soft,
        "cdl": of_cells.cdl(cells),
        "cutoff": of_cells.cutoff(cells),
        "smce": of_cells.smce(cells),
        "smece": of_cells.smece(cells),
        "distcal": of_cells.distcal(cells),
        "ece": of_cells.ece(cells, n_bins),
        "bece": of_cells.bece(cells, steps),
    }
    measures = {name: {**_ends(values.get(name)), **NOT_DRAWN} for name in MEASURES}
    measures["scdl"]["n_bins"] = soft.n_bins
    measures["cutoff"]["worst_interval"] = measures["caldist"]["n_parts"] = None
    measures["ece"]["n_bins"], measures["bece"]["n_bins"] = n_bins, steps
    return {
        "multiclass": "raise",
        "n": sketch.n_rows,
        "weight": sketch.weight,
        "base_rate": cells.base_rate,
        "mean_forecast": cells.mean_forecast,
        "distinct_forecasts": None,
        "brier_score": None,
        "confidence": CONFIDENCE,
        "n_resamples": None,
        "measures": measures,
        "regret_bound": soft.regret_bound,
        "worst_case": None,
        "sketch": {
            "n_bins": sketch.n_bins,
            "n_parts": sketch.n_parts,
            "effective_rows": rows,
            "smce_by_chance": float(np.sqrt(cells.outcome_variance / rows)),
        },
    }


def _values(sample, soft, edge):
    """The measures, each with what its sentence needs."""
    ece, rounded, cutoff = (
        binned_error(sample, ECE_BINS),
        rounded_error(sample),
        cutoff_error(sample),
    )
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
    if sample.n > REACH["caldist"].rows:
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


def _ends(known):
    return {end: None if known is None else getattr(known, end) for end in ENDS}


def _power_of_two(number):
    """The largest that is not above it."""
    return 1 << (number.bit_length() - 1)


def _describe_task(task):
    return {
        "thresholds": task.thresholds_.tolist(),
        "utility": [[float(value) for value in row] for row in task.utility],
    }
