"""What the procedures return: frozen records with the names that scipy gives them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntervalResult:
    """An estimate with its uncertainty.

    Attributes
    ----------
    value : float
        The measure on the sample.
    low, high : float
        Ends of the confidence interval.
    standard_error : float
    """

    value: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True)
class CalibrationTestResult:
    """A test of the hypothesis that the forecasts are calibrated.

    Attributes
    ----------
    statistic : float
        The measure on the sample.
    pvalue : float
        How often calibrated forecasts would show as much.
    """

    statistic: float
    pvalue: float


@dataclass(frozen=True)
class NullReference:
    """What a calibrated forecaster with the same forecasts would score.

    Attributes
    ----------
    mean : float
    quantiles : dict
        By level.
    """

    mean: float
    quantiles: dict[float, float]
