"""Sketches at rest: what is written, and the checks of what is read."""

import io
import json
import zlib
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import numpy as np

from skcal._reading import fail
from skcal.sketch._cells import MANY

FORMAT = {"format": "skcal.CalibrationSketch", "version": 3}
TABLES = {"index": "<i8", "mass": "<f8", "moved": "<f8", "only": "<f8"}
TYPES = {
    "n_bins": int,
    "pos_label": object,
    "labels": (list, type(None)),
    "negative": object,
    "weighted": bool,
    "squares": float,
    "n_rows": int,
    "n_parts": int,
    "precision": (str, type(None)),
    "parts": list,
}
PRECISIONS = "float16", "float32", "float64"
LAST = 22  # bytes of the record that ends an archive without a comment


def seal(header, mass, moved, only):
    """A header with the occupied cells and a checksum.

    NaN, which JSON writes as null, stands for predictions that differ.
    """
    index = np.flatnonzero(mass)
    only = only[np.unique(index // 2)]
    stored = {**FORMAT, **header, "index": index, "mass": mass.flat[index]}
    stored["moved"], stored["only"] = moved.flat[index], np.where(only == MANY, np.nan, only)
    return {**stored, "checksum": checksum(stored)}


def unseal(stored):
    """The header, once everything in it and in the tables holds together."""
    if not isinstance(stored, dict) or stored.get("format") != FORMAT["format"]:
        fail("stored", "be a dict that CalibrationSketch.to_dict returned", f"{stored!r:.50}")
    if stored.get("version") != FORMAT["version"]:
        must = f"be of version {FORMAT['version']}, which this release of skcal reads"
        fail("stored", must, f"version {stored.get('version')!r}")
    if set(stored) != {*FORMAT, *TYPES, *TABLES, "checksum"}:
        refuse(f"its entries are {sorted(map(str, stored))}")
    for key, kind in TYPES.items():
        if not isinstance(stored[key], kind) or (kind is int and isinstance(stored[key], bool)):
            refuse(f"{key} is {stored[key]!r:.50}")
    try:
        crc = checksum(stored)
        tables = [np.asarray(stored[key], dtype=float) for key in TABLES]
    except (TypeError, ValueError, OverflowError) as error:
        refuse(str(error))
    if crc != stored["checksum"]:
        refuse("its checksum does not fit")
    _check(stored, *tables)
    return {key: stored[key] for key in TYPES}


def _check(header, index, mass, moved, only):
    """Refuse tables that no rows lead to; a race between threads may have made them."""
    if not index.ndim == mass.ndim == moved.ndim == 1 or not index.size == mass.size == moved.size:
        refuse("its tables differ in shape")
    last = 4 * header["n_bins"]  # of the cell that holds p = 1 only
    if not np.all(np.diff(index, prepend=-1, append=last + 2) > 0):
        refuse("its cells are not in order")
    most = np.where(index < last, mass, 0.0)
    if not np.all((moved >= 0) & (moved <= most) & (mass > 0) & (mass < np.inf)):
        refuse("its sums do not fit together")
    cells, place, entries = np.unique(index // 2, return_inverse=True, return_counts=True)
    if only.shape != cells.shape:
        refuse("its tables differ in shape")
    m, differ = last // 2, np.isnan(only)
    if not np.all(np.where(differ, cells < m, (np.floor(only * m) == cells) & (only <= 1))):
        refuse("its predictions are not in their cells")
    precision = header["precision"]
    known = precision in (PRECISIONS if header["n_rows"] else (None,))
    if not known or not np.array_equal(only.astype(precision), only, equal_nan=True):
        refuse(f"its predictions are not of type {precision}")
    offset = (only * m - cells)[place]  # NaN goes with any sum
    if np.any(np.abs(moved - mass * offset) > 1e-6 * mass):
        refuse("its sums do not fit together")
    rows, parts = header["n_rows"], header["n_parts"]
    least = np.maximum(entries, 1 + differ)  # rows of each cell
    if header["weighted"]:
        counted = least.sum() <= rows
    else:
        counted = mass.sum() == rows and np.all(np.bincount(place, mass) >= least)
    squares, total = header["squares"], float(mass.sum())  # Cauchy and Schwarz bound the squares
    counted &= np.isfinite(squares) and total * total <= rows * squares * (1 + 1e-9)
    if not counted or parts < max(len(header["parts"]), min(rows, 1)):
        refuse("its counts do not fit together")


def refuse(reason) -> NoReturn:
    raise ValueError(f"the stored sketch is corrupt: {reason}.") from None


def fill(mass, moved, only, stored):
    index = np.asarray(stored["index"], dtype=np.int64)
    mass.flat[index], moved.flat[index] = stored["mass"], stored["moved"]
    known = np.asarray(stored["only"], dtype=float)
    only[np.unique(index // 2)] = np.where(np.isnan(known), MANY, known)


def write(stored, file):
    header = {key: value for key, value in stored.items() if key not in TABLES}
    archive = io.BytesIO()  # its own, as places in it are counted from the start of the file
    np.savez(archive, header=json.dumps(header), **{key: stored[key] for key in TABLES})
    with _opened(file, "wb") as target:
        target.write(archive.getbuffer())


def load(file):
    with _opened(file, "rb") as source:
        content = bytes(source.read())  # no text
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            tables = {key: arrays[key] for key in TABLES}
            stored = {**json.loads(arrays["header"].item()), **tables}
            before = min(entry.header_offset for entry in arrays.zip.infolist())
            more = len(arrays.files) - len(tables) - 1
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged archive makes its readers raise
        refuse(f"{file} cannot be read ({type(error).__name__})")
    if before or more or content[-LAST:][:4] != b"PK\5\6":
        refuse(f"{file} holds more than one sketch")
    return stored


@contextmanager
def _opened(file, mode):
    """Of a path the file; a file object stays open, as it is its owner's."""
    used, use = ("write", "writing") if mode == "wb" else ("read", "reading")
    try:
        with nullcontext(file) if hasattr(file, used) else Path(file).open(mode) as opened:
            yield opened
    except (TypeError, ValueError) as error:  # of text, closed, or open the other way alone
        must = f"be a path, or a binary file open for {use}"
        fail("file", must, f"{type(file).__name__} ({error})")


def checksum(stored):
    """Over the values, so that it is the same for lists and arrays."""
    header = {key: stored[key] for key in (*FORMAT, *TYPES)}
    crc = zlib.crc32(json.dumps(header, sort_keys=True).encode())
    for key, kind in TABLES.items():
        crc = zlib.crc32(np.ascontiguousarray(stored[key], dtype=kind).tobytes(), crc)
    return crc
