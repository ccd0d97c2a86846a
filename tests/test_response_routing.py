"""Weights, groups and utilities by row on their way through DecisionResponse."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcal import DecisionResponse, DecisionTask, metrics
from skcal.decision import round_predictions, utility_from_threshold
from skcal.scorers import utility_scorer
from tests.forecasters import (
    NAMES,
    ORACLE_P,
    ORACLE_Y,
    ROUNDINGS,
    TABLE,
    Given,
    W,
    X,
    Y,
    given,
    three_actions,
)


def routing():
    return sklearn.config_context(enable_metadata_routing=True)


# Weights and groups


def weighted_scdl(estimator):
    params = {"sample_weight": W}
    p = cross_val_predict(estimator, X, Y, method="predict_proba", params=params)[:, 1]
    return metrics.scdl(Y, p, sample_weight=W, rounding="floor")


def test_weights_reach_the_estimator_its_copies_and_the_scdl():
    response = DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=W)
    assert response.scdl_ == weighted_scdl(GaussianNB())
    fitted = GaussianNB().fit(X, Y, sample_weight=W)
    np.testing.assert_array_equal(response.predict_proba(X), fitted.predict_proba(X))
    series = pd.Series(W, index=np.arange(240)[::-1])  # paired by position
    again = DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=series)
    assert again.scdl_ == response.scdl_
    Given.fitted_on.clear()
    x = X[:, :1] * 0 + 0.5
    DecisionResponse(Given(), rounding="floor").fit(x, Y, sample_weight=W.tolist())
    assert sorted(n for n, _ in Given.fitted_on) == [192] * 5 + [240]
    assert all(len(w) == n for n, w in Given.fitted_on)


def test_weights_of_zero_are_no_rows_for_the_scdl():
    w = (np.arange(8) < 4).astype(float)
    p, y = np.r_[ORACLE_P, [0.9] * 4], np.r_[ORACLE_Y, [0] * 4]
    x = p[:, None]
    frozen = FrozenEstimator(Given().fit(x, y))
    response = DecisionResponse(frozen, rounding="floor").fit(x, y, sample_weight=w)
    expected, _ = given(ORACLE_P, ORACLE_Y, rounding="floor")
    assert response.scdl_ == expected.scdl_
    assert response.n_bins_ == expected.n_bins_


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (lambda: GaussianNB().set_fit_request(sample_weight=True), "sample_weight"),
        (lambda: GaussianNB().set_fit_request(sample_weight="cases"), "cases"),
        (
            lambda: make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False),
                GaussianNB().set_fit_request(sample_weight=True),
            ),
            "sample_weight",
        ),
    ],
    ids=["requested", "alias", "pipeline"],
)
def test_weights_are_routed(estimator, name):
    with routing():
        response = DecisionResponse(estimator(), rounding="floor").fit(X, Y, **{name: W})
    assert response.scdl_ == pytest.approx(weighted_scdl(GaussianNB()), abs=1e-12)
    fitted = GaussianNB().fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(response.predict_proba(X), fitted.predict_proba(X), atol=1e-6)


def test_weights_that_nobody_asked_for():
    with routing(), pytest.raises((UnsetMetadataPassedError, TypeError), match="sample_weight"):
        DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, sample_weight=W)
    with pytest.raises(TypeError, match="unknown"):
        DecisionResponse(GaussianNB(), rounding="floor").fit(X, Y, unknown=W)


def test_nested_cross_validation_with_groups():
    with routing():
        scores = cross_validate(
            DecisionResponse(GaussianNB(), cv=GroupKFold(2), rounding="floor"),
            X, Y, cv=GroupKFold(3), params={"groups": np.arange(240) // 8}, error_score="raise",
        )  # fmt: skip
    assert np.isfinite(scores["test_score"]).all()


# Utilities by row


def row_tables(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2, 3))


def row_decisions(p, tables, rounded):
    return [
        DecisionTask(table, actions=NAMES).best_response([q])[0]
        for table, q in zip(tables, rounded(p), strict=True)
    ]


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_sample_utility_is_a_loop_over_rows(rounding):
    rng = np.random.default_rng(1)
    p, y = rng.random(60), rng.integers(0, 2, 60)
    options = {} if rounding is None else {"n_bins": 4}
    response, x = three_actions(p, y, rounding=rounding, random_state=0, **options)
    tables = row_tables(60)
    seen = {
        None: lambda p: p,
        "floor": lambda p: round_predictions(p, 4, rounding="floor"),
        "random": lambda p: round_predictions(p, 4, random_state=0),
    }[rounding]
    action = row_decisions(p, tables, seen)
    assert response.predict(x, sample_utility=tables).tolist() == action
    share = response.action_distribution(x, sample_utility=tables)
    each = [
        DecisionResponse(
            response.estimator, utility=t, actions=NAMES, rounding=rounding, **options
        ).fit(x, y)
        for t in tables
    ]
    loop = [r.action_distribution(x[i : i + 1])[0] for i, r in enumerate(each)]
    np.testing.assert_allclose(share, loop, atol=1e-15)
    loop = [r.realized_utility(x[i : i + 1], y[i : i + 1])[0] for i, r in enumerate(each)]
    worth = response.realized_utility(x, y, sample_utility=tables)
    np.testing.assert_allclose(worth, loop, atol=1e-14)
    loop = [r.expected_utility(x[i : i + 1])[0] for i, r in enumerate(each)]
    np.testing.assert_allclose(response.expected_utility(x, sample_utility=tables), loop)
    w = rng.random(60)
    score = response.score(x, y, sample_weight=w, sample_utility=tables)
    assert score == pytest.approx(np.average(worth, weights=w))
    own = tables[np.arange(60), y]
    gains = (share.T @ own - (share * own).sum(axis=0)[:, None]) / 60
    regret, swap = response.swap_regret(x, y, sample_utility=tables, return_map=True)
    assert regret == pytest.approx(gains.max(axis=1).clip(0).sum())
    assert set(swap) == {
        name for name, taken in zip(NAMES, share.any(axis=0), strict=True) if taken
    }


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_sample_utility_decides_as_utility_does_at_a_threshold(step):
    differ = []
    for k in range(1, 100):
        t = k / 100
        table = DecisionTask(utility_from_threshold(t)).utility
        options = {"utility": table, "actions": ["act", "wait"], "rounding": None}
        p = t * (1 + step * 1e-12)  # within rounding errors of the table a row is at the threshold
        response, x = given([p, 0.1, 0.9], [0, 1, 1], **options)
        found = response.predict(x, sample_utility=np.tile(table, (3, 1, 1)))
        differ += [t] if found.tolist() != response.predict(x).tolist() else []
    assert differ == []


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@pytest.mark.parametrize("forbidden", [-1e6, -1e13, -1e16, -1e300])
def test_a_forbidden_action_blurs_no_other(forbidden):
    # The way to forbid an action is a very low utility: the others must not become tied by it.
    table = np.array([[0.1, 0.9, forbidden], [0.1, 0.2, forbidden]])
    response, x = given([0.2, 0.5, 0.9], [0, 1, 1], utility=table, actions=NAMES, rounding=None)
    assert response.predict(x).tolist() == ["treat"] * 3
    tables = np.tile(table, (3, 1, 1))
    assert response.predict(x, sample_utility=tables).tolist() == ["treat"] * 3


def test_sample_utility_is_routed():
    tables = row_tables(240)
    options = {"utility": TABLE, "actions": NAMES, "rounding": "floor", "alpha": 0.1}
    with routing():
        response = DecisionResponse(GaussianNB(), **options)
        response.set_predict_request(sample_utility=True).set_score_request(sample_utility=True)
        found = cross_validate(
            response, X, Y, cv=3, params={"sample_utility": tables}, error_score="raise",
            return_estimator=True, return_indices=True,
        )  # fmt: skip
        for k, rows in enumerate(found["indices"]["test"]):
            fitted = found["estimator"][k]
            score = fitted.score(X[rows], Y[rows], sample_utility=tables[rows])
            assert found["test_score"][k] == score
        # A scorer of a plain classifier, and the response at the end of a pipeline.
        scorer = utility_scorer(TABLE, actions=NAMES).set_score_request(sample_utility=True)
        scores = cross_validate(
            GaussianNB(), X, Y, cv=3, scoring=scorer, params={"sample_utility": tables},
            error_score="raise", return_estimator=True, return_indices=True,
        )  # fmt: skip
        for k, rows in enumerate(scores["indices"]["test"]):
            p = scores["estimator"][k].predict_proba(X[rows])
            claims = np.einsum("nk,nka->na", p, tables[rows])
            own = tables[rows, Y[rows]]
            expected = own[np.arange(rows.size), claims.argmax(axis=1)].mean()
            assert scores["test_score"][k] == pytest.approx(expected)
        pipeline = make_pipeline(StandardScaler(), response).fit(X, Y)
        with_tables = pipeline.predict(X, sample_utility=tables)
    plain = make_pipeline(StandardScaler(), DecisionResponse(GaussianNB(), **options)).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X, sample_utility=tables), with_tables)


def test_fit_declares_no_metadata_of_its_own():
    assert not hasattr(DecisionResponse, "set_fit_request")
