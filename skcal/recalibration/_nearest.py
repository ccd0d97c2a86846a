"""The nearest perfectly calibrated predictions of given rows."""

from dataclasses import dataclass

import numpy as np

from skcal._validation import StrOptions, check_sample, validate_params
from skcal.metrics._calibration_distance import distance_of


@dataclass(frozen=True, eq=False)
class CalibratedPartition:
    """Rows partitioned so that predicting each part at its mean outcome moves them the least.

    Attributes
    ----------
    targets : ndarray of shape (n,)
        The calibrated prediction of each row; rows of weight 0 keep theirs.
    part : ndarray of shape (n,)
        Number of the part of each row, by increasing target; -1 for rows of weight 0.
    values : ndarray of shape (k,)
        Target of each part.
    weight : ndarray of shape (k,)
        Its share of the weight.
    movement : float
        Mean distance moved: the calibration distance, or an upper end of it.
    lower : float
        No calibrated partition moves the rows less.
    """

    targets: np.ndarray
    part: np.ndarray
    values: np.ndarray
    weight: np.ndarray
    movement: float
    lower: float


@validate_params(
    {"method": [StrOptions({"auto", "exact", "bounds"})]}, prefer_skip_nested_validation=True
)
def nearest_calibrated_partition(
    y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None, method="auto"
):
    """The calibrated partition nearest to the predictions, row by row.

    It knows the outcomes: rows with the same prediction may get different targets. So it describes
    a sample, and is no map for new predictions: that is `PartitionCalibrator`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_proba : array-like of shape (n,), (n, 1) or (n, 2)
        Probability of the positive class in [0, 1], or one column for each label.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights; each row moves as one.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    labels : array-like of shape (2,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted.
    method : {"auto", "exact", "bounds"}, default="auto"
        As in `skcal.metrics.calibration_distance`.

    Returns
    -------
    CalibratedPartition

    Raises
    ------
    ValueError
        If an argument is not of this form; the message names it.

    See Also
    --------
    skcal.metrics.calibration_distance : The distance, with a certificate.

    Examples
    --------
    >>> from skcal.recalibration import nearest_calibrated_partition
    >>> nearest = nearest_calibrated_partition([0, 1, 0, 1, 1], [0.4, 0.4, 0.6, 0.6, 0.9])
    >>> nearest.values
    array([0.5, 1. ])
    >>> nearest.part
    array([0, 0, 0, 0, 1])
    """
    sample = check_sample(y_true, y_proba, sample_weight, pos_label, labels)
    found = distance_of(sample, method)
    kept = found.weight > 0
    values, place = np.unique(found.targets[kept], return_inverse=True)
    part = np.full(kept.size, -1)
    part[kept] = place
    weight = np.bincount(place, found.weight[kept])
    return CalibratedPartition(found.targets, part, values, weight, found.value, found.lower)
