"""
How does SCDL relate to the distance from calibration?
======================================================

Up to constants SCDL lies between the square and the square root of DistCal, the least movement of
the forecasts that calibrates them: 0.18 DistCal^2 <= SCDL <= 2 sqrt(DistCal).
"""

# %%
# All samples are given by forecasts x, with a mass and a rate of outcomes each.
import matplotlib.pyplot as plt
import numpy as np

from skcal import metrics

rng = np.random.default_rng(0)


def measured(x, mass, rate):
    """DistCal and SCDL of a population."""
    weight = np.concatenate([mass * rate, mass * (1 - rate)])
    sample = np.repeat([1, 0], x.size), np.tile(x, 2)
    distance = metrics.lower_calibration_distance(*sample, sample_weight=weight)
    return distance, metrics.scdl(*sample, sample_weight=weight)


def random_forecasts():
    n = rng.integers(2, 30)
    x = rng.random(n)
    error = 10 ** rng.uniform(-3, -0.3) * rng.normal(size=n)
    return x, rng.dirichlet(np.ones(n)), np.clip(x + error + rng.choice([0, 0.1]), 0, 1)


def all_too_low(d):
    """Uniform forecasts that are all too low by d, up to the end of the interval."""
    x = (np.arange(200) + 0.5) / 200
    return x, np.full(200, 1 / 200), np.minimum(x + d, 1)


def interchanged(d):
    """Two forecasts whose rates belong to each other."""
    x = np.array([0.5 - d, 0.5 + d])
    return x, np.array([0.5, 0.5]), x[::-1]


def steepest(m):
    """A calibrated forecast x, the ones of which have moved down by 1/m; the rest is right at 0."""
    x = np.rint(np.sqrt(m / 2)) / m
    mass = 2 / (m * (2 * x * (1 - x) - 1 / m)) * (1 + 1e-9)
    rates, masses = np.array([1.0, 0, 0]), np.array([mass * x, mass * (1 - x), 1 - mass])
    return np.array([x - 1 / m, x, 0]), masses, rates


families = {
    "random": [random_forecasts() for _ in range(60)],
    "all too low": [all_too_low(d) for d in (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)],
    "interchanged": [interchanged(d) for d in np.geomspace(0.005, 0.3, 9)],
    "steepest": [steepest(m) for m in (16, 32, 64, 128)],
}
found = {name: np.array([measured(*row) for row in rows]) for name, rows in families.items()}
found = {name: pairs[pairs.min(axis=1) > 0] for name, pairs in found.items()}

# %%
print(f"{'family':<14}{'DistCal':>17}{'SCDL / DistCal^2':>22}{'SCDL / sqrt(DistCal)':>24}")
for name, (distance, scdl) in ((name, pairs.T) for name, pairs in found.items()):
    low, high = scdl / distance**2, scdl / np.sqrt(distance)
    print(
        f"{name:<14}{distance.min():>8.5f} to {distance.max():.3f}{low.min():>13.3f}, least"
        f"{high.max():>15.3f}, most"
    )

# %%
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for (name, pairs), marker in zip(found.items(), ".osD", strict=True):
    ax.loglog(*pairs.T, marker, ms=4, label=name)
ends = np.geomspace(1e-4, 0.5, 50)
ax.loglog(ends, 2 * np.sqrt(ends), "k:", label="2 sqrt(DistCal)")
ax.loglog(ends, 0.18 * ends**2, "k--", label="0.18 DistCal^2")
ax.set(xlabel="DistCal", ylabel="SCDL", ylim=(1e-6, 2))
ax.legend(fontsize="small", loc="lower right")
plt.show()

# %%
# Both powers are attained: the square by small errors of one sign, the root by errors that undo
# one another nearby. The upper constant is nearly attained, the lower one is not.
