"""
Which model should I choose?
============================

A grid search with two scores: log loss, which rewards forecasts for being right, and SCDL, which
rewards them for meaning what they say. SCDL alone would choose the base rate.
"""

# %%
# The candidates are trees that differ in how much they smooth their leaves, a forest, and a
# forecaster that knows nothing: it gives everybody the base rate.
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from skcal.scorers import get_scorer, refit_calibrated

X, y = load_breast_cancer(return_X_y=True)
candidates = {
    "base rate": DummyClassifier(strategy="prior"),
    "tree, leaves of 1": DecisionTreeClassifier(random_state=0),
    "tree, leaves of 20": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "forest": RandomForestClassifier(random_state=0),
    "forest, leaves of 5": RandomForestClassifier(min_samples_leaf=5, random_state=0),
}

# %%
# scikit-learn has no registry for the scorers of other packages, so the object is passed.
# ``refit_calibrated`` takes, of the candidates whose log loss is within one standard error of the
# best, the one with the smallest calibration error.
search = GridSearchCV(
    Pipeline([("model", DummyClassifier())]),
    {"model": list(candidates.values())},
    scoring={
        "neg_log_loss": "neg_log_loss",
        "neg_scdl": get_scorer("neg_scdl"),
        "roc_auc": "roc_auc",
    },
    refit=refit_calibrated(),
).fit(X, y)

results = search.cv_results_
print(f"{'candidate':<22}{'log loss':>9}{'SCDL':>8}{'AUC':>7}")
for k, name in enumerate(candidates):
    print(
        f"{name:<22}{-results['mean_test_neg_log_loss'][k]:>9.3f}"
        f"{-results['mean_test_neg_scdl'][k]:>8.3f}{results['mean_test_roc_auc'][k]:>7.3f}"
    )

# %%
# The base rate has the smallest SCDL of all and an AUC of one half: a constant forecast is
# calibrated and useless. Every calibration measure has this property. On folds of 114 rows chance
# alone shows a SCDL of .01 to .04, so among the others the log loss decides.
names = list(candidates)
print("smallest SCDL:", names[int(np.argmax(results["mean_test_neg_scdl"]))])
print("refit_calibrated:", names[search.best_index_])
