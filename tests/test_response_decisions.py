"""What DecisionResponse decides, claims and promises; with more than two classes too."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB

from skcal import DecisionResponse, metrics, swap_regret
from skcal.decision import regret_bound, round_predictions
from tests.forecasters import NAMES, ORACLE_P, ORACLE_Y, TABLE, W, X, Y, given, three_actions


def test_oracle():
    response, x = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
    expected = [[-0.625, -0.875, -0.3], [-2.5, -0.5, -0.3], [-3.75, -0.25, -0.3]]
    claims = response.expected_utility(x)
    np.testing.assert_allclose(claims, [*expected, [-4.375, -0.125, -0.3]], rtol=0, atol=1e-15)
    assert response.predict(x).tolist() == ["refer", "refer", "treat", "treat"]
    assert claims.max(axis=1).mean() == pytest.approx(-0.24375)
    np.testing.assert_allclose(response.realized_utility(x, ORACLE_Y), [-0.3, -0.3, 0, -1])
    assert response.score(x, ORACLE_Y) == pytest.approx(-0.4)
    regret, swap = response.swap_regret(x, ORACLE_Y, return_map=True)
    assert regret == response.swap_regret(x, ORACLE_Y) == pytest.approx(0.1)
    assert swap == {"refer": "refer", "treat": "refer"}
    assert response.action_distribution(x).tolist() == [[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]]


def test_ties_and_thresholds():
    response, x = given([0.5, 0.5], [0, 1], rounding=None)
    assert response.predict(x).tolist() == [0, 0]
    utility = {1: {"treat": 0, "wait": -5}, 0: {"treat": -1, "wait": 0}}
    t = 1 / 6
    p = [np.nextafter(t, 0), t, np.nextafter(t, 1)]
    response, x = given(p, [0, 1, 1], rounding=None, utility=utility)
    assert response.predict(x).tolist() == ["wait", "treat", "treat"]


@pytest.mark.parametrize("m", [3, 4, 10])
def test_floor_responds_to_the_rounded_forecast(m):
    p, y = np.random.default_rng(0).random(100).round(2), np.arange(100) % 2
    response, x = three_actions(p, y, rounding="floor", n_bins=m)
    rounded = round_predictions(p, m, rounding="floor")
    action = response.task_.best_response(rounded)
    np.testing.assert_array_equal(response.predict(x), action)
    np.testing.assert_array_equal(response.predict(x), response.predict(x))
    columns = [NAMES.index(name) for name in action]
    np.testing.assert_array_equal(response.action_distribution(x), np.eye(3)[columns])
    regret = swap_regret(y, p, response.task_, rounding="floor", n_bins=m)
    assert response.swap_regret(x, y) == pytest.approx(regret)


def test_floor_of_single_precision_forecasts():
    p = np.array([0.7, 0.3, 0.1], dtype=np.float32)  # .7 is a little less in single precision
    response, x = given(p, [0, 1, 1], rounding="floor", n_bins=10, utility=[[0.65, 0], [0, 0.35]])
    assert response.predict(x).tolist() == [1, 0, 0]


@pytest.mark.parametrize("m", [2, 3, 8])
def test_distribution_is_exact_and_drawn_from(m):
    p, y = np.r_[0, 1, np.random.default_rng(0).random(30)], np.arange(32) % 2
    response, x = three_actions(p, y, n_bins=m, random_state=np.random.RandomState(0))
    share = response.action_distribution(x)
    assert share.shape == (32, 3)
    assert np.all(share >= 0)
    assert np.all(share.sum(axis=1) == 1)
    n = 2000
    drawn = response.predict(np.repeat(x, n, axis=0)).reshape(32, n)
    found = np.column_stack([(drawn == name).mean(axis=1) for name in NAMES])
    assert np.all(np.abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / n) + 1e-12)
    worth = TABLE[y]
    np.testing.assert_allclose(response.realized_utility(x, y), (share * worth).sum(axis=1))
    assert response.score(x, y) == pytest.approx((share * worth).sum(axis=1).mean())
    regret = swap_regret(y, p, response.task_, rounding="random", n_bins=m)
    assert response.swap_regret(x, y) == pytest.approx(regret)


def test_random_state():
    p, y = np.full(40, 0.5), np.arange(40) % 2
    options = {"n_bins": 3, "utility": np.eye(2)}
    response, x = given(p, y, random_state=0, **options)
    first = response.predict(x)
    assert set(first) == {0, 1}
    np.testing.assert_array_equal(response.predict(x), first)  # an int repeats the same draws
    alone = [response.predict(x[i : i + 1])[0] for i in range(40)]
    assert len(set(alone)) == 1  # so rows that come one at a time all share one draw
    generator, _ = given(p, y, random_state=np.random.RandomState(0), **options)
    alone = [generator.predict(x[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(alone, first)  # a generator goes on where it was
    assert np.any(generator.predict(x) != first)
    fresh, _ = given(p, y, **options)
    assert np.any(fresh.predict(x) != fresh.predict(x))
    doc = " ".join(DecisionResponse.__doc__.split())
    assert "An int repeats the same draws in each call" in doc
    assert "random" in doc.split(".")[0]  # the first line says that the default is randomised


def test_score_is_the_accuracy_without_utility_and_rounding():
    response = DecisionResponse(GaussianNB(), rounding=None).fit(X, Y)
    base = GaussianNB().fit(X, Y)
    np.testing.assert_array_equal(response.predict(X), base.predict(X))
    assert response.score(X, Y) == accuracy_score(Y, base.predict(X))
    weighted = accuracy_score(Y, base.predict(X), sample_weight=W)
    assert response.score(X, Y, sample_weight=W) == pytest.approx(weighted)


def test_layout_is_that_of_a_confusion_matrix():
    utility = [[0, -2], [-14, 0]]
    response, x = given([0.05, 0.13, 0.2, 0.6], [0, 1, 0, 1], utility=utility, rounding=None)
    assert response.predict(x).tolist() == [0, 1, 1, 1]
    assert "rows are true classes" in " ".join(DecisionResponse.__doc__.split())


def test_cost_of_rounding():
    for rounding in ("floor", "random"):
        response, x = three_actions(ORACLE_P, ORACLE_Y, rounding=rounding, n_bins=2)
        best, _ = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
        expected = best.score(x, ORACLE_Y) - response.score(x, ORACLE_Y)
        assert expected != 0
        assert response.utility_cost_of_rounding(x, ORACLE_Y) == pytest.approx(expected)
        assert best.utility_cost_of_rounding(x, ORACLE_Y) == 0
        w = [1, 2, 3, 0]
        cost = response.utility_cost_of_rounding(x, ORACLE_Y, sample_weight=w)
        weighted = [r.score(x, ORACLE_Y, sample_weight=w) for r in (best, response)]
        assert cost == pytest.approx(weighted[0] - weighted[1])


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("rounding", ["floor", "random"])
def test_the_bound_holds_on_the_sample_of_the_fit(rounding):
    rng = np.random.default_rng(0)
    for seed in range(40):
        p = rng.random(50) if seed % 2 else rng.integers(0, 11, 50) / 10
        y = (rng.random(50) < rng.random() * p).astype(int)
        y[:2] = 0, 1
        table = rng.normal(size=(2, 4)) * rng.choice([0.1, 1, 100], (2, 1))
        options = {"utility": table, "actions": range(4), "rounding": rounding}
        response, x = given(p, y, **options)
        assert response.swap_regret(x, y) <= response.regret_bound_ + 1e-12
        assert response.regret_bound_ <= 2 * response.scdl_ * response.task_.ranges.sum() + 1e-9


def test_regret_bound():
    response, _ = three_actions(ORACLE_P, ORACLE_Y, n_bins=8)
    loss = metrics.scdl(ORACLE_Y, ORACLE_P, n_bins=8)
    assert response.regret_bound() == response.regret_bound_ == pytest.approx(6 * (loss + 1 / 8))
    found = response.regret_bound(1000, 0.95)
    assert found == regret_bound(loss, 8, ranges=(1, 5), n_decisions=1000, confidence=0.95)
    assert found > response.regret_bound_
    plain, _ = three_actions(ORACLE_P, ORACLE_Y, rounding=None)
    assert plain.regret_bound() == plain.regret_bound_ == plain.regret_bound(10, 0.9) == np.inf
    assert np.isnan(plain.scdl_)


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize(("rounding", "bound"), [(None, np.inf), ("floor", 0), ("random", 0)])
def test_nothing_at_stake(rounding, bound):
    utility = {0: {"a": 1, "b": 1}, 1: {"a": 2, "b": 2}}
    response, x = given(ORACLE_P, ORACLE_Y, utility=utility, rounding=rounding)
    assert response.regret_bound_ == response.regret_bound() == bound
    assert response.swap_regret(x, ORACLE_Y) == 0
    assert response.predict(x).tolist() == ["a"] * 4


def test_one_class():
    response = DecisionResponse(GaussianNB(), rounding=None).fit(X, ["only"] * 240)
    assert response.predict(X).tolist() == ["only"] * 240
    assert response.score(X, ["only"] * 240) == 1
    assert response.regret_bound_ == np.inf


# More than two classes

ONLY_BINARY = r"Only binary classification is supported\. The type of the target is multiclass"


def test_more_than_two_classes():
    rng = np.random.default_rng(0)
    proba, codes = rng.dirichlet(np.ones(3), 50), np.r_[0, 1, 2, rng.integers(0, 3, 47)]
    y = np.array(["a", "b", "c"])[codes]
    utility = np.array([[2, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1.1]])
    names = ["a", "b", "c", "hold"]
    response, x = given(proba, y, utility=utility, actions=names, rounding=None)
    best = (proba @ utility).argmax(axis=1)
    assert response.predict(x).tolist() == [names[a] for a in best]
    np.testing.assert_allclose(response.expected_utility(x), proba @ utility)
    np.testing.assert_allclose(response.realized_utility(x, y), utility[codes, best])
    regret = swap_regret(y, proba, response.task_)
    assert response.swap_regret(x, y) == pytest.approx(regret)
    assert response.n_bins_ == np.inf
    tables = np.tile(utility, (50, 1, 1))
    assert response.predict(x, sample_utility=tables).tolist() == response.predict(x).tolist()
    plain, x = given(proba, y, rounding=None)
    assert plain.predict(x).tolist() == [names[a] for a in proba.argmax(axis=1)]
    for rounding in ("floor", "random"):
        with pytest.raises(ValueError, match=ONLY_BINARY):
            given(proba, y, utility=utility, actions=names, rounding=rounding)


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(solver="liblinear")])
def test_multiclass_targets_say_why(estimator):
    # Also when the estimator would refuse them with another message.
    with pytest.raises(ValueError, match=re.compile(ONLY_BINARY + r".*rounding=None", re.DOTALL)):
        DecisionResponse(estimator).fit(X, np.arange(240) % 3)
