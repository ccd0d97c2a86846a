"""The grid on which forecasts may be trusted: its number of steps m, from SCDL or a bound on it."""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable

from skcal._numerics._soft_loss import rounded_bins, self_balancing, soft_loss
from skcal._validation import fail, fit_params_of, rows_of, shown
from skcal.decision._wrapper import splits_of

FINEST = 2**52  # beyond it numbers near 1 have no neighbours on the grid


class Grid(NamedTuple):
    """m, the SCDL it was found from, and SCDL_m; by default no grid and no promise."""

    n_bins: float = np.inf
    scdl: float = np.nan
    loss: float = np.inf

    @property
    def margin(self):
        """Swap regret per unit of stake that responding to the rounded forecasts cannot exceed."""
        return self.loss + 1 / self.n_bins


def grid_of_alpha(alpha):
    """The smallest power of two that is at least 1/alpha; at least 2, at most `FINEST`.

    A coarser grid is always safe, since SCDL_m does not decrease along powers of two.
    """
    if alpha == 0:
        return Grid(loss=0.0)
    # 1/alpha lies in (2^-e, 2^(1-e)] for alpha = f 2^e with f in [1/2, 1)
    exponent = 1 - int(np.frexp(alpha)[1])
    return Grid(n_bins=min(2 ** max(1, exponent), FINEST), loss=float(alpha))


def grid_of_forecasts(sample, rounding, n_bins=None):
    """The self-balancing grid of a sample, or SCDL_m on a grid that is given.

    A balanced m never exceeds the smallest power of two above the number of rows: a finer grid
    would say nothing more about these rows.
    """
    balance = self_balancing(sample.y, sample.p, sample.w, rounding)
    if n_bins is None:
        most = 1 << sample.n.bit_length()
        if balance.n_bins == np.inf or balance.n_bins <= most:
            return Grid(balance.n_bins, balance.scdl, balance.loss)
        n_bins = most
    bins = rounded_bins(sample.y, sample.p, sample.w, n_bins, rounding, sample.precision)
    return Grid(int(n_bins), balance.scdl, soft_loss(bins, n_bins)[0])


def out_of_fold(estimator, X, y, cv, fit_params, split_params):
    """Class probabilities of every row by a model that has not seen it.

    Unlike cross_val_predict it fits on the labels as they are (class_weight may name them), and
    refuses folds without a class, where that would fill in zeros.
    """
    X, y = indexable(X, y)
    splits = splits_of(cv, X, y, split_params)
    tested = np.concatenate([test for _, test in splits]) if splits else np.empty(0, dtype=int)
    if not np.array_equal(np.sort(tested), np.arange(y.size)):
        must = "be a partition: every row tested exactly once"
        fail("cv", must, f"{tested.size} tests of {y.size} rows")
    parts = []
    for fold, (train, test) in enumerate(splits):
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            must = "train on every class in each fold (or give alpha=, which needs no folds)"
            fail("cv", must, f"no row of class {shown(missing)} in fold {fold}")
        params = fit_params_of(X, params=fit_params, indices=train)
        model = clone(estimator).fit(*rows_of(estimator, X, y, train), **params)
        parts.append(model.predict_proba(rows_of(estimator, X, y, test, train)[0]))
    return np.concatenate(parts)[np.argsort(tested)]


def check_binary(classes):
    """Rounding is for the probability of one of two classes."""
    if len(classes) != 2:
        kind = "multiclass" if len(classes) > 2 else "one class"
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "Rounding is for one probability: set rounding=None for other targets."
        )
