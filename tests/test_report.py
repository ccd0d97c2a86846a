"""The report: its numbers are those of the measures, and its text shows them."""

import dataclasses
import json
import re
import warnings

import numpy as np
import pytest
from scipy.special import expit, logit

from skcal import calibration_report, inference, metrics
from skcal.metrics._names import MEASURES
from skcal.report import _describe
from skcal.report._words import promises, verdict, worst_case


@pytest.fixture
def forecasts():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    return (rng.random(400) < p**2).astype(int), p, rng.integers(0, 4, 400)


def test_values_are_those_of_the_measures(forecasts):
    y, p, w = forecasts
    report = calibration_report(y, p, sample_weight=w, n_resamples=None, output="dict")
    expected = {
        "scdl": metrics.scdl,
        "cdl": metrics.cdl,
        "cutoff": metrics.cutoff_calibration_error,
        "ece": metrics.ece,
        "bece": metrics.actionable_binned_error,
        "smce": metrics.smce,
        "smece": metrics.smooth_ece,
        "caldist": lambda *args, **options: metrics.caldist(*args, method="bounds", **options),
        "distcal": metrics.lower_calibration_distance,
        "sintce": metrics.interval_calibration_error,
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
    report = calibration_report(y, p, n_resamples=19, output="dict")
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_draws_are_those_of_inference(forecasts):
    y, p, w = forecasts
    report = calibration_report(y, p, sample_weight=w, n_resamples=39, output="dict")
    options = {"sample_weight": w, "n_resamples": 39, "random_state": 0}
    for name, measure in (("scdl", metrics.scdl), ("sintce", metrics.interval_calibration_error)):
        found = report["measures"][name]
        test = inference.calibration_test(measure, y, p, **options)
        chance = inference.null_reference(measure, y, p, **options)
        interval = inference.bootstrap_interval(measure, y, p, **options)
        assert found["pvalue"] == test.pvalue
        assert found["by_chance"]["mean"] == chance.mean
        assert found["by_chance"]["low"] == chance.quantiles[0.05]
        assert found["by_chance"]["high"] == chance.quantiles[0.95]
        assert found["confidence_interval"] == [interval.low, interval.high]
    assert report["measures"]["distcal"]["pvalue"] is None  # each draw is a linear program
    text = calibration_report(y, p, sample_weight=w, n_resamples=39)
    assert f"{report['measures']['scdl']['by_chance']['high']:.4f}" in text
    assert f"{report['measures']['scdl']['confidence_interval'][0]:.4f}" in text


def test_verdict(forecasts):
    y, p, _ = forecasts
    assert "Not calibrated: chance gives" in calibration_report(y, p, n_resamples=39)
    calibrated = (np.random.default_rng(7).random(p.size) < p).astype(int)
    report = calibration_report(calibrated, p, n_resamples=39, output="dict")
    text = " ".join(calibration_report(calibrated, p, n_resamples=39).split())
    ends = [report["measures"][name]["confidence_interval"][1] for name in ("smce", "smece")]
    assert "No evidence against calibration in the smCE and smECE" in text
    assert f"intervals reach up to {ends[0]:.4f} and {ends[1]:.4f}." in text
    quick = calibration_report(y, p, n_resamples=None)
    assert "calibrated forecaster" not in quick
    assert "evidence" not in quick


@pytest.mark.parametrize("seed", range(3))
def test_over_confidence_is_found(seed, monkeypatch):
    for name in set(MEASURES) - {"smce", "smece"}:
        monkeypatch.setitem(_describe.REACH, name, _describe.Reach(drawn=0))
    rng = np.random.default_rng(seed)
    p = rng.random(1000)
    y = (rng.random(1000) < expit(0.7 * logit(p))).astype(int)
    report = calibration_report(y, p, n_resamples=99, output="dict")
    assert report["measures"]["smce"]["pvalue"] > 0.05  # which would be no verdict by itself
    assert "Not calibrated: chance gives a smECE as large" in verdict(report)


@pytest.mark.parametrize(
    ("pvalues", "words"),
    [
        ((0.025, 0.3), "Not calibrated: chance gives a smCE as large in at most 0.025 of samples"),
        ((0.02, 0.01), "Not calibrated: chance gives a smECE as large in at most 0.01 of samples"),
        ((0.03, 0.03), "No evidence against calibration"),  # each would do at the full level
    ],
)
def test_two_tests_share_the_level(pvalues, words):
    drawn = [{"pvalue": pvalue, "confidence_interval": [0.0, 0.1]} for pvalue in pvalues]
    measures = dict(zip(("smce", "smece"), drawn, strict=True))
    report = {"sketch": None, "confidence": 0.95, "n_resamples": 39, "measures": measures}
    assert words in verdict(report)


def test_too_few_draws_for_a_verdict(forecasts):
    y, p, _ = forecasts
    assert "No verdict: it takes 39 draws at least." in calibration_report(y, p, n_resamples=38)


def test_the_rounded_error_has_no_pvalue(forecasts):
    y, p, _ = forecasts
    report = calibration_report(y, p, n_resamples=19, output="dict")
    line = re.search("^bECE .*", calibration_report(y, p, n_resamples=19), re.MULTILINE)[0]
    assert report["measures"]["bece"]["pvalue"] is None
    assert line.split()[-1] == "-"
    assert len(line.split()) == 7  # with both ends of the interval and of what chance gives


AS_THE_ERROR_SAYS = r"\(or take one class against the rest: y_true == k and y_proba\[:, k\]\)"


def test_more_columns_than_two():
    y, p = np.array([0, 1, 2]), np.full((3, 3), 1 / 3)
    unless = "y_proba must have two columns, one for each class, unless multiclass is 'top_label' "
    with pytest.raises(ValueError, match=rf"{unless}{AS_THE_ERROR_SAYS}; got shape \(3, 3\)"):
        calibration_report(y, p)
    among = r"multiclass must be one of \['raise', 'top_label'\] "
    with pytest.raises(ValueError, match=f"{among}{AS_THE_ERROR_SAYS}; got 'classwise'"):
        calibration_report(y, p, multiclass="classwise")
    assert "3 forecasts" in calibration_report(y == 1, p[:, 1], n_resamples=None)
    assert "3 top-label forecasts" in calibration_report(y, p, multiclass="top_label")


@pytest.fixture
def classes():
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), 200)
    codes = (rng.random(200)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    return np.array(["low", "mid", "top"])[codes], p, rng.integers(0, 4, 200)


def test_of_the_top_label(classes):
    y, p, w = classes
    options = {"sample_weight": w, "multiclass": "top_label"}
    report = calibration_report(y, p, n_resamples=19, output="dict", **options)
    for name, (_, measure) in MEASURES.items():
        bounds = {"method": "bounds"} if name == "caldist" else {}
        assert report["measures"][name]["value"] == measure(y, p, **options, **bounds)
    test = inference.calibration_test(metrics.smce, y, p, n_resamples=19, random_state=0, **options)
    assert report["measures"]["smce"]["pvalue"] == test.pvalue
    right = y == np.array(["low", "mid", "top"])[p.argmax(axis=1)]
    by_hand = calibration_report(right, p.max(axis=1), sample_weight=w, n_resamples=19,
                                 output="dict")  # fmt: skip
    assert report == by_hand | {"multiclass": "top_label"}
    text = calibration_report(y, p, n_resamples=None, **options)
    assert f"rate of right ones {np.average(right, weights=w):.4f}" in text


def test_the_top_label_of_columns_in_any_order_and_of_two_classes(classes):
    y, p, _ = classes
    top = {"multiclass": "top_label", "n_resamples": None}
    turned = calibration_report(y, p[:, [2, 0, 1]], labels=["top", "low", "mid"], **top)
    assert turned == calibration_report(y, p, **top)
    assert turned != calibration_report(y, p[:, [2, 0, 1]], **top)
    low, q = y == "low", p[:, 0]
    two = calibration_report(low, q, output="dict", **top)
    right = (q > 0.5) == low
    by_hand = calibration_report(right, np.maximum(q, 1 - q), n_resamples=None, output="dict")
    assert two == by_hand | {"multiclass": "top_label"}


def test_decisions_about_the_top_label_are_all_that_is_promised_something(classes):
    y, p, _ = classes
    report = calibration_report(y, p, multiclass="top_label", n_resamples=None, output="dict")
    about, sentences = " on whether the top label is right", dict(promises(report))
    binary = report | {"multiclass": "raise"}
    for short in ("SCDL", "CDL", "bECE"):
        assert sentences[short].count(f"any decision{about}") == 1
        assert dict(promises(binary))[short] == sentences[short].replace(about, "")
    assert worst_case(report).startswith(f"The worst decision{about} with utilities in [0, 1] ")
    assert worst_case(binary) == worst_case(report).replace(about, "")
    assert (
        f"{report['regret_bound']:.4f} in any decision{about} with utilities" in sentences["SCDL"]
    )
    for short, sentence in sentences.items():
        assert ("regret" in sentence) == (about in sentence), short


def test_text_shows_every_value_and_fits_a_terminal(forecasts):
    y, p, _ = forecasts
    text = calibration_report(y, p, n_resamples=39)
    report = calibration_report(y, p, n_resamples=None, output="dict")
    for measure in report["measures"].values():
        assert f"{measure['value']:.4f}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_calibrated_sample_has_no_worst_case():
    report = calibration_report([0, 1, 0, 1], [0.5] * 4, output="dict")
    assert report["worst_case"] is None
    assert report["regret_bound"] == 0
    assert report["measures"]["scdl"]["value"] == 0
    assert report["measures"]["scdl"]["n_bins"] is None
    json.dumps(report, allow_nan=False)
    assert "exactly calibrated" in calibration_report([0, 1, 0, 1], [0.5] * 4)


@pytest.mark.parametrize("y", [[1], [0]])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_one_row(y, p):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "1 forecasts" in calibration_report(y, [p], n_resamples=19)


def test_labels_as_everywhere(forecasts):
    y, p, _ = forecasts
    names = np.array(["good", "bad"])[y]
    same = calibration_report(names, p, pos_label="bad", n_resamples=19)
    assert same == calibration_report(y, p, n_resamples=19)
    with pytest.raises(ValueError, match=r"pos_label must .*'bad', 'good'"):
        calibration_report(names, p)
