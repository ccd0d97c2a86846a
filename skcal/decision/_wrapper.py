"""What classifiers that wrap a classifier share: checks before a fit, folds, routing and tags."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets

from skcal._validation import (
    column_or_1d,
    dense,
    fail,
    read,
    routing_enabled,
    validate_parameter_constraints,
)


class ClassifierWrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base class of estimators with the parameters ``estimator`` and ``cv``."""

    @property
    def n_features_in_(self):
        """Number of features that the fitted estimator has seen, where it counts them."""
        return self._model().n_features_in_

    @property
    def feature_names_in_(self):
        """Names of the features that the fitted estimator has seen, where it knows them."""
        return self._model().feature_names_in_

    def get_metadata_routing(self):
        """Which metadata goes to the estimator, the splitter and this object itself.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=to_fit)
        splitter = self.cv if hasattr(self.cv, "split") else check_cv()  # an iterator is left alone
        return router.add(splitter=splitter, method_mapping=to_split)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _check_fit(self, y):
        """Check the parameters and the labels of a fit, and give these as an array."""
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )
        known = all(hasattr(self.estimator, name) for name in ("fit", "get_params"))
        if not known or isinstance(self.estimator, type):
            fail("estimator", "be a classifier of scikit-learn's kind", f"{self.estimator!r:.50}")
        raw = dense(y, "y")
        if raw.ndim and raw.dtype.kind != "c":  # scikit-learn's checks ask for its words on these
            read(y, "y")
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        with np.errstate(invalid="ignore"):  # huge labels, of which others complain
            check_classification_targets(y)
        return y

    def _route(self, params):
        """Parameters of the estimator's fit and of the splitter."""
        if routing_enabled():
            routed = process_routing(self, "fit", **params)
            return routed.estimator.fit, routed.splitter.split
        fit_params = {name: value for name, value in params.items() if name != "groups"}
        return fit_params, {"groups": params["groups"]} if "groups" in params else {}


def splits_of(cv, X, y, split_params):
    """Pairs of row numbers, to train and to test; what a splitter complains of is said of cv."""
    rows = np.arange(len(y))
    try:
        splits = check_cv(cv, y, classifier=True).split(X, y, **split_params)
        splits = [(rows[train], rows[test]) for train, test in splits]
    except (TypeError, ValueError, IndexError) as error:
        fail("cv", f"split {rows.size} rows into parts to train and to test", error)
    if any(part.ndim != 1 for split in splits for part in split):
        fail("cv", "give arrays of the rows to train and to test on", "single numbers")
    return splits
