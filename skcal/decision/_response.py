"""DecisionResponse: the response function r* o tau_m around a probabilistic classifier."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skcal._validation import (
    Integral,
    Interval,
    Real,
    StrOptions,
    check_codes,
    check_probabilities,
    check_weights,
    fail,
    weighted_sample,
)
from skcal.decision._grid import (
    Grid,
    check_binary,
    grid_of_alpha,
    grid_of_forecasts,
    out_of_fold,
)
from skcal.decision._outcome import (
    Outcome,
    Response,
    check_sample_utility,
    respond,
    row_decider,
)
from skcal.decision._regret import best_swaps, named_swaps, regret_bound
from skcal.decision._task import DecisionTask
from skcal.decision._wrapper import ClassifierWrapper


class DecisionResponse(ClassifierWrapper):
    """Decide by a utility table; by default the forecast is first rounded at random to a grid.

    The response r* o tau_m rounds the predicted probability at random to a grid of step 1/m and
    takes the action that would be best if the rounded probability were right. Forecasts with a
    small SCDL then have a small swap regret in every task. ``rounding="floor"`` gives the same
    guarantee without randomness, ``rounding=None`` is best response r*, without a guarantee.

    ``classes_`` are classes and `predict` returns actions: composing it with a tool that compares
    the two (``scoring="accuracy"``, VotingClassifier) is meaningful only when actions are classes.

    Parameters
    ----------
    estimator : classifier with predict_proba
        Fitted on the data passed to `fit`; a FrozenEstimator is used as it is.
    utility : dict of dicts, DataFrame, array-like of shape (n_classes, n_actions), default=None
        ``utility[k, a]`` is the value of action ``a`` when the truth is class ``k``: rows are true
        classes in the order of ``classes_``, columns are actions, higher is better; the cost
        matrix of Elkan (2001) is its negated transpose. Prefer the labelled form
        ``{class: {action: value}}``. None is the identity (accuracy): actions are the classes.
    actions : array-like of shape (n_actions,), default=None
        Names of the columns of an unlabelled ``utility``; needed when it is not square.
    rounding : {"random", "floor"} or None, default="random"
        "random" is tau_m, "floor" rounds the probability of ``classes_[1]`` down, None does not
        round. Rounding is for two classes only.
    n_bins : int or "auto", default="auto"
        m. "auto" balances it: from ``alpha`` if that is given, else from the SCDL of
        cross-validated predictions.
    alpha : float in [0, 1], default=None
        A known bound on the SCDL of the forecasts (of ``classes_[1]``, with the same rounding). m
        becomes the smallest power of two that is at least 1/alpha, without cross-validation.
    cv : int, cross-validation generator or iterable, default=None
        Splits for the SCDL; None is 5-fold, stratified. Every row must be tested once.
    random_state : int, RandomState instance or None, default=None
        Draws of random rounding in `predict`. An int repeats the same draws in each call: right for
        batches and tests, wrong for rows that are decided one at a time, which would all share one
        draw; use None or a RandomState instance there.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    classes_ : ndarray of shape (n_classes,)
    utility_ : ndarray of shape (n_classes, n_actions)
    actions_ : ndarray of shape (n_actions,)
    task_ : DecisionTask
        The three above in one, with ``thresholds_`` for two classes.
    n_bins_ : int or inf
        m, at most the smallest power of two above the number of rows. Infinite where nothing is
        rounded: with ``rounding=None``, and when the SCDL is 0.
    scdl_ : float
        SCDL of the out-of-fold predictions of the training data, or of the predictions of a
        FrozenEstimator for it; NaN where none was computed.
    regret_bound_ : float
        (SCDL_m + 1/m)(L0 + L1), where L_k is the range of row k of the utilities: a bound on the
        expected swap regret on the same predictions. With ``alpha`` it is conditional on the SCDL
        being at most alpha. Infinite (no bound) with ``rounding=None``.

    See Also
    --------
    skcal.decision.DecisionTask : The utility table by itself.
    skcal.metrics.soft_calibration_decision_loss : The SCDL.

    Notes
    -----
    ``X`` is not looked at here: whatever the wrapped estimator accepts passes through.

    Utilities that differ by row are passed as ``sample_utility``, an array of shape
    (n, n_classes, n_actions), to `predict`, `score` and the other methods. Inside cross-validation
    they need metadata routing, ``set_predict_request(sample_utility=True)`` and
    ``set_score_request(sample_utility=True)``. No regret bound holds for them: utilities that
    depend on the outcome given the forecast can have large regret at SCDL = 0.

    References
    ----------
    .. [1] "Testable and Actionable Calibration for Full Swap Regret", Theorem 4.4.
    .. [2] C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcal import DecisionResponse
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> labels = ["malignant", "benign"]
    >>> y = [labels[k] for k in y]
    >>> response = DecisionResponse(
    ...     make_pipeline(StandardScaler(), LogisticRegression()),
    ...     utility={
    ...         "malignant": {"operate": 0, "wait": -5, "biopsy": -0.5},
    ...         "benign": {"operate": -1, "wait": 0, "biopsy": -0.1},
    ...     },
    ...     rounding="floor",
    ... ).fit(X, y)
    >>> response.predict(X[:3])
    array(['operate', 'operate', 'operate'], dtype=object)
    >>> response.n_bins_
    128

    For rows decided one at a time with random rounding, keep one generator:

    >>> from numpy.random import RandomState
    >>> response = DecisionResponse(LogisticRegression(), random_state=RandomState(0))
    """

    _parameter_constraints = {
        "rounding": [StrOptions({"random", "floor"}), None],
        "n_bins": [Interval(Integral, 1, 2**43, closed="both"), StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, 1, closed="both"), None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        utility=None,
        actions=None,
        rounding="random",
        n_bins="auto",
        alpha=None,
        cv=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.utility = utility
        self.actions = actions
        self.rounding = rounding
        self.n_bins = n_bins
        self.alpha = alpha
        self.cv = cv
        self.random_state = random_state

    def fit(self, X, y, **params):
        """Fit the estimator, and find the grid on which its forecasts may be trusted.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.
        y : array-like of shape (n,)
            Class labels.
        **params : dict
            Passed to the ``fit`` of the estimator, in cross-validation too; ``groups`` to the
            splitter. With metadata routing enabled both go where they were requested. What the
            estimator receives as ``sample_weight`` also weights the SCDL.

        Returns
        -------
        self
        """
        y = self._check_fit(y)
        if self.alpha is not None and self.n_bins != "auto":
            fail("alpha", "be None when n_bins is an int", repr(self.alpha))
        if self.rounding is not None and not isinstance(self.estimator, FrozenEstimator):
            check_binary(np.unique(y))
        fit_params, split_params = self._route(params)
        weights = check_weights(fit_params.get("sample_weight"), len(y), others="y")
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        if not hasattr(self.estimator_, "predict_proba"):
            must = "have predict_proba (CalibratedClassifierCV gives it to a classifier without)"
            fail("estimator", must, type(self.estimator).__name__)
        classes = self.estimator_.classes_
        if self.rounding is not None:
            check_binary(classes)
        utility = np.eye(len(classes)) if self.utility is None else self.utility
        self.task_ = DecisionTask(utility, classes=classes, actions=self.actions)
        self.utility_, self.actions_ = self.task_.utility, self.task_.actions
        self._find_grid(X, y, weights, fit_params, split_params)
        return self

    @property
    def classes_(self):
        """Classes of the fitted estimator."""
        return self._model().classes_

    def predict(self, X, *, sample_utility=None):
        """Decide.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.
        sample_utility : array-like of shape (n, n_classes, n_actions), default=None
            Utilities of each row, in place of ``utility_``.

        Returns
        -------
        ndarray of shape (n,)
            Actions. With random rounding every row uses one fresh draw.
        """
        response = self._respond(X, sample_utility)
        columns = response.first
        if self.rounding == "random":
            draws = check_random_state(self.random_state).random_sample(columns.size)
            columns = np.where(draws < response.share, response.second, columns)
        return self.actions_[columns]

    def predict_proba(self, X):
        """Class probabilities of the wrapped estimator, as they are.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Whatever the estimator accepts.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._model().predict_proba(X)

    def action_distribution(self, X, *, sample_utility=None):
        """How likely each action is, exactly: what `predict` draws from.

        Parameters
        ----------
        X, sample_utility
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, n_actions)
            Rows sum to 1.
        """
        return self._respond(X, sample_utility).distribution(self.actions_.size)

    def expected_utility(self, X, *, sample_utility=None):
        """What the forecasts claim each action to be worth.

        Parameters
        ----------
        X, sample_utility
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, n_actions)
        """
        proba, _ = self._probabilities(X)
        if sample_utility is None:
            return proba @ self.utility_
        utility = check_sample_utility(sample_utility, len(proba), self.task_)
        return np.einsum("nk,nka->na", proba, utility)

    def realized_utility(self, X, y, *, sample_utility=None):
        """What the response was worth in truth, in exact expectation over the rounding.

        Parameters
        ----------
        X, y, sample_utility
            As in `fit` and `predict`.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._outcome(X, y, sample_utility).utility()

    def score(self, X, y, sample_weight=None, sample_utility=None):
        """Mean realised utility; the accuracy with ``utility=None`` and ``rounding=None``.

        Parameters
        ----------
        X, y
            As in `fit`.
        sample_weight : array-like of shape (n,), default=None
        sample_utility : array-like of shape (n, n_classes, n_actions), default=None

        Returns
        -------
        float
        """
        return self._outcome(X, y, sample_utility, sample_weight).mean_utility()

    def swap_regret(self, X, y, *, return_map=False, sample_weight=None, sample_utility=None):
        """What systematically swapping one action for another would have gained.

        Parameters
        ----------
        X, y
            As in `fit`.
        return_map : bool, default=False
            Also return the best swap.
        sample_weight : array-like of shape (n,), default=None
        sample_utility : array-like of shape (n, n_classes, n_actions), default=None

        Returns
        -------
        regret : float
            In exact expectation over the rounding.
        swap : dict
            ``{action: best replacement}`` for the actions taken; with ``return_map=True``.
        """
        values, taken = self._outcome(X, y, sample_utility, sample_weight).swap_values()
        regret, best = best_swaps(values)
        return (regret, named_swaps(self.task_, taken, best)) if return_map else regret

    def regret_bound(self, n_decisions=None, confidence=None):
        """Bound on the swap regret of this response.

        Parameters
        ----------
        n_decisions : int, default=None
            None returns ``regret_bound_``. A number bounds the realised swap regret of that many
            decisions on independent rows from a population whose SCDL_m is at most the one found
            in `fit`, with probability ``confidence`` over rows and rounding.
        confidence : float in (0, 1), default=None
            Needed with ``n_decisions``.

        Returns
        -------
        float
            For ``utility_``, the one table of all rows. Infinite where nothing is rounded, save
            that ``regret_bound_`` is 0 on calibrated predictions.
        """
        check_is_fitted(self, "estimator_")
        if n_decisions is None and confidence is None:
            return self.regret_bound_
        if self.n_bins_ == np.inf:
            return np.inf
        return regret_bound(
            self._grid.loss, self.n_bins_, ranges=self.task_.ranges,
            n_decisions=n_decisions, confidence=confidence,
        )  # fmt: skip

    def utility_cost_of_rounding(self, X, y, *, sample_weight=None):
        """What the guarantee costs: mean realised utility of r* less that of this response.

        Parameters
        ----------
        X, y
            As in `fit`.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
            Negative when the rounded response did better.
        """
        rounded = self._outcome(X, y, None, sample_weight)
        action = self.task_._decide(self._probabilities(X)[0])
        best = rounded._replace(response=Response(action, action, np.zeros(action.size)))
        return best.mean_utility() - rounded.mean_utility()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.rounding == "random" or tags.non_deterministic
        tags.classifier_tags.multi_class = (
            self.rounding is None and tags.classifier_tags.multi_class
        )
        return tags

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "regret_bound_") or self.n_bins_ == np.inf:
            return text
        frozen = isinstance(self.estimator, FrozenEstimator)
        where = "predictions for the data of fit" if frozen else "out-of-fold training predictions"
        source = f"SCDL {self.scdl_:.3g} on {where}" if self.alpha is None else "if SCDL <= alpha"
        return f"{text}\n# m = {self.n_bins_}, swap regret <= {self.regret_bound_:.3g}: {source}"

    def _model(self):
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _find_grid(self, X, y, weights, fit_params, split_params):
        """The grid on which the forecasts may be trusted, and the bound."""
        if self.rounding is None:
            grid = Grid()
        elif self.alpha is not None:
            grid = grid_of_alpha(self.alpha)
        else:
            if isinstance(self.estimator, FrozenEstimator):
                proba = self.estimator_.predict_proba(X)
            else:
                proba = out_of_fold(self.estimator, X, y, self.cv, fit_params, split_params)
            proba, precision = check_probabilities(proba, n_columns=2)
            codes, p = check_codes(y, self.classes_, "y"), np.ascontiguousarray(proba[:, 1])
            sample = weighted_sample(codes, p, weights, precision)
            n_bins = None if self.n_bins == "auto" else self.n_bins
            grid = grid_of_forecasts(sample, self.rounding, n_bins)
        self._grid, self.n_bins_, self.scdl_ = grid, grid.n_bins, grid.scdl
        stakes = self.task_.ranges.sum()
        self.regret_bound_ = float(stakes * grid.margin) if np.isfinite(grid.margin) else np.inf

    def _probabilities(self, X):
        proba = self._model().predict_proba(X)
        return check_probabilities(proba, n_columns=self.classes_.size, ravel=False)

    def _respond(self, X, sample_utility):
        proba, precision = self._probabilities(X)
        decide = self.task_._decide
        if sample_utility is not None:
            decide = row_decider(check_sample_utility(sample_utility, len(proba), self.task_))
        if self.n_bins_ != np.inf:
            proba = proba[:, 1]
        return respond(decide, proba, self.rounding, self.n_bins_, precision)

    def _outcome(self, X, y, sample_utility, sample_weight=None):
        response = self._respond(X, sample_utility)
        codes, n = check_codes(y, self.classes_, "y"), response.first.size
        if codes.size != n:
            fail("y", f"have one label for each row of X ({n})", f"length {codes.size}")
        if sample_utility is None:
            worth = self.utility_[codes]
        else:
            utility = check_sample_utility(sample_utility, n, self.task_)
            worth = utility[np.arange(n), codes]
        return Outcome(response, codes, worth, check_weights(sample_weight, n))
