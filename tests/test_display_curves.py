"""The curves of the measures and of decisions, against their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from skcal import metrics
from skcal.display import (
    DecisionLossDisplay,
    NetBenefitDisplay,
    PartitionDisplay,
    SmoothCalibrationDisplay,
)
from skcal.display._partition import LARGEST, MOST_PARTS
from skcal.recalibration import nearest_calibrated_partition
from tests.displays import new_axes, rows

WEIGHTED = pytest.mark.parametrize("weighted", [False, True])
TIED = pytest.mark.parametrize("digits", [1, 6])


def sample(weighted, digits, n=40):
    y, p = rows(n)
    weight = np.random.default_rng(4).exponential(size=n) if weighted else np.ones(n)
    return y, p.round(digits), weight


def regret(y, p, w, v):
    """B(v) by its definition."""
    total = 0.0
    for x in np.unique(p):
        tied = p == x
        mass, rate = w[tied].sum(), np.average(y[tied], weights=w[tied])
        if min(x, rate) <= v <= max(x, rate):
            total += mass * abs(rate - v)
    return total / w.sum()


@WEIGHTED
@TIED
@pytest.mark.parametrize("thresholds", [(0.0, 1.0), (0.2, 0.63)])
def test_regret_curve(weighted, digits, thresholds):
    y, p, w = sample(weighted, digits)
    options = {"sample_weight": w, "thresholds": thresholds}
    drawn = DecisionLossDisplay.from_predictions(y, p, ax=new_axes(), **options)
    v, height = drawn.line_.get_data()
    assert (v[0], v[-1]) == thresholds
    assert np.all(np.diff(v) >= 0)
    between = np.random.default_rng(0).uniform(*thresholds, size=200)
    expected = [regret(y, p, w, at) for at in between]
    np.testing.assert_allclose(np.interp(between, v, height), expected, rtol=0, atol=1e-12)
    proof = metrics.cdl(y, p, return_certificate=True, **options)
    for at, b in zip(proof.points, proof.curve, strict=True):
        assert height[v == at].max() == pytest.approx(b, abs=1e-12)
        assert height[v == at].max() == pytest.approx(regret(y, p, w, at), abs=1e-12)


@WEIGHTED
@TIED
def test_decision_loss_and_its_proof(weighted, digits):
    y, p, w = sample(weighted, digits)
    drawn = DecisionLossDisplay.from_predictions(y, p, sample_weight=w, ax=new_axes())
    loss = metrics.cdl(y, p, sample_weight=w)
    assert drawn.line_.get_label() == f"CDL {loss:.3f}"
    assert drawn.loss_.get_xdata() == [0.5]
    assert 2 * drawn.loss_.get_ydata()[0] == pytest.approx(loss, abs=1e-12)
    ends, bound = drawn.bound_.get_data()
    assert np.interp(0.5, ends, bound) == pytest.approx(loss / 2, abs=1e-12)
    v, height = drawn.line_.get_data()
    assert np.all(height <= np.interp(v, ends, bound) + 1e-12)
    cuts, tops = drawn.worst_.get_data()
    assert cuts.size
    np.testing.assert_allclose(tops, np.interp(cuts, ends, bound), rtol=0, atol=1e-12)
    np.testing.assert_allclose(tops, [regret(y, p, w, at) for at in cuts], rtol=0, atol=1e-12)


def test_regret_curve_by_hand():
    drawn = DecisionLossDisplay.from_predictions([1], [0.4], ax=new_axes())
    corners = np.array(drawn.line_.get_xydata())
    _, first = np.unique(corners, axis=0, return_index=True)
    expected = [[0, 0], [0.4, 0], [0.4, 0.6], [1, 0]]
    np.testing.assert_allclose(corners[np.sort(first)], expected, rtol=0, atol=1e-12)
    cut = DecisionLossDisplay.from_predictions([1], [0.4], thresholds=(0.4, 1.0), ax=new_axes())
    assert cut.line_.get_ydata().max() == cut.line_.get_ydata()[0] == 0.6  # no jump at the edge
    calibrated = DecisionLossDisplay.from_predictions([0, 1], [0.5, 0.5], ax=new_axes())
    assert not calibrated.worst_.get_xdata().size
    assert not np.any(calibrated.line_.get_ydata())


def test_thresholds_are_checked():
    with pytest.raises(ValueError, match="thresholds"):
        DecisionLossDisplay.from_predictions([0, 1], [0.2, 0.7], thresholds=(0.7, 0.2))
    for bad in ((0.7, 0.2), (0.5, 0.5), (0.2, 1.0), (-0.1, 0.5), (0.2,), 0.5, ("a", "b")):
        with pytest.raises(ValueError, match=r"'thresholds' parameter of NetBenefitDisplay must"):
            NetBenefitDisplay.from_predictions([0, 1], [0.2, 0.7], thresholds=bad, ax=new_axes())


def area(x, y):
    return np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)


@WEIGHTED
@TIED
def test_smooth_error_from_what_is_drawn(weighted, digits):
    y, p, w = sample(weighted, digits)
    drawn = SmoothCalibrationDisplay.from_predictions(y, p, sample_weight=w, ax=new_axes())
    value = metrics.smce(y, p, sample_weight=w)
    assert drawn.line_.get_label() == f"smCE {value:.3f}"
    x, sums = drawn.line_.get_data()
    for v in np.random.default_rng(0).random(50):
        expected = np.sum((w * (y - p))[p <= v]) / w.sum()
        assert sums[np.searchsorted(x, v, side="right") - 1] == pytest.approx(expected, abs=1e-12)
    assert (x[0], x[-1], sums[0]) == (0, 1, 0)
    at, fit = drawn.fit_.get_data()
    shaded = drawn.area_.get_paths()[0].vertices
    gap = np.abs(sums[2:-2] - fit)  # the same corners, without the ends
    np.testing.assert_array_equal(x[2:-2], at)
    assert abs(sums[-1]) + area(at, gap) == pytest.approx(value, abs=1e-12)
    assert {*shaded[:, 1].round(12)} == {*sums[2:-2].round(12), *fit.round(12)}
    at, h = drawn.witness_.get_data()
    h = h / drawn.scale_
    residual = np.array([np.sum((w * (y - p))[p == v]) for v in at]) / w.sum()
    assert residual @ h == pytest.approx(value, abs=1e-12)
    assert drawn.scale_ == np.abs(sums).max()


def test_witness_may_be_left_out():
    drawn = SmoothCalibrationDisplay.from_predictions(*rows(), ax=new_axes(), witness=False)
    assert drawn.witness_ is None
    assert "witness, scaled" not in drawn.ax_.get_legend_handles_labels()[1]


@WEIGHTED
@TIED
@pytest.mark.parametrize("thresholds", [(0.0, 0.99), (0.2, 0.6)])
def test_net_benefit(weighted, digits, thresholds):
    y, p, w = sample(weighted, digits)
    options = {"sample_weight": w, "thresholds": thresholds}
    drawn = NetBenefitDisplay.from_predictions(y, p, ax=new_axes(), **options)
    t, benefit = drawn.line_.get_data()
    assert (t[0], t[-1]) == thresholds
    assert np.isin(p[(p >= t[0]) & (p <= t[-1])], t).all()

    def gain(acting, at):
        true, false = w[acting & (y == 1)].sum(), w[acting & (y == 0)].sum()
        return (true - false * at / (1 - at)) / w.sum()

    for k in range(0, t.size, 2):
        assert t[k] == t[k + 1]
        assert benefit[k] == pytest.approx(gain(p >= t[k], t[k]), abs=1e-12)
        above = p > t[k] if k + 2 < t.size else p >= t[k]
        assert benefit[k + 1] == pytest.approx(gain(above, t[k]), abs=1e-12)
    everybody = [gain(np.full(y.size, True), at) for at in drawn.all_.get_xdata()]
    np.testing.assert_allclose(drawn.all_.get_ydata(), everybody, rtol=0, atol=1e-12)
    assert not np.any(drawn.none_.get_ydata())
    for line in (drawn.all_, drawn.none_):
        assert tuple(line.get_xdata()[[0, -1]]) == thresholds
    assert drawn.prevalence == pytest.approx(np.average(y, weights=w), abs=1e-12)


def test_net_benefit_by_hand():
    drawn = NetBenefitDisplay.from_predictions([0, 1, 1, 0], [0.5, 0.5, 0.8, 0.1], ax=new_axes())
    t, benefit = drawn.line_.get_data()
    # acting on three rows at odds of one: two hits, one false alarm, of four; then on one
    assert benefit[t == 0.5].tolist() == [0.25, 0.25]
    assert benefit[t == 0.8].tolist() == [0.25, 0]
    assert benefit[t == 0.1] == pytest.approx([0.5 - 0.5 / 9, 0.5 - 0.25 / 9])
    constant = NetBenefitDisplay.from_predictions([0, 1, 1], [0.99] * 3, ax=new_axes())
    always = constant.all_
    inside = np.interp(always.get_xdata(), *constant.line_.get_data())
    np.testing.assert_allclose(inside, always.get_ydata(), rtol=0, atol=1e-12)


def test_net_benefit_of_a_model_without_a_name_is_in_the_legend():
    def legend(display):
        return [text.get_text() for text in display.ax_.get_legend().get_texts()]

    references = ["treat all", "treat none"]
    rows = [0, 1, 1], [0.2, 0.7, 0.8]
    for options, label in (
        ({}, "model"),
        ({"name": "logit"}, "logit"),
        ({"label": "mine"}, "mine"),
    ):
        drawn = NetBenefitDisplay.from_predictions(*rows, ax=new_axes(), **options)
        assert legend(drawn) == [label, *references]
    named = NetBenefitDisplay.from_predictions(*rows, name="logit", ax=new_axes())
    assert legend(named.plot(new_axes(), name="tree")) == ["tree", *references]
    assert legend(named.plot(new_axes())) == ["logit", *references]


def test_net_benefit_of_other_rows_has_its_own_line_of_acting_always():
    ax = new_axes()
    first = NetBenefitDisplay.from_predictions([0, 1, 1], [0.2, 0.7, 0.8], ax=ax)
    same = NetBenefitDisplay.from_predictions([0, 1, 1], [0.3, 0.6, 0.9], ax=ax)
    other = NetBenefitDisplay.from_predictions([0, 0, 1], [0.3, 0.6, 0.9], ax=ax)
    assert same.all_ is first.all_ is not other.all_
    assert other.none_ is first.none_
    assert other.all_.get_ydata()[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("n", [1, 12, 40])
def test_partition(n):
    y, p = rows(n)
    drawn = PartitionDisplay.from_predictions(y, p, ax=new_axes())
    nearest = nearest_calibrated_partition(y, p)
    corners = drawn.line_.get_xydata().reshape(-1, 3, 2)
    assert np.isnan(corners[:, 2]).all(axis=0).any()
    assert corners.shape[0] == nearest.values.size
    for k, (start, end, _) in enumerate(corners):
        part = nearest.part == k
        target = y[part].mean()
        assert start[1] == end[1] == pytest.approx(target, abs=1e-12)
        assert start[0] == pytest.approx(min(p[part].min(), target), abs=1e-12)
        assert end[0] == pytest.approx(max(p[part].max(), target), abs=1e-12)
        assert drawn.sizes_.get_offsets()[k].tolist() == [end[1], end[1]]
    np.testing.assert_allclose(drawn.sizes_.get_sizes(), LARGEST * nearest.weight)
    assert drawn.line_.get_label() == f"CalDist {nearest.movement:.3f}"


def test_partition_of_unequal_weights_shows_both_ends():
    y, p, w = sample(weighted=True, digits=6, n=20)
    proof = metrics.caldist(y, p, sample_weight=w, method="bounds", return_certificate=True)
    assert proof.lower + 1e-3 < proof.upper
    drawn = PartitionDisplay.from_predictions(y, p, sample_weight=w, method="bounds", ax=new_axes())
    assert drawn.line_.get_label() == f"CalDist {proof.lower:.3f} to {proof.upper:.3f}"


def test_the_heaviest_parts_are_drawn():
    n = MOST_PARTS + 200
    targets, weight = np.linspace(0, 1, n), np.arange(n, 0, -1.0)
    proof = metrics.caldist([0, 1], [0.2, 0.7], return_certificate=True)
    proof = replace(proof, p=targets, targets=targets, weight=weight / weight.sum())
    drawn = PartitionDisplay(proof).plot(new_axes())
    assert len(drawn.sizes_.get_offsets()) == MOST_PARTS
    assert drawn.line_.get_ydata()[::3].tolist() == targets[:MOST_PARTS].tolist()


def test_net_benefits_of_unlike_samples_share_axes():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    many, few = rng.random(300) < 0.6, rng.random(300) < 0.1
    first = NetBenefitDisplay.from_predictions(many, p)
    before = first.ax_.get_ylim()
    second = NetBenefitDisplay.from_predictions(few, p, ax=first.ax_)
    low, high = second.ax_.get_ylim()
    assert low <= before[0] and high >= before[1]
    labels = second.ax_.get_legend_handles_labels()[1]
    assert labels.count("treat all") == 1
    assert f"treat all, {few.mean():.3g} positive" in labels
    third = NetBenefitDisplay.from_predictions(many, p, ax=first.ax_)
    assert third.all_ is first.all_
