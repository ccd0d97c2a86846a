"""What a sketch takes at a time: checks that its chunks need beside those of a sample."""

import numpy as np

from skcal._reading import fail, fail_parameter, read
from skcal._validation import check_weights

HEAVIEST = 1e100  # and its inverse: sums of such weights neither overflow nor vanish


def weights_of_chunk(sample_weight, n):
    """Checked weights on their own scale, which the chunks share; all may be zero."""
    if sample_weight is None:
        return None
    w = read(sample_weight, "sample_weight")
    nothing = w.dtype.kind in "biuf" and w.size and not w.any()
    check_weights(w + 1 if nothing else w, n)
    w = w.ravel().astype(np.float64, copy=False)
    if not nothing and not 1 / HEAVIEST < w.max() < HEAVIEST:
        must = f"have a maximum between {1 / HEAVIEST:g} and {HEAVIEST:g}"
        fail("sample_weight", must, f"{w.max():g}")
    return w


def check_empty(y_proba, sample_weight):
    for values, name in ((y_proba, "y_proba"), (sample_weight, "sample_weight")):
        if values is not None and (rows := read(values, name).shape[0]):
            fail(name, "be as empty as y_true", f"length {rows}")


def promoted(one, other):
    """The floating type of the rows of both, as `np.concatenate` has it; None where no rows are."""
    if None in (one, other):
        return one or other
    return np.promote_types(one, other).type


def names_of_chunk(part):
    if part is None:
        return frozenset()
    if not isinstance(part, str):
        fail_parameter("update", "part", "be a string or None", repr(part))
    return frozenset([part])
