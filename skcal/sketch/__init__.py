"""Calibration of data larger than memory: summaries that merge, with the error of each measure."""

from skcal.sketch._partitions import sketch_from_partitions
from skcal.sketch._sketch import CalibrationSketch
from skcal.sketch._values import SketchValue, SoftSketchValue

__all__ = ["CalibrationSketch", "SketchValue", "SoftSketchValue", "sketch_from_partitions"]
