"""The demo: the whole job, score and decide, on data that scikit-learn bundles."""

import csv

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal.decision import DecisionResponse, realized_regret_bound
from skcal.recalibration import RecalibratedClassifier
from skcal.report import calibration_report
from skcal.scorers import get_scorer, refit_calibrated

UTILITY = {
    "malignant": {"operate": 0, "wait": -5, "biopsy": -0.5},
    "benign": {"operate": -1, "wait": 0, "biopsy": -0.1},
}


def run(save=None):
    """Print the demo; with ``save``, also write the forecasts of the first part to a CSV file."""
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    rivals = {
        "naive Bayes": GaussianNB(),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    forecasts = {
        name: cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
        for name, model in rivals.items()
    }
    _title("1. Is it calibrated? Two rivals on breast cancer, out-of-fold, P(malignant)")
    for name, p in forecasts.items():
        print(f"--- {name}\n{calibration_report(y, p, pos_label='malignant')}\n")
    if save is not None:
        _save(save, y, forecasts["naive Bayes"])
        print(f"The naive Bayes forecasts are in {save}: python -m skcal report {save} "
              "--pos-label malignant\n")  # fmt: skip
    _title("2. Choose a model: a calibration measure alone would pick the base rate")
    _search(X, y, rivals)
    _title("3. Decide with three actions: what is claimed, what is got, what is guaranteed")
    _decide(X, y, rivals)
    print()
    _title("4. Recalibrate: naive Bayes, in a pipeline, by cross-validation")
    _recalibrate(X, y)


def _search(X, y, rivals):
    candidates = [DummyClassifier(strategy="prior"), GaussianNB(), LogisticRegression()]
    search = GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("model", DummyClassifier())]),
        {"model": candidates},
        scoring={
            "neg_log_loss": "neg_log_loss",
            "roc_auc": "roc_auc",
            "neg_scdl": get_scorer("neg_scdl"),
        },
        refit=refit_calibrated(),
        cv=5,
    ).fit(X, y)
    results = search.cv_results_
    scores = {name: results[f"mean_test_{name}"] for name in search.scorer_}
    print(f"{'':<22}" + "".join(f"{name:>14}" for name in scores))
    for k, name in enumerate(["base rate for all", *rivals]):
        print(f"{name:<22}" + "".join(f"{score[k]:>14.4f}" for score in scores.values()))
    names = ["base rate for all", *rivals]
    print(f"\nBest by neg_scdl alone: {names[int(np.argmax(scores['neg_scdl']))]}.")
    print(f"Chosen by refit_calibrated: {names[search.best_index_]}.\n")


def _decide(X, y, rivals):
    train_X, test_X, train_y, test_y = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    print("utility of each action, rows are the truth:")
    actions = list(UTILITY["benign"])
    print(f"{'':<12}" + "".join(f"{action:>10}" for action in actions))
    for label, row in UTILITY.items():
        print(f"{label:<12}" + "".join(f"{row[action]:>10}" for action in actions))
    print()
    heads = ("claimed", "got", "swap regret", "worst task")
    print(f"{'on the test half':<22}" + "".join(f"{head:>13}" for head in heads))
    bounds = []
    for name, model in rivals.items():
        response = DecisionResponse(model, utility=UTILITY, rounding="floor").fit(train_X, train_y)
        claimed = (response.expected_utility(test_X) * response.action_distribution(test_X)).sum(1)
        worst = realized_regret_bound(
            test_y,
            response.predict_proba(test_X),
            response.n_bins_,
            pos_label=response.classes_[1],
            ranges=response.task_.ranges,
            rounding="floor",
        )
        got, regret = response.score(test_X, test_y), response.swap_regret(test_X, test_y)
        values = (claimed.mean(), got, regret, worst)
        print(f"{name:<22}" + "".join(f"{value:>13.4f}" for value in values))
        bounds.append(f"{name} {response.regret_bound_:.4f} (grid of step 1/{response.n_bins_})")
    print(
        "\nNo task with these stakes has a swap regret above `worst task` on these forecasts.\n"
        "Promised by fit, for its own out-of-fold forecasts:", "; ".join(bounds) + ".",
    )  # fmt: skip


def _recalibrate(X, y):
    heads = ("neg_log_loss", "neg_brier_score", "neg_scdl", "roc_auc")
    print(f"{'':<22}" + "".join(f"{head:>17}" for head in heads))
    candidates = {
        "naive Bayes": GaussianNB(),
        "recalibrated": RecalibratedClassifier(GaussianNB()),
    }
    for name, classifier in candidates.items():
        scoring = {head: head for head in heads} | {"neg_scdl": get_scorer("neg_scdl")}
        model = make_pipeline(StandardScaler(), classifier)
        scores = cross_validate(model, X, y == "malignant", scoring=scoring, cv=5)
        print(f"{name:<22}" + "".join(f"{scores[f'test_{head}'].mean():>17.4f}" for head in heads))


def _save(path, y, p):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["y_true", "y_proba"])
        writer.writerows(zip(y.tolist(), p.tolist(), strict=True))


def _title(text):
    print(f"{text}\n{'=' * len(text)}\n")
