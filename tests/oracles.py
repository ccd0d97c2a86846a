"""Slow twins of the kernels, written from the definitions: loops, all pairs, linear programs.

They share no code with the package and take plain arrays: outcomes y in {0, 1}, predictions p and
weights w (None: one each).
"""

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog


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
        options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
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
