"""More than two classes: every measure, scorer and inference is that of two classes, repeated."""

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB

from skcal import get_scorer, inference, make_calibration_scorer, metrics
from skcal.inference import _draws
from skcal.scorers import calibration_scorers
from tests.measures import each_measure, each_quick_measure

RNG = np.random.default_rng(0)
N, K = 60, 4
P = RNG.dirichlet(np.ones(K), N).round(2)
P[:, -1] = 1 - P[:, :-1].sum(axis=1)  # rows that sum to one, with ties
CODES = np.array([RNG.choice(K, p=np.abs(row) / np.abs(row).sum()) for row in P])
NAMES = np.array(["a", "b", "c", "d"])
W = RNG.integers(1, 4, N)
FAST = (metrics.scdl, metrics.smce, metrics.cutoff_calibration_error, metrics.ece)
each_fast = pytest.mark.parametrize("measure", FAST, ids=lambda f: f.__name__)


@each_quick_measure
def test_classwise_is_the_mean_over_one_against_the_rest(row):
    for weights in (None, W):
        values = [row(k == CODES, P[:, k], sample_weight=weights) for k in range(K)]
        found = row(CODES, P, multiclass="classwise", sample_weight=weights)
        assert found == pytest.approx(np.mean(values), abs=1e-15)


@each_measure
def test_top_label_is_confidence_against_being_right(row):
    top = P.argmax(axis=1)
    right, confidence = top == CODES, P.max(axis=1)
    found = row(CODES, P, multiclass="top_label", sample_weight=W)
    assert found == row(right, confidence, sample_weight=W)
    wrong = right & (np.arange(N) != np.flatnonzero(right)[0])  # one row less
    assert found != row(wrong, confidence, sample_weight=W)


@each_quick_measure
@pytest.mark.parametrize("multiclass", ["classwise", "top_label"])
def test_certificates_verify(row, multiclass):
    certificate = row(CODES, P, multiclass=multiclass, return_certificate=True)
    assert certificate.value == row(CODES, P, multiclass=multiclass)
    assert certificate.verify() is True
    if multiclass == "classwise":
        assert certificate.classes == (0, 1, 2, 3)
        values = [row(k == CODES, P[:, k]) for k in range(K)]
        assert [part.value for part in certificate.certificates] == values
        assert set(certificate.to_dict()) == {"value", "classes", "certificates"}
        assert len(repr(certificate)) < 5000


def test_classwise_certificate_notices_a_changed_mean_and_a_changed_part():
    loss = metrics.cutoff_calibration_error(
        CODES, P, multiclass="classwise", return_certificate=True
    )
    assert dataclasses.replace(loss, value=loss.value + 1e-6).verify() is False
    first = dataclasses.replace(loss.certificates[0], residual=0.5)
    assert dataclasses.replace(loss, certificates=(first, *loss.certificates[1:])).verify() is False


@each_fast
def test_labels_say_what_the_columns_are(measure):
    value = measure(CODES, P, multiclass="classwise")
    assert measure(NAMES[CODES], P, multiclass="classwise") == value
    turn = [2, 0, 3, 1]
    turned = measure(NAMES[CODES], P[:, turn], multiclass="classwise", labels=NAMES[turn])
    assert turned == pytest.approx(value, abs=1e-15)
    some = CODES != 3  # a fold that misses a class
    found = measure(NAMES[CODES[some]], P[some], multiclass="classwise", labels=NAMES)
    values = [measure(CODES[some] == k, P[some, k], labels=[False, True]) for k in range(K)]
    assert found == pytest.approx(np.mean(values), abs=1e-15)


@each_fast
def test_two_classes_in_one_column_or_two(measure):
    p, y = P[:, 0] / (P[:, 0] + P[:, 1] + 1e-9), CODES == 0
    columns = np.column_stack([1 - p, p])
    both = (measure(~y, 1 - p) + measure(y, p)) / 2
    for proba in (p, p[:, None], columns):
        assert measure(y, proba, multiclass="classwise") == pytest.approx(both, abs=1e-15)
        top = measure(y, proba, multiclass="top_label")
        assert top == measure((p > 0.5) == y, np.maximum(p, 1 - p))
    named = np.where(y, "yes", "no")
    assert measure(named, p, multiclass="classwise", pos_label="yes") == pytest.approx(both)
    assert measure(named, columns, multiclass="classwise") == pytest.approx(both)


def test_frames_and_low_precision():
    pandas = pytest.importorskip("pandas")
    value = metrics.scdl(CODES, P, multiclass="classwise")
    assert metrics.scdl(CODES, pandas.DataFrame(P), multiclass="classwise") == value
    low = P.astype(np.float32)
    assert metrics.ece(CODES, low, multiclass="classwise") == pytest.approx(
        metrics.ece(CODES, low.astype(float), multiclass="classwise"), abs=1e-6
    )


def test_hard_predictions_warn_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metrics.ece(CODES, np.eye(K)[CODES], multiclass="classwise")
    assert len(caught) == 1
    assert "only 0 and 1" in str(caught[0].message)


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        (CODES, P, {}, "unless multiclass is 'classwise' or 'top_label'; got shape"),
        (CODES, P, {"multiclass": "ovr"}, "multiclass must be one of .*'classwise'.*got 'ovr'"),
        (CODES, P, {"multiclass": "classwise", "pos_label": 1}, "pos_label must be None with"),
        (CODES % 3, P, {"multiclass": "classwise"}, r"labels must name the 4 .*0, 1, 2\]"),
        (CODES, P[:, :2] / P[:, :2].sum(1, keepdims=True), {"multiclass": "top_label"},
         "y_true must hold one label for each of the 2 columns of y_proba; got 4"),
        (CODES, P, {"multiclass": "classwise", "labels": [0, 1]}, "labels must name the 4 columns"),
        (CODES, P, {"multiclass": "classwise", "labels": [0, 1, 2, 5]}, "y_true must hold only"),
        (CODES, 2 * P, {"multiclass": "classwise"}, r"y_proba must lie in \[0, 1\]"),
        (CODES, P / 2, {"multiclass": "classwise"}, "y_proba must have rows that sum to 1"),
        (CODES, P[:, 0], {"multiclass": "classwise"}, "y_true must hold at most two labels"),
        (CODES[:-1], P, {"multiclass": "classwise"}, "y_proba must have the length of y_true"),
    ],
)  # fmt: skip
@each_measure
def test_errors(row, y, p, options, message):
    p = p if p.ndim == 1 else np.nan_to_num(p, nan=0.5)
    with pytest.raises(ValueError, match=message):
        row(y, p, **options)


# Scorers


@each_fast
@pytest.mark.parametrize("multiclass", ["classwise", "top_label"])
def test_scorers(measure, multiclass):
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    scorer = make_calibration_scorer(measure, multiclass=multiclass)
    model = GaussianNB().fit(X, names)
    expected = -measure(y, model.predict_proba(X), multiclass=multiclass)
    assert scorer(model, X, names) == pytest.approx(expected, abs=1e-15)
    one = y == 1  # labels of the estimator, not of the rows
    assert scorer(model, X[one], names[one]) <= 0
    assert np.isfinite(
        cross_val_score(model, X[::7], names[::7], scoring=scorer, cv=LeaveOneOut())
    )[0]
    binary = names != "setosa"
    two = LogisticRegression().fit(X[binary], names[binary])
    assert scorer(two, X[binary], names[binary]) <= 0


def test_all_scorers_take_multiclass():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    for name, scorer in calibration_scorers(multiclass="classwise").items():
        value = scorer(model, X, y)
        assert np.isfinite(value), name
        assert get_scorer(name, multiclass="classwise")(model, X, y) == value
    for scorer in (calibration_scorers()["neg_scdl"], get_scorer("neg_scdl")):
        with pytest.raises(ValueError, match="unless multiclass is"):
            scorer(model, X, y)


@each_fast
def test_make_scorer_of_scikit_learn(measure):
    X, y = load_iris(return_X_y=True)
    scorer = make_scorer(
        measure, response_method="predict_proba", greater_is_better=False, multiclass="classwise"
    )
    scores = cross_val_score(GaussianNB(), X, y, scoring=scorer, error_score="raise")
    assert np.all(scores <= 0)


# Inference


@each_fast
@pytest.mark.parametrize("multiclass", ["classwise", "top_label"])
@pytest.mark.parametrize("method", ["isotonic", "percentile", "bca"])
def test_intervals(measure, multiclass, method):
    options = {"multiclass": multiclass, "n_resamples": 29, "random_state": 0}
    found = inference.bootstrap_interval(measure, CODES, P, method=method, **options)
    assert found.value == pytest.approx(measure(CODES, P, multiclass=multiclass), abs=1e-15)
    assert 0 <= found.low <= found.value <= found.high
    assert found.standard_error > 0
    again = inference.bootstrap_interval(
        measure, NAMES[CODES], P, method=method, n_jobs=2, **options
    )
    assert again == found


@each_fast
def test_resamples_of_classwise_measures_are_of_whole_rows(measure):
    # the same rows are drawn for every class: values of materialised resamples
    given = {"sample_weight": None, "pos_label": None, "labels": None, "multiclass": "classwise"}
    study = _draws.study_of(measure, CODES, P, given, {})
    seeds = np.array([5, 6])
    draws = _draws.replicate(_draws.bootstrap, study, seeds, None, 0)[:, 0]
    for seed, value in zip(seeds, draws, strict=True):
        rows = np.random.default_rng(seed).integers(0, N, N)
        expected = measure(CODES[rows], P[rows], multiclass="classwise", labels=range(K))
        assert value == pytest.approx(expected, abs=1e-12)


def test_null_draws_of_classwise_measures_give_each_row_one_class():
    given = {"sample_weight": None, "pos_label": None, "labels": None, "multiclass": "classwise"}
    study = _draws.study_of(metrics.ece, CODES, P, given, {})
    seeds, total, means = np.arange(400), 0, []
    for k, problem in enumerate(study):
        ones = np.empty((seeds.size, N))
        ones[:, problem.place] = _draws.null(study, k, seeds)[1]
        total = total + ones
        means.append(ones.mean(axis=0))
    assert np.all(total == 1)
    assert np.abs(np.array(means).T - P).max() < 4 * np.sqrt(0.25 / seeds.size)


@each_fast
def test_tests_of_classwise_measures_keep_their_level(measure):
    rng, pvalues = np.random.default_rng(1), []
    for seed in range(100):
        p = rng.dirichlet(np.ones(3), 80)
        y = (rng.random(80)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
        test = inference.calibration_test(
            measure, y, p, multiclass="classwise", labels=range(3), n_resamples=39,
            random_state=seed,
        )  # fmt: skip
        pvalues.append(test.pvalue)
    for a in (0.1, 0.2):
        limit = a + 1 / 40
        assert np.mean(np.array(pvalues) <= a) <= limit + 3 * np.sqrt(limit * (1 - limit) / 100)


@each_fast
def test_comparisons(measure):
    options = {"multiclass": "classwise", "n_resamples": 29, "random_state": 0}
    blunt = (P + 1 / K) / 2
    found = inference.compare(measure, CODES, P, blunt, **options)
    difference = measure(CODES, P, multiclass="classwise") - measure(
        CODES, blunt, multiclass="classwise"
    )
    assert found.value == pytest.approx(difference, abs=1e-14)
    assert found.low < found.high
    with pytest.raises(ValueError, match="proba_b must have rows that sum to 1"):
        inference.compare(measure, CODES, P, P / 2, **options)


def test_null_reference():
    options = {"multiclass": "classwise", "n_resamples": 50, "random_state": 0}
    reference = inference.null_reference(metrics.ece, CODES, P, **options)
    one = [
        inference.null_reference(
            metrics.ece, k == CODES, P[:, k], n_resamples=50, random_state=0
        ).mean
        for k in range(K)
    ]
    assert reference.mean == pytest.approx(np.mean(one), rel=0.1)
