"""
How much can SCDL change when forecasts move a little?
======================================================

Moving the forecasts by d on average changes SCDL by at most 2 sqrt(d): it is Hölder continuous with
exponent 1/2. A loss with hard bins jumps, and so do ECE and CDL.
"""

# %%
# First a cloud of random changes: samples of one to four forecasts, of which some rows move.
import matplotlib.pyplot as plt
import numpy as np

from skcal import metrics

rng = np.random.default_rng(0)


def change(measure, before, after, y, weight, **options):
    """Mean movement of the forecasts, and the change of a measure."""
    values = [measure(y, p, sample_weight=weight, **options) for p in (before, after)]
    return weight @ np.abs(after - before) / weight.sum(), abs(values[1] - values[0])


def random_change():
    k = rng.integers(1, 5)
    x, mass = rng.uniform(0.1, 0.9, k), rng.dirichlet(np.ones(k))
    rate = np.clip(x + rng.choice([0, 0.1]) * rng.normal(size=k), 0, 1)
    step = 10 ** rng.uniform(-5, -1) * rng.choice([-1, 0, 1], 2 * k)
    before = np.tile(x, 2)
    weight = np.concatenate([mass * rate, mass * (1 - rate)])
    return change(metrics.scdl, before, before + step, np.repeat([1, 0], k), weight)


cloud = np.array([random_change() for _ in range(1500)])
cloud = cloud[cloud.min(axis=1) > 1e-12]

# %%
# Then rows at 1/2 with both outcomes, which part: ones go down, zeros up. The last family shows
# that no constant below 2 would do. Of the mass, all but a little is well forecast at 0. The rest
# is calibrated at x = 1/sqrt(2 m), and its ones move down by 1/m, from one grid point to the next:
# just enough of them to reach the level 2/m where SCDL becomes 2/m.
apart, hard, unbinned = [], [], []
y, half = np.array([1, 0]), np.array([1.0, 1.0])
for d in np.geomspace(1e-6, 0.1, 41):
    ends = np.array([0.5, 0.5]), np.array([0.5 - d, 0.5 + d])
    apart.append(change(metrics.scdl, *ends, y, half))
    hard.append(change(metrics.scdl, *ends, y, half, rounding="floor"))
    unbinned.append(change(metrics.cdl, *ends, y, half))


def steepest(m):
    x = np.rint(np.sqrt(m / 2)) / m
    mass = 2 / (m * (2 * x * (1 - x) - 1 / m)) * (1 + 1e-9)
    weight = np.array([mass * x, mass * (1 - x), 1 - mass])
    before, after = np.array([x, x, 0]), np.array([x - 1 / m, x, 0])
    return change(metrics.scdl, before, after, np.array([1, 0, 0]), weight)


levels = 2 ** np.arange(5, 21, 3)
steep = np.array([steepest(m) for m in levels])

# %%
families = {"random": cloud, "parting": np.array(apart), "steepest": steep}
print(f"{'family':<10}{'changes':>9}{'smallest move':>15}{'largest ratio to sqrt(move)':>29}")
ratios = {}
for name, found in families.items():
    ratios[name] = (found[:, 1] / np.sqrt(found[:, 0])).max()
    print(f"{name:<10}{len(found):>9}{found[:, 0].min():>15.1e}{ratios[name]:>29.4f}")
for name, found in (("hard bins", hard), ("CDL", unbinned)):
    move, jump = found[0]
    print(f"{name}: a movement of {move:.0e} changes it by {jump:.3f}")

# %%
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.loglog(*cloud.T, ".", ms=2, color="0.6", label="SCDL, random changes")
ax.loglog(*np.array(apart).T, color="C0", label="SCDL, rows at 1/2 that part")
ax.loglog(*steep.T, "o", color="C0", label="SCDL, the steepest family")
ax.loglog(*np.array(hard).T, color="C1", label="with hard bins, rows that part")
ax.loglog(*np.array(unbinned).T, color="C3", label="CDL, rows that part")
ends = np.array([1e-11, 0.2])
ax.loglog(ends, 2 * np.sqrt(ends), "k:", label="2 sqrt(movement)")
ax.set(xlabel="mean movement of the forecasts", ylabel="change of the loss", ylim=(1e-8, 3))
ax.legend(fontsize="small", loc="lower right")
plt.show()

# %%
# No change exceeds 2 sqrt(d), the steepest family comes close, and hard bins jump.
