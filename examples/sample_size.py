"""
Why is the decision loss of a calibrated forecaster not zero?
=============================================================

The calibration decision loss (CDL) of a sample answers a question about that sample: how much would
swapping actions have gained on these very rows? When all forecasts differ, hindsight may choose
another swap for every row, and the loss stays large however many rows there are. SCDL rounds
forecasts to a grid that balances itself, and goes to zero.
"""

# %%
# Example 2 of the paper: a perfectly calibrated forecaster whose forecasts all differ.
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal import metrics

rng = np.random.default_rng(0)
print(f"{'rows':>8}{'CDL':>8}{'SCDL':>8}{'m*':>6}")
for n in (100, 1_000, 10_000, 100_000):
    p = 0.5 + 0.001 * rng.uniform(-1, 1, n)
    y = (rng.random(n) < p).astype(int)
    scdl = metrics.scdl(y, p, return_certificate=True)
    print(f"{n:>8}{metrics.cdl(y, p):>8.3f}{scdl.value:>8.4f}{scdl.n_bins:>6}")

# %%
# The same on real data, out-of-fold forecasts for breast cancer. Rounding them to fewer digits
# merges rows, so that hindsight has fewer swaps to choose: the CDL falls; the SCDL hardly moves
# until two digits are left.
X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
p = cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
print(f"{'digits':>8}{'distinct':>10}{'CDL':>8}{'SCDL':>8}")
for digits in (16, 3, 2, 1):
    q = p.round(digits)
    print(f"{digits:>8}{np.unique(q).size:>10}{metrics.cdl(y, q):>8.3f}{metrics.scdl(y, q):>8.4f}")

# %%
# Which decision does the CDL speak of? The worst-case task is part of the proof.
loss = metrics.cdl(y, p, return_certificate=True)
print(loss.task)
print("thresholds:", loss.task.thresholds_, " proof holds:", loss.verify())
