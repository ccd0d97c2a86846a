"""Hypothesis strategies for samples, and the profile under which all properties run."""

import os
from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

# Always the same examples: a run on one machine says the same as a run on another. Few of them,
# since most properties run over the whole table of measures; SKCAL_EXAMPLES=500 searches longer.
settings.register_profile(
    "skcal",
    derandomize=True,
    deadline=None,
    max_examples=int(os.environ.get("SKCAL_EXAMPLES", 10)),
    database=None,
)
settings.load_profile("skcal")


class Rows(NamedTuple):
    y: np.ndarray
    p: np.ndarray
    w: np.ndarray | None

    def take(self, index):
        return Rows(self.y[index], self.p[index], None if self.w is None else self.w[index])

    def flipped(self):
        return Rows(1 - self.y, 1 - self.p, self.w)


def _tenths(rng, n):  # ties, and edges of bins
    return rng.integers(0, 11, n) / 10


def _dyadic(rng, n):  # 1 - p is exact
    return rng.integers(0, 65, n) / 64


def _neighbours(rng, n):  # so near to each other that nothing but ties may merge them
    return rng.choice([0.5 - 1e-9, 0.5, 0.5 + 1e-9, 0.3, np.nextafter(0.3, 1), 1e-200], n)


def _hard(rng, n):
    return rng.integers(0, 2, n).astype(float)


def _mixed(rng, n):
    return np.where(rng.random(n) < 0.5, rng.random(n), _hard(rng, n))


def _distinct(rng, n):
    return rng.random(n)


def _skewed(rng, n):  # over many orders of magnitude, at both ends
    p = 10.0 ** -rng.uniform(0, 17, n)
    return np.where(rng.random(n) < 0.5, p, 1 - p)


PREDICTIONS = (_tenths, _dyadic, _distinct, _mixed, _neighbours, _skewed, _hard)
DYADIC = (_dyadic,)
COARSE = (_tenths, _dyadic, _distinct, _mixed, _hard)  # nothing within 1e-9 of another number


def _integers(rng, n):
    return rng.integers(1, 5, n).astype(float)


def _decimals(rng, n):  # sums depend on the order, in the last bit
    return rng.choice([0.1, 0.2, 0.3, 0.7], n)


def _floats(rng, n):
    return rng.uniform(0.01, 100, n)


INTEGERS = (_integers,)
WEIGHTS = (_integers, _decimals, _floats)
NO_WEIGHTS = (None,)
LABELS = ([0, 1], [0, 0, 1], [0, 1, 1], [0], [1])


def samples(predictions=PREDICTIONS, weights=(*NO_WEIGHTS, *WEIGHTS), max_size=12):
    """Small samples: ties, predictions of 0 and 1, neighbours, one class, one row, weights.

    A size, three kinds and a seed: such examples are cheap to draw, and shrink in size and kind.
    """
    return st.builds(
        _rows,
        n=st.integers(1, max_size),
        labels=st.sampled_from(LABELS),
        predictions=st.sampled_from(predictions),
        weights=st.sampled_from(weights),
        seed=st.integers(0, 10**6),
    )


def _rows(n, labels, predictions, weights, seed):
    rng = np.random.default_rng(seed)
    p = predictions(rng, n)
    return Rows(rng.choice(labels, n), p, None if weights is None else weights(rng, n))


def random_rows(rng, predictions=PREDICTIONS, max_size=40):
    """One of these samples from a generator, for loops that are too long for hypothesis."""
    kinds = (LABELS, predictions, (*NO_WEIGHTS, *WEIGHTS))
    drawn = (kind[rng.integers(len(kind))] for kind in kinds)
    return _rows(int(rng.integers(1, max_size)), *drawn, rng)
