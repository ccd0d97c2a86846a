"""Files of the command line in chunks: what they say does not depend on where a chunk ends."""

import gzip
import io
import json
import os
import sys

import numpy as np
import pytest

from skcal import calibration_report, metrics
from skcal.__main__ import main
from skcal._files import Progress, _forecasts, _progress, _tables, read_forecasts
from skcal.report import sketch_report
from skcal.sketch import CalibrationSketch

REPORT = ["report", "--resamples", "0"]  # no intervals: quick
Y, P = [0, 1, 1, 0], [0.25, 0.5, 0.75, 0.75]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_tables, "CHUNK", 3)


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(_forecasts, "MOST_ROWS", 10)


@pytest.fixture
def forecasts():
    rng = np.random.default_rng(8)
    p = rng.random(100).round(6)
    return (rng.random(100) < p).astype(int), p, rng.integers(0, 3, 100)


@pytest.fixture
def write(tmp_path):
    def _write(*columns, head="y,p,w"):
        path = tmp_path / "forecasts.csv"
        lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
        names = ",".join(head.split(",")[: len(columns)])
        path.write_text("\n".join([names, *lines]))
        return str(path)

    return _write


def text_of(*args, **options):
    return calibration_report(*args, n_resamples=None, **options)


def error_of(capsys, *argv):
    assert main([*REPORT, *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("skcal: error: ")
    return captured.err


def test_rows_of_many_chunks(write, forecasts, capsys):
    y, p, w = forecasts
    assert main([*REPORT, write(y, p, w), "--weight", "w"]) == 0
    assert capsys.readouterr().out.rstrip() == text_of(y, p, sample_weight=w)


@pytest.mark.parametrize("spell", [str, lambda k: f"{k}.0", lambda k: ["no", "yes"][k]])
def test_beyond_a_number_of_rows_a_sketch(few_rows, write, forecasts, capsys, spell):
    y, p, w = forecasts
    path, label = write(map(spell, y), p, w), spell(1)
    assert main([*REPORT, path, "--weight", "w", "--pos-label", label]) == 0
    expected = sketch_report(CalibrationSketch().update(y, p, w))
    assert capsys.readouterr().out.rstrip() == expected


def test_a_sketch_is_fed_in_bounded_pieces(few_rows, write, forecasts, monkeypatch):
    sizes = []

    class Spy(CalibrationSketch):
        def update(self, y_true, *rest):
            sizes.append(len(y_true))
            return super().update(y_true, *rest)

    monkeypatch.setattr(_forecasts, "CalibrationSketch", Spy)
    found = read_forecasts(write(*forecasts))
    assert sum(sizes) == found.sketch.n_rows == 100
    assert max(sizes) <= 10 + 3


def test_ten_rows_are_kept_and_eleven_are_not(few_rows, write, forecasts):
    y, p, _ = forecasts
    assert read_forecasts(write(y[:10], p[:10])).sketch is None
    assert read_forecasts(write(y[:11], p[:11])).sketch.n_rows == 11


@pytest.mark.parametrize("limit", [4, 1000])
@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        # numbers in the first chunks, text in a later one: text throughout
        (["1"] * 7 + ["yes"], [], r"--pos-label must name .*\['1', 'yes'\]"),
        (["0", "1"] * 4 + ["yes"], [], r"at most two labels; got 3: \['0', '1', 'yes'\]"),
        (["0", "1"] * 4 + ["2"], [], r"at most two labels; got 3: \[0, 1, 2\]"),
        (["0", "1"] * 4 + ["0.5"], [], "continuous values such as 0.5"),
        (["0", "1"] * 4 + [" "], [], "column 'y' must hold no missing values.* in row 9"),
        (["a", "b"] * 4, ["--pos-label", "c"], r"--pos-label must be one of .*\['a', 'b'\]"),
    ],
)
def test_labels_that_do_not_go_together(
    write, capsys, monkeypatch, labels, options, message, limit
):
    monkeypatch.setattr(_forecasts, "MOST_ROWS", limit)
    err = error_of(capsys, write(labels, [0.5] * len(labels)), *options)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(err)


def test_labels_of_folded_rows_never_change_their_outcome(few_rows, write, capsys):
    # "true" equals 1 as a boolean, and not as text, which "1" in a later chunk makes of it
    labels = ["true"] * 15 + ["1"]
    err = error_of(capsys, write(labels, [0.5] * 16), "--pos-label", "1")
    assert "column 'y' must hold labels of one kind" in err


def test_one_label_written_in_several_ways(write, capsys):
    assert main([*REPORT, write(["0", "1", "1.0", " 0"], P)]) == 0
    assert capsys.readouterr().out.rstrip() == text_of(Y, P)


@pytest.mark.parametrize("bad", ["nan", " NaN", "-nan", "", " "])
@pytest.mark.parametrize("labels", ["01", ["no", "yes"]])
def test_the_row_of_a_missing_label(write, capsys, bad, labels):
    column = [labels[y] for y in Y * 3]
    column[7] = bad
    err = error_of(capsys, write(column, [0.5] * 12), "--pos-label", labels[1])
    got = "NaN" if bad.strip() else "an empty field"
    assert f"column 'y' must hold no missing values; got {got} in row 8." in err


@pytest.mark.parametrize("bad", ["nan", "", "half", "0,5", "0_1"])
def test_the_row_of_a_bad_number(write, capsys, bad):
    err = error_of(capsys, write(Y * 3, ["0.5"] * 7 + [f'"{bad}"'] + ["0.5"] * 4))
    assert "column 'p' must hold" in err
    assert "in row 8." in err


@pytest.mark.parametrize("bad", ["1.5", "-0.1", "inf"])
def test_the_row_of_a_number_out_of_range(write, capsys, bad):
    numbers = ["0.5"] * 7 + [bad] + ["0.5"] * 4
    err = error_of(capsys, write(Y * 3, numbers))
    assert f"column 'p' must lie in [0, 1]; got {bad} in row 8." in err
    if bad != "1.5":
        err = error_of(capsys, write(Y * 3, P * 3, numbers), "--weight", "w")
        assert f"column 'w' must be finite and not negative; got {bad} in row 8." in err


def test_the_line_of_a_ragged_row(tmp_path, capsys):
    path = tmp_path / "forecasts.csv"
    path.write_text('\ny,p,note\n1,0.5,a\n\n0,0.5,"two\nlines"\n1,0.5,b\n1,0.5\n')
    assert "line 8: 2 fields where the header has 3" in error_of(capsys, str(path))


def test_blank_lines_are_no_rows(tmp_path, capsys):
    path = tmp_path / "forecasts.csv"
    body = "\n\n\n\n".join(f"{y},{p}" for y, p in zip(Y, P, strict=True))
    path.write_text(f"\n \ny,p\n\n\n\n\n{body}\n\n\n\n\n")
    assert main([*REPORT, str(path)]) == 0
    assert capsys.readouterr().out.rstrip() == text_of(Y, P)
    path.write_text("\n\n")
    assert "is empty" in error_of(capsys, str(path))


def test_any_number_of_blank_lines_in_a_row(tmp_path, capsys):
    path = tmp_path / "forecasts.csv"
    blank = "\n" * 3 * 5 * sys.getrecursionlimit()  # a chunk is of 3 lines
    top, end = (f"{y},{p}\n" for y, p in zip(Y[:2], P[:2], strict=True))
    path.write_text(f"{blank}y,p\n{top}{blank}{end}{blank}")
    assert main([*REPORT, str(path)]) == 0
    assert capsys.readouterr().out.rstrip() == text_of(Y[:2], P[:2])
    path.write_text(f"y,p\n{top}{blank}1\n")
    line = 3 + len(blank)
    assert f"line {line}: 1 fields where the header has 2" in error_of(capsys, str(path))


def test_compressed(tmp_path, capsys):
    path = tmp_path / "forecasts.csv.gz"
    body = "\n".join(f"{y},{p}" for y, p in zip(Y, P, strict=True))
    packed = gzip.compress(f"y,p\n{body}\n".encode())
    path.write_bytes(packed)
    assert main([*REPORT, str(path)]) == 0
    assert capsys.readouterr().out.rstrip() == text_of(Y, P)
    for damaged in (packed[:-9], b"y,p\n1,0.5\n", packed[:12] + bytes(8) + packed[20:]):
        path.write_bytes(damaged)
        assert "forecasts.csv.gz: is not a whole gzip file" in error_of(capsys, str(path))


class TestParquet:
    @pytest.fixture
    def write_table(self, tmp_path):
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        def _write(**columns):
            path = str(tmp_path / "forecasts.parquet")
            parquet.write_table(arrow.table(columns), path, row_group_size=4)
            return path

        return _write

    @pytest.mark.parametrize("limit", [10, 1000])
    def test_rows_of_many_chunks(self, write_table, forecasts, capsys, monkeypatch, limit):
        monkeypatch.setattr(_forecasts, "MOST_ROWS", limit)
        y, p, w = forecasts
        assert main([*REPORT, write_table(y=y, p=p, w=w), "--weight", "w"]) == 0
        expected = (
            text_of(y, p, sample_weight=w)
            if limit > 100
            else sketch_report(CalibrationSketch().update(y, p, w))
        )
        assert capsys.readouterr().out.rstrip() == expected

    def test_types(self, write_table, capsys):
        arrow = pytest.importorskip("pyarrow")
        names = np.array(["no", "yes"])[Y].tolist()
        for label, labels in (
            ("1", arrow.array(Y, arrow.int8())),
            ("True", arrow.array(Y).cast(arrow.bool_())),
            ("yes", arrow.array(names)),
            ("yes", arrow.array(names).dictionary_encode()),
            ("1", arrow.array(list(map(str, Y)))),
            ("yes", arrow.array(names).cast(arrow.binary())),
            ("1", arrow.array(list(map(str, Y))).cast(arrow.binary())),
        ):
            for numbers in (arrow.array(P), arrow.array(P).dictionary_encode()):
                path = write_table(y=labels, p=numbers)
                assert main([*REPORT, path, "--pos-label", label]) == 0
                assert capsys.readouterr().out.rstrip() == text_of(Y, P)

    def test_labels_of_bytes_that_are_no_text(self, write_table, capsys):
        path, typed = write_table(y=[[b"no", b"\xff"][k] for k in Y], p=P), os.fsdecode(b"\xff")
        assert main([*REPORT, path, "--pos-label", typed]) == 0
        assert capsys.readouterr().out.rstrip() == text_of(Y, P)
        err = error_of(capsys, path, "--pos-label", "yes")
        assert (
            "--pos-label must be one of the labels [b'no', b'\\xff'] of column 'y'; got b'yes'"
            in err
        )

    def test_single_precision_keeps_its_bins(self, write_table, capsys):
        # the grid of bECE has 10 steps here: 0.7 lies on it, and below in single precision
        p, y = np.tile(np.array([0.7, 0.65], dtype=np.float32), 500), np.arange(1000) // 4 % 2
        assert main([*REPORT, write_table(y=y, p=p), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found == text_of(y, p, output="dict")
        double = metrics.actionable_binned_error(y, p.astype(float))
        assert abs(found["measures"]["bece"]["value"] - double) > 0.01

    def test_names_with_dots_and_rows_with_none(self, write_table, capsys):
        path = write_table(**{"y.x": Y, "p.x": P})
        assert main([*REPORT, path, "--true", "y.x", "--proba", "p.x"]) == 0
        capsys.readouterr()
        assert "column 'p' must hold no missing values; got NaN in row 4" in error_of(
            capsys, write_table(y=Y, p=[*P[:3], None])
        )
        assert "column 'y' must hold no missing values" in error_of(
            capsys, write_table(y=[*Y[:3], None], p=P)
        )
        assert "column 'p' must hold numbers; got [0.5] in row 1" in error_of(
            capsys, write_table(y=Y, p=[[0.5]] * 4)
        )
        for label in ([0], {"a": 0}):
            err = error_of(capsys, write_table(y=[label] * 4, p=P))
            assert "column 'y' must hold numbers, true/false or text; got values of type " in err
            assert "dictionary" not in err

    def test_other_rows_that_are_refused(self, write_table, capsys):
        for y, p, message in (
            ([*map(float, Y[:3]), np.nan], P, "column 'y' must hold no missing values; got NaN in"),
            (Y, np.float32([*P[:3], 1.5]), "column 'p' must lie in [0, 1]; got 1.5 in"),
            (Y, [*map(str, P[:3]), "0_1"], "column 'p' must hold numbers; got '0_1' in"),
        ):
            assert f"{message} row 4." in error_of(capsys, write_table(y=y, p=p))

    def test_decimals_and_the_noise_of_single_precision(self, write_table, capsys):
        arrow = pytest.importorskip("pyarrow")
        decimals = arrow.array(P).cast(arrow.decimal128(5, 2))
        assert main([*REPORT, write_table(y=Y, p=decimals)]) == 0
        assert capsys.readouterr().out.rstrip() == text_of(Y, P)
        noisy = np.array([-5e-7, 0.5, 1 + 5e-7, 0.75], dtype=np.float32)
        assert main([*REPORT, write_table(y=Y, p=noisy)]) == 0
        assert capsys.readouterr().out.rstrip() == text_of(Y, noisy)

    def test_no_rows_and_damage(self, write_table, capsys):
        arrow = pytest.importorskip("pyarrow")
        empty = write_table(y=arrow.array([], arrow.int8()), p=arrow.array([], arrow.float64()))
        assert "no rows" in error_of(capsys, empty)
        path = write_table(y=Y * 500, p=P * 500)
        with open(path, "r+b") as file:
            file.seek(8)
            file.write(bytes(60))
        assert "forecasts.parquet: " in error_of(capsys, path)
        with open(path, "wb") as file:
            file.write(bytes(100))
        assert "forecasts.parquet: " in error_of(capsys, path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal_only(write, forecasts, monkeypatch):
    y, p, _ = forecasts
    path = write(y, p)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "PAUSE", 0.0)
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(["report", path, "--resamples", "19"]) == 0
        shown = stream.getvalue()
        if not stream.isatty():
            assert shown == ""
            continue
        lines = shown.split("\r\x1b[K")
        assert {"3 rows read ...", "100 rows read ...", "drawing smCE ..."} <= set(lines)
        assert lines[-1] == ""  # cleared
        assert "\n" not in shown


def test_progress_waits(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = Progress()
    progress("early")
    progress.clear()
    assert sys.stderr.getvalue() == ""


def test_closed_streams(write, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: is closed" in error_of(capsys, "-")
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main([*REPORT, write(Y, P)]) == 0


def test_an_error_clears_the_line_first(write, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main([*REPORT, write(["0"] * 9 + ["x", "y"], [0.5] * 11)]) == 2
    line = sys.stderr.getvalue().split("\r\x1b[K")[-1]
    assert line.startswith("skcal: error: ")


@pytest.mark.verify
def test_memory_does_not_grow_with_the_file(tmp_path):
    import subprocess

    def peak(n):
        path = tmp_path / f"{n}.csv"
        block = "\n".join(f"{k % 2},{k / 1000}" for k in range(1000)) + "\n"
        with open(path, "w") as file:
            file.write("y,p\n")
            file.writelines(block for _ in range(n // 1000))
        code = (
            "import resource, sys; from skcal.__main__ import main; main(sys.argv[1:]);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *REPORT, str(path)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(done.stdout.split()[-1])

    assert peak(8_000_000) < 1.1 * peak(2_000_000)
