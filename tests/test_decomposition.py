"""Score decomposition: the identity, its parts against their definitions, and what it explains."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from skcal.metrics import score_decomposition
from tests.strategies import samples


def test_lower_brier_score_is_not_better_calibration():
    y = [0, 0, 1, 1]
    constant = score_decomposition(y, [0.5] * 4)
    sharp = score_decomposition(y, [0.2, 0.2, 0.8, 0.8])
    assert constant.score == pytest.approx(0.25)
    assert sharp.score == pytest.approx(0.04)
    assert (constant.miscalibration, constant.discrimination) == (0, 0)
    assert sharp.miscalibration == pytest.approx(0.04)
    assert sharp.discrimination == pytest.approx(0.25)
    assert sharp.uncertainty == pytest.approx(0.25)


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")  # hard predictions among them
@pytest.mark.parametrize("score", ["brier", "log"])
@given(rows=samples())
def test_parts(score, rows):
    parts = score_decomposition(rows.y, rows.p, sample_weight=rows.w, score=score)
    w = np.ones(rows.p.size) if rows.w is None else rows.w
    base = np.average(rows.y, weights=w)
    if score == "brier":
        uncertainty = base * (1 - base)
    else:
        uncertainty = -sum(q * np.log(q) for q in (base, 1 - base) if q > 0)
    assert parts.uncertainty == pytest.approx(uncertainty, abs=1e-12)
    assert min(parts.miscalibration, parts.discrimination) >= 0
    assert not np.isnan([parts.score, parts.miscalibration, parts.discrimination]).any()
    if np.isfinite(parts.score):
        total = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert parts.score == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_recalibration_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    p = rng.random(300).round(2).clip(0.01, 0.99)
    y = (rng.random(300) < p**1.5).astype(int)
    w = rng.random(300) if weighted else None
    best = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    for score, function in (("brier", brier_score_loss), ("log", log_loss)):
        parts = score_decomposition(y, p, sample_weight=w, score=score)
        own = function(y, p, sample_weight=w)
        assert parts.score == pytest.approx(own, abs=1e-12)
        recalibrated = function(y, best, sample_weight=w)
        assert parts.miscalibration == pytest.approx(own - recalibrated, abs=1e-10)


def test_calibrated_forecasts_have_no_miscalibration():
    parts = score_decomposition([0, 1, 0, 1, 1, 1], [0.5] * 4 + [1.0] * 2)
    assert parts.miscalibration == 0
    assert parts.discrimination > 0


def test_probability_zero_of_what_happened():
    parts = score_decomposition([1, 0, 1], [0.0, 0.5, 0.5], score="log")
    assert parts.score == parts.miscalibration == np.inf
    assert np.isfinite(parts.discrimination)


def test_errors_name_the_parameter():
    with pytest.raises(ValueError, match="'score' parameter of score_decomposition"):
        score_decomposition([0, 1], [0.2, 0.7], score="spherical")
    with pytest.raises(ValueError, match="y_proba must lie in"):
        score_decomposition([0, 1], [0.2, 1.7])


def test_weights_too_small_to_change_the_base_rate():
    parts = score_decomposition([0, 1], [0.6, 0.5], sample_weight=[1e-20, 1], score="log")
    assert np.isfinite([parts.score, parts.discrimination, parts.uncertainty]).all()
