"""Medians of interleaved runs: a ratio survives a machine whose speed drifts."""

import time

import numpy as np


def ratio(function, yardstick, repeats=9):
    """Median seconds of both, and the median of the ratios of neighbouring runs."""
    function()  # caches, page faults and lazy imports belong to neither
    yardstick()
    ours, theirs = [], []
    for _ in range(repeats):
        for call, times in ((yardstick, theirs), (function, ours)):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    ratios = np.array(ours) / np.array(theirs)
    return np.median(ours), np.median(theirs), float(np.median(ratios))
