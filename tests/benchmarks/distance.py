"""Calibration distance: seconds and gaps for five kinds of data, seeds as printed.

``python -m tests.benchmarks.distance [exact] [large] [million]`` runs the tables asked for, by
default the first.
"""

import resource
import sys
import time

import numpy as np

from skcal._numerics.partitions._plain_program import plain_partition
from skcal.metrics import calibration_distance
from tests.oracles_distance import KINDS, by_class, make


def measured(n, kind, seed, method):
    """Seconds and certificate."""
    p, y = make(n, kind, np.random.default_rng(seed))
    start = time.perf_counter()
    found = calibration_distance(y, p, method=method, return_certificate=True)
    return time.perf_counter() - start, found


def exact(sizes=(1000, 2000, 5000, 10_000), seeds=(0, 1)):
    """Closed intervals: relative width at most 1e-6."""
    print(f"\n{'auto':<8}{'kind':<8}{'seed':>5}{'seconds':>9}{'relative gap':>14}  lower end by")
    for n in sizes:
        for kind in KINDS:
            for seed in seeds if n < 10_000 else seeds[:1]:
                seconds, found = measured(n, kind, seed, "auto")
                gap = (found.upper - found.lower) / found.upper
                print(f"{n:<8}{kind:<8}{seed:>5}{seconds:>9.2f}{gap:>14.1e}  {found.lower_by}")


def against_the_published_program(sizes=(50, 100, 200)):
    """How much faster than the O(n^4) program, and how that grows."""
    print(f"\n{'n':<6}{'O(n^4) program':>16}{'method exact':>14}{'ratio':>8}")
    for n in sizes:
        p, y = make(n, "cal", np.random.default_rng(0))
        zeros, ones = by_class(p, y)
        start = time.perf_counter()
        plain = plain_partition(zeros, ones).cost / n
        slow = time.perf_counter() - start
        start = time.perf_counter()
        fast = calibration_distance(y, p, method="exact")
        quick = time.perf_counter() - start
        assert abs(plain - fast) <= 1e-12
        print(f"{n:<6}{slow:>16.2f}{quick:>14.2f}{slow / quick:>8.1f}")


def intervals(n, seeds, kinds=KINDS):
    """Intervals of many rows: median and worst of the seeds."""
    head = f"\n{'bounds':<9}{'kind':<8}{'seeds':>6}{'median s':>10}{'worst s':>9}"
    print(f"{head}{'median gap':>12}{'worst gap':>11}{'gap in rows, median, worst':>28}")
    for kind in kinds:
        rows = []
        for seed in seeds:
            seconds, found = measured(n, kind, seed, "bounds")
            width = found.upper - found.lower
            rows.append((seconds, width / found.upper, n * width))
        middle, worst = np.median(rows, axis=0), np.max(rows, axis=0)
        print(
            f"{n:<9}{kind:<8}{len(seeds):>6}{middle[0]:>10.1f}{worst[0]:>9.1f}"
            f"{middle[1]:>12.3%}{worst[1]:>11.3%}{middle[2]:>16.2f}{worst[2]:>12.2f}"
        )


def main(tables):
    if "exact" in tables:
        against_the_published_program()
        exact()
    if "large" in tables:
        intervals(10**5, range(10))
    if "million" in tables:
        intervals(10**6, range(1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory {peak:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:] or ["exact"])
