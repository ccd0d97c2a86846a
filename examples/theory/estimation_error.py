"""
How many rows does a measure need?
==================================

A measure can be estimated from a sample if the sample's value comes close to the population's. Here
the mean error is regressed on the number of rows, both in logarithms: a slope of -1/2 means that
four times as many rows halve the error.
"""

# %%
# Two forecasters with uniform forecasts: one is calibrated, the outcomes of the other have the
# probability p^2. The calibrated population has the value 0 in every measure.
import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from skcal import metrics

measures = {
    "SCDL": metrics.scdl,
    "cutoff": metrics.cutoff_calibration_error,
    "smCE": metrics.smce,
    "bECE": metrics.actionable_binned_error,
    "smooth ECE": metrics.smooth_ece,
    "CDL": metrics.cdl,
}
expected = {
    "calibrated": [-1 / 2, -1 / 2, -1 / 2, -1 / 3, -1 / 3, 0],
    "miscalibrated": [-1 / 2, -1 / 2, -1 / 2, -1 / 3, -1 / 2, 0],
}

# %%
# All residuals p^2 - p of the other forecaster have one sign and sum to 1/6, which is its cutoff,
# its smCE and, at every width, its smooth ECE; the ECE too, and bECE doubles it. The regret curve
# is B(v) = 2/3 v^(3/2) - v^2 + v^3/3, and CDL = 2 B(1/2). SCDL needs a grid: it is computed from
# the population itself, in the form of a weighted sample.
x = (np.arange(2**18) + 0.5) / 2**18
outcome, weight = np.repeat([1, 0], x.size), np.concatenate([x**2, 1 - x**2])
scdl = metrics.scdl(outcome, np.tile(x, 2), sample_weight=weight)
populations = {
    "calibrated": np.zeros(6),
    "miscalibrated": np.array([scdl, 1 / 6, 1 / 6, 1 / 3, 1 / 6, np.sqrt(2) / 3 - 5 / 12]),
}

# %%
# Sizes are a factor of 1.5 apart: SCDL is often a power of two, and its curve repeats itself every
# factor of 4, so sizes in that ratio would all see the same point of it. Means are over 400
# samples, or over the first 200 of them for the slow measures.
sizes = (600 * 1.5 ** np.arange(12)).astype(int)
slow = ("smCE", "smooth ECE")


def mean_error(kind, n):
    """Mean absolute error of every measure over samples of n rows."""
    rng = np.random.default_rng(n)
    error = {name: [] for name in measures}
    for sample in range(400):
        p = rng.random(n)
        y = (rng.random(n) < (p if kind == "calibrated" else p**2)).astype(int)
        for (name, measure), population in zip(measures.items(), populations[kind], strict=True):
            if sample < 200 or name not in slow:
                error[name].append(abs(measure(y, p) - population))
    return [np.mean(values) for values in error.values()]


jobs = [(kind, n) for n in sizes[::-1] for kind in populations]
found = dict(zip(jobs, Parallel(n_jobs=-1)(delayed(mean_error)(*job) for job in jobs), strict=True))
errors = {kind: np.array([found[kind, n] for n in sizes]) for kind in populations}


# %%
# The interval of a slope comes from the scatter around the fitted line.
def slope_of(n, error):
    """Slope of log(error) on log(n), its standard error and its 95% interval."""
    fit = stats.linregress(np.log(n), np.log(error))
    half = stats.t.ppf(0.975, len(n) - 2) * fit.stderr
    return fit.slope, fit.stderr, fit.slope - half, fit.slope + half


slopes = {}
columns = f"{sizes[0]:>6} rows{sizes[-1]:>7}{'slope':>8}{'s.e.':>7}{'95% interval':>19}"
print(f"{'mean error at':<25}{columns}{'theory':>8}")
for kind, error in errors.items():
    for k, name in enumerate(measures):
        slopes[kind, name] = slope, se, low, high = slope_of(sizes, error[:, k])
        print(
            f"{kind:<14}{name:<11}{error[0, k]:>11.4f}{error[-1, k]:>7.4f}{slope:>8.3f}"
            f"{se:>7.3f}{low:>9.3f} to {high:.3f}{expected[kind][k]:>8.2f}"
        )

# %%
# Some intervals miss the theory, as sizes are not infinite. CDL tends to 1/4 from above, and is too
# high by about n^(-2/3) / 2. The error of bECE in the miscalibrated case is that of rounding down,
# 1/m with m = n^(1/3) bins, less a term of the order 1/m^2. With more rows that term is gone: bECE
# needs only the counts of the bins, which can be drawn without their rows.
excess = (errors["calibrated"][:, -1] - 0.25) * sizes ** (2 / 3)
print("n^(2/3) (CDL - 1/4):", *excess.round(2))

large = (100_000 * 1.5 ** np.arange(12)).astype(int)
rng, remaining = np.random.default_rng(0), []
for n in large:
    m = round(n ** (1 / 3))
    edges = np.arange(m + 1) / m
    count = rng.multinomial(n, np.full(m, 1 / m), size=200)
    ones = rng.binomial(count, np.diff(edges**3) * m / 3)
    bece = 2 * np.abs(ones - count * edges[:-1]).sum(axis=1) / n
    remaining.append(np.abs(bece - 1 / 3).mean())
slopes["bECE, more rows"] = slope, se, low, high = slope_of(large, remaining)
print(f"bECE, {large[0]} to {large[-1]} rows: {slope:.4f}, s.e. {se:.4f}, {low:.4f} to {high:.4f}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True, layout="constrained")
for ax, (kind, error) in zip(axes, errors.items(), strict=True):
    for k, name in enumerate(measures):
        ax.loglog(sizes, error[:, k], "o-", ms=3, label=f"{name}: {slopes[kind, name][0]:.2f}")
    ax.set(title=kind, xlabel="rows")
    ax.legend(
        title="slope", fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.13)
    )
axes[0].set_ylabel("mean error of a sample")
plt.show()

# %%
# SCDL settles as fast as cutoff and smCE do, binned and smooth ECE more slowly, and CDL not at all.
