"""
Recalibrating a classifier, and how not to
==========================================

Naive Bayes counts dependent features as if each were news, so it is far too sure of itself. A
recalibrator mends that without touching how it ranks. The second part shows why the calibrated
forecaster nearest to yours may be one that you would not want.
"""

# %%
# The recalibrated classifier is an estimator like any other: here it is the last step of a
# pipeline, and cross-validation fits the whole pipeline, recalibration included, in every fold.
import numpy as np
from scipy.special import expit, logit
from sklearn.datasets import make_classification
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal.recalibration import PartitionCalibrator, RecalibratedClassifier
from skcal.scorers import get_scorer

X, y = make_classification(
    2000, n_informative=4, n_redundant=12, flip_y=0.1, class_sep=0.7, random_state=0
)
candidates = {
    "naive Bayes": GaussianNB(),
    "with the default": RecalibratedClassifier(GaussianNB()),
    "with isotonic": RecalibratedClassifier(GaussianNB(), IsotonicRegression()),
}
print(f"{'':<18}{'log loss':>9}{'Brier':>8}{'SCDL':>8}{'AUC':>8}")
for name, classifier in candidates.items():
    pipeline = make_pipeline(StandardScaler(), classifier)
    row = [
        cross_val_score(pipeline, X, y, scoring=scoring).mean()
        for scoring in ("neg_log_loss", "neg_brier_score", get_scorer("neg_scdl"), "roc_auc")
    ]
    print(f"{name:<18}{-row[0]:>9.3f}{-row[1]:>8.3f}{-row[2]:>8.3f}{row[3]:>8.3f}")

# %%
# How far the default went: ``shrinkage_`` is 0 for a classifier that was calibrated already, and 1
# where it follows the new map all the way.
fitted = candidates["with the default"].fit(X, y)
print("shrinkage:", round(fitted.calibrators_[0][0].shrinkage_, 3))

# %%
# Now a forecaster that knows much and says little: it ranks well, but all its predictions are
# near 1/2. To move them as little as possible, the nearest calibrated forecaster says even less.
rng = np.random.default_rng(0)
p = rng.beta(40, 40, size=2000)
outcome = (rng.random(2000) < expit(8 * logit(p))).astype(int)
fit, new = slice(0, 1000), slice(1000, 2000)

maps = {
    "nearest": PartitionCalibrator(resolution=None, interpolate=False),
    "guarded": PartitionCalibrator(interpolate=False),
}
print(f"\n{'':<18}{'log loss':>9}{'Brier':>8}{'parts':>8}{'moved':>8}")
print(f"{'as it is':<18}{log_loss(outcome[new], p[new]):>9.3f}", end="")
print(f"{brier_score_loss(outcome[new], p[new]):>8.3f}")
for name, calibrator in maps.items():
    q = calibrator.fit(p[fit], outcome[fit]).predict(p[new])
    print(
        f"{name:<18}{log_loss(outcome[new], q):>9.3f}{brier_score_loss(outcome[new], q):>8.3f}"
        f"{len(calibrator.parts_):>8}{calibrator.movement_:>8.3f}"
    )

# %%
# Both are exactly calibrated on the rows they were fitted on. The nearest one got there by giving
# up what the forecaster knew; the default keeps all resolution but what chance explains.
