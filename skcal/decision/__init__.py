"""What a user of forecasts does: tasks, responses, regret, and the estimator that joins them."""

from skcal.decision._regret import (
    external_regret,
    realized_regret_bound,
    regret_bound,
    swap_regret,
)
from skcal.decision._response import DecisionResponse
from skcal.decision._rounding import round_predictions, rounding_weights
from skcal.decision._task import DecisionTask
from skcal.decision._utilities import add_action, utility_from_costs, utility_from_threshold
from skcal.decision._worst_case import worst_case_task

__all__ = [
    "DecisionResponse",
    "DecisionTask",
    "add_action",
    "external_regret",
    "realized_regret_bound",
    "regret_bound",
    "round_predictions",
    "rounding_weights",
    "swap_regret",
    "utility_from_costs",
    "utility_from_threshold",
    "worst_case_task",
]
