"""One cell of targets of the lattice program: which states, which parts, and the updates.

A state (i, j) is the number of zeros and ones used by parts of smaller targets. States that can be
on a partition within the budget form a band: a part with target u moves along (1 - u, u), so in a
cell [low, high) the states reached from (i, j) lie in a narrow cone. The band is laid out row by
row in one flat array in which (i, j) has the address stride * i + j - start: a part (a, b) moves
every state by the same stride * a + b, and all its updates are one shifted vector operation.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._fractions import farey_parents
from skcal._numerics.partitions._peak import Peak

AT_ONCE = 30_000  # entries of the cost tables of a batch of parts: they should stay in cache
ROUNDING = 1e-6  # widens the cones, which are computed in floating point

Ranges = tuple[np.ndarray, np.ndarray]  # begin and end of a range for each of some parts


class Side:
    """One class: its rows, potentials, their envelope, and suffix bounds on its reduced cost.

    M(u) = max_i(phi_i - |x_i - u|). A row at target u costs |x - u| - phi + M(u) >= 0, and
    what the shifts that sum to zero over a part add to M.
    """

    def __init__(self, x: np.ndarray, phi: np.ndarray, suffix: np.ndarray) -> None:
        self.x, self.suffix = x, suffix
        self.size = x.size
        self.rising, self.falling = x + phi, x - phi
        self._peak = Peak(x, phi)
        self._least_suffix = np.minimum.accumulate(suffix[::-1])[::-1]

    def envelope(self, target: np.ndarray | float) -> np.ndarray:
        """M at some targets."""
        return self._peak.at(target)[0]

    def expiry(self, low: float, first: int, last: int) -> np.ndarray:
        """Least cost of the rows i.. for i in [first, last] when targets are low or more.

        An unused row below low costs at least what it costs at low: M is 1-Lipschitz.
        """
        late = int(np.searchsorted(self.x, low))
        bound = np.zeros(last - first + 1)
        if late > first:
            cost = low + float(self.envelope(low)) - self.rising[first:late]
            sums = np.cumsum(np.maximum(cost, 0.0)[::-1])[::-1]
            size = min(bound.size, sums.size)
            bound[:size] = sums[:size]
        return np.maximum(bound, self.suffix[first : last + 1])

    def reach(self, first: int, budget: np.ndarray, low: float, high: float) -> tuple[int, int]:
        """How far a cell can move: rows past the first state, and rows of the largest part.

        ``budget`` is what each state from ``first`` on may spend; it is nondecreasing, and the last
        entry holds for all later states. A row costs at least what it costs at the nearer end.
        """
        states = budget.size
        at_low, at_high = self.envelope(np.array([low, high]))
        span = states + 63
        while True:
            rows = slice(first, first + span)
            cost = np.maximum(low + at_low - self.rising[rows], self.falling[rows] - high + at_high)
            sums = np.concatenate([[0.0], np.cumsum(np.maximum(cost, 0.0))])
            most = sums[states - 1] + budget[-1]
            end = first + sums.size - 1
            if end == self.size or sums[-1] + self._least_suffix[end] > most:
                break
            span *= 2
        total = sums + self.suffix[first : end + 1]
        least = np.minimum.accumulate(total[::-1])[::-1]
        furthest = max(states - 1, int(np.searchsorted(least, most, "right")) - 1)
        limit = sums[: furthest + 1] + budget[-1]
        limit[:states] = sums[:states] + budget
        largest = np.searchsorted(least, limit, "right") - 1 - np.arange(furthest + 1)
        return furthest, max(0, int(largest.max()))


class States(NamedTuple):
    """States by increasing (zeros used, ones used), and the least reduced cost of reaching them."""

    zeros: np.ndarray
    ones: np.ndarray
    cost: np.ndarray


class Cell(NamedTuple):
    """A cell of targets, its window of states, and its parts by increasing target.

    The window starts at the state (first_zero, first_one) and spans so many rows of either class;
    the budgets say what the states in it may still spend on either class.
    """

    high: float
    first: tuple[int, int]
    span: tuple[int, int]
    budgets: tuple[np.ndarray, np.ndarray]
    a: np.ndarray
    b: np.ndarray
    target: np.ndarray


class Band:
    """The flat layout of the states that a cell can reach (see the head of this file)."""

    def __init__(self, states: States, cell: Cell, low: float) -> None:
        i, j = states.zeros - cell.first[0], states.ones - cell.first[1]
        self._cone(i, j, cell, low)
        overlap = int((self.last[:-1] - self.first[1:]).max(initial=0))
        self.stride = max(overlap + 1, 1)
        shift = self.stride * np.arange(self.first.size) - self.first[0]
        self.start, self.stop = shift + self.first, shift + self.last + 1
        self.size = int(self.stop[-1])
        self.address = shift[i] + j

    def _cone(self, i: np.ndarray, j: np.ndarray, cell: Cell, low: float) -> None:
        """First and last number of ones for each number of zeros, both nondecreasing."""
        rows, width = cell.span[0] + 1, float(cell.span[1])
        begin = np.flatnonzero(np.diff(i, prepend=-1))
        least, most = np.full(rows, np.inf), np.full(rows, -np.inf)
        least[i[begin]] = j[begin]
        most[i[begin]] = j[np.append(begin[1:], i.size) - 1]
        least = -_rays(-least, -low / (1 - low))
        least = np.minimum.accumulate(least[::-1])[::-1]
        if cell.high < 1:
            most = np.maximum.accumulate(_rays(most, cell.high / (1 - cell.high)))
        else:
            most = np.full(rows, np.inf)
        self.first = np.floor(np.clip(least, 0.0, width)).astype(np.intp)
        self.last = np.ceil(np.minimum(most, width)).astype(np.intp)

    def indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Zeros and ones used at each address (any in range between rows, where no state is)."""
        length = np.diff(self.start, append=self.size)
        zeros = np.repeat(np.arange(self.first.size), length)
        ones = np.arange(self.size) + np.repeat(self.first - self.start, length)
        return zeros, np.minimum(ones, self.last[-1])

    def rows_with(self, ones: Ranges) -> Ranges:
        """The rows [begin, end) of the band that meet ranges of columns."""
        begin = np.searchsorted(self.last, ones[0])
        end = np.searchsorted(self.first, ones[1])
        return begin, np.where(ones[1] > ones[0], end, begin)


def _rays(height: np.ndarray, slope: float) -> np.ndarray:
    """The largest height[k] + slope (i - k) over k <= i, and a little for rounding."""
    line = slope * np.arange(height.size)
    rounding = ROUNDING + 1e-15 * abs(line[-1])
    return np.asarray(np.maximum.accumulate(height - line) + line + rounding)


class Sources(NamedTuple):
    """From which states primitive parts need be tried: Farey splitting.

    A part with parents u1 < u < u2 can be replaced by its parents at no cost unless one of its rows
    lies strictly between u1 and u2, or all its zeros are >= u2 and all its ones <= u1. By the place
    of its zeros, that leaves three blocks of states (i, j):

    - inside <= i < above, where a zero lies strictly between: any j;
    - i < inside, the zeros below (or around an empty interval): near <= j < end, where a one lies
      strictly between;
    - above <= i: j < end, where a one lies strictly between or all ones are below.
    """

    inside: np.ndarray
    above: np.ndarray
    near: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, sides: tuple[Side, Side], cell: Cell) -> "Sources":
        """The blocks of the parts of a cell, by the rows in its window."""
        zeros, ones = (
            side.x[first : first + span]
            for side, first, span in zip(sides, cell.first, cell.span, strict=True)
        )
        low, high = farey_parents(cell.a, cell.b)
        first, above = np.searchsorted(zeros, low, "right"), np.searchsorted(zeros, high)
        inside = np.where(above > first, first - cell.a + 1, above)
        first, last = np.searchsorted(ones, low, "right"), np.searchsorted(ones, high)
        near = first - cell.b + 1
        return cls(inside, above, near, np.where(last > first, last, near))

    def rows(self, band: Band, zeros: Ranges, ones: Ranges) -> Ranges:
        """Hull of the rows of the blocks, cut to the band and to ranges of states."""
        met = band.rows_with(ones)
        begin, end = np.maximum(zeros[0], met[0]), np.minimum(zeros[1], met[1])
        near = band.rows_with((np.maximum(ones[0], self.near), np.minimum(ones[1], self.end)))
        far = band.rows_with((ones[0], np.minimum(ones[1], self.end)))
        first, last = np.full(begin.size, np.iinfo(np.intp).max), np.zeros(begin.size, np.intp)
        for block_begin, block_end in (
            (near[0], np.minimum(near[1], self.inside)),
            (self.inside, self.above),
            (np.maximum(far[0], self.above), far[1]),
        ):
            block_begin, block_end = np.maximum(begin, block_begin), np.minimum(end, block_end)
            some = block_end > block_begin
            first = np.where(some, np.minimum(first, block_begin), first)
            last = np.where(some, np.maximum(last, block_end), last)
        return first, last


def with_sources(sides: tuple[Side, Side], cell: Cell, band: Band) -> Cell:
    """A cell without the parts that Farey splitting leaves no state of the band for."""
    nothing = np.zeros_like(cell.a)
    zeros = nothing, cell.span[0] - cell.a + 1
    ones = nothing, cell.span[1] - cell.b + 1
    begin, end = Sources.of(sides, cell).rows(band, zeros, ones)
    kept = np.flatnonzero(end > begin)
    return cell._replace(a=cell.a[kept], b=cell.b[kept], target=cell.target[kept])


class Moves(NamedTuple):
    """Reduced cost of a part's rows of one class by the first of them; inf where too dear."""

    cost: np.ndarray  # one row a part
    some: np.ndarray  # parts with a move at all
    range: Ranges  # of states with a move


def moves(
    side: Side,
    first: int,
    budget: np.ndarray,
    target: np.ndarray,
    count: np.ndarray,
    gap: np.ndarray,
) -> Moves:
    """Moves of one class from every state of a window, for a batch of parts.

    A move must leave enough of the budget for what is still unpaid at the state it reaches: the
    suffix bound, and the rows below the target that later parts, at larger targets, pay for.
    """
    span, parts = budget.size - 1, target.size
    rows = slice(first, first + span)
    height = side.envelope(target)
    cost = side.falling[rows] - (target - height)[:, None]
    np.maximum(cost, (target + height)[:, None] - side.rising[rows], out=cost)
    sums = np.zeros((parts, span + 1))
    np.cumsum(cost, axis=1, out=sums[:, 1:])
    late = sums[np.arange(parts), np.searchsorted(side.x[rows], target)]
    total = np.maximum(sums + side.suffix[first : first + span + 1], late[:, None])
    state = np.arange(span + 1)
    reached = state + (count + (span + 1) * np.arange(parts))[:, None]
    unpaid = total.take(reached, mode="clip")  # clipped, or of the next part, where outside
    unpaid -= sums
    allowed = unpaid <= budget - (gap * count)[:, None]
    allowed &= state <= (span - count)[:, None]
    cost = np.full_like(sums, np.inf)
    np.subtract(sums.take(reached, mode="clip"), sums, out=cost, where=allowed)
    some = allowed.any(axis=1)
    return Moves(cost, some, (allowed.argmax(axis=1), span + 1 - allowed[:, ::-1].argmax(axis=1)))


class Advance(NamedTuple):
    """The states after a cell; with parents the part that last improved each state, else -1."""

    states: States
    parent: np.ndarray | None
    work: int


def advance(
    sides: tuple[Side, Side],
    states: States,
    cell: Cell,
    band: Band,
    parents: bool,
    most_work: float = np.inf,
) -> Advance:
    """Apply the parts of a cell, by increasing target, to the states.

    Stops early, with wrong states, when the work exceeds ``most_work``.
    """
    if not cell.a.size:
        return Advance(states, np.full(states.cost.size, -1) if parents else None, 0)
    cost = np.full(band.size + int(cell.b.max(initial=0)), np.inf)
    cost[band.address] = states.cost
    parent = np.full(cost.size, -1, np.int32) if parents else None
    index = band.indices()
    work = band.size
    for batch in _batches(sides, cell, band):
        work += batch.entries + _update(cost, parent, band, index, batch)
        if work > most_work:
            break
    kept = np.flatnonzero(cost[: band.size] < np.inf)
    reached = States(index[0][kept] + cell.first[0], index[1][kept] + cell.first[1], cost[kept])
    return Advance(reached, None if parent is None else parent[kept], work)


class _Batch(NamedTuple):
    """Parts to apply: their numbers in the cell, moves of both classes, and rows to start from."""

    part: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    shift: np.ndarray
    entries: int


def _batches(sides: tuple[Side, Side], cell: Cell, band: Band) -> Iterator[_Batch]:
    """The parts of a cell, with the cost tables of few at a time."""
    sources = Sources.of(sides, cell)
    width = sum(cell.span) + 2
    size = max(1, AT_ONCE // width)
    for start in range(0, cell.a.size, size):
        part = np.arange(start, min(start + size, cell.a.size))
        batch = _costed(sides, cell, band, Sources(*(f[part] for f in sources)), part)
        yield batch._replace(entries=width * part.size)


def _costed(
    sides: tuple[Side, Side], cell: Cell, band: Band, sources: Sources, part: np.ndarray
) -> _Batch:
    """Moves of some parts, and the rows from which both classes can afford them.

    With h = (1 - u) M_0 + u M_1 <= 0 the shifts M_0 - h / (2 (1 - u)) and M_1 - h / (2 u) sum to
    zero over a part: every row pays its class's gap on top of M.
    """
    zeros, ones = sides
    a, b, target = cell.a[part], cell.b[part], cell.target[part]
    h = (1 - target) * zeros.envelope(target) + target * ones.envelope(target)
    gaps = np.maximum(-h / (2 * (1 - target)), 0.0), np.maximum(-h / (2 * target), 0.0)
    by_zeros = moves(zeros, cell.first[0], cell.budgets[0], target, a, gaps[0])
    by_ones = moves(ones, cell.first[1], cell.budgets[1], target, b, gaps[1])
    begin, end = sources.rows(band, by_zeros.range, by_ones.range)
    kept = np.flatnonzero(by_zeros.some & by_ones.some & (end > begin))
    by_zeros.cost[...] += (gaps[0] * a + gaps[1] * b)[:, None]
    shift = band.stride * a[kept] + b[kept]
    return _Batch(
        part[kept], by_zeros.cost[kept], by_ones.cost[kept], begin[kept], end[kept], shift, 0
    )


def _update(
    cost: np.ndarray,
    parent: np.ndarray | None,
    band: Band,
    index: Ranges,
    batch: _Batch,
) -> int:
    """Move the states of each part's rows, in pieces that do not overlap what they reach."""
    work = 0
    row, column = index
    starts, stops = band.start[batch.begin].tolist(), band.stop[batch.end - 1].tolist()
    for part, by_zeros, by_ones, start, stop, shift in zip(
        batch.part.tolist(),
        batch.zeros,
        batch.ones,
        starts,
        stops,
        batch.shift.tolist(),
        strict=True,
    ):
        work += stop - start
        for begin in range(start, stop, shift):
            end = min(begin + shift, stop)
            moved = by_zeros.take(row[begin:end], mode="clip")  # in range: the quickest mode
            moved += by_ones.take(column[begin:end], mode="clip")
            moved += cost[begin:end]
            reached = cost[begin + shift : end + shift]
            if parent is None:
                np.minimum(reached, moved, out=reached)
                continue
            better = moved < reached
            if np.count_nonzero(better):
                np.copyto(reached, moved, where=better)
                np.copyto(parent[begin + shift : end + shift], part, where=better)
    return work
