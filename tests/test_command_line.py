"""The command line, run as users run it: exit status, one clear line, nothing silently wrong."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from skcal import calibration_report
from skcal.__main__ import main

REPORT = ["report", "--resamples", "0"]  # no intervals: quick
Y, P = [0, 1, 1, 0], [0.25, 0.5, 0.75, 0.75]


def quick_report(*args, **options):
    return calibration_report(*args, n_resamples=None, **options)


@pytest.fixture
def write(tmp_path):
    def _write(text, name="forecasts.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return _write


def rows(*columns):
    return "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("header", ["y_true,y_proba", "label,p", "target,y_prob", "Y_TRUE,P"])
def test_report_reads_the_usual_columns(write, capsys, header):
    assert main([*REPORT, write(f"{header}\n{rows(Y, P)}\n")]) == 0
    assert capsys.readouterr().out.rstrip() == quick_report(Y, P)


def test_usual_columns_in_capitals_when_there_is_one_alone(write, capsys):
    other = [0.9] * 4
    exact = write(f"Y_TRUE,target,Y_PROBA,p\n{rows([1] * 4, Y, other, P)}")
    assert main([*REPORT, exact]) == 0
    assert capsys.readouterr().out.rstrip() == quick_report(Y, P)
    assert main([*REPORT, write(f"Y,p,Label\n{rows(Y, P, Y)}")]) == 2
    message = "--true must name a column when no single one is called one of ['y_true', "
    assert message in capsys.readouterr().err
    assert main([*REPORT, write(f"Y,p,Label\n{rows(Y, P, Y)}"), "--true", "Label"]) == 0
    assert main([*REPORT, write(f"Y,p\n{rows(Y, P)}"), "--true", "y"]) == 2  # by its name only
    assert main([*REPORT, write(f"Y,Y,p\n{rows(Y, Y, P)}")]) == 2
    assert "name column 'Y' once" in capsys.readouterr().err


def test_named_columns_weights_quotes_and_labels(write, capsys):
    names = ['"well, nearly"' if k == 0 else "sick" for k in Y]
    text = f"id,truth,prob,w\n{rows('abcd', names, P, [1, 2, 0, 1])}"
    options = ["--true", "truth", "--proba", "prob", "--weight", "w", "--pos-label", "sick"]
    assert main([*REPORT, write(text), *options, "--json"]) == 0
    expected = quick_report(Y, P, sample_weight=[1, 2, 0, 1], output="dict")
    assert json.loads(capsys.readouterr().out) == expected


def test_intervals_are_part_of_the_report(write, capsys):
    path = write(f"y,p\n{rows(Y, P)}")
    assert main(["report", path, "--resamples", "19"]) == 0
    assert capsys.readouterr().out.rstrip() == calibration_report(Y, P, n_resamples=19)
    assert main(["report", path, "--resamples", "3"]) == 2
    assert "--resamples must be 0 or at least 19; got 3" in capsys.readouterr().err


@pytest.mark.parametrize("labels", [["False", "True"], ["0.0", "1.0"], ["-1", "1"]])
def test_labels_are_numbers_or_booleans_where_they_can_be(write, capsys, labels):
    text = f"y,p\n{rows([labels[k] for k in Y], P)}"
    assert main([*REPORT, write(text)]) == 0
    assert main([*REPORT, write(text), "--pos-label", labels[1]]) == 0
    out = capsys.readouterr().out.rstrip()
    assert out == "\n".join([quick_report(Y, P)] * 2)


def test_parquet(tmp_path, capsys):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = str(tmp_path / "forecasts.parquet")
    parquet.write_table(arrow.table({"y": Y, "p": P}), path)
    assert main([*REPORT, path]) == 0
    assert capsys.readouterr().out.rstrip() == quick_report(Y, P)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "is empty"),
        ("y,p\n", [], "no rows"),
        ("y,q\n1,0.5\n", [], r"--proba must name a column .*'y', 'q'"),
        ("y,p\n1,0.5\n", ["--true", "truth"], r"--true must be one of .*'truth'"),
        ("y,p\n1,0.5\n0\n", [], "line 3: 1 fields where the header has 2"),
        ("y,p\n1,half\n", [], "column 'p' must hold numbers; got 'half'"),
        ("y,p\n1,\n", [], "column 'p' must hold numbers; got an empty field"),
        ("y,p\n,0.5\n", [], "column 'y' must hold no missing values"),
        ("y,p\n1,nan\n", [], "column 'p' must hold no missing values; got NaN in row 1"),
        ("y,p\n1,1.5\n", [], r"column 'p' must lie in \[0, 1\]; got 1.5 in row 1\."),
        ("y,p\n1,0.5\n1,-inf\n", [], r"column 'p' must lie in \[0, 1\]; got -inf in row 2\."),
        ("y,p\na,0.5\nb,0.5\n", [], r": --pos-label must name .*'a', 'b'\] of column 'y'; got"),
        ("y,p\n.5,.1\n.25,.2\n", [], "column 'y' must hold class labels; got continuous"),
        ("y,p\n1,0.5\n0,0.5\n", ["--pos-label", "x"], r"--pos-label must be one of .*'x'"),
        ("y,p\n0,0.5\n1,0.5\n2,0.5\n", [], "column 'y' must hold at most two labels"),
        ('y,p\n1,"0.5\n', [], "line 2: unexpected end of data"),
        ("y,p,w\n1,0.5,-1\n", ["--weight", "w"], "column 'w' must be finite .* got -1.0 in row 1"),
        ("y,p,w\n1,0.5,inf\n", ["--weight", "w"], "column 'w' must be finite .* got inf in row 1"),
        ("y,p,w\n1,0.5,0\n", ["--weight", "w"], "column 'w' must hold a positive weight"),
        ("y,p\n1,0_1\n", [], "column 'p' must hold numbers; got '0_1' in row 1"),
        ("y,p\n0_1,.1\n1,.2\n", [], r"--pos-label must name .*\['0_1', '1'\]"),
        ("y,p\n2,.1\n1,.2\n", ["--pos-label", "0_1"], "--pos-label must be one of .*'0_1'"),
        ("y,p\n1,0.5\n", ["--true", "p"], "--proba must name another column than --true; got 'p'"),
        ("y,p\n1,0.5\n", ["--weight", "p"], "--weight must name another column than --proba"),
        ("y,p\n1,0.5\n", ["--weight", "y"], "--weight must name another column than --true"),
    ],
)
def test_bad_input_is_one_line_and_status_two(write, capsys, text, options, message):
    assert main([*REPORT, write(text), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("skcal: error: ")
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(captured.err)


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.csv", "No such file"), ("", "is a directory"), ("absent.parquet", "absent.parquet")],
)
def test_files_that_cannot_be_read(tmp_path, capsys, name, message):
    assert main([*REPORT, str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_binary_file(tmp_path, capsys):
    path = tmp_path / "forecasts.csv"
    path.write_bytes(bytes(range(128, 256)))
    assert main([*REPORT, str(path)]) == 2
    assert "UTF-8" in capsys.readouterr().err


def test_missing_pyarrow(write, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main([*REPORT, write("", "forecasts.parquet")]) == 2
    assert "pip install pyarrow" in capsys.readouterr().err


def run(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "skcal", *args], capture_output=True, text=True, **options
    )


def test_standard_input_and_a_reader_that_leaves():
    text = f"y,p\n{rows(Y, P)}\n"
    done = run(*REPORT, "-", input=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip() == quick_report(Y, P)
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run(
        [sys.executable, "-m", "skcal", *REPORT, "-"],
        input=text, stdout=write, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(write)
    assert gone.stderr == ""


@pytest.mark.parametrize("error", [RecursionError, ZeroDivisionError, MemoryError])
def test_a_fault_is_not_an_exceeded_limit(write, capsys, monkeypatch, error):
    def fault(*_):
        raise error("of skcal")

    monkeypatch.setattr("skcal.__main__.describe", fault)
    assert main([*REPORT, write(f"y,p\n{rows(Y, P)}"), "--max", "distcal=0"]) == 70
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Traceback ")
    assert captured.err.rstrip().endswith(f"{error.__name__}: of skcal")


@pytest.mark.parametrize(
    ("text", "status"),
    [("y,p\n1,2\n", 2), ("y,p\n0,0\n1,1\n1,0\n", 1)],  # an error, and a warning before a limit
)
def test_the_status_does_not_depend_on_who_hears_the_complaints(write, text, status):
    argv = [sys.executable, "-m", "skcal", *REPORT, write(text), "--gate", "point"]
    read, gone = os.pipe()
    os.close(read)
    done = subprocess.run([*argv, "--max", "ece=0"], stdout=subprocess.PIPE, stderr=gone)
    os.close(gone)
    assert done.returncode == status
    assert bool(done.stdout) == (status == 1)


def test_the_help_says_every_status(capsys):
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert "0; 1 when a --max is exceeded, and only then; 2 for bad input; 70, with a" in words


def test_demo_shows_the_whole_job_and_its_file_can_be_reported(tmp_path, capsys):
    path = str(tmp_path / "demo.csv")
    assert main(["demo", "--save", path]) == 0
    out = capsys.readouterr().out
    for promised in (
        "SCDL",
        "Best by neg_scdl alone: base rate",
        "claimed",
        "worst task",
        "Promised by fit",
        "recalibrated",
    ):
        assert promised in out
    assert main(["report", path, "--pos-label", "malignant"]) == 0
    assert capsys.readouterr().out.rstrip() in out


def test_large_files_keep_every_row(write, capsys):
    rng = np.random.default_rng(0)
    p = rng.random(20_000).round(6)
    y = (rng.random(p.size) < p).astype(int)
    assert main([*REPORT, write(f"y,p\n{rows(y, p)}"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == quick_report(y, p, output="dict")


def test_missing_labels_of_a_categorical_column(tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    path = str(tmp_path / "labels.parquet")
    labels = pandas.Categorical(["no", "yes", None, "no"])
    pandas.DataFrame({"y": labels, "p": P}).to_parquet(path)
    assert main([*REPORT, path, "--pos-label", "yes"]) == 2
    assert "column 'y' must hold no missing values" in capsys.readouterr().err
    whole = pandas.Categorical(["no", "yes", "yes", "no"])
    pandas.DataFrame({"y": whole, "p": P}).to_parquet(path)
    assert main([*REPORT, path, "--pos-label", "yes"]) == 0
    assert capsys.readouterr().out.rstrip() == quick_report(Y, P)


def test_semicolons_and_blanks_around_fields(write, capsys):
    text = "y;p\n" + "\n".join(f" {y} ; {p}" for y, p in zip(Y, P, strict=True))
    assert main([*REPORT, write(text)]) == 0
    assert capsys.readouterr().out.rstrip() == quick_report(Y, P)


def test_a_column_named_twice(write, capsys):
    assert main([*REPORT, write("y,p,p\n1,0.5,0.2\n")]) == 2
    assert "name column 'p' once" in capsys.readouterr().err
    # and columns that nobody asked for
    body = "\n".join(f"{y},{p},7,8" for y, p in zip(Y, P, strict=True))
    for names, options in (("o,f,y,y", ["--true", "o", "--proba", "f"]), ("y_true,p,y,y", [])):
        assert main([*REPORT, write(f"{names}\n{body}\n"), *options]) == 0
        assert capsys.readouterr().out.rstrip() == quick_report(Y, P)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize("note", ['"a, b; c\td"', '"an ""inner, quote"", too"', '5" pipe', '""'])
def test_the_separator_stands_outside_quotes(write, capsys, mark, blank, note):
    for names in ([note, "y", "p"], ["y", note, "p"], ["y", "p", note]):
        lines = [
            mark.join({"y": str(y), "p": str(p)}.get(name, "x") for name in names)
            for y, p in zip(Y, P, strict=True)
        ]
        assert main([*REPORT, write(blank + "\n".join([mark.join(names), *lines]))]) == 0
        assert capsys.readouterr().out.rstrip() == quick_report(Y, P)
