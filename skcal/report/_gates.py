"""Limits on the measures of a report: what is compared with them, and the outcome."""

import math

from skcal._reading import fail
from skcal.report._describe import MEASURES, MOST_ROWS


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


def judge(report, limits, gate):
    """What became of each limit; ``gate`` says whether lower ends or values are compared."""
    return [_judge(name, report["measures"][name], limit, gate) for name, limit in limits]


def _judge(name, measure, limit, gate):
    compared, value = _compared(name, measure, gate)
    return {
        "measure": name,
        "limit": limit,
        "compared": compared,
        "value": value,
        "exceeded": value > limit,
        "by_chance": measure["by_chance"],
    }


def _compared(name, measure, gate):
    if measure["value"] is None:
        fail("--max", "name measures of this report", f"{name}, which is left out at so many rows")
    if gate == "point":
        return "point", measure["value"]
    if measure["confidence_interval"] is not None:
        return "interval", measure["confidence_interval"][0]
    if measure.get("lower") is not None:
        return "bound", measure["lower"]
    must = f"be 'point' for {name}, which has no interval at so many rows"
    return fail("--gate", must, "'lower'")
