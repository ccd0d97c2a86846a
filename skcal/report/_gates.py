"""Limits on the measures of a report: what is compared with them, and the outcome."""

import math

from skcal._reading import fail
from skcal.metrics._names import MEASURES
from skcal.report._describe import REACH
from skcal.report._words import left_out


def parse_limit(text):
    """The measure and the number of ``NAME=LIMIT``."""
    name, _, limit = text.partition("=")
    name = name.lower()  # the report says SCDL
    if name not in MEASURES:
        fail("--max", f"be NAME=LIMIT with a name among {', '.join(MEASURES)}", repr(text))
    try:
        number = math.nan if "_" in limit else float(limit)  # Python reads 1_0 as 10
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        fail("--max", "have a number that is not negative after the =", repr(text))
    return name, number


def check_rows(limits, gate, n, sketched):
    """Refuse limits on what a report leaves out of so many rows, or of a sketch."""
    for name, _ in limits:
        reach = REACH[name]
        if n > reach.rows or (sketched and not reach.sketched):
            got = f"{name}, which is {left_out(name, sketched)}"
            fail("--max", "name measures of this report, such as distcal", got)
        if n > reach.drawn and not reach.proven and gate == "lower":
            must = f"be 'point' for {name}, which has no interval beyond {reach.drawn} rows"
            fail("--gate", must, "'lower'")


def check_undrawn(limits):
    """Refuse lower ends that only draws would give, of rows that are in no sketch."""
    for name, _ in limits:
        if not REACH[name].proven:
            must = f"be 'point' without resamples: the lower end for {name} is of an interval"
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
