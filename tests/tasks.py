"""Utility tables and tasks that several files of tests use."""

import numpy as np
import pandas as pd

from skcal import DecisionTask

TABLE = {"well": {"wait": 0, "treat": -1}, "sick": {"wait": -5, "treat": 0}}
SQUARE = [[0, -1], [-5, 0]]  # acts iff p >= 1/6
FRAME = pd.DataFrame(TABLE).T
SCALES = [0.0, 1e-6, 0.3, 1.0, 7.0, 1e5]


def task_of(table):
    return DecisionTask(table, actions=range(np.shape(table)[1]))


def random_table(rng, n_actions=None, ranges=None):
    """A table of any scale and offset, or with just these ranges of its rows."""
    n_actions = n_actions or int(rng.integers(1, 6))
    table = rng.random((2, n_actions)) if rng.random() < 0.6 else rng.integers(0, 3, (2, n_actions))
    if ranges is None:
        ranges, table = rng.choice(SCALES, 2), table + rng.choice([-9, 0, 0.1, 30], (2, 1))
    spread = np.ptp(table, axis=1, keepdims=True)
    table = table / np.where(spread > 0, spread, 1)  # ranges of one, or of zero
    return table * np.reshape(ranges, (2, 1))
