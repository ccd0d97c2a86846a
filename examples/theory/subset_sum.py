"""
Why is the calibration distance hard to compute?
================================================

Because it answers subset sum. Numbers and a sum wanted become a distribution whose calibration
distance equals a known threshold if some of the numbers have that sum, and exceeds it if not.
"""

# %%
# Every sum from 1 to the total is asked for. In the noiseless instance the numbers are masses, in
# the uniform one they are mean outcomes.
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from skcal.theory import calibration_distance_of_distribution, make_hardness_instance

numbers = [5, 9, 16, 27]
sums = {sum(some) for size in range(1, 5) for some in combinations(numbers, size)}
wanted = np.arange(1, sum(numbers))
reached = np.isin(wanted, list(sums))

excess = {}
for kind in ("noiseless", "uniform"):
    values = []
    for theta in wanted:
        *instance, threshold = make_hardness_instance(numbers, int(theta), kind=kind)
        distance = calibration_distance_of_distribution(*instance, method="exact")
        values.append(distance - threshold)
    excess[kind] = np.array(values)

# %%
# The excess over the threshold: zero, up to rounding, for the sums that are reached, and positive
# for the others.
print("numbers", numbers, "reach", reached.sum(), "of", wanted.size, "sums")
print(f"{'instance':<11}{'largest excess if reached':>27}{'smallest if not':>18}")
for kind, found in excess.items():
    print(f"{kind:<11}{abs(found[reached]).max():>27.1e}{found[~reached].min():>18.1e}")

# %%
fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, (kind, found) in zip(axes, excess.items(), strict=True):
    ax.plot(wanted[~reached], found[~reached], "o", ms=3, color="C0", label="no subset")
    ax.plot(wanted[reached], found[reached], "D", ms=5, color="C3", label="a subset has this sum")
    ax.set(title=kind, ylabel="distance - threshold")
    ax.ticklabel_format(axis="y", scilimits=(0, 0))
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
axes[1].set_xlabel("sum wanted")
plt.show()

# %%
# The excess is zero where a subset has the sum, and nowhere else.
