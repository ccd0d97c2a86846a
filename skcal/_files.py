"""Forecasts from CSV and Parquet files, for the command line."""

import csv
import sys
from itertools import chain
from pathlib import Path

import numpy as np

from skcal._validation import fail, shown

DEFAULT_COLUMNS = {
    "weight": (),
    "true": ("y_true", "y", "label", "target"),
    "proba": ("y_proba", "y_prob", "proba", "p"),
}


def read_forecasts(file, true=None, proba=None, weight=None):
    """Labels, probabilities and weights (or None) of a file; ``-`` is standard input."""
    names, columns = _open_table(file)
    chosen = [_choose(names, true, "true"), _choose(names, proba, "proba")]
    if weight is not None:
        chosen.append(_choose(names, weight, "weight"))
    y_true, y_proba, *weights = columns(chosen)
    numbers = [_numbers(values, name) for values, name in zip(
        [y_proba, *weights], chosen[1:], strict=True
    )]  # fmt: skip
    return _labels(y_true, chosen[0]), numbers[0], numbers[1] if weights else None


def parse_label(text, y_true):
    """A label typed by the user, in the type of the labels that were read."""
    if text is None or y_true.dtype.kind in "US":
        return text
    if y_true.dtype.kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return fail("--pos-label", f"be one of the labels {shown(np.unique(y_true))}", repr(text))


def _open_table(file):
    """Column names, and a function that reads some of the columns."""
    if str(file).lower().endswith((".parquet", ".pq")):
        try:
            from pyarrow import parquet
        except ImportError:
            raise ImportError(f"{file}: Parquet needs pyarrow (pip install pyarrow)") from None
        table = parquet.ParquetFile(file)
        return table.schema_arrow.names, lambda names: [_parquet_column(table, n) for n in names]
    rows = _csv_rows(file)
    header = next(rows)
    return header, lambda names: _csv_columns(rows, header, names, file)


def _parquet_column(table, name):
    column = table.read(columns=[name]).column(0)
    if column.null_count:
        fail(f"column {name!r}", "hold no missing values", f"{column.null_count} of them")
    if hasattr(column.type, "value_type"):  # categories are stored as numbers
        column = column.cast(column.type.value_type)
    return column.to_numpy()


def _csv_rows(file):
    if str(file) == "-":
        yield from _parse(sys.stdin, "standard input")
        return
    if Path(file).is_dir():
        raise ValueError(f"{file}: is a directory, not a file")
    with open(file, newline="", encoding="utf-8-sig") as lines:
        yield from _parse(lines, file)


def _parse(lines, file):
    try:
        first = next(iter(lines), "")
        delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
        header = next(reader, None)
        if not header:
            raise ValueError(f"{file}: is empty, a header line was expected")
        yield [name.strip() for name in header]
        for row in reader:
            if row:  # blank lines are no rows
                if len(row) != len(header):
                    raise ValueError(
                        f"{file}, line {reader.line_num}: {len(row)} fields where the header has "
                        f"{len(header)}"
                    )
                yield row
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: {error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: is not a UTF-8 text file ({error.reason})") from None


def _csv_columns(rows, header, names, file):
    places = [header.index(name) for name in names]
    table = [tuple(row[k] for k in places) for row in rows]
    if not table:
        raise ValueError(f"{file}: holds a header and no rows")
    return [np.array(column) for column in zip(*table, strict=True)]


def _choose(names, wanted, kind):
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


def _numbers(values, name):
    try:
        return values.astype(float)
    except (TypeError, ValueError):
        bad = next(v for v in values.tolist() if not _is_number(v))
        return fail(
            f"column {name!r}", "hold numbers", "an empty field" if bad == "" else repr(bad)
        )


def _labels(values, name):
    """Numbers and true/false where all fields are such, else text."""
    if values.dtype.kind not in "USO":
        return values
    values = np.char.strip(values.astype(str))
    empty = np.flatnonzero(values == "")
    if empty.size:
        fail(f"column {name!r}", "hold no missing values", f"an empty field in row {empty[0] + 1}")
    try:
        return values.astype(float)
    except ValueError:
        lower = np.char.lower(values)
        if np.isin(lower, ["true", "false"]).all():
            return lower == "true"
        return values


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
