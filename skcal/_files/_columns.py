"""The columns of a file: which are meant, and what their fields say."""

import os
import sys

import numpy as np

from skcal._validation import OVERSHOOT, check_sample, fail, shown

DEFAULT_COLUMNS = {
    "weight": (),
    "true": ("y_true", "y", "label", "target"),
    "proba": ("y_proba", "y_prob", "proba", "p"),
}
RANGES = {
    "weight": ("be finite and not negative", 0.0, sys.float_info.max),
    "proba": ("lie in [0, 1]", -OVERSHOOT, 1 + OVERSHOOT),
}


def choose(names, wanted, kind):
    """The column that was asked for, or the first that goes by a usual name.

    Where none does, the only one that does but for capitals.
    """
    usual = DEFAULT_COLUMNS[kind]
    exact = [name for name in usual if name in names]
    alike = {name for name in names if name.lower() in usual}
    if wanted is None and not exact and len(alike) != 1:
        must = f"name a column when no single one is called one of {shown(usual)}"
        fail(f"--{kind}", must, shown(names))
    name = wanted if wanted is not None else [*exact, *alike][0]
    if name not in names:
        fail(f"--{kind}", f"be one of the columns {shown(names)}", repr(name))
    if names.count(name) > 1:
        fail("the header", f"name column {name!r} once", shown(names))
    return name


def numbers(table, column, name, kind, start):
    """The numbers of a column; ``start`` rows stand before it."""
    try:
        values = table.floats(column)
    except (TypeError, ValueError):
        fields = column.to_pylist() if hasattr(column, "to_pylist") else column
        row, bad = next((k, v) for k, v in enumerate(fields) if not _is_number(v))
        got = "an empty field" if bad in ("", None) else f"{bad!r:.50}"
        return fail(f"column {name!r}", "hold numbers", f"{got} in row {start + row + 1}")
    if np.isnan(values.min()):
        row = start + int(np.isnan(values).argmax()) + 1
        fail(f"column {name!r}", "hold no missing values", f"NaN in row {row}")
    must, low, high = RANGES[kind]
    if not (float(values.min()) >= low and float(values.max()) <= high):
        values = values.astype(np.float64)
        row = int(((values < low) | (values > high)).argmax())
        fail(f"column {name!r}", must, f"{float(values[row])} in row {start + row + 1}")
    return values


class Labels:
    """The distinct labels met so far, whatever chunk they came in.

    They are numbers or true/false if all are, up to the last row, and else text.
    """

    def __init__(self, name, pos_label):
        self._name, self._typed_label = name, pos_label
        self._codes = {}  # of each label, as it is written
        self._settled = np.zeros(0, dtype=np.int8)

    def encode(self, table, column, start):
        """The code of the label of each row; ``start`` rows stand before it."""
        try:
            distinct, places = table.distinct(column)
        except NotImplementedError:  # of pyarrow: lists and the like
            must = "hold numbers, true/false or text"
            fail(f"column {self._name!r}", must, f"values of type {column.type}")
        for k, label in enumerate(distinct):
            if got := _missing(label):
                row, name = start + int((places == k).argmax()) + 1, f"column {self._name!r}"
                fail(name, "hold no missing values", f"{got} in row {row}")
        known = len(self._codes)
        codes = np.array([self._codes.setdefault(label, len(self._codes)) for label in distinct])
        if len(self._codes) > known and np.unique(_typed(self._codes)).size > 1:
            self.outcomes()  # wrong labels are wrong at once, not after the last row
        return codes[places]

    def outcomes(self):
        """The outcome, 0 or 1, of each code."""
        labels = _typed(self._codes)
        positive = parse_label(self._typed_label, labels)
        try:
            return check_sample(labels, np.full(labels.size, 0.5), pos_label=positive).y
        except ValueError as error:
            raise ValueError(self._spoken(str(error))) from None

    def _spoken(self, message):
        """An error of arguments in words of the command line."""
        name = f"column {self._name!r}"
        for said, meant in (
            ("y_true must", f"{name} must"),
            (" (y_true comes before y_proba)", ""),
            ("pos_label must", "--pos-label must"),
            (" of y_true;", f" of {name};"),
        ):
            message = message.replace(said, meant)
        return message

    def settle(self):
        """The same, for rows that will not be looked at again."""
        outcomes = self.outcomes()
        if not np.array_equal(outcomes[: self._settled.size], self._settled):
            must = "hold labels of one kind, numbers, true/false or text"
            fail(f"column {self._name!r}", must, shown(list(self._codes)))
        self._settled = outcomes
        return outcomes


def parse_label(text, labels):
    """A label typed by the user, in the type of the labels that were read."""
    if text is None or labels.dtype.kind == "U":
        return text
    if labels.dtype.kind == "S":
        return os.fsencode(text)  # the bytes that were typed
    if labels.dtype.kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if not _is_number(text):
        fail("--pos-label", f"be one of the labels {shown(np.unique(labels))}", repr(text))
    return float(text)


def _typed(labels):
    """Numbers and true/false where all labels are such, else text."""
    values = np.array(list(labels))
    if values.dtype.kind != "U":
        return values
    values = np.char.strip(values)
    if all(map(_is_number, values.tolist())):
        return values.astype(np.float64)
    lower = np.char.lower(values)
    return lower == "true" if np.isin(lower, ["true", "false"]).all() else values


def _missing(label):
    """What stands where a label should: None if it is one."""
    if label is None or not str(label).strip():
        return "an empty field"
    return "NaN" if _is_number(label) and np.isnan(float(label)) else None


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return "_" not in str(value)  # which Python allows between digits
