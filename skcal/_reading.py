"""Arrays from whatever users hand in, the sentence of every error, and the one warning."""

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import NoReturn

import numpy as np

INSIDE = ("skcal.", "sklearn.", "joblib.")
RAGGED_WARNS = np.lib.NumpyVersion(np.__version__) < "1.24.0"  # newer ones raise
LISTED = 10  # labels that an error message shows at most
LABEL = str | bytes | Real | np.bool_  # what one label may be
QUIET = ContextVar("QUIET", default=False)


class CalibrationWarning(UserWarning):
    """The input is valid, but the number may not mean what the user hopes."""


@contextmanager
def quiet():
    """Calls inside do not `warn`.

    Filters of warnings belong to the process, and would be left behind by threads that set them at
    once; this belongs to the thread.
    """
    token = QUIET.set(True)
    try:
        yield
    finally:
        QUIET.reset(token)


def warn(message):
    """Warn at the line of the caller outside this package and the wrappers of scikit-learn."""
    if QUIET.get():
        return
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CalibrationWarning, stacklevel=level)


def fail(name, must, got) -> NoReturn:
    """The one sentence of every data error; tracebacks of others below it would only distract."""
    raise ValueError(f"{name} must {must}; got {got}.") from None


def fail_parameter(function, name, must, got) -> NoReturn:
    """The sentence of scikit-learn's parameter errors, for checks that its table cannot express."""
    raise ValueError(f"The {name!r} parameter of {function} must {must}. Got {got} instead.")


def shown(labels):
    """Labels as an error message shows them."""
    items = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return "[" + ", ".join(map(repr, items[:LISTED])) + (", ...]" if len(items) > LISTED else "]")


def read(values, name):
    """An array of numbers, booleans or labels without missing entries; masks are not dropped."""
    array = dense(values, name)
    if array.ndim == 0:
        fail(name, "be an array", f"{type(values).__name__} of shape () ({values!r:.50})")
    if array.dtype.kind in "US" and not hasattr(values, "dtype"):
        array = np.asarray(values, dtype=object)  # NumPy turns the list ["a", nan] into "a", "nan"
    if array.dtype.kind == "O" and array.size:
        array = _infer(array, name)
        # nullable frames know the precision that their objects have lost
        array = array.astype(getattr(getattr(values, "dtype", None), "numpy_dtype", array.dtype))
    if array.dtype.kind not in "biufUSO":
        fail(name, "hold numbers, booleans or strings", f"values of type {array.dtype}")
    if array.dtype.kind == "f" and array.size and np.isnan(array.min()):
        fail(name, "hold no missing values", f"NaN in row {first_row(np.isnan(array))}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # beyond double precision they are infinite
            array = array.astype(np.float64)
    return array


def dense(values, name):
    """An array of whatever it is, without a mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        fail(name, "hold no missing values", "masked entries")
    if hasattr(values, "toarray"):
        fail(name, "be a dense array", f"a sparse one ({type(values).__name__})")
    try:
        if not RAGGED_WARNS or hasattr(values, "dtype"):
            return np.asarray(values)
        # not where it can be helped: threads that do this at once may leave the filter behind
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.asarray(values)
    except (ValueError, Warning):
        fail(name, "be an array", "nested sequences of different lengths")
    except MemoryError:
        raise
    except Exception as error:  # of other libraries, whose types NumPy may not know
        fail(name, "be an array", f"{type(values).__name__} that NumPy cannot read ({error})")


def numbers(values):
    """A float64 array of real numbers; None for anything else, whose parts would get lost."""
    if np.ma.is_masked(values):
        return None
    try:
        array = np.asarray(values)
        return array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError, Warning):  # old NumPy may warn of ragged lists
        return None


def _infer(array, name):
    """Give object arrays (nullable frames, mixed lists) the type of what they hold."""
    try:
        missing = (np.equal(array, None) | np.not_equal(array, array)).astype(bool)
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        fail(name, "hold no missing values", "a missing value (NA)")
    if missing.any():
        fail(name, "hold no missing values", f"one in row {first_row(missing)}")
    types = set(map(type, array.ravel().tolist()))
    if any(all(issubclass(kind, text) for kind in types) for text in (str, bytes)):
        return array
    try:
        if any(issubclass(kind, str | bytes) for kind in types):
            raise TypeError
        inferred = np.array(array.tolist())
        with np.errstate(over="ignore"):  # beyond double precision they are infinite
            return inferred if inferred.dtype.kind in "biuf" else array.astype(np.float64)
    except OverflowError:
        fail(name, "hold numbers that fit into double precision", "a larger integer")
    except (TypeError, ValueError):
        names = ", ".join(sorted(kind.__name__ for kind in types))
        fail(name, "hold numbers, booleans or strings of one kind", f"values of type {names}")


def ravelled(values, name):
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        fail(name, "be one-dimensional", f"shape {values.shape}")
    not_empty(values, name)
    return values


def not_empty(values, name):
    if not values.shape[0]:
        fail(name, "hold at least one row", "an empty array")


def first_row(where):
    return int(np.flatnonzero(where.reshape(where.shape[0], -1).any(axis=1))[0])
