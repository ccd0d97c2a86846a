"""CDL and SCDL against their definitions, their witnesses, and the laws that tie them together."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcal import DecisionTask, metrics, swap_regret, worst_case_task
from skcal.metrics import cdl, scdl
from tests import oracles
from tests.strategies import COARSE, PREDICTIONS, random_rows, samples

pytestmark = pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")

SIZES = st.integers(1, 12)
ROUNDINGS = pytest.mark.parametrize("rounding", ["random", "floor"])
LARGE = pytest.param(600, marks=pytest.mark.verify)


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


def columns(task, p):
    """The best response to p, as columns of the table."""
    names = task.actions.tolist()
    return np.array([names.index(action) for action in task.best_response(p)])


def uniform(seed, n, power=1.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


# CDL: all tasks, by linear programming


@pytest.mark.parametrize("n_samples", [40, LARGE])
def test_cdl_is_the_linear_program_over_all_tasks(n_samples):
    rng = np.random.default_rng(0)
    for _ in range(n_samples):
        y, p, w = random_rows(rng, COARSE)
        assert cdl(y, p, sample_weight=w) == close(oracles.decision_loss_program(y, p, w))


@pytest.mark.parametrize("n_samples", [40, LARGE])
@pytest.mark.parametrize(
    ("predictions", "oracle"),
    [(COARSE, oracles.decision_loss_program), (PREDICTIONS, oracles.decision_loss)],
)
def test_cdl_of_a_range_is_the_linear_program_with_kinks_there(n_samples, predictions, oracle):
    rng = np.random.default_rng(1)
    for _ in range(n_samples):
        y, p, w = random_rows(rng, predictions, max_size=20)
        low, high = np.sort(rng.choice([*p, *rng.random(2), 0.0, 0.3, 0.5, 1.0], 2))
        value = cdl(y, p, sample_weight=w, thresholds=(low, high))
        assert value == close(oracle(y, p, w, (low, high)))


@given(rows=samples())
def test_cdl_of_ranges(rows):
    w = rows.w
    whole = cdl(rows.y, rows.p, sample_weight=w)
    assert cdl(rows.y, rows.p, sample_weight=w, thresholds=(0, 1)) == whole
    inner = cdl(rows.y, rows.p, sample_weight=w, thresholds=(0.2, 0.6))
    assert cdl(rows.y, rows.p, sample_weight=w, thresholds=(0.3, 0.5)) <= inner + 1e-12
    assert inner <= whole + 1e-12


@pytest.mark.parametrize("rows_per_prediction", [1, 2, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_cdl_of_a_large_sample(rows_per_prediction, weighted):
    # Thousands of distinct predictions: the kernel sorts rates and thins its hull only there.
    rng = np.random.default_rng(9)
    x = np.sort(rng.random(6000))
    p = np.tile(x, rows_per_prediction)
    y = (rng.random(p.size) < p**1.2).astype(int)
    w = rng.random((rows_per_prediction, x.size)) if weighted else np.ones((rows_per_prediction, 1))
    w = np.broadcast_to(w, (rows_per_prediction, x.size))
    mass = w.sum(axis=0)
    q = (w * y.reshape(w.shape)).sum(axis=0) / mass
    low, high = np.minimum(x, q), np.maximum(x, q)
    curve = [mass @ (np.abs(q - v) * ((low <= v) & (v <= high))) for v in x] / mass.sum()
    left, right = x < 0.5, x > 0.5
    u, v = np.r_[0.0, x[left]][:, None], np.r_[x[right], 1.0]
    at_u, at_v = np.r_[0.0, curve[left]][:, None], np.r_[curve[right], 0.0]
    height = ((at_u * (v - 0.5) + at_v * (0.5 - u)) / (v - u)).max()
    loss = cdl(y, p, sample_weight=w.ravel() if weighted else None, return_certificate=True)
    assert loss.value == close(2 * height)
    np.testing.assert_allclose(loss.curve, curve, rtol=0, atol=1e-12)
    assert loss.verify() is True


def test_a_range_of_one_threshold_is_one_decision():
    # At v the best stake has utilities v and 1 - v divided by the larger one.
    y, p = [0, 0, 1, 1, 1], [0.9, 0.4, 0.1, 0.4, 0.2]
    triples = oracles.atoms(y, p)
    for v in (0.0, 0.15, 0.2, 0.4, 0.5, 0.9, 1.0):
        expected = oracles.regret_at(v, triples) / max(v, 1 - v)
        assert cdl(y, p, thresholds=(v, v)) == close(expected)


# The witness


@given(rows=samples())
def test_the_worst_task_suffers_the_whole_loss(rows):
    loss = cdl(rows.y, rows.p, sample_weight=rows.w, return_certificate=True)
    task = worst_case_task(rows.y, rows.p, sample_weight=rows.w)
    if task is None:
        assert loss.task is None
        assert loss.value == 0
        return
    assert task.utility.tolist() == loss.task.utility.tolist()
    assert task.utility.shape[1] in (2, 3)
    assert task.utility.min() >= 0
    assert task.utility.max() <= 1 + 1e-15
    # The regret of the definition: every prediction may be answered by another action.
    regret = swap_regret(rows.y, rows.p, task, sample_weight=rows.w, swaps="forecast")
    assert regret == close(loss.value)
    actions = columns(task, rows.p)
    expected = oracles.regret_by_prediction(rows.y, rows.p, actions, task.utility, rows.w)
    assert expected == close(loss.value)
    assert swap_regret(rows.y, rows.p, task, sample_weight=rows.w) <= loss.value + 1e-12


def test_swaps_of_actions_cannot_part_the_forecasts_of_one_action():
    y, p = [1, 0], [0.9, 0.7]
    task = worst_case_task(y, p)
    assert task.thresholds_.tolist() == [0.7]
    assert swap_regret(y, p, task, swaps="forecast") == close(0.5)
    assert swap_regret(y, p, task) == close(2 / 7)


def test_cdl_is_the_supremum_of_swap_regrets():
    # A tiny stake between neighbouring predictions gives each of them an action of its own. The
    # kinks of the worst task move a little, to the side on which their prediction acts wrongly.
    rng = np.random.default_rng(8)
    for _ in range(30):
        y, p = rng.integers(0, 2, 8), rng.integers(1, 20, 8) / 20
        loss = cdl(y, p, return_certificate=True)
        if loss.task is None:
            continue
        stakes = {(a + b) / 2: 1e-6 for a, b in pairwise(np.unique(p))}
        rate = {x: q for x, q, _ in oracles.atoms(y, p)}
        slopes = np.sort(loss.task.utility[1] - loss.task.utility[0])
        for kink, stake in zip(loss.task.thresholds_.tolist(), np.diff(slopes), strict=True):
            stakes[kink + 1e-7 * np.sign(rate[kink] - kink)] = stake
        kinks = sorted(stakes)
        utility = oracles.task_of_kinks(kinks, [stakes[kink] for kink in kinks])
        task = DecisionTask(utility, actions=range(utility.shape[1]))
        assert swap_regret(y, p, task) == pytest.approx(loss.value, abs=1e-4)


@given(rows=samples(), ends=st.tuples(st.integers(0, 10), st.integers(0, 10)))
def test_the_worst_task_of_a_range_stays_there(rows, ends):
    low, high = min(ends) / 10, max(ends) / 10
    loss = cdl(
        rows.y, rows.p, sample_weight=rows.w, thresholds=(low, high), return_certificate=True
    )
    assert loss.verify() is True
    if loss.task is not None:
        assert np.all((low <= loss.task.thresholds_) & (loss.task.thresholds_ <= high))
        actions = columns(loss.task, rows.p)
        regret = oracles.regret_by_prediction(rows.y, rows.p, actions, loss.task.utility, rows.w)
        assert regret == close(loss.value)


def test_the_worst_task_needs_all_orders_of_three_actions():
    # A tie at a kink hurts when the lower action is listed first where the rate lies above.
    seen = set()
    rng = np.random.default_rng(2)
    for _ in range(200):
        y, p = rng.integers(0, 2, 6), rng.integers(1, 8, 6) / 8
        loss = cdl(y, p, return_certificate=True)
        if loss.task is not None:
            actions = columns(loss.task, p)
            regret = oracles.regret_by_prediction(y, p, actions, loss.task.utility)
            assert regret == close(loss.value)
            place = np.argsort(loss.task.actions)
            seen.add(tuple((np.diff(place) > 0).tolist()))
    assert seen >= {(up, down) for up in (True, False) for down in (True, False)}


@given(rows=samples(), seed=st.integers(0, 10**6), n_actions=st.integers(2, 4))
def test_no_task_suffers_more_than_the_cdl(rows, seed, n_actions):
    bound = cdl(rows.y, rows.p, sample_weight=rows.w) + 1e-12
    rng = np.random.default_rng(seed)
    for utility in (rng.random((2, n_actions)), rng.integers(0, 2, (2, n_actions)) / 1.0):
        task = DecisionTask(utility, actions=range(n_actions))
        actions = columns(task, rows.p)
        regret = swap_regret(rows.y, rows.p, task, sample_weight=rows.w)
        assert regret == close(oracles.swap_regret(rows.y, actions, utility, rows.w))
        by_prediction = oracles.regret_by_prediction(rows.y, rows.p, actions, utility, rows.w)
        assert 0 <= regret <= by_prediction + 1e-12
        assert by_prediction <= bound


def test_the_dual_line_lies_above_the_curve():
    y, p = uniform(3, 300)
    loss = cdl(y, np.round(p, 2), return_certificate=True)
    low, high = loss.line
    triples = oracles.atoms(y, np.round(p, 2))
    for v in np.linspace(0, 1, 401):
        assert oracles.regret_at(v, triples) <= low + (high - low) * v + 1e-12
    assert low + high == close(loss.value)
    for v, height in zip(loss.points, loss.curve, strict=True):
        assert height == close(oracles.regret_at(v, triples))


# SCDL: the definition on a dense grid


@ROUNDINGS
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 10, 16, 64, 100])
def test_scdl_m_is_its_definition_on_a_dense_grid(m, rounding):
    rng = np.random.default_rng(m)
    for _ in range(15):
        y, p, w = random_rows(rng, max_size=20)
        expected = oracles.soft_loss_m(y, p, w, m, rounding, grid=400)
        assert scdl(y, p, sample_weight=w, n_bins=m, rounding=rounding) == close(expected)


@ROUNDINGS
@pytest.mark.parametrize("n_samples", [15, LARGE])
def test_scdl_is_the_best_of_all_powers_of_two(n_samples, rounding):
    rng = np.random.default_rng(4)
    for _ in range(n_samples):
        y, p, w = random_rows(rng, max_size=30)
        expected = oracles.soft_decision_loss(y, p, w, rounding=rounding)
        assert scdl(y, p, sample_weight=w, rounding=rounding) == close(expected)


@ROUNDINGS
@pytest.mark.parametrize("n", [200, 5000])
def test_scdl_of_large_samples_chooses_the_first_balanced_level(n, rounding):
    for seed in range(5):
        y, p = uniform(seed, n, power=1 + 0.1 * seed)
        loss = scdl(y, p, rounding=rounding, return_certificate=True)
        levels = [2**k for k in range(1, 14)]
        losses = {m: scdl(y, p, n_bins=m, rounding=rounding) for m in levels}
        first = next(m for m in levels if losses[2 * m] >= 1 / m)
        assert loss.n_bins == first
        assert loss.value == close(min(max(losses[m], 1 / m) for m in levels))
        assert loss.loss == close(losses[first])
        assert loss.next_loss == close(losses[2 * first])


@ROUNDINGS
@pytest.mark.parametrize("m", [4, 8, 16, 32, 64])
@pytest.mark.parametrize("scale", [1, 0.1, 0.7, 1 / 3])
def test_the_level_does_not_hang_on_the_last_bit(rounding, m, scale):
    # A share a of rows at 1/2 with outcome 1 gives SCDL_m = a (1/2 - 1/m): at a = 2 / (m - 1) the
    # condition SCDL_2m >= 1/m is an equality.
    for change, level in ((0, m), (1e-6, m), (-1e-6, 2 * m)):
        share = 2 / (m - 1) + change
        weights = np.array([share, 1 - share]) * (m - 1) * scale
        options = {"rounding": rounding, "return_certificate": True}
        loss = scdl([1, 0], [0.5, 0.0], sample_weight=weights, **options)
        assert loss.n_bins == level
        assert loss.value == close(max(share * (0.5 - 1 / level), 1 / level))


def test_certificate_of_scdl_m():
    y, p = uniform(5, 100, power=3)
    loss = scdl(y, p, n_bins=6, return_certificate=True)
    assert (loss.n_bins, loss.loss) == (6, loss.value)
    assert loss.next_loss == scdl(y, p, n_bins=12)
    triples = oracles.rounded_atoms(y, p, None, 6)
    expected = np.array(triples).T
    for found, array in zip((loss.points, loss.mean_outcome, loss.weight), expected, strict=True):
        np.testing.assert_allclose(found, array, rtol=0, atol=1e-12)
    assert oracles.regret_at(loss.threshold, triples, 1 / 6) == close(loss.value)


# Laws


@given(rows=samples(), m=SIZES)
def test_scdl_m_does_not_decrease_when_m_doubles(rows, m):
    coarse = scdl(rows.y, rows.p, sample_weight=rows.w, n_bins=m)
    assert coarse <= scdl(rows.y, rows.p, sample_weight=rows.w, n_bins=2 * m) + 1e-12


@given(rows=samples(), power=st.integers(0, 6))
def test_floored_scdl_m_does_not_decrease_along_powers_of_two(rows, power):
    def loss(m):
        return scdl(rows.y, rows.p, sample_weight=rows.w, n_bins=m, rounding="floor")

    assert loss(2**power) <= loss(2 ** (power + 1)) + 1e-12


@given(rows=samples(), m=SIZES)
def test_scdl_m_below_the_curve_below_cdl(rows, m):
    loss = cdl(rows.y, rows.p, sample_weight=rows.w, return_certificate=True)
    triples = oracles.atoms(*rows)
    peak = max(oracles.regret_at(v, triples) for x, q, _ in triples for v in (x, q))
    assert scdl(rows.y, rows.p, sample_weight=rows.w, n_bins=m) <= peak + 1e-12
    assert peak <= loss.value + 1e-12
    assert loss.value <= 2 * peak + 1e-12
    assert loss.curve.max(initial=0.0) == close(peak)


@ROUNDINGS
@given(rows=samples(), m=SIZES)
def test_cdl_of_the_rounded_sample(rounding, rows, m):
    loss = scdl(
        rows.y, rows.p, sample_weight=rows.w, n_bins=m, rounding=rounding, return_certificate=True
    )
    rounded = cdl(**oracles.rounded_sample(*rows, m, rounding))
    assert rounded <= 2 * loss.value + 2 / m + 1e-12
    assert loss.regret_bound == close(min(2 * loss.value + 2 / m, 1))


@ROUNDINGS
@given(rows=samples())
def test_scdl_balances(rounding, rows):
    loss = scdl(rows.y, rows.p, sample_weight=rows.w, rounding=rounding, return_certificate=True)
    if loss.value == 0:
        assert loss.n_bins == np.inf
        assert loss.regret_bound == 0
        return
    m = loss.n_bins
    assert m & (m - 1) == 0
    assert 1 / m <= loss.value < 2 / m
    assert loss.value == max(loss.loss, 1 / m)
    assert loss.next_loss >= (1 - 1e-12) / m
    assert loss.value <= 0.5
    assert loss.regret_bound <= 4 * loss.value
    # alpha alone determines m: the smallest power of two that is at least 1 / alpha.
    assert m == max(2, 2 ** int(np.ceil(np.log2(1 / loss.value))))


@given(rows=samples())
def test_scdl_below_cdl(rows):
    value, loss = (measure(rows.y, rows.p, sample_weight=rows.w) for measure in (scdl, cdl))
    assert value <= loss + 1e-15
    if loss == 0:
        assert value == 0


@given(rows=samples())
def test_cdl_between_the_square_and_the_double_of_ece(rows):
    loss = cdl(rows.y, rows.p, sample_weight=rows.w)
    error = metrics.ece(rows.y, rows.p, sample_weight=rows.w, n_bins=None)
    assert error**2 <= loss + 1e-12
    assert loss <= 2 * error + 1e-12


def test_cdl_is_twice_the_ece_or_near_its_square():
    assert cdl([1], [0.5]) == 2 * metrics.ece([1], [0.5], n_bins=None)
    # Errors of 1/50 each way at predictions k/20: no threshold meets more than a few of them.
    p = np.repeat(np.arange(1, 20) / 20, 100)
    rate = np.arange(1, 20) / 20 + 0.02
    y = np.concatenate([np.arange(100) < round(100 * q) for q in rate]).astype(int)
    error = metrics.ece(y, p, n_bins=None)
    assert error == pytest.approx(0.02)
    assert error**2 < cdl(y, p) < 12 * error**2


@given(rows=samples(), seed=st.integers(0, 10**6))
def test_scdl_is_continuous_in_the_predictions(rows, seed):
    rng = np.random.default_rng(seed)
    value = scdl(rows.y, rows.p, sample_weight=rows.w)
    for size in (1e-6, 1e-3, 0.1):
        moved = np.clip(rows.p + rng.uniform(-size, size, rows.p.size), 0, 1)
        distance = np.average(np.abs(moved - rows.p), weights=rows.w)
        other = scdl(rows.y, moved, sample_weight=rows.w)
        assert abs(other - value) <= 2 * np.sqrt(distance) + 1e-12


# Values by hand


def test_all_half_and_all_positive():
    for n in (1, 3, 10):
        y, p = [1] * n, [0.5] * n
        assert cdl(y, p) == 1.0
        assert [scdl(y, p, n_bins=m) for m in (2, 4, 8)] == [0.0, 0.25, 0.375]
        loss = scdl(y, p, return_certificate=True)
        assert (loss.value, loss.n_bins, loss.loss, loss.next_loss) == (0.25, 4, 0.25, 0.375)
        assert loss.regret_bound == 1.0  # tight: 1/2 is on the grid, so this is the CDL of D_4


def test_certain_and_wrong():
    # The largest losses: SCDL_m = 1 - 1/m at p = 0, y = 1.
    assert cdl([1], [1e-9]) == pytest.approx(1, abs=1e-8)
    assert [scdl([1], [0.0], n_bins=m) for m in (1, 2, 4)] == [0.0, 0.5, 0.75]
    assert scdl([1], [0.0]) == 0.5


@pytest.mark.parametrize(("y", "p"), [(1, 5e-324), (1, 0.1), (0, 0.3), (1, 0.7), (0, 1 - 1e-16)])
@pytest.mark.parametrize("weight", [0.1, 0.3, 1, 3])
@pytest.mark.parametrize("thresholds", [(0, 1), (0.1, 0.6), (0.2, 0.9)])
def test_cdl_never_exceeds_one(y, p, weight, thresholds):
    assert cdl([y] * 3, [p, p, 0.3], sample_weight=[weight] * 3, thresholds=thresholds) <= 1


# Tiny and vanishing losses
