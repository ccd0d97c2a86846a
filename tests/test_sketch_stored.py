"""Sketches at rest: what was written comes back, and nothing else is taken for a sketch."""

import copy
import io
import json
import os
import pickle

import numpy as np
import pytest

from skcal.sketch import CalibrationSketch, _stored


def _sketch(**settings):
    rng = np.random.default_rng(0)
    p, w = rng.random(60), rng.uniform(0.1, 3, 60)
    sketch = CalibrationSketch(16, **settings)
    sketch.update(rng.integers(0, 2, 60), p, w, part="b")
    return sketch.update([1, 0], [1.0, 0.2], part="a")


SKETCHES = {
    "weighted": _sketch(),
    "counted": CalibrationSketch(16).update([0, 1, 1], [0.3, 0.3, 1.0]),
    "merged": CalibrationSketch(16).update([0, 1, 1], [0.3, 0.3, 1.0]) + _sketch(),
    "text": CalibrationSketch(16, pos_label="yes").update(np.array(["no", "yes"]), [0.2, 0.3]),
    "single": CalibrationSketch(16).update([0, 1], np.array([0.3, 0.9], dtype="f4")),
    "named": CalibrationSketch(16, labels=[True, False]).update([True], [[0.3, 0.7]]),
    "floats": CalibrationSketch(16, pos_label=np.float64(2)).update([1.0, 2.0], [0.2, 0.3]),
    "empty": CalibrationSketch(16, labels=["b", "a"], pos_label="a"),
}
each_sketch = pytest.mark.parametrize("sketch", SKETCHES.values(), ids=SKETCHES)


def _through_json(sketch):
    return CalibrationSketch.from_dict(json.loads(json.dumps(sketch.to_dict(), allow_nan=False)))


def _through_file(sketch, path):
    sketch.save(path)
    return CalibrationSketch.load(path)


def _through_buffer(sketch):
    buffer = io.BytesIO()
    sketch.save(buffer)
    buffer.seek(0)
    again = CalibrationSketch.load(buffer)
    assert not buffer.closed  # its owner closes it
    return again


@each_sketch
def test_round_trips(sketch, tmp_path):
    for again in (
        _through_json(sketch),
        CalibrationSketch.from_dict(sketch.to_dict()),
        _through_file(sketch, tmp_path / "sketch.npz"),
        _through_file(sketch, str(tmp_path / "no_suffix")),
        _through_buffer(sketch),
        pickle.loads(pickle.dumps(sketch)),
        copy.deepcopy(sketch),
        copy.copy(sketch),
    ):
        assert again.to_dict() == sketch.to_dict()
        assert repr(again) == repr(sketch)
        assert not sketch.n_rows or again.cdl() == sketch.cdl()
        before = sketch.to_dict()
        again.merge(sketch.copy()) if not sketch.parts else again.update([], [])
        assert sketch.to_dict() == before  # nothing is shared


def test_only_occupied_cells_are_stored():
    sketch = CalibrationSketch().update([0, 1], [0.3, 0.3])
    assert len(json.dumps(sketch.to_dict())) < 400
    assert len(pickle.dumps(sketch)) < 1000


def test_labels_are_remembered():
    again = _through_json(SKETCHES["text"])
    with pytest.raises(ValueError, match="got also 'maybe'"):
        again.update(["maybe"], [0.5])


WRONG = (None, -1, 2.5, 10**6, "x", [], [1], {}, True, float("nan"))


@each_sketch
def test_every_changed_entry_is_refused_or_harmless(sketch):
    stored = sketch.to_dict()
    for key in stored:
        for value in (*WRONG, *_changed(stored[key])):
            _refused_or_harmless({**stored, key: value}, sketch)
        _refused_or_harmless({k: v for k, v in stored.items() if k != key}, sketch)
    _refused_or_harmless({**stored, "more": 1}, sketch)


def _changed(value):
    """Lists with one entry gone, doubled, moved or changed, and numbers and words next to one."""
    if isinstance(value, list) and value:
        yield value[1:]
        yield value[::-1]
        yield [*value, value[-1]]
        yield [value]
        for wrong in (None, "x", -value[0] if isinstance(value[0], float) else 0, float("inf")):
            yield [wrong, *value[1:]]
        yield [2 * (value[0] or 1), *value[1:]]
    elif isinstance(value, int):
        yield value + 1
        yield 2 * value
    elif isinstance(value, str):
        yield value + "x"


def _refused_or_harmless(stored, sketch):
    try:
        again = CalibrationSketch.from_dict(stored)
    except ValueError:
        return
    assert again.to_dict() == sketch.to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"index": [5, 4, 6]}, "cells are not in order"),
        ({"index": [-1, 4, 6]}, "cells are not in order"),
        ({"index": [4, 5, 66]}, "cells are not in order"),
        ({"index": [4, 5]}, "tables differ in shape"),
        ({"mass": [1.0, 1.0, float("inf")]}, "sums do not fit together"),
        ({"mass": [1.0, 2.0, 0.0], "moved": [0.0, 0.0, 0.0]}, "sums do not fit together"),
        ({"moved": [1.5, 0.0, 0.0]}, "sums do not fit together"),
        ({"moved": [-0.5, 0.0, 0.0]}, "sums do not fit together"),
        ({"moved": [0.5, 0.5, float("nan")]}, "sums do not fit together"),
        ({"moved": [0.5, 0.5, 0.5]}, "sums do not fit together"),  # the last cell holds p = 1
        ({"mass": [1.0, 1.0, 1.0]}, None),
        ({"only": [None, 1.0]}, None),
        ({"only": [1.0]}, "tables differ in shape"),
        ({"only": [2.5 / 32, 2.5 / 32, 1.0]}, "tables differ in shape"),
        ({"only": [1.9 / 32, 1.0]}, "predictions are not in their cells"),
        ({"only": [3 / 32, 1.0]}, "predictions are not in their cells"),
        ({"only": [2.5 / 32, 31.9 / 32]}, "predictions are not in their cells"),
        ({"only": [2.5 / 32, 1.01]}, "predictions are not in their cells"),
        ({"only": [2.5 / 32, None]}, "predictions are not in their cells"),  # p = 1 has no other
        ({"only": [float("inf"), 1.0]}, "predictions are not in their cells"),
        ({"only": [-float("inf"), 1.0]}, "predictions are not in their cells"),
        ({"only": [2.6 / 32, 1.0]}, "sums do not fit together"),
        (
            {"index": [4, 65], "mass": [1.0, 2.0], "moved": [0.5, 0.0], "only": [None, 1.0]},
            "counts do not fit together",  # one row alone does not differ
        ),
        (
            {
                "index": [4, 65],
                "mass": [1.0, 1.0],
                "moved": [0.5, 0.0],
                "only": [None, 1.0],
                "weighted": True,
                "n_rows": 2,
            },
            "counts do not fit together",
        ),
        ({"mass": [1.0, 1.0, 2.0]}, "counts do not fit together"),
        ({"n_rows": 4}, "counts do not fit together"),
        ({"n_parts": 0}, "counts do not fit together"),
        ({"parts": ["a", "b"]}, "counts do not fit together"),
        ({"precision": "float16"}, None),
        ({"precision": "int64"}, "predictions are not of type int64"),
        ({"precision": "f4"}, "predictions are not of type f4"),
        ({"precision": None}, "predictions are not of type None"),
        (
            {
                "precision": "float32",
                "moved": [0.5, 0.5 + 1e-8, 0.0],
                "only": [2.5000001 / 32, 1.0],
            },
            "predictions are not of type float32",
        ),
        ({"n_bins": 48, "index": [14, 15, 193]}, "power of two"),
        ({"negative": 1}, "labels do not fit together"),
        ({"labels": [0, 1], "negative": -1}, "labels do not fit together"),
    ],
)
def test_sketches_that_make_no_sense_are_refused(changes, message):
    """Also when whoever wrote them knew how to make the checksum."""
    stored = SKETCHES["counted"].to_dict()
    assert stored["index"][-1] == 65
    stored = {**stored, "index": [4, 5, 65], "moved": [0.5, 0.5, 0.0], "only": [2.5 / 32, 1.0]}
    stored |= changes
    stored["checksum"] = _stored.checksum(stored)
    if message is None:
        assert CalibrationSketch.from_dict(stored).n_rows == 3
        return
    with pytest.raises(ValueError, match=message):
        CalibrationSketch.from_dict(stored)


def test_other_versions_are_refused():
    stored = {**SKETCHES["counted"].to_dict(), "version": 2}
    with pytest.raises(
        ValueError, match="version 3, which this release of skcal reads; got version 2"
    ):
        CalibrationSketch.from_dict(stored)


@pytest.mark.parametrize("stored", [None, 3, [], {}, {"format": "json"}])
def test_other_things_are_refused(stored):
    with pytest.raises(ValueError, match=r"be a dict that CalibrationSketch\.to_dict returned"):
        CalibrationSketch.from_dict(stored)


def test_damaged_files(tmp_path):
    path = tmp_path / "sketch.npz"
    sketch = _sketch()
    sketch.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for start in (0, 1, 50, len(whole) // 2, len(whole) - 1):
        _file_refused_or_harmless(path, whole[:start], sketch)
    for place in rng.integers(0, len(whole), 300):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        _file_refused_or_harmless(path, bytes(flipped), sketch)


def _file_refused_or_harmless(path, content, sketch):
    path.write_bytes(content)
    try:
        again = CalibrationSketch.load(path)
    except ValueError as error:
        assert "corrupt" in str(error) or "stored must" in str(error)
        return
    assert again.to_dict() == sketch.to_dict()


def test_other_files(tmp_path):
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    (tmp_path / "text.npz").write_text("a,b\n")
    for name in ("arrays.npz", "text.npz"):
        with pytest.raises(ValueError, match=f"corrupt: .*{name} cannot be read"):
            CalibrationSketch.load(tmp_path / name)
    with pytest.raises(ValueError, match=r"corrupt: .*BytesIO.* cannot be read"):
        CalibrationSketch.load(io.BytesIO(b"PK"))
    with pytest.raises(FileNotFoundError):
        CalibrationSketch.load(tmp_path / "missing.npz")


# Files


def _bytes(sketch):
    buffer = io.BytesIO()
    sketch.save(buffer)
    return buffer.getvalue()


def test_two_sketches_in_one_file_are_no_sketch(tmp_path):
    first, second = SKETCHES["counted"], SKETCHES["weighted"]
    buffer = io.BytesIO()
    for sketch in (first, second):
        sketch.save(buffer)
    assert buffer.getvalue() == _bytes(first) + _bytes(second)
    buffer.seek(0)
    with pytest.raises(ValueError, match=r"corrupt: .* holds more than one sketch"):
        CalibrationSketch.load(buffer)
    buffer.seek(len(_bytes(first)))  # from there on it is one
    assert CalibrationSketch.load(buffer).to_dict() == second.to_dict()


@pytest.mark.parametrize("more", [b"x", b"PK", b"\0" * 22, b"text\n" * 20_000])
def test_what_lies_beside_a_sketch_is_refused(more, tmp_path):
    whole = _bytes(_sketch())
    for content in (more + whole, whole + more):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ValueError, match=r"corrupt: .*file (holds more than|cannot be read)"):
            CalibrationSketch.load(tmp_path / "file")


def test_further_arrays_are_refused(tmp_path):
    path = tmp_path / "sketch.npz"
    _sketch().save(path)
    with np.load(path) as arrays:
        np.savez(path, more=np.zeros(1), **arrays)
    with pytest.raises(ValueError, match="holds more than one sketch"):
        CalibrationSketch.load(path)


def test_pipes_will_do():
    sketch = SKETCHES["counted"]  # smaller than the buffer of a pipe
    source, target = (
        os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)
    )
    with source, target:
        assert not source.seekable() and not target.seekable()
        sketch.save(target)
        target.close()
        assert CalibrationSketch.load(source).to_dict() == sketch.to_dict()


@pytest.mark.parametrize("mode", ["r", "a", "rb", "ab"])
def test_files_that_are_open_the_wrong_way(mode, tmp_path):
    sketch, path = _sketch(), tmp_path / "sketch.npz"
    sketch.save(path)
    with path.open(mode, encoding=None if "b" in mode else "utf8") as file:
        if mode != "rb":
            _assert_named(CalibrationSketch.load, file, "reading")
        if mode != "ab":
            _assert_named(sketch.save, file, "writing")
    _assert_named(CalibrationSketch.load, file, "reading")  # it is closed
    _assert_named(sketch.save, file, "writing")
    assert CalibrationSketch.load(path).to_dict() == sketch.to_dict()


@pytest.mark.parametrize("file", [io.StringIO("PK"), 3, None, b"name", "\0"])
def test_what_is_no_file(file):
    _assert_named(CalibrationSketch.load, file, "reading")
    _assert_named(_sketch().save, file, "writing")


def _assert_named(ask, file, use):
    with pytest.raises(
        ValueError, match=rf"^file must be a path, or a binary file open for {use}; got"
    ):
        ask(file)


class _Failing(io.BytesIO):
    def read(self, *_):
        raise OSError("the disk is gone")

    write = read


def test_errors_that_are_no_fault_of_the_file(tmp_path, monkeypatch):
    for ask in (CalibrationSketch.load, _sketch().save):
        with pytest.raises(OSError, match="the disk is gone"):
            ask(_Failing())
        with pytest.raises(OSError, match=str(tmp_path)):
            ask(tmp_path)

    def no_memory(*_, **__):
        raise MemoryError

    buffer = io.BytesIO(_bytes(_sketch()))
    monkeypatch.setattr(np, "load", no_memory)
    with pytest.raises(MemoryError):
        CalibrationSketch.load(buffer)


def test_errors_show_no_traceback_of_another_package(tmp_path):
    (tmp_path / "text").write_text("no sketch")
    for file in (tmp_path / "text", 3):
        with pytest.raises(ValueError) as error:
            CalibrationSketch.load(file)
        assert error.value.__suppress_context__
