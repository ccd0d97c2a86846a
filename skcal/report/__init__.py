"""The calibration report: one computation, shown as text, as a dict or as a web page."""

from skcal.report._report import calibration_report, sketch_report

__all__ = ["calibration_report", "sketch_report"]
