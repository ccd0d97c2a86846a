"""What recalibrators of one probability share, and how any calibrator is fitted and applied."""

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skcal._validation import check_forecasts, fail, numbers, validate_parameter_constraints


class ScoreCalibrator(TransformerMixin, BaseEstimator):
    """Base class: ``fit(p, y, sample_weight=None)``, `predict` and `transform` of p alone."""

    # p is the data, not metadata to be routed; scikit-learn knows data by the name X only.
    __metadata_request__fit = {"p": UNUSED}
    __metadata_request__predict = {"p": UNUSED}
    __metadata_request__transform = {"p": UNUSED}

    def predict(self, p):
        """Recalibrate.

        Parameters
        ----------
        p : array-like of shape (n,) or (n, 1)
            Probabilities of outcome 1.

        Returns
        -------
        ndarray of shape (n,)
            In [0, 1], float64; it does not decrease with ``p``.
        """
        check_is_fitted(self)
        return self._map(check_forecasts(p))

    def transform(self, p):
        """Recalibrate, for pipelines: as `predict`.

        Parameters
        ----------
        p : array-like of shape (n,) or (n, 1)
            Probabilities of outcome 1.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.predict(p)

    def get_feature_names_out(self, input_features=None):
        """Name of the one column of `transform`.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (1,)
        """
        check_is_fitted(self)
        return np.array([f"{type(self).__name__.lower()}0"], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags

    def _check_parameters(self):
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )


def accepts_any_score(calibrator):
    """Whether it maps any real number, not only probabilities."""
    if isinstance(calibrator, IsotonicRegression):
        return True
    return bool(getattr(calibrator, "accepts_any_score", False))


def fit_calibrator(calibrator, scores, outcomes, weights=None):
    """A fitted copy of any object with ``fit(p, y[, sample_weight])`` and ``predict(p)``.

    Isotonic regression must not answer NaN outside the fitted range, so its copies clip.
    """
    if isinstance(calibrator, type) or hasattr(calibrator, "predict_proba"):
        must = "be an object that maps probabilities, with fit(p, y) and predict(p), no classifier"
        fail("calibrator", must, f"{calibrator!r:.50}")
    for method in ("fit", "predict"):
        if not callable(getattr(calibrator, method, None)):
            fail("calibrator", "have fit(p, y) and predict(p)", f"no {method} ({calibrator!r:.50})")
    copy = clone(calibrator, safe=False)
    if isinstance(copy, IsotonicRegression) and copy.out_of_bounds == "nan":
        copy.set_params(out_of_bounds="clip")
    if weights is None:
        params = {}
    elif has_fit_parameter(copy, "sample_weight"):
        params = {"sample_weight": weights}
    else:
        name = type(calibrator).__name__
        fail("calibrator", "accept sample_weight in fit when weights are given", name)
    with config_context(transform_output="default"):  # it may contain transformers
        fitted = copy.fit(scores, outcomes, **params)
    return copy if fitted is None else fitted


def apply_calibrator(calibrator, scores):
    """Its float64 predictions in [0, 1], whatever containers scikit-learn is set to return."""
    with config_context(transform_output="default"):
        found = numbers(calibrator.predict(scores))
    if found is None:
        fail("calibrator", "predict numbers", f"something else ({type(calibrator).__name__})")
    if found.size != scores.size:
        fail("calibrator", f"predict {scores.size} numbers", f"shape {found.shape}")
    if not np.isfinite(found).all():
        fail("calibrator", "predict finite numbers", "NaN or infinity")
    return np.clip(found.reshape(scores.size), 0.0, 1.0)
