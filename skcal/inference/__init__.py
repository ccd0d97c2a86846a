"""How sure one can be: bootstrap intervals, tests of calibration, comparisons, chance levels."""

from skcal.inference._procedures import (
    bootstrap_interval,
    calibration_test,
    compare,
    null_reference,
)

__all__ = ["bootstrap_interval", "calibration_test", "compare", "null_reference"]
