"""
Why do smCE and cutoff need a power?
====================================

No way of responding to forecasts has a regret of the order of smCE or of the cutoff error in every
case: for smCE it is the square root that one must pay, for cutoff at least the power 2/3. The best
of all randomised responses to a few forecasts is a linear program, so that the claim can be checked
over all responses at once.
"""

# %%
# The decision maker knows the forecasts that may occur, and the decision, but not the distribution.
# It may be calibrated, with one forecast only; then the response had better believe the forecast.
# Or it may be the *bad* one. The largest regret over these distributions is minimised.
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

from skcal import metrics


def task(thresholds):
    """Utilities in [0, 1] of actions that change at thresholds, with equal stakes."""
    passed = np.arange(thresholds.size + 1)[:, None] > np.arange(thresholds.size)
    table = np.array([~passed @ thresholds, passed @ (1 - thresholds)])
    return table / table.max()


def least_regret(x, mass, rate, utility):
    """Least largest regret of responses to forecasts x; mass and rate are the bad distribution."""
    n, n_actions = x.size, utility.shape[1]
    believed, true = (np.outer(1 - q, utility[0]) + np.outer(q, utility[1]) for q in (x, rate))
    loss = believed.max(axis=1, keepdims=True) - believed
    # Unknowns: the response (n, n_actions), the gain of swapping each action, the largest regret.
    calibrated = np.hstack([np.eye(n).repeat(n_actions, axis=1) * loss.ravel(),
                            np.zeros((n, n_actions)), -np.ones((n, 1))])  # fmt: skip
    gain = mass[:, None, None] * (true[:, None, :] - true[:, :, None])  # forecast, from, to
    swaps = np.einsum("kab,ac->abkc", gain, np.eye(n_actions)).reshape(n_actions**2, -1)
    swaps = np.hstack([swaps, -np.eye(n_actions).repeat(n_actions, axis=0),
                       np.zeros((n_actions**2, 1))])  # fmt: skip
    total = np.concatenate([np.zeros(n * n_actions), np.ones(n_actions), [-1.0]])
    rows = np.vstack([calibrated, swaps, total])
    sums = np.hstack([np.eye(n).repeat(n_actions, axis=1), np.zeros((n, n_actions + 1))])
    cost = np.zeros(rows.shape[1])
    cost[-1] = 1
    return linprog(cost, rows, np.zeros(len(rows)), sums, np.ones(n)).fun


def error_of(measure, x, mass, rate):
    """A measure of the bad distribution, as a weighted sample."""
    weight = np.concatenate([mass * rate, mass * (1 - rate)])
    return measure(np.repeat([1, 0], x.size), np.tile(x, 2), sample_weight=weight)


# %%
# Against smCE: one threshold at 1/2 and two forecasts 1/2 - d and 1/2 + d, whose rates are
# interchanged in the bad distribution. A slowly varying reweighting hardly sees that, but the
# action is wrong on both sides.
smooth = []
for d in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005):
    x = np.array([0.5 - d, 0.5 + d])
    bad = (x, np.array([0.5, 0.5]), x[::-1])
    smooth.append([error_of(metrics.smce, *bad), least_regret(*bad, task(np.array([0.5])))])

# %%
# Against cutoff: n thresholds and a forecast between each two. In the bad distribution each of
# these has mass n^-3 and a rate that is 1/4 off, up and down in turn, so that no interval gathers
# more than one of them; the other rows are well forecast at 0. Merging two forecasts costs about
# n^-2 when it is calibrated, and keeping all of them apart costs n times n^-3 when it is not.
cutoff = []
for n in (4, 6, 8, 12, 16, 24):
    thresholds = 0.25 + 0.5 * np.arange(n + 1) / n
    x = np.concatenate([[0.0], (thresholds[1:] + thresholds[:-1]) / 2])
    mass = np.concatenate([[1 - n**-2], np.full(n, n**-3.0)])
    bad = (x, mass, x + 0.25 * np.concatenate([[0.0], (-1.0) ** np.arange(n)]))
    error = error_of(metrics.cutoff_calibration_error, *bad)
    cutoff.append([error, least_regret(*bad, task(thresholds))])

families = {"smCE": (np.array(smooth), 1 / 2), "cutoff": (np.array(cutoff), 2 / 3)}
slopes = {}
for name, (found, power) in families.items():
    print(f"{name:>10}{'regret':>10}{'regret/' + name:>15}{'regret/power':>15}")
    for error, regret in found:
        ratio = regret / error**power
        print(f"{error:>10.2e}{regret:>10.2e}{regret / error:>15.3f}{ratio:>15.4f}")
    slopes[name] = np.polyfit(*np.log(found[-3:]).T, 1)[0]
    print(f"slope of the last three: {slopes[name]:.3f}, theory {power:.3f}\n")

# %%
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for k, (name, (found, power)) in enumerate(families.items()):
    ax.loglog(*found.T, "o-", color=f"C{k}", label=f"least regret against {name}")
    ends = found[[0, -1], 0]
    guide = found[-1, 1] * (ends / ends[-1]) ** power
    ax.loglog(ends, guide, ":", color=f"C{k}", label=f"slope {power:.2f}")
ends = np.array([1e-5, 0.1])
ax.loglog(ends, ends, color="0.6", label="regret = error")
ax.set(xlabel="error of the bad distribution", ylabel="regret of the best response")
ax.legend(fontsize="small")
plt.show()

# %%
# As the errors vanish, the regret that no response avoids outgrows any multiple of them.
