"""The envelope M of the potentials of a class: what the program and the class-wise bound share."""

import numpy as np


class Peak:
    """M(u) = max_i(phi_i - |x_i - u|) over rows at the sorted x; 1-Lipschitz, -inf of no rows."""

    def __init__(self, x: np.ndarray, phi: np.ndarray) -> None:
        nothing = [-np.inf]
        self._x = x
        self._left = np.concatenate([nothing, np.maximum.accumulate(phi + x)])
        self._right = np.concatenate([np.maximum.accumulate((phi - x)[::-1])[::-1], nothing])

    def at(self, u: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """M(u), and the number of rows below u."""
        rank = np.searchsorted(self._x, u)
        return np.maximum(self._left[rank] - u, self._right[rank] + u), rank
