"""Recalibrators of predicted probabilities, and a classifier that uses them."""

from skcal.recalibration._beta import BetaCalibrator
from skcal.recalibration._classifier import RecalibratedClassifier
from skcal.recalibration._nearest import nearest_calibrated_partition
from skcal.recalibration._partition import PartitionCalibrator
from skcal.recalibration._shrinkage import ShrinkageCalibrator

__all__ = [
    "BetaCalibrator",
    "PartitionCalibrator",
    "RecalibratedClassifier",
    "ShrinkageCalibrator",
    "nearest_calibrated_partition",
]
