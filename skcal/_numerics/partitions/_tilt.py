"""Valid potentials from multipliers lambda(u), as steep as wanted.

For any function lambda the pair phi_0 = -u lambda, phi_1 = (1 - u) lambda has h = (1 - u) phi_0 +
u phi_1 = 0; the greatest 1-Lipschitz functions below the two are potentials, valid after `repair`.
Where |lambda| = 1 the reduced costs of many partitions vanish together and neither the program over
partitions nor the class-wise bound has anything to tell them apart by: lambda clipped to [-t, t],
t < 1, is worth a small loss of the bound.
"""

import numpy as np

from skcal._numerics._lipschitz_dual import Potentials, repair

HALVINGS = 12
STEEP = 0.9  # below this, multipliers are left alone


def multipliers(potentials: Potentials) -> np.ndarray:
    """lambda at the nodes with phi_0 <= -u lambda and phi_1 <= (1 - u) lambda, the middle one."""
    nodes, zeros, ones = potentials
    inner = (nodes > 0) & (nodes < 1)
    most = np.divide(-zeros, nodes, out=ones.copy(), where=nodes > 0)
    least = np.divide(ones, 1 - nodes, out=-zeros, where=nodes < 1)
    middle = np.where(inner, (most + least) / 2, np.where(nodes > 0, most, least))
    return np.asarray(np.clip(middle, -1.0, 1.0))


def potentials_of(nodes: np.ndarray, lam: np.ndarray) -> Potentials:
    """The best potentials that multipliers at the nodes give."""
    zeros, ones = _below(nodes, -nodes * lam), _below(nodes, (1 - nodes) * lam)
    return repair(Potentials(nodes, zeros, ones))[0]


def tilted(
    potentials: Potentials, zeros_at: np.ndarray, ones_at: np.ndarray, loss: float
) -> Potentials:
    """Potentials with the least steep multipliers whose bound falls by at most ``loss``.

    ``zeros_at`` and ``ones_at`` are the rows laid onto the nodes, so that the bound is their
    product with the potentials. The loss grows with the tilt: bisection.
    """
    lam = multipliers(potentials)
    steepest = float(np.abs(lam).max())
    if steepest <= STEEP:
        return potentials
    least = bound_at(potentials, zeros_at, ones_at) - loss
    best = potentials
    low, high = 0.0, steepest
    for _ in range(HALVINGS):
        t = (low + high) / 2
        trial = potentials_of(potentials.nodes, np.clip(lam, -t, t))
        if bound_at(trial, zeros_at, ones_at) >= least:
            high, best = t, trial
        else:
            low = t
    return best


def bound_at(potentials: Potentials, zeros_at: np.ndarray, ones_at: np.ndarray) -> float:
    """Sum of the potentials over rows laid onto the nodes."""
    return float(zeros_at @ potentials.zeros + ones_at @ potentials.ones)


def _below(nodes: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The greatest 1-Lipschitz function below f at the nodes."""
    from_left = np.minimum.accumulate(f - nodes) + nodes
    from_right = np.minimum.accumulate((f + nodes)[::-1])[::-1] - nodes
    return np.asarray(np.minimum(from_left, from_right))
