"""
Does SCDL bound the regret of every decision?
=============================================

The promise of SCDL: whoever rounds forecasts at random to the grid of step 1/m, m the smallest
power of two with 1/m <= SCDL, and then responds as if they were true, has a swap regret of at most
4 SCDL, whatever the decision, if utilities lie in [0, 1].
"""

# %%
# Six forecasters with 400 rows each. The last is the worst that there can be.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from skcal import metrics
from skcal.decision import DecisionTask, rounding_weights, swap_regret

rng = np.random.default_rng(0)
truth = rng.uniform(0.02, 0.98, 400)
y = (rng.random(400) < truth).astype(int)
forecasters = {
    "calibrated": (y, truth),
    "too sure": (y, expit(2 * logit(truth))),
    "too shy": (y, expit(logit(truth) / 2)),
    "too high": (y, np.sqrt(truth)),
    "ten values": (y, np.floor(10 * truth) / 10),
    "always 1/2, all 1": (np.ones(400, dtype=int), np.full(400, 0.5)),
}


# %%
# A decision with two outcomes is a set of thresholds at which the action changes, each with a
# stake. The largest stakes with utilities in [0, 1] make the most of it.
def random_task(n_actions):
    thresholds = np.sort(rng.random(n_actions - 1))
    stakes = rng.dirichlet(np.ones(n_actions - 1))
    stakes /= max(stakes @ thresholds, stakes @ (1 - thresholds))
    passed = np.arange(n_actions)[:, None] > np.arange(n_actions - 1)
    utility = [~passed @ (stakes * thresholds), passed @ (stakes * (1 - thresholds))]
    return DecisionTask(utility, classes=[0, 1], actions=range(n_actions))


tasks = [random_task(n_actions) for n_actions in (2, 3, 5) for _ in range(300)]


# %%
# The worst decision of all is the CDL of the rounded rows, each split into its two grid points.
def worst_regret(y, p, m):
    low, high, share = rounding_weights(p, m)
    rounded, weight = np.concatenate([low, high]), np.concatenate([1 - share, share])
    return metrics.cdl(np.tile(y, 2), rounded, sample_weight=weight)


ratios = {}
print(f"{'forecaster':<19}{'SCDL':>7}{'m':>5}{'mean':>8}{'largest':>9}{'worst':>8}{'4 SCDL':>8}")
for name, (outcome, p) in forecasters.items():
    scdl = metrics.scdl(outcome, p, return_certificate=True)
    regrets = np.array([
        swap_regret(outcome, p, task, rounding="random", n_bins=scdl.n_bins)
        for task in tasks
    ])  # fmt: skip
    worst, bound = worst_regret(outcome, p, scdl.n_bins), 4 * scdl.value
    ratios[name] = regrets / bound, worst / bound
    print(
        f"{name:<19}{scdl.value:>7.4f}{scdl.n_bins:>5}{regrets.mean():>8.4f}"
        f"{regrets.max():>9.4f}{worst:>8.4f}{bound:>8.4f}"
    )
print(f"{len(tasks) * len(forecasters)} regrets, the largest is "
      f"{max(regret.max() for regret, _ in ratios.values()):.3f} of its bound")  # fmt: skip

# %%
fig, axes = plt.subplots(2, 3, figsize=(9, 4.5), sharex=True, layout="constrained")
for ax, (name, (regret, worst)) in zip(axes.flat, ratios.items(), strict=True):
    ax.hist(regret, bins=np.linspace(0, 1, 41))
    ax.axvline(worst, color="C3")
    ax.set(title=f"{name} ({worst:.2f})", yticks=[], xlim=(0, 1.05))
fig.supxlabel("swap regret as a share of 4 SCDL: 900 random tasks, and the worst of all (line)")
plt.show()

# %%
# No regret exceeds its bound; for the forecast 1/2 before ones only, 4 SCDL is attained.
