"""The report: its numbers are those of the measures, and its text shows them."""

import dataclasses
import json
import warnings

import numpy as np
import pytest

from skcal import calibration_report, metrics


@pytest.fixture
def forecasts():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    return (rng.random(400) < p**2).astype(int), p, rng.integers(0, 4, 400)


def test_values_are_those_of_the_measures(forecasts):
    y, p, w = forecasts
    report = calibration_report(y, p, sample_weight=w, output="dict")
    expected = {
        "scdl": metrics.scdl,
        "cdl": metrics.cdl,
        "cutoff": metrics.cutoff_calibration_error,
        "ece": metrics.ece,
        "bece": metrics.actionable_binned_error,
        "smce": metrics.smce,
        "smece": metrics.smooth_ece,
    }
    assert set(report["measures"]) == set(expected)
    for name, measure in expected.items():
        assert report["measures"][name]["value"] == measure(y, p, sample_weight=w)
    certificate = metrics.scdl(y, p, sample_weight=w, return_certificate=True)
    assert report["measures"]["scdl"]["n_bins"] == certificate.n_bins
    assert report["regret_bound"] == certificate.regret_bound
    brier = report["brier_score"]
    assert brier["score"] == pytest.approx(np.average((y - p) ** 2, weights=w))
    parts = metrics.score_decomposition(y, p, sample_weight=w)
    assert brier == dataclasses.asdict(parts)


def test_dict_survives_json(forecasts):
    y, p, _ = forecasts
    report = calibration_report(y, p, output="dict")
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_chance_level_of_the_ece_is_that_of_calibrated_outcomes(forecasts):
    _, p, w = forecasts
    rng = np.random.default_rng(0)
    draws = (rng.random((400, p.size)) < p).astype(int)
    mean = np.mean([metrics.ece(y, p, sample_weight=w) for y in draws])
    report = calibration_report(draws[0], p, sample_weight=w, output="dict")
    assert report["measures"]["ece"]["by_chance"] == pytest.approx(mean, rel=0.05)


def test_text_shows_every_value_and_fits_a_terminal(forecasts):
    y, p, _ = forecasts
    text, report = calibration_report(y, p), calibration_report(y, p, output="dict")
    for measure in report["measures"].values():
        assert f"{measure['value']:.4f}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_calibrated_sample_has_no_worst_case():
    report = calibration_report([0, 1, 0, 1], [0.5] * 4, output="dict")
    assert report["worst_case"] is None
    assert report["regret_bound"] == 0
    assert report["measures"]["scdl"] == {"value": 0.0, "n_bins": None}
    json.dumps(report, allow_nan=False)
    assert "exactly calibrated" in calibration_report([0, 1, 0, 1], [0.5] * 4)


@pytest.mark.parametrize("y", [[1], [0]])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_one_row(y, p):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "1 forecasts" in calibration_report(y, [p])


def test_labels_as_everywhere(forecasts):
    y, p, _ = forecasts
    names = np.array(["good", "bad"])[y]
    same = calibration_report(names, p, pos_label="bad")
    assert same == calibration_report(y, p)
    with pytest.raises(ValueError, match=r"pos_label must .*'bad', 'good'"):
        calibration_report(names, p)
