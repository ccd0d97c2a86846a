"""skcal beside other packages: the same arrays, the same run, times and peak memory as ratios.

``python -m tests.benchmarks.peers doc`` also writes the table that the documentation shows. A
package that is not installed leaves its rows out.
"""

import csv
import importlib
import os
import platform
import sys
import time
import tracemalloc
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import sklearn
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack
from scipy.stats import binned_statistic
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from skcal import inference, metrics
from skcal._numerics.partitions._plain_program import plain_partition

SIZES = (10**3, 10**4, 10**5, 10**6)
LONG = 2.0  # seconds after which the next size is left out, and memory is not traced
DRAWS = 20
PROGRAM_SIZES = (50, 100, 200)


def binned_by_statistics(y, p):
    """The classic formula as netcal computes it: three binned statistics."""
    edges = np.linspace(0, 1, 16)
    count = binned_statistic(p, p, "count", edges).statistic
    rate = np.nan_to_num(binned_statistic(p, y, "mean", edges).statistic)
    mean = np.nan_to_num(binned_statistic(p, p, "mean", edges).statistic)
    return float(count @ np.abs(rate - mean) / p.size)


def binned_by_counts(y, p):
    """The classic formula in three lines, without a check of its input."""
    index = np.minimum((p * 15).astype(int), 14)
    sums = np.bincount(index, y, 15) - np.bincount(index, p, 15)
    return float(np.abs(sums).sum() / p.size)


def smooth_by_program(y, p):
    """smCE as a sparse linear program, neighbour by neighbour."""
    order = np.argsort(p)
    rise = diags_array([-1.0, 1.0], offsets=[0, 1], shape=(p.size - 1, p.size))
    gaps = np.tile(np.diff(p[order]), 2)
    residual = (p - y)[order] / p.size
    program = linprog(residual, A_ub=vstack([rise, -rise]), b_ub=gaps, bounds=(-1, 1))
    return -program.fun


def jobs():
    """Name of each job, our call, and the calls of others; the first of them names the package."""
    probcal, calibre, relplot = (_package(name) for name in ("probcal", "calibre", "relplot"))
    model_diagnostics = _package("model_diagnostics")
    yield (
        "ECE, 15 bins",
        metrics.ece,
        {
            "three lines of numpy": binned_by_counts,
            "netcal's formula": binned_by_statistics,
            "relplot": relplot and (lambda y, p: relplot.metrics.binnedECE(p, y, nbins=15)),
            "probcal": probcal and (lambda y, p: probcal.metrics.ece(y, p, strategy="width")),
            "calibre": calibre
            and (lambda y, p: calibre.expected_calibration_error(y, p, n_bins=15)),
            "scikit-learn, Brier score": brier_score_loss,
            "scikit-learn, calibration curve": lambda y, p: calibration_curve(y, p, n_bins=15),
        },
    )
    yield (
        "smooth ECE",
        metrics.smooth_ece,
        {
            "relplot": relplot and (lambda y, p: relplot.metrics.smECE(p, y)),
            "probcal, kernel on logits": probcal and probcal.metrics.smooth_ece,
        },
    )
    yield "smCE, exact", metrics.smce, {"linear program (HiGHS)": smooth_by_program}
    yield (
        "score decomposition",
        metrics.score_decomposition,
        {
            "probcal, 10 bins": probcal and probcal.metrics.murphy_decomposition,
            "model-diagnostics": model_diagnostics and _decompose_by_model_diagnostics(),
        },
    )
    argsort = {"np.argsort, stable": lambda y, p: np.argsort(p, kind="stable")}
    yield "SCDL", metrics.scdl, argsort
    yield "CDL", metrics.cdl, argsort
    yield "cutoff", metrics.cutoff_calibration_error, argsort
    yield "smCE, exact", metrics.smce, argsort
    yield (
        f"interval of the ECE, {DRAWS} draws",
        lambda y, p: inference.bootstrap_interval(
            metrics.ece, y, p, n_resamples=DRAWS, method="percentile", random_state=0
        ),
        {
            "probcal": probcal
            and (lambda y, p: probcal.metrics.evaluate(y, p, n_boot=DRAWS, metrics=["ece"]))
        },
    )


def rows():
    """Rows of the table: job, rival, n, our milliseconds, times and memory as ratios."""
    for job, ours, rivals in jobs():
        for name, theirs in rivals.items():
            for n in SIZES if theirs else ():
                row, seconds = _row(job, name, n, ours, theirs, sample(n))
                yield row
                if seconds > LONG:
                    break
    for n in PROGRAM_SIZES:
        exact = partial(metrics.caldist, method="exact")
        yield _row("CalDist, exact", "O(n^4) program in NumPy", n, exact, program, sample(n))[0]


def program(y, p):
    """The published program over all partitions, as far as memory lets it."""
    return plain_partition(np.sort(p[y == 0]), np.sort(p[y == 1])).cost / p.size


def sample(n):
    """Over-confident forecasts and their outcomes."""
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return (rng.random(n) < 0.15 + 0.7 * p).astype(int), p


def _row(job, name, n, ours, theirs, data):
    mine, others = _seconds(ours, data), _seconds(theirs, data)
    traced = max(mine, others) < LONG  # tracing slows Python down several times
    memory = f"{_peak(theirs, data) / max(_peak(ours, data), 1):.2g}" if traced else "-"
    return (job, name, n, f"{1e3 * mine:.3g}", f"{others / mine:.3g}", memory), others


def _seconds(call, data):
    """Median of a few runs, the first one not counted; of what takes long, one run."""
    times = []
    while len(times) < 2 or (sum(times) < 1.0 and len(times) < 8):
        start = time.perf_counter()
        call(*data)
        times.append(time.perf_counter() - start)
        if times[0] > LONG:
            return times[0]
    return float(np.median(times[1:]))


def _peak(call, data):
    """Largest memory that Python and NumPy hold at once."""
    tracemalloc.start()
    try:
        call(*data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _package(name):
    try:
        package = importlib.import_module(name)
        for room in ("metrics", "scoring"):
            if importlib.util.find_spec(f"{name}.{room}"):
                importlib.import_module(f"{name}.{room}")
        return package
    except ImportError:
        print(f"{name} is not installed: its rows are left out", file=sys.stderr)
        return None


def _decompose_by_model_diagnostics():
    from model_diagnostics.scoring import SquaredError, decompose

    return lambda y, p: decompose(y, p, scoring_function=SquaredError())


def run(folder=None):
    """Print the table, and write it to a folder, with where it was measured."""
    head = ("job", "beside", "n", "skcal, ms", "its time", "its memory")
    table = []
    print(f"{head[0]:<28}{head[1]:<34}{head[2]:>9}{head[3]:>12}{head[4]:>10}{head[5]:>12}")
    for row in rows():
        table.append(row)
        print(
            f"{row[0]:<28}{row[1]:<34}{row[2]:>9}{row[3]:>12}{row[4]:>10}{row[5]:>12}", flush=True
        )
    versions = f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    where = f"{date.today()}, {os.cpu_count()} cores, {platform.machine()}, {versions}"
    print(where)
    if folder is not None:
        with open(Path(folder, "benchmarks.csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *table])
        Path(folder, "benchmarks_note.txt").write_text(f"Measured on {where}.\n", encoding="utf-8")


if __name__ == "__main__":
    run(*sys.argv[1:])
