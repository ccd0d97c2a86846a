"""Weighted L1 isotonic regression by threshold splitting, for one sequence or a batch of rows.

Minimise sum_j w_j abs(a_j - S_j) over nondecreasing S. For a threshold t, the places with S <= t
are the prefix that maximises the sum of w over values <= t less the sum of w over values > t [1]_.
The prefix is then the same problem with values clipped to at most t, the rest the same with values
clipped to at least the next value above t. All pieces of one level are split together, by
cumulative sums and reduceat, so there is no Python loop over elements.

A level halves the range of values of each piece at least when its threshold is their median. The
median of three interior values is cheaper and as good on ordinary data; after `PATIENCE` levels the
exact median bounds the work at O(n log n) on any data.

.. [1] Q. F. Stout, "Isotonic regression via partitioning", Algorithmica 66, 2013.
   :doi:`10.1007/s00453-012-9628-4`
"""

from typing import NamedTuple

import numpy as np

PATIENCE = 40  # levels with cheap thresholds before exact medians
FEW = 16  # pieces up to which a loop over pieces beats one reduceat with a search


class Pieces(NamedTuple):
    """Consecutive pieces of unsettled elements, and the range [low, high] of S in each."""

    value: np.ndarray
    weight: np.ndarray
    place: np.ndarray  # where in the result the run of an element starts
    start: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def end(self) -> np.ndarray:
        return np.append(self.start[1:], self.value.size)


def isotonic_l1(
    values: np.ndarray, weights: np.ndarray, row_length: int | None = None
) -> np.ndarray:
    """A best nondecreasing S; with ``row_length`` every run of that many elements by itself.

    The result holds the value of each run of equal S at its first place (and maybe at later ones);
    a running maximum fills in the rest.
    """
    length = values.size if row_length is None else row_length
    result = np.full(values.size, -np.inf)
    pieces = _independent(_runs(values, weights, length), result)
    level = 0
    while pieces.value.size:
        if level:
            pieces = _merge_equal(pieces, force=level % 4 == 0)
        pieces = _settle_ends(pieces, result)
        if not pieces.value.size:
            break
        pieces = _split(pieces, *_thresholds(pieces, exact=level >= PATIENCE))
        level += 1
    return np.maximum.accumulate(result.reshape(-1, length), axis=1).ravel()


def _runs(values: np.ndarray, weights: np.ndarray, length: int) -> Pieces:
    """The rows as pieces, equal neighbours merged where there are many."""
    start = np.arange(0, values.size, length)
    pieces = Pieces(values, weights, np.arange(values.size), start, start, start)
    return _merge_equal(pieces, force=False)


def _independent(pieces: Pieces, result: np.ndarray) -> Pieces:
    """Cut wherever all values before are at most all values after: the parts are independent."""
    value, weight, place, start = pieces[:4]
    cut = np.zeros(value.size + 1, dtype=bool)
    cut[start] = cut[-1] = True
    if start.size == 1 or value.size == result.size:
        rows = value.reshape(start.size, -1)
        before = np.maximum.accumulate(rows, axis=1).ravel()
        after = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
        cut[1:-1] |= before[:-1] <= after[1:]
    alone = cut[:-1] & cut[1:]
    if np.count_nonzero(alone) > 0.1 * value.size:
        single = np.flatnonzero(alone)
        result[place[single]] = value[single]
        keep = np.flatnonzero(~alone)
        value, weight, place, cut = value[keep], weight[keep], place[keep], cut[keep]
    else:
        value, cut = value.copy(), cut[:-1]  # pieces are clipped in place
    start = np.flatnonzero(cut)
    if not value.size:
        return Pieces(value, weight, place, start, value, value)
    low, high = np.minimum.reduceat(value, start), np.maximum.reduceat(value, start)
    return Pieces(value, weight, place, start, low, high)


def _merge_equal(pieces: Pieces, force: bool) -> Pieces:
    """Equal neighbours in a piece share one S: merge them, if it pays."""
    value, start = pieces.value, pieces.start
    first = np.empty(value.size, dtype=bool)
    np.not_equal(value[1:], value[:-1], out=first[1:])
    first[start] = True
    runs = np.flatnonzero(first)
    if runs.size == value.size or not (force or 10 * runs.size < 9 * value.size):
        return pieces
    starts = np.zeros(value.size, dtype=bool)
    starts[start] = True
    return pieces._replace(
        value=value[runs],
        weight=np.add.reduceat(pieces.weight, runs),
        place=pieces.place[runs],
        start=np.flatnonzero(starts[runs]),  # quicker than a search
    )


def _settle_ends(pieces: Pieces, result: np.ndarray) -> Pieces:
    """A leading element at the low end has S = low, a trailing one at the high end S = high.

    Their S is written down (at the start of a piece low is, in any case, a value to begin with);
    pieces with nothing left are done.
    """
    value, _, place, start, low, high = pieces
    end = pieces.end
    result[place[start]] = low
    leading, trailing = value[start] == low, value[end - 1] == high
    last = end[trailing] - 1
    result[place[last]] = high[trailing]
    inner_start, inner_end = start + leading, end - trailing
    alive = (inner_end > inner_start) & (low < high)
    kept = np.flatnonzero(alive)
    lengths = (inner_end - inner_start)[kept]
    if value.size - lengths.sum() <= 0.1 * value.size:  # not worth the copy
        return pieces
    keep = np.repeat(alive, end - start)
    keep[start[leading]] = False
    keep[last] = False
    low, high = low[kept], high[kept]
    result[place[inner_start[kept]]] = low
    keep = np.flatnonzero(keep)
    start = np.cumsum(lengths) - lengths
    return Pieces(value[keep], pieces.weight[keep], place[keep], start, low, high)


def _thresholds(pieces: Pieces, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """A value t of each piece, and the least value above it (low and high if none lies between)."""
    value, start, low, high = pieces.value, pieces.start, pieces.low, pieces.high
    lengths = pieces.end - start
    inner = np.flatnonzero((value > np.repeat(low, lengths)) & (value < np.repeat(high, lengths)))
    below, above = low.copy(), high.copy()
    if not inner.size:
        return below, above
    first = np.searchsorted(inner, start)
    count = np.append(first[1:], inner.size) - first
    some = count > 0
    first, count = first[some], count[some]
    if exact:
        interior = value[inner]
        order = np.lexsort((interior, np.repeat(np.arange(count.size), count)))
        median = interior[order[first + count // 2]]
    else:
        a, b, c = (value[inner[first + at]] for at in _quarters(count - 1))
        median = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    below[some] = above[some] = median
    return below, above


def _quarters(last: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return last >> 2, last >> 1, last - (last >> 2)


def _split(pieces: Pieces, below: np.ndarray, above: np.ndarray) -> Pieces:
    """Divide each piece into its places with S <= t and the others, and clip their values."""
    value, weight, place, start, low, high = pieces
    end = pieces.end
    votes = 2.0 * (value <= np.repeat(below, end - start))
    votes -= 1.0
    votes *= weight  # quicker than a choice between weight and -weight
    middle = _best_prefix(np.cumsum(votes), start, end)
    lengths = _alternate(middle - start, end - middle)
    low, high = _alternate(low, above), _alternate(below, high)
    np.maximum(value, np.repeat(low, lengths), out=value)
    np.minimum(value, np.repeat(high, lengths), out=value)
    kept = np.flatnonzero(lengths)
    return Pieces(value, weight, place, _alternate(start, middle)[kept], low[kept], high[kept])


def _best_prefix(sums: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """End of the prefix of each piece with the largest sum; its start when no sum is positive."""
    base = sums[start - 1]
    base[0] = 0.0
    if start.size <= FEW:
        best = np.array([s + sums[s:e].argmax() for s, e in zip(start, end, strict=True)])
        return np.where(sums[best] > base, best + 1, start)
    largest = np.maximum.reduceat(sums, start)
    attained = np.flatnonzero(sums == np.repeat(largest, end - start))
    if attained.size > start.size:  # the first of equals
        attained = attained[np.searchsorted(attained, start)]
    return np.where(largest > base, attained + 1, start)


def _alternate(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.column_stack([first, second]).ravel()
