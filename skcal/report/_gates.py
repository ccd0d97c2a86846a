"""Limits on the measures of a report: what is compared with them, and the outcome."""

import math

from skcal._reading import fail
from skcal.metrics._names import MEASURES
from skcal.report._describe import MOST_ROWS, PARTITIONED

LEFT_OUT = {"caldist": PARTITIONED, "sintce": math.inf}  # of sketches, and beyond so many rows


def parse_limit(text):
    """The measure and the number of ``NAME=LIMIT``."""
    name, _, limit = text.partition("=")
    name = name.lower()  # the report says SCDL
    if name not in MEASURES:
        fail("--max", f"be NAME=LIMIT with a name among {', '.join(MEASURES)}", repr(text))
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        fail("--max", "have a number that is not negative after the =", repr(text))
    return name, number


def needs_draws(name):
    """Whether the lower end of a measure is that of an interval from draws."""
    return MOST_ROWS.get(name) != 0


def check_rows(limits, gate, n, sketched):
    """Refuse limits on what a report leaves out of so many rows, or of a sketch."""
    for name, _ in limits:
        if n > LEFT_OUT.get(name, math.inf) or (sketched and name in LEFT_OUT):
            got = f"{name}, which is left out at so many rows"
            fail("--max", "name measures of this report", got)
        undrawn = needs_draws(name) and n > MOST_ROWS.get(name, math.inf)
        if undrawn and gate == "lower":
            must = f"be 'point' for {name}, which has no interval at so many rows"
            fail("--gate", must, "'lower'")


def judge(report, limits, gate):
    """What became of each limit; ``gate`` says whether lower ends or values are compared."""
    return [_judge(name, report["measures"][name], limit, gate) for name, limit in limits]


def _judge(name, measure, limit, gate):
    compared, value = _compared(measure, gate)
    return {
        "measure": name,
        "limit": limit,
        "compared": compared,
        "value": value,
        "exceeded": value > limit,
        "by_chance": measure["by_chance"],
    }


def _compared(measure, gate):
    if gate == "point":
        return "point", measure["value"]
    if measure["confidence_interval"] is not None:
        return "interval", measure["confidence_interval"][0]
    return "bound", measure["lower"]
