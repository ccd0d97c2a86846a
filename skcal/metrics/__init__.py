"""How wrong forecasts are: calibration measures, lower is better.

Every measure is called as ``measure(y_true, y_proba, *, sample_weight=None, pos_label=None, ...)``,
returns a float, and returns its proof with ``return_certificate=True``.
"""

from skcal.metrics._binned import actionable_binned_error, expected_calibration_error
from skcal.metrics._calibration_distance import calibration_distance
from skcal.metrics._cutoff import cutoff_calibration_error
from skcal.metrics._decision_loss import (
    calibration_decision_loss,
    soft_calibration_decision_loss,
)
from skcal.metrics._decomposition import score_decomposition
from skcal.metrics._distance import lower_calibration_distance
from skcal.metrics._interval import interval_calibration_error
from skcal.metrics._names import (
    bece,
    caldist,
    cdl,
    cutoff,
    distcal,
    ece,
    scdl,
    sintce,
    smce,
    smece,
)
from skcal.metrics._smooth import smooth_calibration_error, smooth_ece

__all__ = [
    "actionable_binned_error",
    "bece",
    "caldist",
    "calibration_decision_loss",
    "calibration_distance",
    "cdl",
    "cutoff",
    "cutoff_calibration_error",
    "distcal",
    "ece",
    "expected_calibration_error",
    "interval_calibration_error",
    "lower_calibration_distance",
    "scdl",
    "score_decomposition",
    "sintce",
    "smce",
    "smece",
    "smooth_calibration_error",
    "smooth_ece",
    "soft_calibration_decision_loss",
]
