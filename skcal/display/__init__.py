"""Pictures of calibration, in the manner of scikit-learn's displays; they need matplotlib.

Each display has `from_estimator`, `from_predictions` and `plot`, which draws on the axes it gets
and makes a figure only when it gets none. Several models share one axes.
"""

from skcal.display._decision_loss import DecisionLossDisplay
from skcal.display._net_benefit import NetBenefitDisplay
from skcal.display._partition import PartitionDisplay
from skcal.display._reliability import ReliabilityDisplay
from skcal.display._smooth import SmoothCalibrationDisplay

__all__ = [
    "DecisionLossDisplay",
    "NetBenefitDisplay",
    "PartitionDisplay",
    "ReliabilityDisplay",
    "SmoothCalibrationDisplay",
]
