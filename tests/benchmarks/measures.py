"""Speed of the measures, validation included, from unsorted input.

Yardstick: ``np.argsort(p, kind="stable")`` of the same predictions; for the classic ECE
scikit-learn's brier_score_loss on the same arguments.
"""

from itertools import pairwise

import numpy as np
from sklearn.metrics import brier_score_loss

from skcal import metrics
from tests.benchmarks.timing import ratio

SIZES = (10**4, 10**5, 10**6)
# name, measure, weighted, yardstick, largest ratio allowed at 1e5 and 1e6 (smooth ECE: at 1e6)
CASES = [
    ("SCDL", metrics.scdl, False, "argsort", 0.25),
    ("SCDL floor", lambda *a, **k: metrics.scdl(*a, rounding="floor", **k), False, "argsort", None),
    ("SCDL weighted", metrics.scdl, True, "argsort", None),
    ("CDL", metrics.cdl, False, "argsort", 1.5),
    ("CDL weighted", metrics.cdl, True, "argsort", 2.0),
    ("cutoff", metrics.cutoff_calibration_error, False, "argsort", 1.2),
    ("bECE", metrics.actionable_binned_error, False, "argsort", None),
    ("ECE, 15 bins", metrics.ece, False, "brier", 0.2),
    ("smCE", metrics.smce, False, "argsort", 3.0),
    ("smooth ECE", metrics.smooth_ece, False, "brier", 0.2),
    ("interval", metrics.interval_calibration_error, False, "argsort", None),
    ("DistCal", metrics.lower_calibration_distance, False, "argsort", None),
]


def data(n, kind, seed=0):
    """Predictions, outcomes and weights; kinds: calibrated, over-confident, tied (3 digits)."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    if kind == "tied":
        p = p.round(3)
    y = (rng.random(n) < (p**2 if kind == "over-confident" else p)).astype(int)
    return y, p, rng.random(n) + 0.5


def run():
    """Print the table."""
    print(f"{'measure':<16}{'data':<16}{'n':>9}{'ms':>9}{'ratio':>8}{'target':>8}  yardstick")
    for case in CASES:
        for kind in ("calibrated", "over-confident", "tied"):
            times = [_row(*case, kind, n) for n in SIZES]
            growth = " ".join(f"{b / a:.1f}" for a, b in pairwise(times))
            print(f"{'':<16}growth for each factor 10 in n: {growth}")


def _row(name, measure, weighted, against, target, kind, n):
    y, p, w = data(n, kind)
    options = {"sample_weight": w} if weighted else {}
    yardstick = {
        "argsort": lambda: np.argsort(p, kind="stable"),
        "brier": lambda: brier_score_loss(y, p),
    }[against]
    seconds, _, share = ratio(lambda: measure(y, p, **options), yardstick)
    smallest = 10**6 if name == "smooth ECE" else 10**5
    goal = "" if target is None or n < smallest else f"{target:.2f}"
    print(
        f"{name:<16}{kind:<16}{n:>9}{1e3 * seconds:>9.2f}{share:>8.3f}{goal:>8}  {against}"
        + ("  MISSED" if goal and share > target else "")
    )
    return seconds
