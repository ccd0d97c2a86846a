"""Cost of a replicate at n = 1e5, as a share of one ``np.argsort(p, kind="stable")`` at n = 1e6."""

import time

import numpy as np

from skcal import inference, metrics
from tests.benchmarks.measures import data

MEASURES = [
    metrics.scdl,
    metrics.smce,
    metrics.cutoff_calibration_error,
    metrics.cdl,
    metrics.ece,
    metrics.smooth_ece,
]


def run(n_resamples=200):
    """Print the table."""
    y, p, _ = data(10**5, "over-confident")
    million = data(10**6, "calibrated")[1]
    print(f"\n{'replicates at n = 1e5':<34}{'ms each':>9}{'argsorts of 1e6':>17}")
    for measure in MEASURES:
        for call in (inference.bootstrap_interval, inference.null_reference):
            start = time.perf_counter()
            np.argsort(million, kind="stable")
            yardstick = time.perf_counter() - start
            start = time.perf_counter()
            call(measure, y, p, n_resamples=n_resamples, random_state=0, n_jobs=1)
            each = (time.perf_counter() - start) / n_resamples
            name = f"{measure.__name__[:24]} {call.__name__[:9]}"
            print(f"{name:<34}{1e3 * each:>9.2f}{each / yardstick:>17.4f}")
