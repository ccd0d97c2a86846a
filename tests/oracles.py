"""Slow twins of the kernels, written from the definitions: loops, all pairs, linear programs.

They share no code with the package and take plain arrays: outcomes y in {0, 1}, predictions p and
weights w (None: one each).
"""

import heapq
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from scipy.optimize import linprog
from scipy.special import ndtr

# The tightest tolerances that the solver takes.
SHARP = {"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10}


def atoms(y, p, w=None):
    """Triples (prediction, rate of positive outcomes, share of the sample), by increasing p."""
    w = np.ones(len(p)) if w is None else np.asarray(w, dtype=float)
    y, p = np.asarray(y, dtype=float), np.asarray(p)
    triples = []
    for x in sorted(set(p[w > 0].tolist())):
        mass = w[p == x].sum()
        triples.append((float(x), float((w * y)[p == x].sum() / mass), float(mass / w.sum())))
    return triples


# Binned errors


def floor_index(x, m):
    """Largest k with k/m <= x; the edge k/m is a number of the type of x."""
    x = np.asarray(x)
    if m & (m - 1) == 0:  # every edge is exact: no search
        return int(Fraction(float(x)) * m)
    kind = x.dtype.type if x.dtype.kind == "f" else float
    return max(k for k in range(m + 1) if kind(k / m) <= x)


def bins(y, p, w=None, n_bins=15):
    """{bin: rows} for equal-width bins, the last one closed; None: one bin a prediction."""
    p = np.asarray(p)
    groups = {}
    for row in range(len(p)):
        key = p[row].item() if n_bins is None else min(floor_index(p[row], n_bins), n_bins - 1)
        if w is None or w[row] > 0:
            groups.setdefault(key, []).append(row)
    return groups


def binned_error(y, p, w=None, n_bins=15, norm="l1", debias=False):
    w = np.ones(len(p)) if w is None else np.asarray(w, dtype=float)
    y, wide = np.asarray(y, dtype=float), np.asarray(p, dtype=float)
    terms = []
    for rows in bins(y, p, w, n_bins).values():
        mass = w[rows].sum()
        rate, mean = (w * y)[rows].sum() / mass, (w * wide)[rows].sum() / mass
        term = abs(rate - mean)
        if norm == "l2":
            chance = rate * (1 - rate) / (mass - 1) if debias and 0 < rate < 1 else 0.0
            term = term**2 - chance
        terms.append((mass / w.sum(), term))
    if norm == "max":
        return max(term for _, term in terms)
    total = sum(share * term for share, term in terms)
    return np.sqrt(max(total, 0.0)) if norm == "l2" else total


def rounded_error(y, p, w=None, n_bins="auto"):
    """Twice the exact ECE of the predictions rounded down to the grid."""
    p = np.asarray(p)
    rows = len(p) if w is None else np.count_nonzero(w)
    m = max(1, round(rows ** (1 / 3))) if n_bins == "auto" else n_bins
    rounded = np.array([floor_index(x, m) / m for x in p])
    return 2 * binned_error(y, rounded, w, n_bins=None)


# Cutoff error


def cutoff_error(y, p, w=None, region="interval"):
    """Largest absolute mean residual over all intervals of predictions, or all upper tails."""
    w = np.ones(len(p)) if w is None else np.asarray(w, dtype=float)
    p = np.asarray(p, dtype=float)
    residual = w * (np.asarray(y) - p) / w.sum()
    ends = sorted(set(p.tolist()))
    tops = ends if region == "interval" else ends[-1:]
    return max(
        abs(residual[(low <= p) & (p <= high)].sum())
        for low, high in product(ends, tops)
        if low <= high
    )


# Decision loss


def regret_at(v, triples, tolerance=0.0):
    """B(v): regret, at stake one, of acting iff the prediction is at least v, or above it."""
    return sum(
        mass * max(abs(q - v) - tolerance, 0.0)
        for x, q, mass in triples
        if min(x, q) <= v <= max(x, q)
    )


def kinks_and_regrets(y, p, w=None, thresholds=(0.0, 1.0)):
    """Where a task may change its action, all breakpoints of B in the range, and B there."""
    triples = atoms(y, p, w)
    low, high = thresholds
    places = {low, high}.union(*((x, q) for x, q, _ in triples))
    kinks = sorted(v for v in places if low <= v <= high)
    return kinks, [regret_at(v, triples) for v in kinks]


def decision_loss_program(y, p, w=None, thresholds=(0.0, 1.0)):
    """CDL as a linear program over all tasks.

    A task is a measure mu on its kinks v. Its utilities lie in [0, 1] when sum v mu_v <= 1 and
    sum (1 - v) mu_v <= 1; its swap regret is sum B(v) mu_v. The solver takes coefficients below
    1e-9 for 0, so kinks must not be that near to 0 or 1.
    """
    kinks, regrets = map(np.array, kinks_and_regrets(y, p, w, thresholds))
    program = linprog(
        -regrets,
        A_ub=[kinks, 1 - kinks],
        b_ub=[1, 1],
        method="highs",
        options=SHARP,
    )
    return -program.fun


def decision_loss(y, p, w=None, thresholds=(0.0, 1.0)):
    """The same program by trying all its bases: one kink, or one on each side of 1/2."""
    kinks, regrets = kinks_and_regrets(y, p, w, thresholds)
    values = [b / max(v, 1 - v) for v, b in zip(kinks, regrets, strict=True)]
    points = list(zip(kinks, regrets, strict=True))
    for (u, low), (v, high) in product(points, repeat=2):
        if u < 0.5 < v:
            values.append(2 * (low * (v - 0.5) + high * (0.5 - u)) / (v - u))
    return max(values)


def regret_by_prediction(y, p, actions, utility, w=None):
    """Regret of ``actions``, one a row, against the best action at every distinct prediction."""
    regret = 0.0
    for x, q, mass in atoms(y, p, w):
        worth = (1 - q) * utility[0] + q * utility[1]
        taken = actions[np.argmax((np.asarray(p) == x) & (True if w is None else w > 0))]
        regret += mass * (worth.max() - worth[taken])
    return regret


def task_of_kinks(kinks, stakes):
    """Utility table of the task that changes its action at every kink, for these stakes."""
    kinks, stakes = np.asarray(kinks), np.asarray(stakes)
    at_zero = [(stakes * kinks)[j:].sum() for j in range(kinks.size + 1)]
    at_one = [(stakes * (1 - kinks))[:j].sum() for j in range(kinks.size + 1)]
    return np.array([at_zero, at_one])


def swap_regret(y, actions, utility, w=None):
    """Largest mean gain over all maps from actions to actions; ``actions`` are columns."""
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    utility = np.asarray(utility)
    own = utility[y, actions]
    swaps = product(range(utility.shape[1]), repeat=utility.shape[1])
    return max(w @ (utility[y, np.array(swap)[actions]] - own) for swap in swaps) / w.sum()


# Soft decision loss


def rounded_atoms(y, p, w=None, m=2, rounding="random"):
    """Atoms (i/m, q_i, pi_i) of the rounded predictions, from the weights of every row."""
    w = np.ones(len(p)) if w is None else np.asarray(w, dtype=float)
    mass, ones = {}, {}
    for row, x in enumerate(np.asarray(p)):
        if rounding == "floor":
            shares = [(floor_index(x, m), 1.0)]
        else:
            x = float(x)
            nearest = int(x * m)
            around = range(max(nearest - 1, 0), min(nearest + 2, m) + 1)
            shares = [(i, max(0.0, 1 - abs(x * m - i))) for i in around]
        for i, share in shares:
            mass[i] = mass.get(i, 0.0) + w[row] * share
            ones[i] = ones.get(i, 0.0) + w[row] * share * y[row]
    total = w.sum()
    return [(i / m, ones[i] / mass[i], mass[i] / total) for i in sorted(mass) if mass[i] > 0]


def rounded_sample(y, p, w, m, rounding="random"):
    """The distribution of the rounded predictions, as weighted rows with outcomes 0 and 1."""
    triples = rounded_atoms(y, p, w, m, rounding)
    outcomes = [outcome for _ in triples for outcome in (0, 1)]
    points = [x for x, _, _ in triples for _ in (0, 1)]
    shares = [share for _, q, mass in triples for share in (mass * (1 - q), mass * q)]
    return {"y_true": outcomes, "y_proba": points, "sample_weight": shares}


def soft_loss_m(y, p, w=None, m=2, rounding="random", grid=50):
    """SCDL_m: the supremum over v on a dense grid, with all i/m that hold rows and all q_i.

    Between those the sum is convex in v, so they hold its maximum; the grid is there to show it.
    """
    triples = rounded_atoms(y, p, w, m, rounding)
    places = {v for x, q, _ in triples for v in (x, q)}.union(np.linspace(0, 1, grid + 1).tolist())
    return max(regret_at(v, triples, 1 / m) for v in places)


def soft_decision_loss(y, p, w=None, n_bins=None, rounding="random", levels=41):
    """SCDL_m, or the smallest max(SCDL_m, 1/m) over m = 2, 4, ..., all of them tried.

    On a calibrated sample, whose SCDL is 0, this is 2**-levels.
    """
    if n_bins is not None:
        return soft_loss_m(y, p, w, n_bins, rounding)
    powers = [2**k for k in range(1, levels + 1)]
    return min(max(soft_loss_m(y, p, w, m, rounding, grid=4), 1 / m) for m in powers)


# Smooth calibration error


def residual_masses(y, p, w=None):
    """Distinct predictions and their shares of the mean residual."""
    triples = atoms(y, p, w)
    x = np.array([x for x, _, _ in triples])
    return x, np.array([mass * (q - x) for x, q, mass in triples])


def smooth_program(y, p, w=None):
    """smCE as a linear program over the values of h at the predictions."""
    x, residual = residual_masses(y, p, w)
    rise = np.diff(np.eye(x.size), axis=0)
    program = linprog(
        -residual,
        A_ub=np.vstack([rise, -rise]),
        b_ub=np.tile(np.diff(x), 2),
        bounds=(-1, 1),
        method="highs",
        options=SHARP,
    )
    return -program.fun


def isotonic_by_heap(values, weights):
    """The best nondecreasing fit in the L1 norm, element by element.

    The derivative of the cost of all elements so far, as a function of the last fitted value, is
    a step function: its steps lie on a heap, and the last value is best where it changes sign.
    """
    heap, tops = [], []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        if not heap or value >= -heap[0][0]:
            heapq.heappush(heap, (-value, weight))
        else:
            heapq.heappush(heap, (-value, 2 * weight))
            while weight > 0:
                top, step = heapq.heappop(heap)
                if step > weight:
                    heapq.heappush(heap, (top, step - weight))
                weight -= step
        tops.append(-heap[0][0])
    return np.minimum.accumulate(np.array(tops)[::-1])[::-1]


def isotonic_cost_by_table(values, weights):
    """The least cost of a nondecreasing fit: every element tries every one of the values."""
    levels = np.unique(values)
    cost = np.zeros(levels.size)
    for value, weight in zip(values, weights, strict=True):
        cost = np.minimum.accumulate(cost) + weight * np.abs(value - levels)
    return cost.min()


def smooth_error(y, p, w=None):
    """smCE by the heap: the mean residual, and the area between its curve and the best fit."""
    x, residual = residual_masses(y, p, w)
    return smooth_error_of(x, residual)


def smooth_error_of(x, residual):
    sums = np.cumsum(residual)
    sums = -sums if sums[-1] < 0 else sums
    total, inner = sums[-1], sums[:-1]
    fit = isotonic_by_heap(np.clip(inner, 0, total), np.diff(x)) if inner.size else inner
    return total + (np.diff(x) * np.abs(inner - fit)).sum()


# Smooth ECE


def smoothed_error_at(x, residual, sigma):
    """The integral over [0, 1] of abs(smoothed residuals): Gaussians at x and at all reflections.

    The integral of abs(f) is the variation of the integral F of f, and F is a sum of normal
    distribution functions: the variation on any grid is exact but for the steps in which F turns,
    so those are divided further.
    """
    reach = 9 * sigma
    turns = int(reach / 2) + 1
    images = np.concatenate(
        [side * x + 2 * k for k in range(-turns, turns + 1) for side in (1, -1)]
    )
    mass = np.tile(residual, images.size // x.size)
    near = (images > -reach) & (images < 1 + reach)
    images, mass = images[near], mass[near]

    def integral(t):
        return ndtr((t[:, None] - images) / sigma) @ mass

    around = np.unique(np.clip(images, 0, 1))
    variation = 0.0
    for part in np.split(around, np.flatnonzero(np.diff(around) > 2 * reach) + 1):
        low, high = max(part[0] - reach, 0), min(part[-1] + reach, 1)
        grid = np.linspace(low, high, 3 + int((high - low) / sigma * 40))
        rises = np.diff(integral(grid)) > 0
        turns_at = np.flatnonzero(rises[1:] != rises[:-1])
        finer = [np.linspace(grid[k], grid[k + 2], 200) for k in turns_at]
        grid = np.unique(np.concatenate([grid, *finer]))
        variation += np.abs(np.diff(integral(grid))).sum()
    return variation


def smooth_ece(y, p, w=None, sigma=None, steps=24):
    """smECE by bisection for the width that equals its error; below 1.5e-5 it counts as 0."""
    x, residual = residual_masses(y, p, w)
    if sigma is not None:
        return smoothed_error_at(x, residual, sigma)
    low, high = 1.5e-5, 1.0
    if smoothed_error_at(x, residual, low) < low:
        return 0.0
    for _ in range(steps):
        middle = (low + high) / 2
        if smoothed_error_at(x, residual, middle) > middle:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# Interval calibration error


def shifted_error(x, residual, width):
    """The mean over all shifts of the grid of the sum of absolute cell residuals.

    A shift moves a prediction to another cell only when it passes x modulo the width, so between
    these the sum is constant. Exact fractions: no row is put into a wrong cell.
    """
    width = Fraction(width)
    x = [Fraction(each) for each in x.tolist()]
    events = sorted({Fraction(0), width}.union(each % width for each in x))
    mean = 0.0
    for low, high in pairwise(events):
        shift, cells = (low + high) / 2, {}
        for each, mass in zip(x, residual.tolist(), strict=True):
            cell = (each - shift) // width
            cells[cell] = cells.get(cell, 0.0) + mass
        mean += float((high - low) / width) * sum(map(abs, cells.values()))
    return mean


def interval_error(y, p, w=None, levels=64):
    """SintCE: all widths 2^-k tried, and the limit."""
    x, residual = residual_masses(y, p, w)
    values = [shifted_error(x, residual, 2.0**-k) + 2.0**-k for k in range(levels)]
    return min(*values, np.abs(residual).sum())


# Lower distance to calibration


def lower_distance(y, p, w=None, slack=1e-9):
    """DistCal by cutting planes on its dual, with one number for every (prediction, outcome).

    The largest sum of mass * phi such that no zero at a and one at b gain by moving to one target:
    (1 - u) (phi_a - |a - u|) + u (phi_b - |b - u|) <= 0 for every u. For one pair this is a
    parabola between a and b, and between them and the ends, so the worst u is known; it becomes a
    constraint, until no u is worse than the slack.
    """
    triples = atoms(y, p, w)
    zeros = np.array([(x, mass * (1 - q)) for x, q, mass in triples if q < 1]).reshape(-1, 2)
    ones = np.array([(x, mass * q) for x, q, mass in triples if q > 0]).reshape(-1, 2)
    size = len(zeros) + len(ones)
    rows, limits = list(np.eye(size)), [*zeros[:, 0], *(1 - ones[:, 0])]  # the targets 0 and 1
    masses = np.concatenate([zeros[:, 1], ones[:, 1]])
    for _ in range(200):
        program = linprog(-masses, rows, limits, bounds=(-1, 1), method="highs", options=SHARP)
        worst = 0.0
        for i, j in product(range(len(zeros)), range(len(ones))):
            at, u = _worst_target(zeros[i, 0], ones[j, 0], program.x[i], program.x[len(zeros) + j])
            worst = max(worst, at)
            if at > slack:
                row = np.zeros(size)
                row[i], row[len(zeros) + j] = 1 - u, u
                rows.append(row)
                limits.append((1 - u) * abs(zeros[i, 0] - u) + u * abs(ones[j, 0] - u))
        if worst <= slack:
            return -program.fun
    raise AssertionError("the cutting planes did not end")


def _worst_target(a, b, phi_a, phi_b):
    def gain(u):
        return (1 - u) * (phi_a - abs(a - u)) + u * (phi_b - abs(b - u))

    ends = sorted({0.0, a, b, 1.0})
    places = list(ends)
    for low, high in pairwise(ends):
        # Through three points of the parabola: where its derivative vanishes.
        step = (high - low) / 2
        f, g, h = gain(low), gain(low + step), gain(high)
        if f - 2 * g + h < 0:
            places.append(min(max(low + step + step * (f - h) / (2 * (f - 2 * g + h)), low), high))
    return max((gain(u), u) for u in places)
