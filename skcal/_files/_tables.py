"""Tables in files, column names first, then the rows in chunks of bounded size."""

import csv
import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

CHUNK = 20_000  # rows
QUOTED = re.compile(r'(?<![^,;\t\r\n])"(?:[^"]|"")*"')  # a field


@dataclass(frozen=True)
class Table:
    """An open file. The two readers take a column of a chunk."""

    names: list
    chunks: object  # function of the columns wanted: yields a list of columns for each chunk
    distinct: object  # reads labels: distinct values, and the place of each row's among them
    floats: object  # reads numbers; a ValueError when there are others


@contextmanager
def open_table(file):
    """The `Table` of a CSV or Parquet file; ``-`` is CSV from standard input."""
    if Path(file).is_dir():
        raise ValueError(f"{file}: is a directory, not a file")
    if file.lower().endswith((".parquet", ".pq")):
        yield from _parquet(file)
    elif file == "-":
        if sys.stdin is None:
            raise ValueError("standard input: is closed")
        with _text(sys.stdin.fileno(), open, closefd=False) as lines:
            yield from _csv(lines, "standard input")
    else:
        with _text(file, gzip.open if file.lower().endswith(".gz") else open) as lines:
            yield from _csv(lines, file)


def _text(file, opener, **options):
    return opener(file, "rt", newline="", encoding="utf-8-sig", **options)


def _csv(lines, file):
    reader = None
    try:
        start = _through_header(lines)
        outside = QUOTED.sub("", "".join(start))
        delimiter = next((mark for mark in ",;\t" if mark in outside), ",")
        reader = csv.reader(chain(start, lines), delimiter=delimiter, strict=True)
        header = next((row for row in reader if any(map(str.strip, row))), None)
        if header is None:
            raise ValueError(f"{file}: is empty, a header line was expected")
        names = [name.strip() for name in header]

        def chunks(wanted):
            places = [names.index(name) for name in wanted]
            while rows := _whole_rows(reader, len(header), file):
                yield [[row[place] for row in rows] for place in places]

        yield Table(names, chunks, _distinct_texts, _floats_of_texts)
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: {error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: is not a UTF-8 text file ({error.reason})") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{file}: is not a whole gzip file ({error})") from None


def _through_header(lines):
    """The first line that is not blank, with those before it."""
    start = []
    for line in lines:
        start.append(line)
        if line.strip():
            break
    return start


def _whole_rows(reader, width, file):
    """The next rows, as long as the header; blank lines are no rows."""
    whole, line = [], reader.line_num
    while not whole and (rows := list(islice(reader, CHUNK))):
        if set(map(len, rows)) == {width}:
            return rows
        for row in rows:
            line += 1 + sum(field.count("\n") for field in row)
            if row and len(row) != width:
                got = f"{len(row)} fields where the header has {width}"
                raise ValueError(f"{file}, line {line}: {got}")
        whole = [row for row in rows if row]
    return whole


def _distinct_texts(column):
    places = {}
    codes = [places.setdefault(text, len(places)) for text in column]
    return list(places), np.array(codes)


def _floats_of_texts(column):
    values = np.fromiter(map(float, column), np.float64, len(column))
    if "_" in "".join(map(str, column)):
        raise ValueError("Python reads 0_1 as 1")
    return values


def _parquet(file):
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ImportError(f"{file}: Parquet needs pyarrow (pip install pyarrow)") from None
    with open(file, "rb"):  # with the words of Python when there is no such file
        pass
    try:
        # a buffer, or whole row groups are read at once
        with parquet.ParquetFile(file, buffer_size=2**20, pre_buffer=False) as table:

            def chunks(wanted):
                for batch in table.iter_batches(CHUNK, columns=list(dict.fromkeys(wanted))):
                    if not batch.num_rows:
                        continue
                    yield [batch.column(name) for name in wanted]

            yield Table(table.schema_arrow.names, chunks, _distinct_values, _floats_of_values)
    except (ArrowException, OSError) as error:
        raise ValueError(f"{file}: {str(error).splitlines()[0]}") from None


def _distinct_values(column):
    encoded = _decoded(column).dictionary_encode("encode")  # a null is one of the values
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _floats_of_values(column):
    column = _decoded(column)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "O":  # text and decimals; NumPy would take lists of one number too
        return _floats_of_texts(column.to_pylist())
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _decoded(column):
    """Categories are stored as numbers, and some may not occur."""
    return column.cast(column.type.value_type) if hasattr(column, "dictionary") else column
