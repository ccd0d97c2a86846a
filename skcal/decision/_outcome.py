"""Responses to forecasts as exact distributions over actions, and what they were worth."""

from typing import NamedTuple

import numpy as np

from skcal._validation import fail, numbers
from skcal.decision._rounding import grid_weights
from skcal.decision._task import first_best


class Response(NamedTuple):
    """Randomised actions: column ``first``, or ``second`` with probability ``share``, by row."""

    first: np.ndarray
    second: np.ndarray
    share: np.ndarray

    def distribution(self, n_actions):
        """Probabilities of the actions, shape (n, n_actions)."""
        rows = np.arange(self.first.size)
        table = np.zeros((self.first.size, n_actions))
        table[rows, self.first] = 1 - self.share
        table[rows, self.second] += self.share
        return table

    def masses(self, codes, w, shape):
        """Weight of every (class, action)."""
        w = np.ones(codes.size) if w is None else w
        return self._sums(codes, shape, w * (1 - self.share), w * self.share)

    def variances(self, codes, shape):
        """Variance of the number of rows of every (class, action)."""
        moving = np.where(self.first == self.second, 0.0, self.share * (1 - self.share))
        return self._sums(codes, shape, moving, moving)

    def _sums(self, codes, shape, of_first, of_second):
        size = shape[0] * shape[1]
        sums = np.bincount(codes * shape[1] + self.first, of_first, size)
        return (sums + np.bincount(codes * shape[1] + self.second, of_second, size)).reshape(shape)


class Outcome(NamedTuple):
    """A response, the class of every row, and what each action was worth there, (n, n_actions)."""

    response: Response
    codes: np.ndarray
    worth: np.ndarray
    w: np.ndarray | None = None

    def utility(self):
        """Realised utility of every row, in exact expectation over the rounding."""
        rows, (first, second, share) = np.arange(self.codes.size), self.response
        start, end = self.worth[rows, first], self.worth[rows, second]
        return np.where(share == 0, start, start + share * (end - start))

    def mean_utility(self):
        utility, w = self.utility(), self.w
        return float(utility.mean() if w is None else utility @ (w / w.sum()))

    def swap_values(self):
        """Mean utility of playing b wherever a was played, and where each action was played."""
        played = self.response.distribution(self.worth.shape[1])
        if self.w is not None:
            played *= self.w[:, None]
        return (played / played.sum()).T @ self.worth, np.flatnonzero(played.any(axis=0))


def respond(decide, proba, rounding=None, n_bins=None, precision=np.float64):
    """r* (rounding None), r* o tau_m or r* o b_m for checked probabilities."""
    if rounding is None or n_bins == np.inf:
        action = decide(proba)
        return Response(action, action, np.zeros(action.size))
    lower, upper, share = grid_weights(proba, n_bins, rounding, precision)
    return Response(decide(lower), decide(upper), share)


def check_sample_utility(sample_utility, n, task):
    """One table for each row, shape (n, n_classes, n_actions)."""
    utility = numbers(sample_utility)
    if utility is None:
        fail("sample_utility", "be an array of numbers", f"{type(sample_utility).__name__}")
    shape = (n, *task.utility.shape)
    if utility.shape != shape:
        must = f"have shape (n, n_classes, n_actions) = {shape}"
        fail("sample_utility", must, f"shape {utility.shape}")
    if not np.isfinite(utility).all():
        fail("sample_utility", "be finite", f"{utility[~np.isfinite(utility)][0]}")
    return utility


def row_decider(utility):
    """Best response where every row has its own checked table.

    Actions whose values differ by rounding errors only are tied, and the first listed wins, as with
    the exact thresholds of one table.
    """
    size = np.abs(utility)

    def decide(proba):
        matrix = proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])
        return first_best(*(np.einsum("nk,nka->na", matrix, table) for table in (utility, size)))

    return decide
