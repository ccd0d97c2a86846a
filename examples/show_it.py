"""
Five pictures of one forecaster
===============================

Naive Bayes on tumours: its out-of-fold probabilities as a reliability diagram, the regret of each
decision threshold, the cumulative residual, the nearest calibrated forecasts and the net benefit.
"""

# %%
# A display draws on the axes it is given, and makes a figure when it gets none. Several models may
# share one axes, as the last ones show: naive Bayes gives a few benign tumours a probability near
# 1, which costs net benefit where the threshold is high.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal.display import (
    DecisionLossDisplay,
    NetBenefitDisplay,
    PartitionDisplay,
    ReliabilityDisplay,
    SmoothCalibrationDisplay,
)

data = load_breast_cancer()
y = data.target_names[data.target]  # "benign" or "malignant"
models = {
    "naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
proba = {
    name: cross_val_predict(model, data.data, y, method="predict_proba")[:, 1]
    for name, model in models.items()
}

displays = [
    ReliabilityDisplay,
    DecisionLossDisplay,
    SmoothCalibrationDisplay,
    PartitionDisplay,
    NetBenefitDisplay,
]
figure, axes = plt.subplots(2, 3, figsize=(16, 9), layout="constrained")
*axes, last = axes.ravel()
for display, ax in zip(displays, axes, strict=True):
    options = {"pos_label": "malignant", "name": "naive Bayes", "ax": ax}
    display.from_predictions(y, proba["naive Bayes"], **options)
    ax.set_title(display.__name__)

for name, p in proba.items():
    NetBenefitDisplay.from_predictions(y, p, pos_label="malignant", name=name, ax=last)
last.set_title("two models")

path = Path(tempfile.gettempdir()) / "skcal.png"
figure.savefig(path, dpi=70)
print("saved", path)
