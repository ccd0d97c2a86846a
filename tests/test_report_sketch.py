"""The report of a sketch: the form of the other one, the numbers of the sketch."""

import json

import numpy as np
import pytest

from skcal import calibration_report, metrics
from skcal.inference import null_reference
from skcal.report import sketch_report
from skcal.report._describe import REACH
from skcal.sketch import CalibrationSketch, _sketch


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    p = rng.random(2000)
    return (rng.random(2000) < p**1.3).astype(int), p


def test_numbers_are_those_of_the_sketch(rows):
    sketch = CalibrationSketch(256).update(*rows)
    measures = sketch_report(sketch, output="dict")["measures"]
    expected = {
        "scdl": sketch.scdl(),
        "cdl": sketch.cdl(),
        "cutoff": sketch.cutoff(),
        "smce": sketch.smce(),
        "smece": sketch.smece(),
        "distcal": sketch.distcal(),
        "ece": sketch.ece(15),
        "bece": sketch.bece(8),  # of powers of two the last not above 2000 ** (1 / 3)
    }
    for name, known in expected.items():
        found = measures[name]
        ends = (found["value"], found["lower"], found["upper"])
        assert ends == (known.value, known.lower, known.upper)
    left_out = {name for name in measures if measures[name]["value"] is None}
    assert left_out == {"caldist", "sintce"}
    assert left_out == {name for name, reach in REACH.items() if not reach.sketched}


def test_cells_are_prepared_once(rows, monkeypatch):
    made = []

    class Counted(_sketch.Cells):
        def __init__(self, *tables):
            made.append(self)
            super().__init__(*tables)

    sketch = CalibrationSketch(256).update(*rows)
    monkeypatch.setattr(_sketch, "Cells", Counted)
    sketch_report(sketch)
    assert len(made) == 1


def test_form_and_facts_are_those_of_the_report_of_the_rows(rows):
    y, p = rows
    w = np.arange(2000) % 3
    report = sketch_report(CalibrationSketch().update(y, p, w), output="dict")
    other = calibration_report(y, p, sample_weight=w, n_resamples=None, output="dict")
    assert list(report) == list(other)
    assert list(report["measures"]) == list(other["measures"])
    for name, measure in other["measures"].items():
        assert set(measure) <= set(report["measures"][name])
    for fact in ("base_rate", "mean_forecast", "weight", "regret_bound"):
        assert report[fact] == pytest.approx(other[fact], rel=1e-12)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    for name, measure in report["measures"].items():
        if measure["value"] is not None and name != "bece":  # which has other bins
            assert measure["lower"] - 1e-12 <= other["measures"][name]["value"]
            assert other["measures"][name]["value"] <= measure["upper"] + 1e-12


def test_text(rows):
    sketch = CalibrationSketch().update(*rows)
    text = sketch_report(sketch)
    assert "left out of a sketch" in text
    assert f"{sketch.cdl().lower:>11.4f}{sketch.cdl().upper:>8.4f}" in text
    assert "chance alone would show a smCE of the order of 0.009" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_a_coarse_sketch_and_an_empty_one():
    report = sketch_report(CalibrationSketch(2).update([0, 1], [0.5, 0.5]), output="dict")
    assert report["measures"]["ece"]["n_bins"] == 4
    with pytest.raises(ValueError, match="the sketch must hold a row"):
        sketch_report(CalibrationSketch())
    with pytest.raises(ValueError, match="'sketch' parameter of sketch_report must be"):
        sketch_report([0, 1])


def test_rows_of_weight_zero_are_no_rows_by_chance():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    idle = CalibrationSketch().update(y, p).update(y, p, np.zeros(400))
    plain = CalibrationSketch().update(y, p)
    found, expected = (sketch_report(sketch, output="dict") for sketch in (idle, plain))
    assert found["measures"] == expected["measures"]
    assert found["sketch"]["effective_rows"] == 400
    assert "of the order of 0.02" in " ".join(sketch_report(idle).split())


def test_what_is_said_of_the_decision_loss(rows):
    y, p = rows
    text = sketch_report(CalibrationSketch().update(y, p))
    assert "forecasts closer than a bin" in " ".join(text.split())
    text = sketch_report(CalibrationSketch().update(y, p.round(2)))  # tied: the value is exact
    assert "forecasts closer than a bin" not in " ".join(text.split())


@pytest.mark.parametrize("power", [1, 6])  # the second are sure of most outcomes
def test_chance_is_what_calibrated_forecasters_show(power):
    rng = np.random.default_rng(0)
    p = rng.random(2000) ** power
    y = (rng.random(2000) < p).astype(int)
    report = sketch_report(CalibrationSketch().update(y, p), output="dict")
    mean = null_reference(metrics.smce, y, p, n_resamples=99, random_state=0).mean
    assert report["sketch"]["smce_by_chance"] == pytest.approx(mean, rel=0.25)
