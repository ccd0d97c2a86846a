"""
Can hindsight hurt a calibrated forecaster?
===========================================

Example 2 of the paper on SCDL. The calibration decision loss (CDL) of a sample allows hindsight to
answer each distinct forecast separately. When all forecasts differ, that is one answer per row, and
even a calibrated forecaster keeps a large CDL, however many rows there are.
"""

# %%
# Calibrated forecasts, uniform within 1/2 - w to 1/2 + w. Of the rows below 1/2 the share
# 1/2 - w/2 has outcome 1, so that the decision "act iff p >= 1/2" has the regret
# (1 - w)/4, and the CDL tends to twice that.
import matplotlib.pyplot as plt
import numpy as np

from skcal import metrics

rng = np.random.default_rng(0)
sizes = (100 * 10 ** np.arange(0, 4, 0.5)).astype(int)
cdl, scdl = {}, {}
for w in (0.001, 0.1, 0.5):
    losses = []
    for n in sizes:
        p = 0.5 + w * rng.uniform(-1, 1, (20, n))
        y = (rng.random(p.shape) < p).astype(int)
        losses.append([[measure(*row) for row in zip(y, p, strict=True)]
                       for measure in (metrics.cdl, metrics.scdl)])  # fmt: skip
    cdl[w], scdl[w] = np.mean(losses, axis=2).T

print(f"{'rows':>8}" + "".join(f"{f'CDL, w={w}':>14}{'SCDL':>9}" for w in cdl))
for k, n in enumerate(sizes):
    print(f"{n:>8}" + "".join(f"{cdl[w][k]:>14.4f}{scdl[w][k]:>9.4f}" for w in cdl))
print(f"{'limit':>8}" + "".join(f"{(1 - w) / 2:>14.4f}{0:>9}" for w in cdl))

# %%
# What is that regret worth? Swapping every row's action for the one that its outcome called for
# gains as much as CDL says. The same swap on new outcomes of the same forecasts gains nothing.
p = 0.5 + 0.001 * rng.uniform(-1, 1, 100_000)
y, new = (rng.random((2, p.size)) < p).astype(int)
act = (p >= 0.5).astype(int)
gain = np.mean(y == y) - np.mean(y == act)
again = np.mean(new == y) - np.mean(new == act)
print(f"the swap gains {gain:.3f} in hindsight, and {again:.3f} on new outcomes")

# %%
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for k, w in enumerate(cdl):
    ax.loglog(sizes, cdl[w], "o-", color=f"C{k}", ms=4, label=f"CDL, w = {w}")
    ax.loglog(sizes, scdl[w], "s--", color=f"C{k}", ms=4, label=f"SCDL, w = {w}")
    ax.axhline((1 - w) / 2, color="0.7", lw=0.8, zorder=0)
ax.set(xlabel="rows", ylabel="loss of a calibrated sample")
ax.legend(fontsize="small")
plt.show()

# %%
# The CDL of the sample stays near (1 - w)/2 while that of the population is 0; SCDL goes to 0.
