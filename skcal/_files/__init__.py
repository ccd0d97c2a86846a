"""Forecasts from CSV and Parquet files, for the command line."""

from skcal._files._columns import DEFAULT_COLUMNS
from skcal._files._forecasts import Forecasts, read_forecasts
from skcal._files._progress import Progress

__all__ = ["DEFAULT_COLUMNS", "Forecasts", "Progress", "read_forecasts"]
