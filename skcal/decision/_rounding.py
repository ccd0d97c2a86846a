"""Rounding to the grid of step 1/m: at random with the mean kept (tau_m), or down (b_m)."""

import numpy as np
from sklearn.utils import check_random_state

from skcal._numerics._bins import grid_index
from skcal._validation import Integral, Interval, StrOptions, check_probabilities, validate_params

ALMOST_ONE = np.nextafter(1.0, 0.0)  # the share of a prediction just below a grid point
ROUNDING = {
    "n_bins": [Interval(Integral, 1, 2**52, closed="both")],
    "rounding": [StrOptions({"random", "floor"})],
}


@validate_params({**ROUNDING, "random_state": ["random_state"]}, prefer_skip_nested_validation=True)
def round_predictions(y_proba, n_bins, *, rounding="random", random_state=None):
    """Round probabilities to the grid 0, 1/m, ..., 1.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Probabilities.
    n_bins : int
        m, the number of steps of the grid.
    rounding : {"random", "floor"}, default="random"
        "random" is tau_m: up or down to the nearest grid point, with the probabilities that keep
        the mean. "floor" is b_m: down, with 1 kept.
    random_state : int, RandomState instance or None, default=None
        Used by random rounding only.

    Returns
    -------
    ndarray of shape (n,)

    See Also
    --------
    rounding_weights : The distribution instead of one draw.

    Examples
    --------
    >>> from skcal.decision import round_predictions
    >>> round_predictions([0.3, 0.5, 1.0], 4, rounding="floor")
    array([0.25, 0.5 , 1.  ])
    """
    lower, upper, share = rounding_weights(y_proba, n_bins, rounding=rounding)
    if rounding == "floor":
        return lower
    return np.where(
        check_random_state(random_state).random_sample(share.size) < share, upper, lower
    )


@validate_params(ROUNDING, prefer_skip_nested_validation=True)
def rounding_weights(y_proba, n_bins, *, rounding="random"):
    """The exact distribution of a rounding: two neighbouring grid points and a probability.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Probabilities.
    n_bins : int
        m, the number of steps of the grid.
    rounding : {"random", "floor"}, default="random"
        As in `round_predictions`.

    Returns
    -------
    lower, upper : ndarray of shape (n,)
        Grid points with lower <= p <= upper.
    share : ndarray of shape (n,)
        Probability of ``upper``; 0 for "floor".

    Examples
    --------
    >>> from skcal.decision import rounding_weights
    >>> rounding_weights([0.3], 4)
    (array([0.25]), array([0.5]), array([0.2]))
    """
    p, precision = check_probabilities(y_proba, n_columns=1)
    return grid_weights(p, n_bins, rounding, precision)


def grid_weights(p, m, rounding, precision=np.float64):
    """`rounding_weights` of checked probabilities."""
    if rounding == "floor":
        index = grid_index(p, m, precision)
        return index / m, np.minimum(index + 1, m) / m, np.zeros(p.size)
    index = grid_index(p, m)  # not the floor of p * m, which may round up past p
    return index / m, np.minimum(index + 1, m) / m, np.clip(p * m - index, 0.0, ALMOST_ONE)
