"""The reliability diagram: what is drawn is what the bins say."""

from math import comb

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, cross_validate
from sklearn.svm import SVC

from skcal import metrics
from skcal.display import ReliabilityDisplay
from skcal.sketch import CalibrationSketch
from tests.displays import new_axes, rows, same_paths


def drawn_from(y, p, **options):
    return ReliabilityDisplay.from_predictions(y, p, ax=new_axes(), **options)


def bars(drawn):
    """Abscissa, low and high end of each bar of the band."""
    return np.array([(x, low, high) for (x, low), (_, high) in drawn.band_.get_segments()])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_points_are_those_of_the_certificate(strategy, weighted, precision):
    y, p = rows(200)
    p = p.round(2).astype(precision)  # on the edges of the bins
    weight = np.random.default_rng(1).exponential(size=y.size) if weighted else None
    bins = {"n_bins": 20, "strategy": strategy}
    drawn = drawn_from(y, p, sample_weight=weight, measure="ece", **bins)
    proof = metrics.ece(y, p, sample_weight=weight, return_certificate=True, **bins)
    x, rate = drawn.line_.get_data()
    kept = proof.weight > 0
    np.testing.assert_array_equal(x, proof.mean_proba[kept])
    np.testing.assert_array_equal(rate, proof.mean_outcome[kept])
    assert drawn.line_.get_label() == f"ECE {proof.value:.3f}"
    # and by their definition, from the drawn points alone
    share = proof.weight[kept] / proof.weight.sum()
    assert share @ np.abs(rate - x) == pytest.approx(proof.value, abs=1e-12)


def test_empty_bins_show_no_point():
    drawn = drawn_from([0, 1], [0.05, 0.95], n_bins=10, measure="ece")
    assert drawn.line_.get_xydata().tolist() == [[0.05, 0], [0.95, 1]]
    assert drawn.line_.get_label() == "ECE 0.050"
    assert len(drawn.band_.get_segments()) == 2
    assert drawn.bins.count.tolist() == [1, *[0] * 8, 1]


def test_positive_class_against_positive_rate():
    drawn = drawn_from([1, 1], [0.25, 0.75], n_bins=10, measure="ece")
    assert drawn.line_.get_label() == "ECE 0.500"
    assert drawn.line_.get_ydata().tolist() == [1, 1]


def test_axes_say_what_they_are():
    ax = drawn_from(["good", "bad"], [0.2, 0.7], pos_label="bad").ax_
    assert ax.get_xlabel() == "Mean predicted probability (positive class: bad)"
    assert ax.get_ylabel() == "Fraction of positives (positive class: bad)"


def test_measure_in_the_legend():
    y, p = rows()
    for name, short, value in (
        ("scdl", "SCDL", metrics.scdl(y, p)),
        ("smce", "smCE", metrics.smce(y, p)),
        ("cutoff", "cutoff", metrics.cutoff_calibration_error(y, p)),
        ("ece", "ECE", metrics.ece(y, p)),
    ):
        drawn = drawn_from(y, p, measure=name, name="mine")
        assert drawn.line_.get_label() == f"mine, {short} {value:.3f}"
    assert drawn_from(y, p, measure=None, name="mine").line_.get_label() == "mine"


def binomial_quantile(level, n, p):
    """The least k with P(X <= k) >= level."""
    total = 0.0
    for k in range(n + 1):
        total += comb(n, k) * p**k * (1 - p) ** (n - k)
        if total >= level - 1e-12:
            return k
    return n


@pytest.mark.parametrize("confidence", [0.9, 0.5])
def test_band_holds_a_calibrated_forecaster(confidence):
    y, p = rows(60)
    drawn = drawn_from(y, p, n_bins=5, confidence=confidence)
    bins = drawn.bins
    for (x, low, high), count, mean in zip(bars(drawn), bins.count, bins.mean_proba, strict=True):
        n = int(count)
        assert x == mean
        assert low == binomial_quantile((1 - confidence) / 2, n, mean) / n
        assert high == binomial_quantile((1 + confidence) / 2, n, mean) / n


def test_band_is_named_in_the_legend():
    ax = drawn_from(*rows(), confidence=0.995).ax_
    ReliabilityDisplay.from_predictions(*rows(), ax=ax, confidence=0.995)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words.count("99.5% band if calibrated") == 1


def test_band_of_weights_counts_effective_rows():
    p, y = np.full(12, 0.3), np.arange(12) % 2
    same = drawn_from(y, p, sample_weight=np.full(12, 5.0))
    assert bars(same)[0, 1:].tolist() == bars(drawn_from(y, p))[0, 1:].tolist()
    weight = np.repeat([1.0, 3.0], 6)  # 24^2 / 60 = 9.6 effective rows
    ten = drawn_from(y[:10], p[:10])
    assert bars(drawn_from(y, p, sample_weight=weight))[0, 1:].tolist() == bars(ten)[0, 1:].tolist()
    for strategy in ("uniform", "quantile"):  # each bin has the rows that are drawn in it
        x, weight = np.array([0.1, 0.5, 0.5, 0.9]), np.array([1.0, 1.0, 3.0, 1.0])
        options = {"n_bins": 3, "strategy": strategy, "confidence": 0.1}
        found = bars(drawn_from([0, 1, 0, 1], x, sample_weight=weight, **options))
        rows_of = dict(zip([0.1, 0.5, 0.9], [1, 2, 1], strict=True))  # 4^2 / 10 = 1.6 in the middle
        for at, low, high in found:
            n = rows_of[round(at, 6)]
            assert (low, high) == tuple(binomial_quantile(q, n, at) / n for q in (0.45, 0.55))


def test_band_counts_rows_in_the_bins_of_single_precision():
    p = np.array([0.35, 0.36, 0.37], dtype=np.float32)  # the first lies below 7/20 in double
    options = {"sample_weight": [2.0, 1.0, 1.0], "n_bins": 20}  # 4^2 / 6 effective rows
    (band,) = bars(drawn_from([0, 1, 0], p, **options))
    three = (binomial_quantile(q, 3, band[0]) / 3 for q in (0.05, 0.95))
    assert band[1:].tolist() == list(three)


@pytest.mark.verify
def test_band_covers_by_simulation():
    rng = np.random.default_rng(5)
    p = rng.random(300)
    drawn = drawn_from((rng.random(300) < p).astype(int), p, n_bins=10)
    place = np.minimum((p * 10).astype(int), 9)
    hits = np.zeros(10)
    for _ in range(4000):
        y = rng.random(300) < p
        rate = np.bincount(place, y, 10) / drawn.bins.count
        hits += (rate >= drawn.low) & (rate <= drawn.high)
    assert (hits / 4000).min() >= 0.9 - 0.02


def test_density_shows_where_predictions_lie():
    p = np.repeat([0.0, 0.35, 1.0], [1, 2, 4])
    weight = np.array([2.0, 1, 1, 1, 1, 1, 1])
    drawn = drawn_from(np.arange(7) % 2, p, sample_weight=weight)
    assert np.flatnonzero(drawn.density).tolist() == [0, 17, 49]
    np.testing.assert_allclose(drawn.density[[0, 17, 49]], [0.25, 0.25, 0.5])
    vertices = drawn.density_.get_paths()[0].vertices
    floor, top = vertices[:, 1].min(), vertices[:, 1].max()
    assert drawn.ax_.get_ylim()[0] <= floor < top < 0  # below all rates, within the axes
    for height, cells in ((top, [0.98, 1.0]), ((floor + top) / 2, [0.0, 0.02, 0.34, 0.36])):
        at = np.isclose(vertices[:, 1], height, rtol=0, atol=1e-9)
        assert sorted({*vertices[at, 0].round(9).tolist()}) == cells
    without = drawn_from([0, 1], [0.2, 0.7], density=False, band=False)
    assert without.density_ is without.band_ is None
    assert not without.ax_.collections


@pytest.fixture
def cross_validated():
    y, p = rows(90)
    X, names = np.column_stack([p, p**2]), np.array(["bad", "good"])[y]
    folds = KFold(3, shuffle=True, random_state=0)
    options = {"return_estimator": True, "return_indices": True, "cv": folds}
    return cross_validate(LogisticRegression(), X, names, **options), X, names


def test_from_cv_results(cross_validated):
    results, X, y = cross_validated
    weight = np.random.default_rng(0).exponential(size=y.size)
    options = {"sample_weight": weight, "n_bins": 6, "name": "pooled"}
    drawn = ReliabilityDisplay.from_cv_results(results, X, y, ax=new_axes(), **options)
    p = np.empty(y.size)
    folds = list(zip(results["estimator"], results["indices"]["test"], strict=True))
    for estimator, test in folds:
        p[test] = estimator.predict_proba(X[test])[:, 1]
    pooled = drawn_from(y, p, pos_label="good", **options)
    np.testing.assert_allclose(
        drawn.line_.get_xydata(), pooled.line_.get_xydata(), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(bars(drawn), bars(pooled), rtol=0, atol=1e-12)
    np.testing.assert_allclose(drawn.density, pooled.density, rtol=0, atol=1e-12)
    assert drawn.line_.get_label() == pooled.line_.get_label()
    assert "(positive class: good)" in drawn.ax_.get_xlabel()
    assert len(drawn.fold_lines_) == 3
    assert drawn.ax_.get_legend_handles_labels()[1].count("folds") == 1
    for line, (_, test) in zip(drawn.fold_lines_, folds, strict=True):
        alone = {"sample_weight": weight[test], "n_bins": 6, "pos_label": "good"}
        expected = drawn_from(y[test], p[test], **alone).line_
        np.testing.assert_array_equal(line.get_xydata(), expected.get_xydata())
        assert line.get_color() == drawn.line_.get_color()
    other = ReliabilityDisplay.from_cv_results(results, X, y, pos_label="bad", ax=new_axes())
    assert "(positive class: bad)" in other.ax_.get_xlabel()
    np.testing.assert_allclose(
        other.line_.get_xydata(),
        drawn_from(y, 1 - p, pos_label="bad").line_.get_xydata(),
        rtol=0, atol=1e-12,
    )  # fmt: skip


def test_cv_results_that_do_not_suit(cross_validated):
    results, X, y = cross_validated

    def refused(match, results=results, X=X, y=y, error=ValueError):
        with pytest.raises(error, match=match):
            ReliabilityDisplay.from_cv_results(results, X, y, ax=new_axes())

    refused("cv_results must hold 'estimator' and 'indices'", {"test_score": [1.0]})
    refused(r"y must hold the 90 rows of cv_results; got length 80", y=y[:80])
    refused(r"X must hold the 90 rows of cv_results; got length 80", X=X[:80].tolist())
    for cv in (RepeatedKFold(n_splits=3, n_repeats=2), ShuffleSplit(5, test_size=0.5)):
        options = {"return_estimator": True, "return_indices": True, "cv": cv}
        repeated = cross_validate(LogisticRegression(), X, y, **options)
        refused(r"cv_results must test no row twice; got row \d+ in", repeated)
    refused("The 'cv_results' parameter", None)
    margins = cross_validate(SVC(), X, y, return_estimator=True, return_indices=True)
    refused("SVC has no predict_proba", margins, error=AttributeError)


def test_sketch_has_the_band_of_its_rows():
    y, p = rows(500)
    p = np.floor(p * 64) / 64
    drawn = ReliabilityDisplay.from_sketch(CalibrationSketch(64).update(y, p), ax=new_axes())
    expected = drawn_from(y, p)
    np.testing.assert_allclose(bars(drawn), bars(expected), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(drawn.bins.count, expected.bins.count)
    weight = np.random.default_rng(0).exponential(size=500)
    sketch = CalibrationSketch(64).update(y, p, weight)
    weighted = ReliabilityDisplay.from_sketch(sketch, ax=new_axes())
    assert weighted.band_ is None
    same_paths(weighted, drawn_from(y, p, sample_weight=weight))


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"n_bins": 0}, "n_bins"),
        ({"strategy": "widths"}, "strategy"),
        ({"confidence": 1.0}, "confidence"),
        ({"measure": "brier"}, "measure"),
    ],
)
def test_parameters(options, parameter):
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter"):
        drawn_from([0, 1], [0.2, 0.7], **options)
