"""
Which of three models, and do the data tell?
============================================

Three models, one test set. Each calibration error comes with its interval, and so does each
difference: two intervals may overlap although the difference, on the same rows, is clear.
"""

# %%
# Out-of-fold forecasts of the same rows. The third model is the second one, trained on slightly
# other features: nobody should be able to tell them apart.
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal import inference, metrics

X, y = load_breast_cancer(return_X_y=True)
models = {
    "naive Bayes": (GaussianNB(), X),
    "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), X),
    "logistic, 25 features": (make_pipeline(StandardScaler(), LogisticRegression()), X[:, :25]),
}
forecasts = {
    name: cross_val_predict(model, features, y, cv=10, method="predict_proba")[:, 1]
    for name, (model, features) in models.items()
}

# %%
# Calibration alone would choose a forecaster that gives everybody the base rate, so the Brier
# score, which is proper, stands beside it.
draws = {"n_resamples": 199, "random_state": 0}
print(f"{'':<22}{'smCE':>9}{'95% interval':>18}{'Brier':>9}{'95% interval':>18}")
for name, p in forecasts.items():
    line = f"{name:<22}"
    for measure in (metrics.smce, brier_score_loss):
        found = inference.bootstrap_interval(measure, y, p, **draws)
        line += f"{found.value:>9.4f}{found.low:>10.4f}{found.high:>8.4f}"
    print(line)

# %%
# The rule: take the model with the best Brier score, and beside it those whose difference from it
# has an interval with 0 inside. Among them the data cannot tell by the Brier score; perhaps they
# can by the calibration error. If not, take whichever is cheaper to run.
best = min(forecasts, key=lambda name: brier_score_loss(y, forecasts[name]))
print(f"\nbest Brier score: {best}")
for name in forecasts:
    if name == best:
        continue
    print(f"{name} less {best}:")
    for label, measure in (("Brier score", brier_score_loss), ("smCE", metrics.smce)):
        found = inference.compare(measure, y, forecasts[name], forecasts[best], **draws)
        verdict = "the data cannot tell" if found.low <= 0 <= found.high else "a clear difference"
        print(f"    {label} {found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f}), {verdict}")
        if verdict == "the data cannot tell" and found.value:
            # the width of an interval falls as one over the root of the rows
            needed = y.size * ((found.high - found.low) / 2 / found.value) ** 2
            print(f"        to tell, if this is the difference, takes about {needed:.0f} rows")
