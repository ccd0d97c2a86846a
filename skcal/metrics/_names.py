"""The short names of measures: in `skcal.metrics`, in reports, and behind "neg_" of scorers."""

from skcal.metrics._binned import actionable_binned_error, expected_calibration_error
from skcal.metrics._calibration_distance import calibration_distance
from skcal.metrics._cutoff import cutoff_calibration_error
from skcal.metrics._decision_loss import (
    calibration_decision_loss,
    soft_calibration_decision_loss,
)
from skcal.metrics._distance import lower_calibration_distance
from skcal.metrics._interval import interval_calibration_error
from skcal.metrics._smooth import smooth_calibration_error, smooth_ece

scdl = soft_calibration_decision_loss
cdl = calibration_decision_loss
cutoff = cutoff_calibration_error
smce = smooth_calibration_error
smece = smooth_ece
caldist = calibration_distance
distcal = lower_calibration_distance
sintce = interval_calibration_error
ece = expected_calibration_error
bece = actionable_binned_error

# As it is written, and the measure; in the order of a report.
MEASURES = {
    "scdl": ("SCDL", scdl),
    "cdl": ("CDL", cdl),
    "cutoff": ("cutoff", cutoff),
    "smce": ("smCE", smce),
    "smece": ("smECE", smece),
    "caldist": ("CalDist", caldist),
    "distcal": ("DistCal", distcal),
    "sintce": ("SintCE", sintce),
    "ece": ("ECE", ece),
    "bece": ("bECE", bece),
}
