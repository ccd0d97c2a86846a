"""ShrinkageCalibrator and BetaCalibrator, and what all maps of one probability share."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skcal._numerics.partitions._contiguous import contiguous_partition
from skcal.recalibration import BetaCalibrator, PartitionCalibrator, ShrinkageCalibrator
from skcal.recalibration._beta import features
from skcal.recalibration._evidence import CUTS, draw_outcomes, isotonic_gains, least_movements
from skcal.recalibration._partition import candidate_cuts
from tests.forecasters import forecasts

CALIBRATORS = [
    PartitionCalibrator(),
    PartitionCalibrator(interpolate=False, resolution=None),
    BetaCalibrator(),
    ShrinkageCalibrator(PartitionCalibrator(), n_null=2),
    ShrinkageCalibrator(IsotonicRegression(), n_null=2),
    ShrinkageCalibrator(BetaCalibrator(), n_null=2),
]
each_calibrator = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=str)
Y, P = forecasts("overconfident", 300)


# What all share


@each_calibrator
def test_weights_are_repetitions(calibrator):
    w = np.random.default_rng(1).integers(0, 4, 300)
    weighted = clone(calibrator).fit(P, Y, sample_weight=w)
    repeated = clone(calibrator).fit(np.repeat(P, w), np.repeat(Y, w))
    q = np.linspace(0, 1, 401)
    np.testing.assert_allclose(weighted.predict(q), repeated.predict(q), atol=1e-9)


@each_calibrator
def test_maps_increase_without_nan_or_infinity(calibrator):
    p = np.r_[1e-160, 1e-200, 5e-324, 0, P, 1 - 1e-16, 1]
    y = np.r_[0, 1, 0, 0, Y, 1, 1]
    fitted = clone(calibrator).fit(p, y)
    q = np.sort(np.r_[np.linspace(0, 1, 4001), p, np.nextafter(p, 0), np.nextafter(p, 1)])
    q = np.clip(q, 0, 1)
    with np.errstate(invalid="raise", over="raise", divide="raise"):
        found = fitted.predict(q)
    assert np.all(np.diff(found) >= 0)
    assert found.min() >= 0
    assert found.max() <= 1


@each_calibrator
def test_clone_pickle_and_repeated_fits(calibrator):
    fitted = clone(calibrator).fit(P, Y)
    expected = fitted.predict(P)
    assert not hasattr(clone(fitted), "parts_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(P), expected)
    np.testing.assert_array_equal(clone(fitted).fit(P, Y).predict(P), expected)
    np.testing.assert_array_equal(fitted.fit(P, Y).predict(P), expected)
    assert fitted.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError, match=type(calibrator).__name__):
        clone(calibrator).predict(P)


@each_calibrator
def test_inputs_of_any_kind(calibrator):
    expected = clone(calibrator).fit(P, Y).predict(P)
    shuffled = np.random.default_rng(0).permutation(300)
    for p, y in [
        (P.tolist(), Y.tolist()),
        (P[:, None], Y[:, None]),
        (pd.Series(P, index=shuffled), pd.Series(Y)),  # paired by position
        (pl.Series(P), pl.Series(Y)),
        (P, Y.astype(bool)),
        (P, 2 * Y - 1),
        (P, Y.astype(float)),
    ]:
        fitted = clone(calibrator).fit(p, y)
        found = fitted.predict(p)
        assert type(found) is np.ndarray
        assert found.shape == (300,)
        np.testing.assert_array_equal(found, expected)


@each_calibrator
def test_output_settings_reach_transform_only(calibrator):
    plain = clone(calibrator).fit(P, Y)
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        with sklearn.config_context(transform_output=kind):
            fitted = clone(calibrator).fit(P, Y)
            assert type(fitted.predict(P)) is np.ndarray
            column = fitted.transform(P)
        assert isinstance(column, frame)
        assert list(column.columns) == [f"{type(calibrator).__name__.lower()}0"]
        np.testing.assert_array_equal(np.ravel(column), plain.predict(P))
    assert isinstance(plain.set_output(transform="pandas").transform(P), pd.DataFrame)


def test_at_the_end_of_a_pipeline_and_in_a_search():
    model = make_pipeline(FunctionTransformer(lambda p: p**2), PartitionCalibrator())
    model.fit(P[:, None], Y)
    np.testing.assert_array_equal(
        model.predict(P[:, None]), PartitionCalibrator().fit(P**2, Y).predict(P**2)
    )
    search = GridSearchCV(
        ShrinkageCalibrator(PartitionCalibrator(), n_null=2),
        {"calibrator__prior_count": [0, 1, 5]},
        scoring=lambda fitted, p, y: -np.mean((fitted.predict(p) - y) ** 2),
        error_score="raise",
    ).fit(P, Y)
    assert np.isfinite(search.best_score_)


@each_calibrator
def test_metadata_requests_name_weights_only(calibrator):
    requests = calibrator.get_metadata_routing()
    text = str(requests)
    assert "sample_weight" in text
    assert "'p'" not in text


ERRORS = [
    (lambda c: c.fit([0.2, 1.2], [0, 1]), ["p must lie in [0, 1]", "1.2"]),
    (lambda c: c.fit([0.2, -0.1], [0, 1]), ["p must lie in [0, 1]", "-0.1"]),
    (lambda c: c.fit([0.2, np.nan], [0, 1]), ["p must", "NaN in row 1"]),
    (lambda c: c.fit(["a", "b"], [0, 1]), ["p must hold numbers"]),
    (lambda c: c.fit(np.ones((2, 2)) / 2, [0, 1]), ["p must be one-dimensional", "(2, 2)"]),
    (lambda c: c.fit([], []), ["p must hold at least one row"]),
    (lambda c: c.fit([0.2, 0.3], [0, 0]), ["y must hold both outcomes", "only 0"]),
    (lambda c: c.fit([0.2, 0.3], [1, 1]), ["y must hold both outcomes", "only 1"]),
    (lambda c: c.fit([0.2, 0.3], [0, 1], [1, 0]), ["both outcomes", "only 0", "positive weight"]),
    (lambda c: c.fit([0.2, 0.3], [0, 2]), ["y must", "0 and 1", "[0, 2]"]),
    (lambda c: c.fit([0.2, 0.3], [0, 0.5]), ["y must", "0.5"]),
    (lambda c: c.fit([0.2, 0.3], ["no", "yes"]), ["y must", "RecalibratedClassifier", "'no'"]),
    (lambda c: c.fit([0.2, 0.3], [0, 1, 1]), ["y must have the length of p (2)", "3"]),
    (lambda c: c.fit([0.2, 0.3], [0, 1], [1, -1]), ["sample_weight must", "-1"]),
    (lambda c: c.fit([0.2, 0.3], [0, 1], [1]), ["sample_weight must", "length"]),
    (lambda c: c.fit([0.2, 0.3], [0, 1]).predict([2.0]), ["p must lie in [0, 1]", "2"]),
]


@each_calibrator
@pytest.mark.parametrize(("call", "parts"), ERRORS)
def test_errors_name_the_argument_and_both_sides(calibrator, call, parts):
    with pytest.raises(ValueError) as error:
        call(clone(calibrator))
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("calibrator", "name"),
    [
        (PartitionCalibrator(resolution="all"), "resolution"),
        (PartitionCalibrator(interpolate=2), "interpolate"),
        (PartitionCalibrator(prior_count=-1), "prior_count"),
        (PartitionCalibrator(max_cuts=0), "max_cuts"),
        (ShrinkageCalibrator(PartitionCalibrator(), n_null=0), "n_null"),
        (ShrinkageCalibrator(PartitionCalibrator(), random_state="x"), "random_state"),
        (ShrinkageCalibrator(3), "calibrator"),
    ],
)
def test_parameter_errors(calibrator, name):
    with pytest.raises(ValueError, match=name):
        calibrator.fit(P, Y)


def test_numbers_rounded_out_of_range_are_clipped():
    for calibrator in CALIBRATORS:
        fitted = clone(calibrator).fit(np.r_[P, 1 + 1e-7, -1e-7], np.r_[Y, 1, 0])
        assert fitted.predict([1 + 1e-7])[0] == fitted.predict([1.0])[0]


# Shrinkage


@pytest.mark.parametrize("kind", ["calibrated", "overconfident", "constant"])
@pytest.mark.parametrize("seed", range(5))
def test_shrinkage_never_moves_further_than_its_calibrator(kind, seed):
    y, p = forecasts(kind, 200, seed)
    q = np.unique(np.r_[np.linspace(0, 1, 3001), p])
    for inner in (PartitionCalibrator(), IsotonicRegression(out_of_bounds="clip")):
        fitted = ShrinkageCalibrator(inner).fit(p, y)
        target, found = clone(inner).fit(p, y).predict(q), fitted.predict(q)
        assert np.all(np.abs(found - q) <= np.abs(target - q))
        share = fitted.shrinkage_
        np.testing.assert_allclose(found, q + share * (target - q), atol=1e-15)
        if 0 < share < 1:
            assert np.all(np.diff(found) > 0)


def test_what_the_calibrator_leaves_stays_exactly():
    fitted = ShrinkageCalibrator(Same()).fit(P, Y)
    assert 0 < fitted.shrinkage_ < 1
    np.testing.assert_array_equal(fitted.predict(P), P)
    share = fitted.shrinkage_
    assert np.any((1 - share) * P + share * P != P)


def by_hand_evidence(p, y):
    """Movement of the projection (its steps) and the gain of isotonic regression."""
    steps = PartitionCalibrator(interpolate=False, resolution=None).fit(p, y).predict(p)
    fitted = IsotonicRegression().fit(p, y).predict(p)
    return np.abs(steps - p).mean(), np.mean((y - p) ** 2 - (y - fitted) ** 2)


@pytest.mark.parametrize("kind", ["calibrated", "overconfident"])
def test_share_is_the_part_that_chance_does_not_explain(kind):
    y, p = forecasts(kind, 200, seed=3)
    p = np.sort(p)
    y = y[np.argsort(forecasts(kind, 200, seed=3)[1])]
    fitted = ShrinkageCalibrator(PartitionCalibrator(), n_null=7, random_state=5).fit(p, y)
    rng = np.random.RandomState(5)
    null = [by_hand_evidence(p, (rng.random_sample(200) < p).astype(int)) for _ in range(7)]
    (v, t), (m0, t0) = by_hand_evidence(p, y), np.mean(null, axis=0)
    expected = max(1 - (m0 / v) ** 2, 1 - t0 / t, 0)
    assert fitted.shrinkage_ == pytest.approx(expected, abs=1e-12)
    assert fitted.least_movement_ == pytest.approx(v, abs=1e-13)
    assert fitted.gain_ == pytest.approx(t, abs=1e-13)
    assert fitted.null_movement_ == pytest.approx(m0, abs=1e-13)
    assert fitted.null_gain_ == pytest.approx(t0, abs=1e-13)


def test_calibrated_forecasts_are_left_almost_alone():
    moved = {"calibrated": [], "overconfident": [], "squeezed": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p, squeezed = rng.random(1000), rng.beta(40, 40, 1000)
        for kind, q, truth in (
            ("calibrated", p, p),
            ("overconfident", p, 0.25 + p / 2),
            ("squeezed", squeezed, expit(8 * logit(squeezed))),
        ):
            y = rng.random(1000) < truth
            moved[kind].append(ShrinkageCalibrator(PartitionCalibrator()).fit(q, y).shrinkage_)
    assert np.mean(moved["calibrated"]) < 0.25
    assert min(moved["overconfident"]) > 0.9
    assert min(moved["squeezed"]) > 0.8


def test_draws_are_repeatable_and_seeded():
    def share(**options):
        return ShrinkageCalibrator(PartitionCalibrator(), n_null=3, **options).fit(P, Y).shrinkage_

    assert share() == share() == share(random_state=0)
    assert share() != share(random_state=1)
    assert share(random_state=None) != share(random_state=None)


def test_many_predictions_are_merged_without_much_loss():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(20000))
    y = (rng.random(20000) < 0.02 + 0.96 * p).astype(int)
    unit = np.ones(20000)
    fitted = ShrinkageCalibrator(PartitionCalibrator(), n_null=2).fit(p, y)
    cuts = np.arange(20000 // 512, 20000, 20000 // 256)
    movement, _ = contiguous_partition(p, unit, y.astype(float), cuts=cuts)
    assert fitted.least_movement_ == pytest.approx(movement / 20000, rel=0.02)
    assert fitted.gain_ == pytest.approx(by_hand_evidence(p, y)[1], rel=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_many_samples_at_once_are_each_as_alone(seed):
    rng = np.random.default_rng(seed)
    x, mass = np.sort(rng.random(700)), rng.integers(1, 4, 700).astype(float)
    ones = rng.binomial(mass.astype(int), x, (4, 700)).astype(float)
    cuts = candidate_cuts(mass, [], CUTS)
    alone = [contiguous_partition(x, mass, row, cuts=cuts)[0] for row in ones]
    np.testing.assert_allclose(least_movements(x, mass, ones), alone, atol=1e-10)
    alone = []
    for row in ones:
        fitted = IsotonicRegression().fit(x, row / mass, sample_weight=mass).predict(x)
        variance = (fitted * (mass * fitted - 2 * row)).sum()
        alone.append((x * (mass * x - 2 * row)).sum() - variance)
    np.testing.assert_allclose(isotonic_gains(x, mass, ones), alone, atol=1e-10)


@pytest.mark.parametrize("mass", [0.5, 1.0, 2.5, 3.0, 1e20])
def test_draws_have_the_claimed_mean_and_no_more_than_the_mass(mass):
    x = np.array([0.0, 0.1, 0.5, 1.0])
    drawn = draw_outcomes(np.random.RandomState(0), x, np.full(4, mass), 4000)
    assert drawn.min() >= 0
    assert drawn.max() <= mass
    np.testing.assert_allclose(drawn.mean(axis=0), mass * x, rtol=0.1)
    assert len(np.unique(drawn[:, 2])) == {0.5: 2, 1.0: 2, 2.5: 6, 3.0: 4, 1e20: 1}[mass]


@pytest.mark.filterwarnings("ignore:sample_weight has a mean of")
@pytest.mark.parametrize("scale", [1e-3, 2.5, 1e18, 1e90, 1e300])
def test_weights_of_any_size(scale):
    fitted = ShrinkageCalibrator(BetaCalibrator()).fit(P, Y, sample_weight=np.full(300, scale))
    assert 0 <= fitted.shrinkage_ <= 1
    if scale > 1e10:  # so many repetitions are proof
        assert fitted.shrinkage_ > 0.99
    assert np.isfinite(fitted.predict(P)).all()


def test_hard_predictions():
    p, y = np.r_[np.zeros(20), np.ones(20)], np.r_[np.zeros(18), 1, 1, np.ones(17), 0, 0, 0]
    fitted = ShrinkageCalibrator(PartitionCalibrator()).fit(p, y)
    assert fitted.shrinkage_ == 1  # no chance explains a single exception to certainty
    rate = 19 / 40
    low, high = (2 + rate / 2) / 20.5, (17 + rate / 2) / 20.5
    np.testing.assert_allclose(fitted.predict([0, 1]), [low, high])
    right = ShrinkageCalibrator(PartitionCalibrator()).fit(p, p)
    assert right.shrinkage_ == 0
    np.testing.assert_array_equal(right.predict([0, 0.3, 1]), [0, 0.3, 1])


class Same:
    def fit(self, p, y):
        return self

    def predict(self, p):
        return p


class Odd:
    """A calibrator that is not one of scikit-learn, takes no weights and may misbehave."""

    def __init__(self, value=0.5):
        self.value = value

    def fit(self, p, y):
        self.fitted = len(p)

    def predict(self, p):
        return np.full((len(p), 1), self.value)


def test_calibrators_of_any_kind():
    odd = Odd()
    fitted = ShrinkageCalibrator(odd).fit(P, Y)
    assert not hasattr(odd, "fitted")
    share = fitted.shrinkage_
    np.testing.assert_allclose(fitted.predict(P), P + share * (0.5 - P))
    with pytest.raises(ValueError, match=r"calibrator must accept sample_weight.*Odd"):
        ShrinkageCalibrator(odd).fit(P, Y, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="calibrator must predict finite"):
        ShrinkageCalibrator(Odd(np.nan)).fit(P, Y).predict(P)


# Beta calibration


def beta_loss(coef, p, y, w):
    z = coef[0] * np.log(p) - coef[1] * np.log1p(-p) + coef[2]
    return np.sum(w * (np.logaddexp(0, z) - y * z))


@pytest.mark.parametrize(
    "truth",
    [
        lambda p: p,
        lambda p: expit(2 * logit(p) - 1),
        lambda p: 1 - p,  # both slopes would be negative
        lambda p: np.full(p.size, 0.3),
        lambda p: 0.5 + 0.4 * np.cos(6 * p),
        lambda p: p**4,
    ],
)
@pytest.mark.parametrize("near", [False, True])
def test_beta_is_the_best_increasing_fit(truth, near):
    rng = np.random.default_rng(0)
    p = rng.random(500)
    p, w = (0.5 + (p - 0.5) / 20 if near else p), rng.integers(1, 4, 500)
    y = (rng.random(500) < truth(rng.random(500) if near else p)).astype(int)
    fitted = BetaCalibrator().fit(p, y, sample_weight=w)
    assert fitted.coef_.min() >= 0
    best = minimize(
        beta_loss, [1, 1, 0], (p, y, w), bounds=[(0, None), (0, None), (None, None)],
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxfun": 10**5},
    )  # fmt: skip
    found = beta_loss(np.append(fitted.coef_, fitted.intercept_), p, y, w)
    assert found <= best.fun + 1e-4  # the ridge allows for that much at slopes near 14
    z = fitted.coef_[0] * np.log(p) - fitted.coef_[1] * np.log1p(-p) + fitted.intercept_
    np.testing.assert_allclose(fitted.predict(p), expit(z), atol=1e-14)


def test_beta_agrees_with_a_logistic_regression():
    fitted = BetaCalibrator().fit(P, Y)
    X = np.column_stack([np.log(P), -np.log1p(-P)])
    model = LogisticRegression(C=1e6, tol=1e-10, max_iter=10**4).fit(X, Y)
    np.testing.assert_allclose(fitted.predict(P), model.predict_proba(X)[:, 1], atol=1e-6)


def test_beta_keeps_ranks():
    rng = np.random.default_rng(11)
    s = rng.random(200)
    y = (rng.random(200) < s**2).astype(int)
    fitted = BetaCalibrator().fit(s[:100], y[:100])
    assert roc_auc_score(y[100:], fitted.predict(s[100:])) == roc_auc_score(y[100:], s[100:])


def test_beta_keeps_ranks_beyond_single_precision():
    p = np.r_[1e-200, 1e-160, 1e-12, 1e-7, P, 1 - 1e-7, 1 - 1e-9, 1 - 1e-15]
    fitted = BetaCalibrator().fit(p, np.r_[0, 1, 0, 0, Y, 1, 0, 1])
    found = fitted.predict(np.sort(p))
    assert np.all(np.diff(found) > 0)
    near = fitted.predict([1e-6, 1e-200])
    assert near[0] < 2 * near[1]  # a hair


@pytest.mark.parametrize("p", [[0.1, 0.2, 0.8, 0.9], [1e-160, 1e-100, 0.5, 1], [0, 0, 1, 1]])
def test_beta_on_separable_samples(p):
    fitted = BetaCalibrator().fit(p, [0, 0, 1, 1])
    found = fitted.predict(p)
    # A ridge alone holds the slopes: at the optimum it balances the gradient of the loss.
    gradient = features(np.array(p, dtype=float)).T @ (found - [0, 0, 1, 1])
    free = fitted.coef_ > 0
    assert free.any()
    np.testing.assert_allclose(gradient[:2][free], -1e-6 * fitted.coef_[free], atol=1e-8)
    assert found[:2].max() < 0.01
    assert found[2:].min() > 0.99
