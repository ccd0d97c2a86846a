"""
Does a sample overstate the calibration distance?
=================================================

Seldom by more than n^(-1/3), whatever the domain, so that eps^(-3) rows are enough for an excess of
at most eps. And no better rate is possible: there is a calibrated forecaster on about n^(1/3)
inputs whose samples of n rows have a distance of that order.
"""

# %%
# The forecaster: k = n^(1/3) inputs with forecasts that are 1/k apart and right. All rows of an
# input move as one, and the distance is known up to an interval, of which both ends are shown.
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from skcal.theory import (
    calibration_distance_of_distribution,
    distance_lower_bound,
    sample_size,
)

rng = np.random.default_rng(0)
sizes = (100 * 1.8 ** np.arange(12)).astype(int)


def sample_distance(n):
    """Both ends of the distance of a sample of n rows."""
    k = round(n ** (1 / 3))
    forecast = (np.arange(k) + 0.5) / k
    count = rng.multinomial(n, np.full(k, 1 / k))
    mean = rng.binomial(count, forecast) / np.maximum(count, 1)
    distance = calibration_distance_of_distribution(
        mean, forecast, count, method="bounds", return_certificate=True
    )
    return distance.lower, distance.upper


ends = np.array([np.mean([sample_distance(n) for _ in range(20)], axis=0) for n in sizes])

# %%
# The bound of the excess is what ``distance_lower_bound`` subtracts. With next to no confidence
# only the bias is left, the bound of the mean.
bias = np.array([1 - distance_lower_bound(1.0, int(n), confidence=1e-12) for n in sizes])
print(f"{'rows':>8}{'inputs':>8}{'lower':>9}{'upper':>9}{'bound':>9}{'n^(1/3) upper':>15}")
for n, (low, high), bound in zip(sizes, ends, bias, strict=True):
    scaled = n ** (1 / 3) * high
    print(f"{n:>8}{round(n ** (1 / 3)):>8}{low:>9.4f}{high:>9.4f}{bound:>9.4f}{scaled:>15.3f}")
slopes = {}
for name, values in (("lower end", ends[:, 0]), ("upper end", ends[:, 1]), ("bound", bias)):
    fit = stats.linregress(np.log(sizes), np.log(values))
    half = stats.t.ppf(0.975, sizes.size - 2) * fit.stderr
    slopes[name] = (fit.slope, fit.slope - half, fit.slope + half)
    print(f"slope of the {name}: {fit.slope:.3f} +- {half:.3f}")

# %%
# The other way round: rows that are enough for an excess of at most eps, in the mean, and the rows
# at which this forecaster still has that excess.
constant = float(np.mean(ends[:, 1] * sizes ** (1 / 3)))
print(f"{'eps':>6}{'enough':>10}{'95% sure':>10}{'needed here':>13}")
for eps in (0.1, 0.05, 0.02, 0.01):
    enough, sure = sample_size(eps, confidence=1e-12), sample_size(eps)
    print(f"{eps:>6}{enough:>10}{sure:>10}{(constant / eps) ** 3:>13.0f}")

# %%
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.loglog(sizes, bias, "k:", label="bound of the mean excess")
ax.fill_between(sizes, *ends.T, alpha=0.3)
ax.loglog(sizes, ends[:, 1], "o-", color="C0", ms=4, label="distance of a calibrated sample")
ax.loglog(sizes, constant * sizes ** (-1 / 3), color="0.6", label=f"{constant:.2f} n^(-1/3)")
ax.set(xlabel="rows", ylabel="excess of the sample's distance")
ax.legend(fontsize="small")
plt.show()

# %%
# The excess falls like n^(-1/3), at about a third of the bound.
