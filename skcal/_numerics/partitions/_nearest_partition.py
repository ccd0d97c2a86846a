"""The calibration distance of equal rows with 0/1 outcomes: exact, or an interval that holds it.

Lower end: sum of valid potentials, raised by the class-wise rounding bound, raised by passes of the
program over partitions that find nothing within a budget. Upper end: a calibrated partition, from
intervals of the prediction, or from the same program run as a beam; for many rows within a corridor
around the flow of the lower distance. All limits count operations: every machine gets the same.

All distances are sums over rows, n times the calibration distance.
"""

from typing import NamedTuple

import numpy as np

from skcal._numerics._lipschitz_dual import (
    CLOSEST,
    Potentials,
    grid_with,
    largest_h,
    onto_nodes,
    repair,
    solve_dual,
)
from skcal._numerics.partitions._class_runs import class_suffixes
from skcal._numerics.partitions._contiguous import banded_runs, order_rows, parts_of_runs, tree_runs
from skcal._numerics.partitions._corridor import (
    NEAR,
    Flow,
    block_means,
    commit,
    corridor_of,
    flow_of,
    lifted,
    nudged,
    rounded_flow,
)
from skcal._numerics.partitions._lattice import Reduced, by_target, cheapest_partition, parts_cost
from skcal._numerics.partitions._tilt import bound_at, multipliers, potentials_of, tilted

RELATIVE_GAP = 1e-6  # closed: upper - lower is within this share of upper
ABSOLUTE_GAP = 1e-9  # or within so many rows
TILT_LOSS = 1.5  # rows of the bound given up for less steep multipliers
SHARES = (0.6, 0.9, 1.0)  # of the gap, as budgets of the passes
FEW_ROWS, FEW_ROWS_WORK = 2000, 300_000_000  # limits of "auto": ample but for degenerate rows
LIMITED_ROWS, AUTO_WORK = 10_000, 2_000_000_000  # beyond these rows an interval
BEAM_ROWS = 20_000  # beyond, the beam needs a corridor,
CORRIDOR_ROWS = 250_000  # and beyond this blocks
GRIDS = ((100, 100), (2000, 400), (250_000, 1000), (np.inf, 2000))  # rows up to which, cells
FINER = 16  # potentials have so many times the nodes of the linear program
SOME_CELLS = 0.1  # share of the cells that are divided for the next linear program
FAIR_SHARE = 0.1  # of the gap that the excess of h must cost to divide cells
LARGEST_PARTS = (150, 150, 100, 100)  # in a corridor, at each of the tries
NUDGES = 8  # rounds of them, at most,
WORTHWHILE = 0.02  # each of which closes this share of the gap
FEW_ATOMS = 1000  # distinct predictions that become nodes of the linear program
SLACKS = (0.2, 0.4, 0.8, 1.6)  # of the beam
FIRST_SLACK = 0.15  # in a corridor, doubled after each try
BEAM_WORK = 1_000_000_000  # state updates,
BLOCKS_WORK = 600_000_000  # of rows in blocks
RUN_COSTS = 30_000_000  # of the class-wise bound that are no trouble
WIDE = 0.02  # relative gap at which even a path from a corridor is nudged
CLOSE_ENOUGH = 0.002  # relative gap at which many rows are left alone


class Nearest(NamedTuple):
    """lower <= n * distance <= upper.

    parts : calibrated partition that attains upper: zeros and ones of each part by target.
    potentials : valid; with ``longest`` they give lower unless a pass raised it further.
    longest : length of runs in the class-wise bound; 0 where it was not needed.
    lower_by : "potentials" (their sum over the rows), "class runs" (plus the class-wise bound):
        `proved_lower` recomputes either; "exact pass" (the program finds no partition below):
        `pass_proves` runs it again; "one class" (nothing to prove: every part predicts 0 or 1).
    how : what found the parts.
    """

    lower: float
    upper: float
    parts: np.ndarray
    potentials: Potentials
    longest: int
    exact: bool
    lower_by: str
    how: str


class _Dual(NamedTuple):
    """Valid potentials, the rows laid onto their nodes; targets of the lower distance, and how far
    h exceeded 0 in the cells between them.
    """

    potentials: Potentials
    zeros_at: np.ndarray
    ones_at: np.ndarray
    flow: Flow
    excess: np.ndarray


class _Proof(NamedTuple):
    """Potentials at the rows with suffix values: what a pass of the program works with."""

    potentials: Potentials
    reduced: Reduced
    suffixes: tuple[np.ndarray, np.ndarray]
    longest: int

    @property
    def lower(self) -> float:
        return self.reduced.bound + float(self.suffixes[0][0] + self.suffixes[1][0])


class _Search:
    """The best partition and the best lower bound so far."""

    def __init__(self, zeros: np.ndarray, ones: np.ndarray, relative_gap: float) -> None:
        self.relative_gap = relative_gap
        self.zeros, self.ones = zeros, ones
        self.n = zeros.size + ones.size
        self.lower, self.lower_by, self.longest = 0.0, "potentials", 0
        self.potentials = Potentials(np.array([0.0, 1.0]), np.zeros(2), np.zeros(2))
        self.parts = np.array([[zeros.size, ones.size]])
        self.upper, self.how = parts_cost(zeros, ones, self.parts), "one part"

    def offer(self, parts: np.ndarray | None, how: str) -> None:
        if parts is None:
            return
        cost = parts_cost(self.zeros, self.ones, parts)
        if cost < self.upper:
            self.upper, self.parts, self.how = cost, parts, how

    def prove(self, lower: float, by: str, potentials: Potentials, longest: int) -> None:
        if lower > self.lower:
            self.lower, self.lower_by = lower, by
            self.potentials, self.longest = potentials, longest

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    @property
    def closed(self) -> bool:
        return self.gap <= max(ABSOLUTE_GAP, self.relative_gap * self.upper)

    def result(self) -> Nearest:
        return Nearest(
            min(self.lower, self.upper),
            self.upper,
            self.parts,
            self.potentials,
            self.longest,
            self.closed,
            self.lower_by,
            self.how,
        )


def nearest_partition(
    zeros: np.ndarray,
    ones: np.ndarray,
    *,
    method: str = "auto",
    most_work: int | None = None,
    relative_gap: float = RELATIVE_GAP,
) -> Nearest:
    """Bracket n times the calibration distance of the sorted predictions of zeros and ones.

    method : "exact" closes the bracket however long it takes (unless ``most_work`` is given),
        "bounds" makes no attempt to, "auto" does up to `LIMITED_ROWS` rows, with a limit.
    most_work : state updates of the exact passes together.
    relative_gap : upper - lower as a share of upper that counts as exact; so does `ABSOLUTE_GAP`.
    """
    search = _Search(zeros, ones, relative_gap)
    if not zeros.size or not ones.size:
        search.prove(search.upper, "one class", search.potentials, 0)
        return search.result()
    limit = 0 if method == "bounds" else _work_limit(search.n, method, most_work)
    dual = _first_bracket(search)
    narrow = search.n > BEAM_ROWS and search.gap <= CLOSE_ENOUGH * search.upper
    if search.closed or (narrow and limit == 0):
        return search.result()
    proof = _prove_by_runs(search, dual)
    if search.n <= BEAM_ROWS:
        _beam(search, proof)
    elif search.n <= CORRIDOR_ROWS:
        parts = _search_corridor(search, proof.reduced, proof.suffixes, dual.flow)
        search.offer(parts, "corridor")
    else:
        _search_blocks(search, proof, dual.flow)
    if search.n > BEAM_ROWS and (search.how != "corridor" or search.gap > WIDE * search.upper):
        _nudge(search)
    _close(search, proof, limit)
    return search.result()


def proved_lower(
    zeros: np.ndarray, ones: np.ndarray, potentials: Potentials, longest: int
) -> float:
    """What potentials and the class-wise bound prove, recomputed from nothing else; -inf if the
    potentials are not valid.
    """
    nodes, *values = potentials
    if nodes[0] != 0 or nodes[-1] != 1 or np.diff(nodes).min() <= 0:
        return -np.inf  # they say nothing beyond their ends
    slopes = [np.abs(np.diff(f)) - np.diff(nodes) for f in values]
    if max(slopes[0].max(), slopes[1].max()) > 1e-12 or largest_h(potentials).max() > 1e-12:
        return -np.inf
    reduced = _reduced(zeros, ones, potentials)
    if not longest:
        return reduced.bound
    return _Proof(potentials, reduced, _suffixes(reduced, longest), longest).lower


def pass_proves(
    zeros: np.ndarray,
    ones: np.ndarray,
    potentials: Potentials,
    longest: int,
    lower: float,
    most_work: int | None = None,
) -> bool:
    """Whether the program, run again, finds no partition that costs less than ``lower``.

    False also if the potentials are not valid or the work does not suffice.
    """
    sound = proved_lower(zeros, ones, potentials, longest)
    if sound >= lower - ABSOLUTE_GAP:
        return True
    reduced = _reduced(zeros, ones, potentials)
    found = cheapest_partition(
        reduced,
        lower - reduced.bound - ABSOLUTE_GAP,
        suffixes=_suffixes(reduced, longest) if longest else None,
        most_work=most_work,
        parents=False,
    )
    return bool(sound > -np.inf) and found.status == "none"


def _work_limit(n: int, method: str, most_work: int | None) -> int | None:
    if most_work is not None or method == "exact":
        return most_work
    if n <= FEW_ROWS:
        return FEW_ROWS_WORK
    return AUTO_WORK if n <= LIMITED_ROWS else 0


def _first_bracket(search: _Search) -> _Dual:
    """The lower distance, partitions into intervals, and the rounded flow.

    Where |lambda| = 1, as on biased data, or with few predictions, these two ends often meet.
    """
    rows = order_rows(search.zeros, search.ones)
    runs = banded_runs(rows) if search.n <= BEAM_ROWS else tree_runs(rows)
    search.offer(parts_of_runs(rows, runs.edges), "intervals")
    cells = next(cells for n, cells in GRIDS if search.n <= n)
    x = np.union1d(search.zeros, search.ones)
    nodes: np.ndarray | None = grid_with(x, cells, FEW_ATOMS)
    while nodes is not None:
        dual = _dual(search.zeros, search.ones, nodes)
        lower = bound_at(dual.potentials, dual.zeros_at, dual.ones_at)
        search.prove(lower, "potentials", dual.potentials, 0)
        search.offer(rounded_flow(dual.flow, search.zeros, search.ones), "rounded flow")
        nodes = None if search.closed else _divided(dual, search.gap, search.n)
    return dual


def _dual(zeros: np.ndarray, ones: np.ndarray, nodes: np.ndarray) -> _Dual:
    """Potentials of the lower distance, and its targets.

    Of two repairs of the program's solution the better one counts: a shift by the worst h between
    nodes; or multipliers, linear between the nodes, on finer nodes where little is left to shift.
    """
    n = zeros.size + ones.size
    at_nodes = [onto_nodes(nodes, rows, np.full(rows.size, 1 / n)) for rows in (zeros, ones)]
    try:
        program = solve_dual(nodes, *at_nodes)
        solution, mass = program.potentials, program.mass
    except RuntimeError:  # the solver gave up: zero is valid, if weak
        solution, mass = Potentials(nodes, 0 * nodes, 0 * nodes), at_nodes[0] + at_nodes[1]
    flow = flow_of(nodes, mass, zeros.size, ones.size)
    repaired, excess = repair(solution)
    fine = np.interp(np.arange((nodes.size - 1) * FINER + 1) / FINER, np.arange(nodes.size), nodes)
    finer = potentials_of(fine, np.interp(fine, nodes, multipliers(solution)))
    choices = []
    for potentials in (repaired, finer):
        zeros_at = onto_nodes(potentials.nodes, zeros, np.ones(zeros.size))
        ones_at = onto_nodes(potentials.nodes, ones, np.ones(ones.size))
        choices.append(_Dual(potentials, zeros_at, ones_at, flow, excess))
    return max(choices, key=lambda d: bound_at(d.potentials, d.zeros_at, d.ones_at))


def _divided(dual: _Dual, gap: float, n: int) -> np.ndarray | None:
    """More nodes where h exceeds 0, if few cells cost the bound a fair share of the gap."""
    worst = dual.excess.max()
    nodes = dual.flow.place
    cells = np.flatnonzero((dual.excess > worst / 16) & (np.diff(nodes) > 4 * CLOSEST))
    if n * worst < FAIR_SHARE * gap or not 0 < cells.size <= SOME_CELLS * dual.excess.size:
        return None
    inner = nodes[cells] + np.diff(nodes)[cells] * (np.arange(1, 4) / 4)[:, None]
    return np.union1d(nodes, inner.ravel())


def _reduced(zeros: np.ndarray, ones: np.ndarray, potentials: Potentials) -> Reduced:
    nodes, at_zeros, at_ones = potentials
    phi_zeros, phi_ones = np.interp(zeros, nodes, at_zeros), np.interp(ones, nodes, at_ones)
    return Reduced(zeros, ones, phi_zeros, phi_ones)


def _suffixes(reduced: Reduced, longest: int) -> tuple[np.ndarray, np.ndarray]:
    return class_suffixes(*reduced, longest)


def _longest(n: int) -> int:
    """Runs in the class-wise bound: six typical lengths, fewer where that takes long."""
    typical = n ** (1 / 3)
    lengths = min(6.0, max(RUN_COSTS / (n * typical), 1.0))
    return max(2, int(lengths * typical))


def _prove_by_runs(search: _Search, dual: _Dual) -> _Proof:
    """Raise the lower end by the class-wise bound; the proof to search with has tilted potentials.

    Both potentials are tried for the bound: the tilt costs a little and gains more, or nothing.
    """
    longest = _longest(search.n)
    less_steep = tilted(dual.potentials, dual.zeros_at, dual.ones_at, TILT_LOSS)
    proofs = []
    for potentials in (dual.potentials, less_steep):
        reduced = _reduced(search.zeros, search.ones, potentials)
        proofs.append(_Proof(potentials, reduced, _suffixes(reduced, longest), longest))
        search.prove(proofs[-1].lower, "class runs", potentials, longest)
        if less_steep is dual.potentials:
            break
    return proofs[-1]


def _beam(search: _Search, proof: _Proof) -> None:
    """The program with states near the best only, more of them until it gets through."""
    left = BEAM_WORK
    for slack in SLACKS if not search.closed else ():
        found = cheapest_partition(
            proof.reduced,
            search.upper - proof.reduced.bound - ABSOLUTE_GAP,
            suffixes=proof.suffixes,
            most_work=left,
            largest_part=max(4, int(2.5 * search.n**0.5)),
            slack=slack,
        )
        left -= found.work
        search.offer(found.parts, "beam")
        if found.status != "none" or left <= 0:
            break


def _close(search: _Search, proof: _Proof, most_work: int | None) -> None:
    """Passes with growing budgets: nothing found proves a lower end, something found is nearest."""
    if search.closed:
        return
    base, low, high = proof.reduced.bound, search.lower, search.upper
    left = most_work
    for share in SHARES if most_work is not None else SHARES[-1:]:
        budget = low + share * (high - low) - base
        if share == 1.0:
            budget -= ABSOLUTE_GAP / 10
        if left is not None and left <= 0:
            return
        found = cheapest_partition(proof.reduced, budget, suffixes=proof.suffixes, most_work=left)
        left = None if left is None else left - found.work
        if found.status not in ("found", "none"):
            return
        if found.parts is not None:
            search.offer(found.parts, "exact pass")
            search.prove(search.upper, "exact pass", proof.potentials, proof.longest)
            return
        search.prove(base + budget, "exact pass", proof.potentials, proof.longest)
        if search.closed:
            return


def _nudge(search: _Search) -> None:
    """Shift the ends of all parts by a few rows at once, again while it pays."""
    how = search.how + ", nudged"
    for _ in range(NUDGES):
        before = search.upper
        ends = np.cumsum(search.parts, axis=0)
        search.offer(nudged(ends, search.zeros, search.ones, NEAR), how)
        if before - search.upper < WORTHWHILE * search.gap:
            return


def _search_blocks(search: _Search, proof: _Proof, flow: Flow) -> None:
    """The corridor search on means of blocks of rows; the parts lifted to rows."""
    size = -(-search.n // CORRIDOR_ROWS)
    zeros, ones = block_means(search.zeros, size), block_means(search.ones, size)
    reduced = _reduced(zeros, ones, proof.potentials)
    scaled = Flow(
        flow.place,
        flow.zeros * (zeros.size / flow.zeros.sum()),
        flow.ones * (ones.size / flow.ones.sum()),
    )
    parts = _search_corridor(search, reduced, None, scaled)
    if parts is not None:
        search.offer(lifted(parts, size, search.zeros.size, search.ones.size), "blocks")


def _search_corridor(
    search: _Search,
    reduced: Reduced,
    suffixes: tuple[np.ndarray, np.ndarray] | None,
    flow: Flow,
) -> np.ndarray | None:
    """Commit large targets, search the rest around its flow, wider until a path is found."""
    n = reduced.zeros.size + reduced.ones.size
    width, slack = max(60, int(0.4 * n**0.5)), FIRST_SLACK
    fixed = commit(flow, width)
    keep_zeros, keep_ones = fixed.zeros_left, fixed.ones_left
    rest = Reduced(
        reduced.zeros[keep_zeros],
        reduced.ones[keep_ones],
        reduced.phi_zeros[keep_zeros],
        reduced.phi_ones[keep_ones],
    )
    if fixed.parts.size or suffixes is None:
        suffixes = _suffixes(rest, max(2, int(2 * n ** (1 / 3))))
    left = BEAM_WORK if search.n <= CORRIDOR_ROWS else BLOCKS_WORK
    for largest in LARGEST_PARTS:
        found = cheapest_partition(
            rest,
            float(n),  # any partition
            suffixes=suffixes,
            most_work=left,
            largest_part=min(largest, max(4, int(2.5 * n**0.5))),
            slack=slack,
            corridor=corridor_of(fixed.flow, width, 0.002),
            roomy=100_000,
        )
        left -= found.work
        if found.parts is not None:
            return by_target(np.concatenate([found.parts, fixed.parts]))
        if left <= 0:
            break
        slack, width = 2 * slack, int(1.5 * width)
    return None
