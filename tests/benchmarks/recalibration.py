"""Recalibrators against each other on data of scikit-learn and on data of known truth.

Every map is fitted on the calibration rows of a cell and judged on rows that it has not seen. The
table gives means over cells, and in how many cells a map is better / worse than doing nothing and
than isotonic regression, by more than two standard errors of the paired differences over splits.
"""

import warnings

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from skcal import CalibrationWarning, metrics
from skcal.recalibration import BetaCalibrator, PartitionCalibrator, ShrinkageCalibrator
from tests.benchmarks.recalibration_cells import CELLS

SCORES = ["Brier", "log loss", "smCE", "SCDL", "moved", "AUC"]
COMPARED = 4  # of them are compared with the references


def log_odds(p):
    return logit(np.clip(p, 1e-6, 1 - 1e-6))


class Identity:
    def fit(self, p, y):
        return self

    def predict(self, p):
        return p


class Sigmoid(Identity):
    def fit(self, p, y):
        self.model = LogisticRegression(C=1e6).fit(log_odds(p)[:, None], y)
        return self

    def predict(self, p):
        return self.model.predict_proba(log_odds(p)[:, None])[:, 1]


class Temperature(Identity):
    def fit(self, p, y):
        def loss(log_slope):
            return log_loss(y, expit(np.exp(log_slope) * log_odds(p)))

        self.slope = np.exp(minimize_scalar(loss, bounds=(-4, 4), method="bounded").x)
        return self

    def predict(self, p):
        return expit(self.slope * log_odds(p))


class IsotonicLines(Identity):
    """Isotonic regression with the lines and the prior count of PartitionCalibrator."""

    def fit(self, p, y):
        steps = IsotonicRegression().fit(p, y).predict(p)
        _, block, count = np.unique(steps, return_inverse=True, return_counts=True)
        self.nodes = np.bincount(block, p) / count
        values = (np.bincount(block, y) + y.mean() / 2) / (count + 0.5)
        self.values = IsotonicRegression().fit(self.nodes, values, count + 0.5).predict(self.nodes)
        return self

    def predict(self, p):
        return np.interp(p, self.nodes, self.values)


MAPS = {
    "identity": Identity,
    "isotonic": lambda: IsotonicRegression(out_of_bounds="clip"),
    "sigmoid": Sigmoid,
    "temperature": Temperature,
    "beta": BetaCalibrator,
    "projection, steps": lambda: PartitionCalibrator(resolution=None, interpolate=False),
    "guarded, steps": lambda: PartitionCalibrator(interpolate=False),
    "guarded, lines": PartitionCalibrator,
    "default (shrunk)": lambda: ShrinkageCalibrator(PartitionCalibrator()),
    "isotonic lines, shrunk": lambda: ShrinkageCalibrator(IsotonicLines()),
    "beta, shrunk": lambda: ShrinkageCalibrator(BetaCalibrator()),
}
REFERENCES = ["identity", "isotonic", "isotonic lines, shrunk", "beta, shrunk"]


def scores(y, p, q):
    q = np.clip(q, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return [
            brier_score_loss(y, q),
            log_loss(y, np.clip(q, 1e-6, 1 - 1e-6)),
            metrics.smce(y, q),
            metrics.scdl(y, q),
            np.abs(q - p).mean(),
            roc_auc_score(y, q),
        ]


def judge(cell, n_splits):
    """Scores of shape (splits, maps, scores)."""
    found = []
    for seed in range(n_splits):
        p, y, p_new, y_new = cell(seed)
        fitted = [make().fit(p, y) for make in MAPS.values()]
        found.append([scores(y_new, p_new, each.predict(p_new)) for each in fitted])
    return np.array(found)


def wins(found, reference):
    """For each map and compared score: cells better / worse than the reference."""
    counts = np.zeros((len(MAPS), COMPARED, 2), dtype=int)
    for each in found:
        change = each[:, :, :COMPARED] - each[:, [reference], :COMPARED]
        mean = change.mean(axis=0)
        error = change.std(axis=0, ddof=1) / np.sqrt(len(each))
        counts[:, :, 0] += mean < -2 * error - 1e-12
        counts[:, :, 1] += mean > 2 * error + 1e-12
    return counts


def run(n_splits=10):
    """Print the table."""
    found = [judge(cell, n_splits) for cell in CELLS.values()]
    means = np.mean([each.mean(axis=0) for each in found], axis=0)
    names = list(MAPS)
    print(f"\n{len(CELLS)} cells, {n_splits} splits; better/worse beyond 2 standard errors\n")
    against = [f"{s} vs {r}" for r in REFERENCES for s in SCORES[:COMPARED]]
    print("| map | " + " | ".join(SCORES + against) + " |")
    print("|---" * (1 + len(SCORES) + len(against)) + "|")
    tables = [wins(found, names.index(reference)) for reference in REFERENCES]
    for k, name in enumerate(names):
        values = [f"{value:.4f}" for value in means[k]]
        counts = [f"{b}/{w}" for table in tables for b, w in table[k]]
        print("| " + " | ".join([name, *values, *counts]) + " |")
    return found


if __name__ == "__main__":
    run()
