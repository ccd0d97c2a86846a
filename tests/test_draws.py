"""Rows resampled with outcomes redrawn: their law, their classes, and the two ways to use them."""

from types import SimpleNamespace

import numpy as np
import pytest

from skcal import inference, metrics
from skcal.inference import _draws

GIVEN = {"sample_weight": None, "pos_label": None, "labels": None}


def study_of(y, p, measure=metrics.scdl, multiclass="raise", **given):
    return _draws.study_of(measure, y, p, {**GIVEN, "multiclass": multiclass, **given}, {})


def numbers_of_stretches(rng, widths):
    """As many uniform numbers in each stretch as a draw of all of them would put there."""
    n = sum(widths)
    sizes = rng.multinomial(n, np.array(widths) / n)
    return np.concatenate(
        [
            first + width * rng.random(size)
            for first, width, size in zip(np.cumsum([0, *widths[:-1]]), widths, sizes, strict=True)
        ]
    )


@pytest.mark.parametrize("alone", [True, False])
def test_redrawn_rows_and_outcomes_come_from_one_number(alone, monkeypatch):
    n, seeds = 7, np.arange(300)
    monkeypatch.setattr(_draws, "PIECE", 3)
    rng = np.random.default_rng(0)
    place, rate, start = rng.permutation(n), rng.random(n) / 2, rng.random(n) / 2
    start *= not alone
    place = np.arange(n) if alone else place
    study = [SimpleNamespace(p=np.arange(n) / n, place=place)] * (1 if alone else 2)
    redraw = _draws.Redraw([start, start], [start + rate, start + rate])
    count, ones = redraw(study, 0, seeds)
    for r, seed in enumerate(seeds):
        expected = np.zeros((2, n))
        for number in numbers_of_stretches(np.random.default_rng(seed), [3, 3, 1]):
            row = list(place).index(int(number))
            expected[0, row] += 1
            expected[1, row] += start[row] <= number - int(number) < start[row] + rate[row]
        np.testing.assert_array_equal([count[r], ones[r]], expected)
    error = 5 * np.sqrt(rate * (1 - rate) / count.sum(axis=0))
    assert np.all(np.abs(ones.sum(axis=0) / count.sum(axis=0) - rate) < error)


@pytest.mark.parametrize("piece", [1, 3, 7, 100])
def test_rows_are_drawn_as_if_there_were_no_stretches(piece, monkeypatch):
    n, seeds = 7, np.arange(4000)
    monkeypatch.setattr(_draws, "PIECE", piece)
    study = study_of(np.arange(n) % 2, np.arange(n) / n)
    count, _ = _draws.Redraw.at(study, [np.full(n, 0.5)])(study, 0, seeds)
    assert np.all(count.sum(axis=1) == n)
    # a multinomial draw of n from n: mean 1, covariance I - 1/n; entries of size 1 at most
    assert np.abs(count.mean(axis=0) - 1).max() < 5 / np.sqrt(seeds.size)
    covariance = np.cov(count, rowvar=False, bias=True)
    assert np.abs(covariance - (np.eye(n) - 1 / n)).max() < 5 * 1.5 / np.sqrt(seeds.size)


def test_redrawn_copies_have_one_class_each(monkeypatch):
    n, k, seeds = 50, 4, np.arange(400)
    monkeypatch.setattr(_draws, "PIECE", 16)
    rng = np.random.default_rng(0)
    p, rates = rng.dirichlet(np.ones(k), n), rng.dirichlet(np.ones(k), n)
    study = study_of(rng.integers(0, k, n), p, multiclass="classwise", labels=range(k))
    redraw = _draws.Redraw.at(study, [rates[problem.place, c] for c, problem in enumerate(study)])
    count, ones = np.empty((2, k, seeds.size, n))
    for c, problem in enumerate(study):
        count[c][:, problem.place], ones[c][:, problem.place] = redraw(study, c, seeds)
    assert np.all(count == count[0])  # the same rows for every class
    assert np.all(ones.sum(axis=0) == count[0])
    copies = count[0].sum(axis=0)
    error = 5 * np.sqrt(0.25 / copies.min())
    assert np.abs(ones.sum(axis=1).T / copies[:, None] - rates).max() < error


def test_the_largest_number_draws_the_last_row(monkeypatch):
    # beside large row numbers 1 - 2^-53 is lost on rounding
    n = (1 << 20) + 1
    widths = [_draws.PIECE] * (n // _draws.PIECE) + [1]
    stub = SimpleNamespace(
        random=lambda size: np.full(size, 1 - 2.0**-53), multinomial=lambda n, share: widths
    )
    monkeypatch.setattr(_draws.np.random, "default_rng", lambda seed: stub)
    study = [SimpleNamespace(p=np.zeros(n), place=np.arange(n))]
    (pieces,) = _draws.Redraw([np.zeros(n)], [np.full(n, 0.75)]).rows(study, 0, [0])
    ends = np.cumsum(widths)
    for end, (row, positive) in zip(ends, pieces, strict=True):
        assert np.all(row == end - 1)
        assert not positive.any()


@pytest.mark.parametrize("n", [1, 2, 60])
def test_drawn_rows_give_what_their_counts_give(n, monkeypatch):
    # all forecasts but one are surely right: draws without it have no loss at all, which the
    # kernel knows from counts only
    p, y = np.append(np.zeros(n - 1), 0.5), np.append(np.zeros(n - 1, dtype=int), 1)
    study, seeds = study_of(y, p, labels=[0, 1]), np.arange(40)
    draw = _draws.Redraw.at(study, [y.astype(float)])
    lines = study[0].kernel().of_rows(draw.rows(study, 0, seeds))
    found = _draws.replicate(draw, study, seeds, None, 0)
    monkeypatch.setattr(_draws, "_by_rows", lambda draw, problem: False)
    np.testing.assert_allclose(found, _draws.replicate(draw, study, seeds, None, 0), atol=1e-13)
    lost = np.isnan(lines[:, 0])
    assert np.all(found[lost] == 0)
    assert not lost.any() if n == 1 else 0 < lost.mean() < 0.6  # (1 - 1/n)^n, at most 1/e


@pytest.mark.parametrize(
    ("given", "draw", "expected"),
    [
        ({}, "redraw", True),
        ({"sample_weight": [1, 2, 1]}, "redraw", False),
        ({"measure": metrics.smce}, "redraw", False),
        ({"measure": metrics.smooth_ece}, "redraw", False),
        ({}, "bootstrap", False),
    ],
)
def test_when_rows_are_used_as_they_come(given, draw, expected):
    study = study_of([0, 1, 1], [0.1, 0.5, 0.6], **given)
    draw = _draws.Redraw.at(study, [np.ones(3)]) if draw == "redraw" else _draws.bootstrap
    assert _draws._by_rows(draw, study[0]) is expected


def test_one_row():
    # its rate is drawn at 2/3: one more outcome of the other kind counts as seen
    found = inference.bootstrap_interval(metrics.scdl, [1], [0.75], labels=[0, 1], random_state=0)
    assert found.value == metrics.scdl([1], [0.75])
    assert 0 <= found.low <= found.value <= found.high
    assert found.standard_error > 0
