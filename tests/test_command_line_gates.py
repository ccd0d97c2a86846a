"""The command line as a gate, and what it writes."""

import json
import sys

import numpy as np
import pytest

from skcal import calibration_report
from skcal.__main__ import main
from skcal._files import _forecasts, _tables
from skcal.metrics._names import MEASURES
from skcal.report import sketch_report
from skcal.report._describe import REACH
from skcal.sketch import CalibrationSketch


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    p = rng.random(120).round(2)
    return (rng.random(120) < p**3).astype(int), p


@pytest.fixture(scope="module")
def report(rows):
    return calibration_report(*rows, n_resamples=19, output="dict")


@pytest.fixture
def path(tmp_path, rows):
    return write(tmp_path / "forecasts.csv", *rows)


@pytest.fixture
def shrink(monkeypatch):
    """Lets reports go less far with a measure."""

    def _shrink(name, **limits):
        monkeypatch.setitem(REACH, name, REACH[name]._replace(**limits))

    return _shrink


def write(path, y, p):
    np.savetxt(path, np.column_stack([y, p]), "%.17g", ",", header="y,p", comments="")
    return str(path)


def gates_of(capsys, *argv):
    status = main(["report", *argv, "--json"])
    return status, json.loads(capsys.readouterr().out)["gates"]


def text(number):
    return repr(float(number))  # exact


@pytest.mark.parametrize("name", ["scdl", "smce"])
def test_the_lower_end_of_the_interval_is_compared(path, report, capsys, name):
    measure = report["measures"][name]
    low, value = measure["confidence_interval"][0], measure["value"]
    assert 0 < low < value
    common = [path, "--resamples", "19", "--max"]
    status, (gate,) = gates_of(capsys, *common, f"{name}={text(low)}")
    assert status == 0
    assert gate == {
        "measure": name,
        "limit": low,
        "compared": "interval",
        "value": low,
        "exceeded": False,
        "by_chance": measure["by_chance"],
    }
    below = text(np.nextafter(low, 0))
    status, (gate,) = gates_of(capsys, *common, f"{name}={below}")
    assert (status, gate["exceeded"]) == (1, True)
    # at the lower end the gate passes, though the value exceeds it
    status, (gate,) = gates_of(capsys, *common, f"{name}={text(low)}", "--gate", "point")
    assert (status, gate["compared"], gate["value"]) == (1, "point", value)
    status, _ = gates_of(capsys, *common, f"{name}={text(value)}", "--gate", "point")
    assert status == 0


@pytest.mark.parametrize("name", ["caldist", "distcal"])
@pytest.mark.parametrize("resamples", ["0", "19"])
def test_a_measure_without_draws_by_its_proof(path, report, capsys, name, resamples):
    low = report["measures"][name]["lower"]
    for limit, expected in ((low, 0), (np.nextafter(low, 0), 1)):
        options = ["--resamples", resamples, "--max", f"{name}={text(limit)}"]
        status, (gate,) = gates_of(capsys, path, *options)
        assert (status, gate["compared"], gate["value"]) == (expected, "bound", low)


def test_every_gate_counts_and_is_a_line(path, report, capsys):
    gates = ["--max", "scdl=1", "--max", "smce=0.001", "--max", "scdl=0.9"]
    assert main(["report", path, "--resamples", "19", *gates]) == 1
    out = " ".join(capsys.readouterr().out.split())
    chance = report["measures"]["smce"]["by_chance"]
    low = report["measures"]["smce"]["confidence_interval"][0]
    assert (
        f"FAILED: smCE exceeds 0.001. Compared was the lower end of its 95% interval, {low:.4f}; a "
        f"calibrated forecaster shows {chance['low']:.4f} to {chance['high']:.4f}, 9 times in 10."
    ) in out
    assert out.count("Passed: SCDL is not shown to exceed") == 2
    assert main(["report", path, "--resamples", "0", "--gate", "point", "--max", "ece=1"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Compared was its value" in out
    assert "shows was not drawn" in out


def test_chance_is_named_where_no_interval_takes_it_off(path, capsys, monkeypatch):
    def line(*argv):
        main(["report", path, "--resamples", "0", "--max", *argv])
        return " ".join(capsys.readouterr().out.split()).partition("Compared was ")[2]

    said, better = "chance is part of it, and may make a calibrated forecaster fail", "; smCE has"
    for name in ("caldist", "distcal"):
        assert f"{said}{better} an interval for that." in line(f"{name}=0.01")
        assert line(f"{name}=0.01").startswith("the lower end of what is proven of these rows, ")
    assert said not in line("distcal=0.01", "--gate", "point")
    monkeypatch.setattr(_forecasts, "MOST_ROWS", 100)
    for name in ("smce", "distcal"):
        assert f"{said}." in line(f"{name}=0.01")  # a sketch has no interval at all


@pytest.mark.parametrize("spelt", ["scdl", "SCDL", "Scdl"])
def test_measures_may_be_spelt_as_the_report_does(path, report, capsys, spelt):
    status, (gate,) = gates_of(capsys, path, "--resamples", "0", "--gate", "point",
                               "--max", f"{spelt}=0")  # fmt: skip
    value = report["measures"]["scdl"]["value"]
    assert (status, gate["measure"], gate["value"]) == (1, "scdl", value)


def test_of_a_sketch_the_certified_end(path, rows, capsys, monkeypatch):
    monkeypatch.setattr(_forecasts, "MOST_ROWS", 100)
    low = CalibrationSketch().update(*rows).smece().lower
    for limit, expected in ((low, 0), (np.nextafter(low, 0), 1)):
        for draws in ([], ["--resamples", "0"]):  # neither of which a sketch has
            status, (gate,) = gates_of(capsys, path, "--max", f"smece={text(limit)}", *draws)
            assert (status, gate["compared"], gate["value"]) == (expected, "bound", low)
    assert main(["report", path, "--max", "sintce=1"]) == 2
    assert "got sintce, which is left out of a sketch" in capsys.readouterr().err


def test_lower_ends_that_nothing_gives_are_refused_before_measuring(path, capsys, monkeypatch):
    def work(*_):
        raise AssertionError("it came to work")

    monkeypatch.setattr("skcal.__main__.describe", work)
    for name in set(MEASURES) - {"caldist", "distcal"}:
        limits = ["--max", "distcal=1", "--max", f"{name}=1"]
        assert main(["report", path, "--resamples", "0", *limits]) == 2
        message = f"be 'point' without resamples: the lower end for {name} is of an interval"
        assert f"--gate must {message}; got 'lower'." in capsys.readouterr().err


def test_measures_left_out_of_many_rows(tmp_path, capsys):
    y = np.arange(10_001) % 2
    path = write(tmp_path / "many.csv", y, np.full(y.size, 0.5))
    options = ["report", path, "--resamples", "0", "--max"]
    assert main([*options, "caldist=1"]) == 2
    message = "such as distcal; got caldist, which is left out beyond 10000 rows."
    assert message in capsys.readouterr().err
    assert main([*options, "sintce=1", "--gate", "point"]) == 0


FEW_ROWS = {"--max caldist=1": "caldist, which is left out", "--max sintce=1": "--gate must be"}
IN_A_SKETCH = {f"--max {name}=1": f"{name}, which is left out" for name in ("caldist", "sintce")}
POINT = " --gate point"


@pytest.mark.parametrize(
    ("most", "option", "message"),
    [
        *((400, *pair) for pair in FEW_ROWS.items()),
        *((30, *pair) for pair in IN_A_SKETCH.items()),
        *((30, option + POINT, message) for option, message in IN_A_SKETCH.items()),
        (400, "--max caldist=1" + POINT, "caldist, which is left out"),
        (400, "--max ece=1 --max caldist=1", "caldist, which is left out"),
    ],
)
def test_what_so_many_rows_have_not_is_refused_once_they_are_known(
    tmp_path, capsys, monkeypatch, shrink, most, option, message
):
    monkeypatch.setattr(_tables, "CHUNK", 20)
    monkeypatch.setattr(_forecasts, "MOST_ROWS", most)
    shrink("caldist", rows=40)
    shrink("sintce", drawn=40)
    y, p = np.arange(200) % 2, np.full(200, 0.5)
    p[100] = 2  # nobody gets there
    path = write(tmp_path / "many.csv", y, p)
    assert main(["report", path, *option.split()]) == 2
    assert message in capsys.readouterr().err
    assert main(["report", path, "--max", "scdl=1"]) == 2
    assert "must lie in [0, 1]; got 2.0 in row 101" in capsys.readouterr().err


def test_rows_without_weight_do_not_count(tmp_path, capsys, shrink):
    shrink("caldist", rows=40)
    rows = np.column_stack([np.arange(60) % 2, np.full(60, 0.5), np.arange(60) < 40])
    np.savetxt(tmp_path / "f.csv", rows, "%g", ",", header="y,p,w", comments="")
    path, limit = str(tmp_path / "f.csv"), ["--max", "caldist=1", "--resamples", "0"]
    status, (gate,) = gates_of(capsys, path, *limit, "--weight", "w")
    assert (status, gate["compared"]) == (0, "bound")
    assert main(["report", path, *limit]) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max", "loss=0.1"], "--max must be NAME=LIMIT with a name among scdl, .*'loss=0.1'"),
        (["--max", "scdl"], "--max must have a number .*'scdl'"),
        (["--max", "scdl=x"], "--max must have a number .*'scdl=x'"),
        (["--max", "scdl=-0.1"], "--max must have a number .*'scdl=-0.1'"),
        (["--max", "scdl=nan"], "--max must have a number .*'scdl=nan'"),
        (["--max", "scdl=inf"], "--max must have a number .*'scdl=inf'"),
        (["--max", "scdl=1_0"], "--max must have a number .*'scdl=1_0'"),
        (["--html", "no/such/page.html"], "--html must name a file in a directory that exists"),
        (["--html", "."], "--html must name a file"),
        (["--html", "FILE"], "--html must name another file than the forecasts"),
    ],
)
def test_refused_before_the_work(path, capsys, monkeypatch, options, message):
    def work(*_):
        raise AssertionError("it came to work")

    if "--html" in options:
        pytest.importorskip("matplotlib")
    monkeypatch.setattr("skcal.__main__.read_forecasts", work)
    assert main(["report", path, *(path if o == "FILE" else o for o in options)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(captured.err)


def test_page_and_text(path, rows, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "a page.html"
    options = ["--html", str(page), "--resamples", "19", "--max", "smce=0.001"]
    assert main(["report", path, *options]) == 1
    text = calibration_report(*rows, n_resamples=19)
    out = capsys.readouterr().out
    assert out.startswith(text)
    source = page.read_text(encoding="utf-8")
    assert source.count("<svg") == 4
    assert "FAILED: smCE exceeds 0.001" in source
    assert "outcomes in column &#x27;y&#x27;, probabilities in column &#x27;p&#x27;" in source


def test_page_beside_json_names_what_the_user_called_things(tmp_path, rows, capsys):
    pytest.importorskip("matplotlib")
    y, p = rows
    names = np.array(["no", "<b>yes</b>"])[y]
    lines = [f"{a},{b}" for a, b in zip(names, p, strict=True)]
    (tmp_path / "f.csv").write_text("\n".join(["<i>t</i>,p", *lines]))
    page = tmp_path / "page.html"
    options = ["--true", "<i>t</i>", "--pos-label", "<b>yes</b>", "--resamples", "0"]
    assert main(["report", str(tmp_path / "f.csv"), *options, "--json", "--html", str(page)]) == 0
    expected = calibration_report(y, p, n_resamples=None, output="dict")
    assert json.loads(capsys.readouterr().out) == expected
    source = page.read_text(encoding="utf-8")
    assert "<i>" not in source
    assert "<b>" not in source
    assert "&lt;i&gt;t&lt;/i&gt;" in source
    assert "positive class: &lt;b&gt;yes&lt;/b&gt;" in source


def test_page_of_a_sketch(path, rows, capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(_forecasts, "MOST_ROWS", 100)
    page = tmp_path / "page.html"
    assert main(["report", path, "--html", str(page)]) == 0
    sketch = CalibrationSketch().update(*rows)
    assert capsys.readouterr().out.rstrip() == sketch_report(sketch)
    assert page.read_text(encoding="utf-8").count("<svg") == 4


def test_page_without_matplotlib(path, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["report", path, "--html", str(tmp_path / "page.html")]) == 2
    err = capsys.readouterr().err
    assert "needs matplotlib" in err
    assert err.count("\n") == 1


def test_warnings_are_one_line(tmp_path, capsys):
    path = write(tmp_path / "hard.csv", [0, 1, 1], [0, 1, 0])
    assert main(["report", path, "--resamples", "0"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("skcal: warning: y_proba holds only 0 and 1")
    assert err.count("\n") == 1


def test_interrupted_quietly(path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skcal.__main__.describe", interrupt)
    assert main(["report", path]) == 130
    assert capsys.readouterr() == ("", "")


def test_what_no_report_can_do_is_refused_before_the_work(tmp_path, capsys):
    path = write(tmp_path / "few.csv", [0, 1, 1], [0.1, 0.2, 0.9])
    assert main(["report", path, "--resamples", "99999999"]) == 2
    assert "--resamples must be at most 1000000; got 99999999" in capsys.readouterr().err
    assert main(["report", path, "--html", "-"]) == 2
    assert "--html must name a file" in capsys.readouterr().err
