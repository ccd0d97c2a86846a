"""Draw doc/picture.png, the picture of the README: python doc/picture.py."""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skcal import RecalibratedClassifier
from skcal.display import NetBenefitDisplay, ReliabilityDisplay

X, y = make_classification(
    12_000, n_informative=4, n_redundant=12, flip_y=0.1, class_sep=0.7, random_state=0
)
X, test_X, y, test_y = train_test_split(X, y, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
models = {"naive Bayes": GaussianNB(), "recalibrated": RecalibratedClassifier(GaussianNB())}
for name, model in models.items():
    p = model.fit(X, y).predict_proba(test_X)[:, 1]
    ReliabilityDisplay.from_predictions(test_y, p, name=name, ax=axes[0])
    NetBenefitDisplay.from_predictions(test_y, p, name=name, ax=axes[1])
axes[0].set_title("What comes true, against what was forecast")
axes[1].set_title("What it is worth to act on it")
figure.savefig(Path(__file__).with_name("picture.png"), dpi=80)
