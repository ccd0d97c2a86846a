"""The pruned lattice program: against the published program and all partitions; its limits."""

from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from skcal._numerics._lipschitz_dual import lower_distance
from skcal._numerics.partitions import _lattice, _lattice_blocks
from skcal._numerics.partitions._fractions import farey_parents, primitive_fractions
from skcal._numerics.partitions._lattice import Reduced, cheapest_partition, parts_cost, targets
from skcal._numerics.partitions._plain_program import plain_partition
from tests.oracles_distance import (
    KINDS,
    awkward,
    by_class,
    make,
    nearest_partition_cost,
    set_partitions,
)

each_kind = pytest.mark.parametrize("kind", KINDS)
CLOSE = 1e-12  # a row


def instance(number, n, rng):
    """Sorted zeros and ones of ordinary data of each kind in turn, and of awkward data."""
    kind = number % (len(KINDS) + 3)
    return by_class(*(make(n, KINDS[kind], rng) if kind < len(KINDS) else awkward(n, rng)))


# Potentials


def envelope(x, phi, target):
    """M(u) = max_i(phi_i - |x_i - u|), from the definition; -inf without rows."""
    return np.max(phi - np.abs(x - np.asarray(target)[..., None]), axis=-1, initial=-np.inf)


def valid(zeros, ones, phi_zeros, phi_ones):
    """Shift potentials by the largest (1 - u) M_0 + u M_1, which is 2-Lipschitz from a grid on."""
    u = np.linspace(0, 1, 1001)
    shift = 0.0
    if zeros.size and ones.size:
        m = envelope(zeros, phi_zeros, u), envelope(ones, phi_ones, u)
        h = (1 - u) * m[0] + u * m[1]
        steep = 1 + np.abs(m[0]).max() + np.abs(m[1]).max()
        shift = max(h.max() + 0.0005 * steep, 0.0)
    elif zeros.size or ones.size:
        x, phi, end = (zeros, phi_zeros, 0.0) if zeros.size else (ones, phi_ones, 1.0)
        shift = max(float(envelope(x, phi, end)), 0.0)
    return Reduced(zeros, ones, phi_zeros - shift, phi_ones - shift)


def random_potentials(zeros, ones, rng):
    """Valid potentials from a random multiplier lambda(u): of (1 - u) lambda and -u lambda."""
    u = np.linspace(0, 1, rng.integers(2, 12))
    slope = rng.uniform(-1, 1, u.size) * rng.random()

    def lower_envelope(x, f):
        return np.min(f + np.abs(x[:, None] - u), axis=1, initial=np.inf)

    phi = lower_envelope(zeros, -u * slope), lower_envelope(ones, (1 - u) * slope)
    return valid(zeros, ones, *phi)


def good_potentials(zeros, ones):
    """Those of the lower distance."""
    x = np.unique(np.concatenate([zeros, ones]))
    mass = [np.array([np.sum(rows == v) for v in x], dtype=float) for rows in (zeros, ones)]
    n = zeros.size + ones.size
    found = lower_distance(x, mass[0] / n, mass[1] / n, 1e-6).potentials
    phi = np.interp(zeros, found.nodes, found.zeros), np.interp(ones, found.nodes, found.ones)
    return valid_already(Reduced(zeros, ones, *phi))


def valid_already(reduced):
    """Potentials found elsewhere, checked on a grid."""
    u = np.linspace(0, 1, 2001)[1:-1]
    m = [envelope(x, phi, u) for x, phi in zip(reduced[:2], reduced[2:], strict=True)]
    if reduced.zeros.size and reduced.ones.size:
        assert np.max((1 - u) * m[0] + u * m[1]) <= 1e-9
    return reduced


def no_potentials(zeros, ones):
    return Reduced(zeros, ones, np.zeros(zeros.size), np.zeros(ones.size))


# Suffix bounds


def random_suffix(x, phi, share, others, rng):
    """A consistent bound, far from monotone: a random part of the most that is allowed.

    A run of a rows from i on, in a part with b rows of the other class, has its target at
    ``share(a, b)``; S(i) may be at most its cost with M for the shift, plus S(i + a).
    """
    bound = np.zeros(x.size + 1)
    for i in range(x.size - 1, -1, -1):
        most = np.inf
        for a in range(1, x.size - i + 1):
            u = share(a, np.arange(others + 1))
            run = np.abs(x[i : i + a] - u[:, None]).sum(axis=1) - phi[i : i + a].sum()
            most = min(most, float(np.min(run + a * envelope(x, phi, u))) + bound[i + a])
        bound[i] = max(most, 0.0) * rng.choice([0.0, 0.5, 1.0, 1.0, rng.random()])
    return bound


def random_suffixes(reduced, rng):
    zeros, ones, phi_zeros, phi_ones = reduced
    return (
        random_suffix(zeros, phi_zeros, lambda a, b: b / (a + b), ones.size, rng),
        random_suffix(ones, phi_ones, lambda a, b: a / (a + b), zeros.size, rng),
    )


# Checks


def complete(reduced, found):
    """The parts take every row, by increasing target, in primitive parts; their reduced cost."""
    zeros, ones, parts = reduced.zeros, reduced.ones, found.parts
    assert parts.dtype == np.int64
    assert parts.sum(axis=0).tolist() == [zeros.size, ones.size]
    assert np.all(np.gcd(*parts.T) == 1)
    assert np.all(np.diff(targets(parts)) >= 0)
    return parts_cost(zeros, ones, parts) - reduced.bound


def check(reduced, cost, suffixes=None):
    """Found just above the reduced cost of the optimum, with parts that attain it; not below."""
    slip = CLOSE * (reduced.zeros.size + reduced.ones.size)
    least = cost - reduced.bound
    assert least >= -slip
    loose = np.inf if suffixes is None else 1.3 * least + 0.05
    for budget, cells in ((least + 1e-7, {}), (loose, {"roomy": 10})):
        found = cheapest_partition(reduced, budget, suffixes=suffixes, **cells)
        assert found.status == "found"
        assert found.value == pytest.approx(least, rel=0, abs=slip)
        assert complete(reduced, found) == pytest.approx(least, rel=0, abs=slip)
    blind = cheapest_partition(reduced, least + 1e-7, suffixes=suffixes, parents=False)
    assert (blind.parts, blind.status) == (None, "found")
    assert blind.value == pytest.approx(least, rel=0, abs=slip)
    if least > 1e-6:
        found = cheapest_partition(reduced, least - 1e-6, suffixes=suffixes)
        assert (found.value, found.parts, found.status) == (np.inf, None, "none")


def check_all(number, n, rng):
    """All ways to run the program on one instance, and the published program, agree."""
    zeros, ones = instance(number, n, rng)
    plain = plain_partition(zeros, ones)
    slip = CLOSE * n
    assert parts_cost(zeros, ones, plain.parts) == pytest.approx(plain.cost, rel=0, abs=slip)
    if n <= 9:
        p = np.concatenate([zeros, ones])
        y = np.repeat([0, 1], [zeros.size, ones.size])
        assert plain.cost == pytest.approx(nearest_partition_cost(p, y), rel=0, abs=slip)
    if number % 3 == 0:
        check(no_potentials(zeros, ones), plain.cost)
        return
    reduced = random_potentials(zeros, ones, rng)
    if number % 3 == 1:
        check(reduced, plain.cost)
    else:
        check(reduced, plain.cost, random_suffixes(reduced, rng))


def test_oracle():
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        p, y, w = rng.random(n), rng.integers(0, 2, n), rng.random(n)
        least = min(
            sum(
                float(w[part] @ np.abs(p[part] - np.average(y[part], weights=w[part])))
                for part in partition
            )
            for partition in set_partitions(list(range(n)))
        )
        assert nearest_partition_cost(p, y, w) == pytest.approx(least, rel=0, abs=1e-12)


def test_small():
    rng = np.random.default_rng(1)
    for number in range(300):
        check_all(number, int(rng.integers(1, 10 if number % 4 else 20)), rng)


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(10))
def test_many(seed):
    rng = np.random.default_rng([2, seed])
    for number in range(520):
        check_all(number, int(rng.integers(1, 10) if number % 4 == 0 else rng.integers(1, 46)), rng)


@each_kind
def test_good_potentials(kind):
    rng = np.random.default_rng(3)
    for _ in range(2):
        reduced = good_potentials(*by_class(*make(40, kind, rng)))
        check(reduced, plain_partition(reduced.zeros, reduced.ones).cost)


@pytest.mark.verify
@each_kind
@pytest.mark.parametrize("seed", range(5))
def test_two_hundred(kind, seed):
    reduced = good_potentials(*by_class(*make(200, kind, np.random.default_rng([4, seed]))))
    cost = plain_partition(reduced.zeros, reduced.ones).cost
    check(reduced, cost)


@pytest.mark.parametrize(
    "p, y",
    [
        ([0.3], [1]),
        ([0.0], [0]),
        ([0.3, 0.7], [0, 1]),
        ([0.3, 0.7], [1, 0]),
        ([0.0, 1.0], [1, 0]),
        ([0.5] * 6, [0, 0, 1, 1, 1, 1]),
        ([1e-300, 5e-324, 0.0], [0, 1, 0]),
        ([0.5, np.nextafter(0.5, 1)], [1, 0]),
        ([0.2, 0.4, 0.9], [1, 1, 1]),
    ],
)
def test_degenerate(p, y):
    zeros, ones = by_class(p, y)
    cost = nearest_partition_cost(p, y)
    assert plain_partition(zeros, ones).cost == pytest.approx(cost, rel=0, abs=1e-15)
    check(no_potentials(zeros, ones), cost)
    check(random_potentials(zeros, ones, np.random.default_rng(5)), cost)


def test_none():
    empty = no_potentials(np.zeros(0), np.zeros(0))
    found = cheapest_partition(empty, 0.0)
    assert (found.value, found.parts.shape, found.status) == (0.0, (0, 2), "found")


def test_reach():
    """How far a cell can move, against all moves, with suffix bounds that jump up and down."""
    rng = np.random.default_rng(12)
    for _ in range(60):
        size, states = 90, int(rng.integers(1, 5))
        x = np.sort(rng.random(size))
        phi = x * rng.choice([-1.0, 0.5, 1.0]) - 1
        suffix = np.append(rng.choice([0.0, 5.0], size), 0.0)
        low, high = np.sort(rng.random(2))
        budget = np.sort(rng.random(states)) * rng.choice([0.01, 1.0, 20.0])
        m = envelope(x, phi, np.array([low, high]))
        cost = np.maximum(low + m[0] - x - phi, x - high + m[1] - phi).clip(0)
        first = int(rng.integers(0, 5))

        def ends(start, spend, first=first, cost=cost, suffix=suffix, size=size):
            for end in range(start, size + 1):
                if cost[start:end].sum() + suffix[end] <= spend:
                    yield end

        reached = [e for k in range(states) for e in ends(first + k, budget[k])]
        furthest = max([first + states - 1, *reached])
        longest = [
            end - start
            for start in range(first, furthest + 1)
            for end in ends(start, budget[min(start - first, states - 1)])
            if end <= furthest
        ]
        found = _lattice_blocks.Side(x, phi, suffix).reach(first, budget, low, high)
        assert found[0] == furthest - first
        assert found[1] >= max([0, *longest])


# Heuristics and limits


@each_kind
def test_heuristics_give_partitions(kind):
    """Beam, small parts and corridor: real partitions, never cheaper than the optimum."""
    rng = np.random.default_rng(6)
    worse = 0
    for _ in range(3):
        reduced = random_potentials(*by_class(*make(40, kind, rng)), rng)
        zeros, ones = reduced[:2]
        least = plain_partition(zeros, ones).cost - reduced.bound

        def near_diagonal(low, high, zeros=zeros, ones=ones):
            first, last = np.searchsorted(zeros, (low, high))
            others = np.searchsorted(ones, (low, high))
            return (
                max(first - 6, 0),
                min(last + 6, zeros.size),
                max(others[0] - 6, 0),
                min(others[1] + 6, ones.size),
            )

        for options in ({"slack": 0.3}, {"largest_part": 5}, {"corridor": near_diagonal}):
            found = cheapest_partition(reduced, np.inf, **options)
            worse += found.value > least + 1e-6  # or nothing is found
            if found.status == "none":
                continue
            assert complete(reduced, found) <= found.value + 1e-10
            assert complete(reduced, found) >= least - 1e-10
    assert worse  # they leave something out


def test_idle_heuristics():
    """A beam, a largest part and a corridor that leave nothing out change nothing."""
    rng = np.random.default_rng(7)
    reduced = random_potentials(*by_class(*make(40, "over", rng)), rng)
    zeros, ones = reduced[:2]
    exact = cheapest_partition(reduced, np.inf)
    whole = 0, zeros.size, 0, ones.size
    for options in ({"slack": 99.0}, {"largest_part": 40}, {"corridor": lambda low, high: whole}):
        found = cheapest_partition(reduced, np.inf, **options)
        assert found.value == pytest.approx(exact.value, rel=0, abs=1e-10)
    assert np.isinf(cheapest_partition(reduced, np.inf, corridor=lambda *_: (0, 1, 0, 1)).value)


def test_limits(monkeypatch):
    reduced = no_potentials(*by_class(*make(60, "cal", np.random.default_rng(8))))
    whole = cheapest_partition(reduced, np.inf)
    assert whole == cheapest_partition(reduced, np.inf, most_work=whole.work)._replace(
        parts=whole.parts
    )
    stopped = cheapest_partition(reduced, np.inf, most_work=whole.work - 1)
    assert (stopped.value, stopped.parts, stopped.status) == (np.inf, None, "work")
    assert stopped.work <= whole.work
    monkeypatch.setattr(_lattice, "LARGEST_WINDOW", 20)
    small = cheapest_partition(reduced, np.inf)
    assert (small.value, small.parts, small.status) == (np.inf, None, "window")


def test_pruning_saves_work():
    """Good potentials, a budget and suffix bounds each cut the work."""
    rng = np.random.default_rng(9)
    reduced = good_potentials(*by_class(*make(60, "cal", rng)))
    free = cheapest_partition(no_potentials(*reduced[:2]), np.inf)
    least = free.value - reduced.bound
    tight = cheapest_partition(reduced, least + 1e-9)
    assert tight.work < free.work / 3


def test_splitting_changes_nothing(monkeypatch):
    """Without Farey splitting the program takes more work to the same value."""
    reduced = good_potentials(*by_class(*make(60, "under", np.random.default_rng(10))))
    split = cheapest_partition(reduced, np.inf)

    def everywhere(self, band, zeros, ones):
        met = band.rows_with(ones)
        return np.maximum(zeros[0], met[0]), np.minimum(zeros[1], met[1])

    monkeypatch.setattr(_lattice_blocks.Sources, "rows", everywhere)
    unsplit = cheapest_partition(reduced, np.inf)
    assert unsplit.value == pytest.approx(split.value, rel=0, abs=1e-10)
    assert unsplit.work > split.work


# Fractions


def test_primitive_fractions():
    rng = np.random.default_rng(11)
    for _ in range(200):
        zeros, ones = (int(m) for m in rng.integers(0, 30, 2))
        most = None if rng.random() < 0.5 else int(rng.integers(1, 40))
        low, high = np.sort(rng.choice([0.0, 5e-324, 1.0, 1 + 1e-9, 1 / 3, *rng.random(3)], 2))
        expected = sorted(
            (b / (a + b), a, b)
            for a in range(zeros + 1)
            for b in range(ones + 1)
            if gcd(a, b) == 1 and low <= b / (a + b) < high
            if most is None or a + b <= most or min(a, b) <= 2
        )
        a, b, target = primitive_fractions(low, high, zeros, ones, most)
        assert list(zip(target, a, b, strict=True)) == expected


def test_farey_parents():
    a, b, _ = primitive_fractions(1e-9, 1.0, 60, 60)
    low, high = farey_parents(a, b)
    for k in range(a.size):
        below, above = (Fraction(x).limit_denominator(200) for x in (low[k], high[k]))
        assert below < Fraction(int(b[k]), int(a[k] + b[k])) < above
        assert below.numerator + above.numerator == b[k]
        assert below.denominator + above.denominator == a[k] + b[k]


def test_no_partition_is_no_partition_without_a_budget():
    # a corridor that cuts every path: nothing is found, whatever it may cost
    zeros, ones = by_class(*make(40, "cal", np.random.default_rng(0)))
    reduced = Reduced(zeros, ones, np.zeros(zeros.size), np.zeros(ones.size))
    found = cheapest_partition(reduced, np.inf, corridor=lambda low, high: (0, 1, 0, 1))
    assert found.status == "none"
    assert found.parts is None
