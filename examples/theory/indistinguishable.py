"""
Can a sample understate the calibration distance?
=================================================

Yes, and badly; and below about the square root of the number of inputs no method can tell. Two
distributions over k + 2 inputs have distances of 1/12 and about 1/24, and nobody can tell their
samples apart before some input has come up twice.
"""

# %%
# The two distances, as intervals.
import matplotlib.pyplot as plt
import numpy as np

from skcal.theory import calibration_distance_of_distribution, make_indistinguishable_pair

rng = np.random.default_rng(0)
print(f"{'k':>6}{'pure':>20}{'mixed':>20}   (1/12 = {1 / 12:.4f}, 1/24 = {1 / 24:.4f})")
for k in (50, 100, 200):
    row = f"{k:>6}"
    for distribution in make_indistinguishable_pair(k, rng=0):
        distance = calibration_distance_of_distribution(*distribution, return_certificate=True)
        row += f"{f'{distance.lower:.4f} to {distance.upper:.4f}':>20}"
    print(row)


# %%
# The best test. In the mixed distribution all rows of one small input have the same outcome; in the
# pure one c rows of it agree with probability 2^(1 - c). So "mixed, unless two rows of an input
# differ" is never wrong about mixed samples, and right about pure ones with the probability below.
# No test does better: this is the distance in total variation of the laws of the two samples.
def distinguishability(k, n, repeats=400):
    small = rng.binomial(n, 0.5, repeats)
    repeated = [np.count_nonzero(np.bincount(rng.integers(0, k, rows)) > 0) for rows in small]
    return 1 - np.mean(2.0 ** (np.array(repeated) - small))


multiples = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16])
curves = {}
for k in (100, 1_000, 10_000, 100_000):
    sizes = np.rint(multiples * np.sqrt(k)).astype(int)
    curves[k] = np.array([distinguishability(k, n) for n in sizes])
limit = 1 - np.exp(-(multiples**2) / 16)
print(f"{'n/sqrt(k)':>10}" + "".join(f"{f'k={k}':>10}" for k in curves) + f"{'limit':>9}")
for j, multiple in enumerate(multiples):
    print(f"{multiple:>10}" + "".join(f"{curves[k][j]:>10.3f}" for k in curves), end="")
    print(f"{limit[j]:>9.3f}")


# %%
# What the distance of the sample says, with k = 100 inputs. It takes far more rows than the best
# test: as long as each input has few rows, a pure sample looks like a mixed one.
def sample_distance(mean, p, mass, n):
    count = rng.multinomial(n, mass)
    rate = rng.binomial(count, mean) / np.maximum(count, 1)
    return calibration_distance_of_distribution(rate, p, count, method="bounds")


rows = np.array([50, 100, 500, 2_000, 10_000, 50_000])
pair = make_indistinguishable_pair(100, rng=0)
seen = np.array([
    [np.mean([sample_distance(*distribution, n) for _ in range(max(6, 1500 // n))]) for n in rows]
    for distribution in pair
])  # fmt: skip
print(f"{'rows':>8}{'pure':>9}{'mixed':>9}   (mean distance of the sample, k = 100)")
for n, pure, mixed in zip(rows, *seen, strict=True):
    print(f"{n:>8}{pure:>9.4f}{mixed:>9.4f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for k, curve in curves.items():
    left.semilogx(multiples, curve, "o", ms=4, label=f"k = {k}")
left.semilogx(multiples, limit, "k:", label="1 - exp(-n^2 / 16 k)")
left.set(xlabel="rows / sqrt(k)", ylabel="advantage of the best test")
left.legend(fontsize="small")
for name, values in zip(("pure", "mixed"), seen, strict=True):
    right.semilogx(rows, values, "o-", ms=4, label=name)
for height in (1 / 12, 1 / 24):
    right.axhline(height, color="0.7", lw=0.8, zorder=0)
right.axvline(np.sqrt(100), color="k", ls=":", label="sqrt(k)")
right.set(xlabel="rows", ylabel="mean distance of the sample, k = 100", ylim=(0, None))
right.legend(fontsize="small")
plt.show()

# %%
# The advantage depends on n / sqrt(k) alone and is small below 1, though the distances differ by a
# factor of two.
