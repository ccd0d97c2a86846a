"""The columns of a file: which are meant, and what their fields say."""

import numpy as np

from skcal._validation import check_sample, fail, shown

DEFAULT_COLUMNS = {
    "weight": (),
    "true": ("y_true", "y", "label", "target"),
    "proba": ("y_proba", "y_prob", "proba", "p"),
}


def choose(names, wanted, kind):
    """The column that was asked for, or the first that goes by a usual name."""
    for name in (wanted, *DEFAULT_COLUMNS[kind]):
        if names.count(name) > 1:
            fail("the header", f"name column {name!r} once", shown(names))
    if wanted is not None:
        if wanted not in names:
            fail(f"--{kind}", f"be one of the columns {shown(names)}", repr(wanted))
        return wanted
    for name in DEFAULT_COLUMNS[kind]:
        if name in names:
            return name
    usual = shown(DEFAULT_COLUMNS[kind])
    return fail(f"--{kind}", f"name a column when none is called one of {usual}", shown(names))


def numbers(table, column, name, start):
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
        distinct, places = table.distinct(column)
        for k, label in enumerate(distinct):
            if label is None or label != label or (isinstance(label, str) and not label.strip()):
                row, name = start + int((places == k).argmax()) + 1, f"column {self._name!r}"
                fail(name, "hold no missing values", f"an empty field in row {row}")
        known = len(self._codes)
        codes = np.array([self._codes.setdefault(label, len(self._codes)) for label in distinct])
        if len(self._codes) > known and np.unique(_typed(self._codes)).size > 1:
            self.outcomes()  # wrong labels are wrong at once, not after the last row
        return codes[places]

    def outcomes(self):
        """The outcome, 0 or 1, of each code."""
        labels = _typed(self._codes)
        positive = parse_label(self._typed_label, labels)
        return check_sample(labels, np.full(labels.size, 0.5), pos_label=positive).y

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
    if text is None or labels.dtype.kind in "US":
        return text
    if labels.dtype.kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return fail("--pos-label", f"be one of the labels {shown(np.unique(labels))}", repr(text))


def _typed(labels):
    """Numbers and true/false where all labels are such, else text."""
    values = np.array(list(labels))
    if values.dtype.kind != "U":
        return values
    values = np.char.strip(values)
    try:
        return values.astype(np.float64)
    except ValueError:
        lower = np.char.lower(values)
        return lower == "true" if np.isin(lower, ["true", "false"]).all() else values


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
