"""Calibration measures with proofs, decisions with guarantees, for scikit-learn."""

from skcal import metrics
from skcal._validation import CalibrationWarning
from skcal.decision import DecisionResponse, DecisionTask, swap_regret, worst_case_task
from skcal.recalibration import (
    BetaCalibrator,
    PartitionCalibrator,
    RecalibratedClassifier,
    ShrinkageCalibrator,
)
from skcal.report import calibration_report
from skcal.scorers import get_scorer, get_scorer_names, make_calibration_scorer
from skcal.sketch import CalibrationSketch

__version__ = "0.1.0"

__all__ = [
    "BetaCalibrator",
    "CalibrationSketch",
    "CalibrationWarning",
    "DecisionResponse",
    "DecisionTask",
    "PartitionCalibrator",
    "RecalibratedClassifier",
    "ShrinkageCalibrator",
    "calibration_report",
    "get_scorer",
    "get_scorer_names",
    "make_calibration_scorer",
    "metrics",
    "swap_regret",
    "worst_case_task",
]
