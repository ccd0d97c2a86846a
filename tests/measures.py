"""Every measure of `skcal.metrics`, with what may be asked of it: this table drives the tests.

A row is a measure with one choice of settings. Laws, invariances, containers and errors run over
the rows, so a new measure needs a row here and gets the tests for nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from skcal import metrics
from tests import oracles

# The fields of a certificate that prove its value: `verify` must notice a change in any of them.
BINNED = ("mean_proba", "mean_outcome")
CUTOFF = ("sums", "interval", "residual")
LOSS = ("x", "weight", "rate", "points", "curve", "line", "task")
SOFT = ("loss", "next_loss", "threshold", "weight", "mean_outcome", "points")
BALANCED = (*SOFT, "n_bins")
SMOOTH = ("x", "residual", "sums", "fit", "witness")
KERNEL = ("sigma", "grid", "density")
INTERVAL = ("width", "error", "residual")
NEAREST = ("lower", "upper", "targets", "y", "p")
DISTANCE = ("lower", "upper", "x", "zeros", "ones", "nodes", "phi_zeros", "phi_ones")
DISTANCE = (*DISTANCE, "targets", "target_zeros", "target_ones")


@dataclass(frozen=True)
class Row:
    """A measure with settings, called like the measure itself."""

    function: Callable
    settings: dict = field(default_factory=dict)
    oracle: Callable | None = None  # oracle(y, p, w, **settings): the value by definition
    witness: tuple[str, ...] = ()
    bound: float = 1.0  # the largest value
    symmetric: bool = False  # unchanged by (p, y) -> (1 - p, 1 - y)
    copies: bool = True  # a row of integer weight k is k rows
    zero_if_calibrated: bool = True  # on the calibrated sample of the tests
    tolerance: float = 1e-12  # to which invariances hold and the oracle agrees
    slow: bool = False  # a linear program a call: the properties run with the large checks only

    @property
    def name(self):
        return self.function.__name__

    def __call__(self, y_true, y_proba, **arguments):
        return self.function(y_true, y_proba, **{**self.settings, **arguments})

    def __str__(self):
        return "-".join([self.name, *(f"{key}={value}" for key, value in self.settings.items())])


def _rows(function, *rows, **common):
    return [Row(function, settings, **{**common, **own}) for settings, own in rows]


ROWS = [
    *_rows(
        metrics.expected_calibration_error,
        ({}, {}),
        ({"n_bins": 4}, {}),
        ({"n_bins": None}, {"symmetric": True}),
        ({"n_bins": 10, "norm": "l2"}, {}),
        ({"n_bins": 10, "norm": "max"}, {}),
        ({"n_bins": None, "norm": "l2"}, {"symmetric": True}),
        ({"n_bins": 5, "strategy": "quantile"}, {"oracle": None}),  # its laws are in test_binned
        oracle=oracles.binned_error,
        witness=BINNED,
    ),
    *_rows(
        metrics.actionable_binned_error,
        # Rounding down is an error of its own, also on calibrated predictions off the grid. The
        # automatic grid counts rows: a row of weight 2 is one row.
        ({}, {"copies": False, "zero_if_calibrated": False}),
        ({"n_bins": 5}, {}),
        ({"n_bins": 8}, {"zero_if_calibrated": False}),
        oracle=oracles.rounded_error,
        witness=BINNED,
        bound=2.0,
    ),
    *_rows(
        metrics.cutoff_calibration_error,
        ({}, {"symmetric": True}),
        ({"region": "threshold"}, {}),
        oracle=oracles.cutoff_error,
        witness=CUTOFF,
    ),
    *_rows(
        metrics.calibration_decision_loss,
        ({}, {"symmetric": True}),
        ({"thresholds": (0.1, 0.6)}, {}),
        ({"thresholds": (0.25, 0.75)}, {"symmetric": True}),
        oracle=oracles.decision_loss,
        witness=LOSS,
    ),
    *_rows(
        metrics.soft_calibration_decision_loss,
        ({}, {"symmetric": True, "bound": 0.5, "witness": BALANCED}),
        ({"n_bins": 8}, {"symmetric": True}),
        ({"n_bins": 5}, {"symmetric": True}),
        ({"rounding": "floor"}, {"bound": 0.5, "witness": BALANCED}),
        ({"n_bins": 8, "rounding": "floor"}, {}),
        oracle=oracles.soft_decision_loss,
        witness=SOFT,
    ),
    *_rows(
        metrics.smooth_calibration_error,
        ({}, {"symmetric": True}),
        oracle=oracles.smooth_error,
        witness=SMOOTH,
    ),
    *_rows(
        metrics.smooth_ece,
        ({}, {"symmetric": True}),
        # A width that is given needs no proof.
        ({"sigma": 0.05}, {"symmetric": True, "witness": KERNEL[1:]}),
        oracle=oracles.smooth_ece,
        witness=KERNEL,
        tolerance=1e-5,
    ),
    *_rows(
        metrics.interval_calibration_error,
        ({}, {"symmetric": True}),
        oracle=oracles.interval_error,
        witness=INTERVAL,
    ),
    *_rows(
        metrics.calibration_distance,
        ({}, {"symmetric": True}),  # against brute force in test_calibration_distance
        witness=NEAREST,
        copies=False,  # a row of weight 2 moves as one
        tolerance=1e-9,
        slow=True,
    ),
    *_rows(
        metrics.lower_calibration_distance,
        ({}, {"symmetric": True}),
        oracle=oracles.lower_distance,
        witness=DISTANCE,
        tolerance=1e-5,  # its default tol
        slow=True,
    ),
]

# The first row of each measure, for tests in which the settings play no part.
MEASURES = list({row.name: row for row in reversed(ROWS)}.values())[::-1]


def each_row_that(concerns):
    """Parametrise over the rows that a law concerns; slow ones run with the large checks."""
    rows = [row for row in ROWS if concerns(row)]
    marked = [pytest.param(row, marks=pytest.mark.verify if row.slow else ()) for row in rows]
    return pytest.mark.parametrize("row", marked, ids=str)


each_row = each_row_that(lambda row: True)
each_measure = pytest.mark.parametrize("row", MEASURES, ids=lambda row: row.name)
each_quick_measure = pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=pytest.mark.verify if row.slow else ()) for row in MEASURES],
    ids=lambda row: row.name,
)
