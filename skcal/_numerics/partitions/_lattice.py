"""The nearest partition of equal rows with 0/1 outcomes: a pruned program over primitive parts.

A partition is cheapest when each class is taken in order of the predictions and the parts in order
of their targets [1]_. So it is a path in the lattice of states (i, j), numbers of zeros and ones
used; a part (a, b) predicts u = b / (a + b). What makes the path of least cost quick to find:

*Primitive parts.* A part is some copies of a coprime part with the same target. The program runs
through the coprime (a, b) by increasing target, in cells of targets.

*Reduced costs.* For valid potentials phi, M_c(u) = max_i(phi_i - |x_i - u|) over class c satisfies
(1 - u) M_0(u) + u M_1(u) <= 0. A part costs the sum of phi over its rows plus that of the reduced
costs |p - u| - phi + s_c(u) for any shifts s_c >= M_c with (1 - u) s_0 + u s_1 = 0; each is
nonnegative. So sum phi bounds every cost from below, and states whose reduced cost exceeds the
budget are dropped.

*Expiry.* A row not yet used at target L pays at least |p - L| - phi + M(L) if it lies below L:
states that fell behind are dropped too, and the live ones form a narrow band.

*Farey splitting.* Most coprime parts can be replaced by their two Farey parents at no cost.

*Suffix bounds.* Consistent lower bounds on what zeros i.. and ones j.. still pay sharpen all that.

.. [1] "Computational and Statistical Hardness of Calibration Distance".
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skcal._numerics.partitions._fractions import primitive_fractions
from skcal._numerics.partitions._lattice_blocks import (
    Advance,
    Band,
    Cell,
    Side,
    States,
    advance,
    with_sources,
)

Corridor = Callable[[float, float], tuple[int, int, int, int]]

SLIP = 1e-12  # rounding of sums that a partition within the budget may show
SUFFIX_SLIP = 1e-9  # and of suffix bounds
PARTS = 400  # in a cell, about
CANDIDATES = 20_000  # parts in a cell before those without states to start from are left out
FINEST = 1e-7  # cells are not halved below, for their number of parts
LARGEST_WINDOW = 40_000_000  # states that fit in memory
SMALLEST = np.nextafter(0.0, 1.0)


class Reduced(NamedTuple):
    """Sorted predictions by class, and valid potentials at the rows.

    Valid: (1 - u) M_0(u) + u M_1(u) <= 0 for all u in [0, 1], M_c(u) = max_i(phi_i - |x_i - u|).
    """

    zeros: np.ndarray
    ones: np.ndarray
    phi_zeros: np.ndarray
    phi_ones: np.ndarray

    @property
    def bound(self) -> float:
        """What the potentials prove: no partition costs less (row units)."""
        return float(self.phi_zeros.sum() + self.phi_ones.sum())


class Pass(NamedTuple):
    """Outcome of one run of the program.

    value : least reduced cost of a partition if one within the budget was found, else inf
        (cost of the partition = value + reduced.bound).
    parts : int64 array (k, 2) of primitive parts (a, b) by increasing target, or None; with slack
        or a corridor they may cost a little less than the value says.
    work : operations done: state updates, entries of cost tables, parts looked at.
    status : "found"; "none" (nothing within the budget, a proof unless largest_part, slack or
        corridor was given); "work" or "window" (a limit was reached: nothing is known).
    """

    value: float
    parts: np.ndarray | None
    work: int
    status: str


def cheapest_partition(
    reduced: Reduced,
    budget: float,
    *,
    suffixes: tuple[np.ndarray, np.ndarray] | None = None,
    most_work: int | None = None,
    largest_part: int | None = None,
    slack: float | None = None,
    corridor: Corridor | None = None,
    parents: bool = True,
    roomy: int = 4_000_000,
) -> Pass:
    """Least reduced cost over complete partitions, if at most ``budget``.

    suffixes : (S_0 of length n0 + 1, S_1 of length n1 + 1), consistent lower bounds on the reduced
        cost that zeros i.. and ones j.. still pay: S(i) is at most the cost of any run plus S after
        the run.
    most_work : operations; beyond, status "work".
    largest_part : primitive parts of more rows are left out (those with one or two rows of a class
        excepted).
    slack : beam: states whose bound exceeds the least by more are dropped.
    corridor : called with a cell (low, high) of targets, returns the inclusive range of states to
        keep: (first zero, last zero, first one, last one) as counts of used rows.
    parents : whether the parts are wanted.
    roomy : states in a window above which cells are halved (100_000 suits a corridor).
    """
    if suffixes is None:
        suffixes = np.zeros(reduced.zeros.size + 1), np.zeros(reduced.ones.size + 1)
    sides = (
        Side(reduced.zeros, reduced.phi_zeros, suffixes[0]),
        Side(reduced.ones, reduced.phi_ones, suffixes[1]),
    )
    limit = budget + SLIP + (SUFFIX_SLIP if suffixes[0].any() or suffixes[1].any() else 0.0)
    sweep = _Sweep(sides, limit, slack, corridor, largest_part, roomy)
    trail = _Trail(reduced.ones.size) if parents else None
    status = sweep.run(np.inf if most_work is None else most_work, trail)
    if status:
        return Pass(np.inf, None, sweep.work, status)
    value, used = _finish(sides, sweep.states)
    if not value <= budget + SLIP or not np.isfinite(value):
        return Pass(np.inf, None, sweep.work, "none")
    parts = None if trail is None else trail.parts(reduced.zeros.size, used, reduced.ones.size)
    return Pass(value, parts, sweep.work, "found")


def parts_cost(zeros: np.ndarray, ones: np.ndarray, parts: np.ndarray) -> float:
    """Sum of |p - target| when the parts take the rows of each class in order."""
    target = targets(parts)
    cost = 0.0
    for rows, count in zip((zeros, ones), parts.T, strict=True):
        cost += float(np.abs(rows - np.repeat(target, count)).sum())
    return cost


def targets(parts: np.ndarray) -> np.ndarray:
    """Target b / (a + b) of each part."""
    return np.asarray(parts[:, 1] / parts.sum(axis=1))


def by_target(parts: np.ndarray) -> np.ndarray:
    """Parts in increasing order of their targets: in another order they cost no less."""
    return np.asarray(parts[np.argsort(targets(parts), kind="stable")])


def _start(zeros: Side, limit: float) -> States:
    """The states reached at target 0, by parts (1, 0)."""
    cost = np.concatenate([[0.0], np.cumsum(np.maximum(zeros.falling, 0.0))])
    used = np.flatnonzero(cost <= limit)
    return States(used, np.zeros_like(used), cost[used])


def _finish(sides: tuple[Side, Side], states: States) -> tuple[float, int]:
    """Least cost when parts (0, 1) at target 1 take what is left, and the ones used before."""
    whole = np.flatnonzero(states.zeros == sides[0].size)
    if not whole.size:
        return np.inf, 0
    rest = np.maximum(1 - sides[1].rising, 0.0)
    rest = np.concatenate([np.cumsum(rest[::-1])[::-1], [0.0]])
    used = states.ones[whole]
    cost = states.cost[whole] + rest[used]
    best = int(cost.argmin())
    return float(cost[best]), int(used[best])


class _Sweep:
    """The run through the targets: its states, the cells, and the work done."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        limit: float,
        slack: float | None,
        corridor: Corridor | None,
        largest_part: int | None,
        roomy: int,
    ) -> None:
        self.sides, self.slack, self.corridor = sides, slack, corridor
        self.whole_limit = self.limit = limit
        self.largest_part, self.roomy = largest_part, roomy
        zeros, ones = sides[0].size, sides[1].size
        root = max(zeros + ones, 1) ** 0.5
        few = PARTS / (4 * max(zeros * ones, 1))  # of so short a cell, all parts are few
        self.step, self.narrow = max(1 / max(20.0, 4 * root), few), 0.2 / root
        self.low, self.work = float(SMALLEST), 0
        self.states = _start(sides[0], limit)

    def run(self, most_work: float, trail: "_Trail | None") -> str:
        """Run up to target 1; returns why it stopped, or "" at the end."""
        while self.low < 1 and self.sides[0].size and self.sides[1].size:
            budgets = self._prune()
            if budgets is None:
                return "none"
            cell, band = self._next_cell(*budgets)
            if band.size > LARGEST_WINDOW:
                return "window"
            parents = trail is not None
            done = advance(self.sides, self.states, cell, band, parents, most_work - self.work)
            self.work += done.work
            if self.work > most_work:
                return "work"
            if trail is not None:
                trail.add(done, cell)
            self.states, self.low = done.states, cell.high
        return ""

    def _prune(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Drop states over the limit; what the first to the last kept may spend, by class."""
        states = self.states
        if not states.cost.size:
            return None
        due = [
            side.expiry(self.low, int(used.min()), int(used.max()))[used - used.min()]
            for side, used in zip(self.sides, states[:2], strict=True)
        ]
        total = states.cost + due[0] + due[1]
        if self.corridor is not None:
            ahead = self.corridor(self.low, min(self.low + self.step, 1.0))
            for used, least, most in zip(states[:2], ahead[::2], ahead[1::2], strict=True):
                total[(used < least) | (used > most)] = np.inf
        if self.slack is not None:
            self.limit = min(self.whole_limit, float(total.min()) + self.slack)
        kept = np.flatnonzero((total <= self.limit) & (total < np.inf))
        if not kept.size:
            return None
        self.states = states = States(*(field[kept] for field in states))
        order = np.argsort(states.ones, kind="stable")
        by_zeros = _spent(states.zeros, states.cost + due[1][kept])
        by_ones = _spent(states.ones[order], (states.cost + due[0][kept])[order])
        return self.limit - by_zeros, self.limit - by_ones

    def _next_cell(self, by_zeros: np.ndarray, by_ones: np.ndarray) -> tuple[Cell, Band]:
        """The next cell, narrow enough for few parts and a window that is not too large."""
        while True:
            cell = self._cell(min(self.low + self.step, 1.0), by_zeros, by_ones)
            candidates = cell.a.size
            self.work += candidates
            if candidates > CANDIDATES and self.step > FINEST:
                self.step *= 0.5
                continue
            band = Band(self.states, cell, self.low)
            if band.size > max(self.roomy, 3 * self.states.cost.size) and self.step > self.narrow:
                self.step *= 0.5
                continue
            cell = with_sources(self.sides, cell, band)
            if cell.a.size > 2 * PARTS and self.step > FINEST:
                self.step *= 0.5
                continue
            room = 2 * band.size < self.roomy and 2 * candidates < CANDIDATES
            if cell.a.size < PARTS // 3 and room:
                self.step *= 1.5
            return cell, band

    def _cell(self, high: float, by_zeros: np.ndarray, by_ones: np.ndarray) -> Cell:
        """The cell from the current target to ``high``: its window and its parts."""
        first = int(self.states.zeros[0]), int(self.states.ones.min())
        ahead = (None,) * 4 if self.corridor is None else self.corridor(self.low, high)
        spans, budgets, largest = [], [], []
        for side, start, budget, end in zip(
            self.sides, first, (by_zeros, by_ones), ahead[1::2], strict=True
        ):
            span, most = side.reach(start, budget, self.low, high)
            if end is not None:
                span = max(budget.size - 1, min(span, end - start))
            spans.append(span)
            budgets.append(np.append(budget, np.full(span + 1 - budget.size, budget[-1])))
            largest.append(min(most, span))
        parts = primitive_fractions(self.low, high, largest[0], largest[1], self.largest_part)
        return Cell(high, first, (spans[0], spans[1]), (budgets[0], budgets[1]), *parts)


def _spent(used: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Least cost of a state that has used no more rows of a class; ``used`` is sorted."""
    begin = np.flatnonzero(np.diff(used, prepend=-1))
    least = np.full(used[-1] - used[0] + 1, np.inf)
    least[used[begin] - used[0]] = np.minimum.reduceat(cost, begin)
    return np.minimum.accumulate(least)


class _Trail:
    """The part that last improved each state in each cell, to read the parts off backwards."""

    def __init__(self, ones: int) -> None:
        self._width = ones + 1
        self._cells: list[tuple[np.ndarray, np.ndarray, Cell]] = []

    def add(self, done: Advance, cell: Cell) -> None:
        """Note the states that a cell improved."""
        assert done.parent is not None
        at = np.flatnonzero(done.parent >= 0)
        key = done.states.zeros[at] * self._width + done.states.ones[at]
        self._cells.append((key, done.parent[at], cell))

    def parts(self, zeros: int, used: int, ones: int) -> np.ndarray:
        """The parts of the path to the state (zeros, used), and (0, 1) for the other ones.

        Within a cell a state may have been improved after it was used: the path found is then even
        better, its parts out of order, and sorting them can only help.
        """
        found = []
        i, j = zeros, used
        for keys, parent, cell in reversed(self._cells):
            while True:
                key = i * self._width + j
                at = int(np.searchsorted(keys, key))
                if at == keys.size or keys[at] != key:
                    break
                a, b = int(cell.a[parent[at]]), int(cell.b[parent[at]])
                found.append((a, b))
                i, j = i - a, j - b
        assert j == 0
        inner = by_target(np.array(found, dtype=np.int64).reshape(-1, 2))
        ends = np.array([[1, 0]]).repeat(i, axis=0), np.array([[0, 1]]).repeat(ones - used, axis=0)
        return np.concatenate([ends[0], inner, ends[1]])
