"""The lower distance to calibration: its bracket, both proofs recomputed, oracle values, laws."""

import dataclasses
import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from skcal import CalibrationWarning, metrics
from skcal.metrics import lower_calibration_distance
from tests import oracles
from tests.strategies import COARSE, DYADIC, INTEGERS, random_rows, samples
from tests.test_smooth import each_kind, forecasts

pytestmark = pytest.mark.filterwarnings("ignore:y_proba holds only 0 and 1")

TOL = 1e-5
few = settings(max_examples=2)  # one or two linear programs of a thousand nodes an example


def close(value, tolerance=TOL):
    return pytest.approx(value, rel=0, abs=tolerance)


def distance(y, p, w=None, **options):
    return lower_calibration_distance(y, p, sample_weight=w, return_certificate=True, **options)


def recomputed(y, p, w, bracket):
    """Both ends of a bracket from its proofs and the rows, each proof checked."""
    w = np.ones(len(p)) if w is None else np.asarray(w, dtype=float)
    y, share = np.asarray(y), w / w.sum()
    nodes, phi = bracket.nodes, (bracket.phi_zeros, bracket.phi_ones)
    assert np.all(np.diff(nodes) > 0)
    assert nodes[[0, -1]].tolist() == [0, 1]  # they are valid on all of [0, 1]
    for each in phi:
        assert np.all(np.abs(np.diff(each)) <= np.diff(nodes) * (1 + 1e-9) + 1e-15)
    # h is quadratic between nodes: its values on a dense grid, and how far above one it can be.
    u = np.linspace(0, 1, 100_001)
    h = (1 - u) * np.interp(u, nodes, phi[0]) + u * np.interp(u, nodes, phi[1])
    at_nodes = (1 - nodes) * phi[0] + nodes * phi[1]
    assert max(h.max(), at_nodes.max()) <= 1e-12
    lower = sum((share * (y == c)) @ np.interp(p, nodes, phi[c]) for c in (0, 1))
    place, zeros, ones = bracket.targets, bracket.target_zeros, bracket.target_ones
    assert min(zeros.min(), ones.min(), place.min()) >= 0
    assert place.max() <= 1
    at, where = np.unique(place, return_inverse=True)
    residual = np.bincount(where, ones * (1 - place) - zeros * place, at.size)
    assert np.abs(residual).sum() <= 1e-12  # calibrated at every target
    upper = 0.0
    for c, goal in ((0, zeros), (1, ones)):
        rows = share * (y == c)
        assert goal.sum() == close(rows.sum(), 1e-12)
        if rows.sum() > 0:
            upper += rows.sum() * wasserstein_distance(p, place, rows, goal)
    return lower, upper


def check(y, p, w=None, tol=TOL):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no bracket wider than tol, no overflow
        warnings.filterwarnings("ignore", "y_proba holds only")
        bracket = distance(y, p, w, tol=tol)
    lower, upper = recomputed(y, p, w, bracket)
    assert bracket.lower == close(lower, 1e-12)
    assert bracket.upper == close(upper, 1e-12)
    assert 0 <= bracket.lower <= bracket.upper == bracket.value
    assert bracket.upper - bracket.lower <= tol
    assert bracket.verify() is True
    return bracket


# The bracket


@each_kind
@pytest.mark.parametrize(
    ("n", "tol"),
    [
        pytest.param(1000, 1e-6),
        pytest.param(10_000, 1e-5, marks=pytest.mark.verify),
        pytest.param(100_000, 1e-5, marks=pytest.mark.verify),
    ],
)
def test_bracket_is_as_narrow_as_asked(kind, n, tol):
    check(*forecasts(kind, n), tol=tol)


def test_bracket_of_a_large_sample():  # its predictions are no nodes
    check(*forecasts("over", 10_000))


@pytest.mark.parametrize("instances", [8, pytest.param(400, marks=pytest.mark.verify)])
def test_equals_the_cutting_planes(instances):
    rng = np.random.default_rng(instances)
    for _ in range(instances):
        y, p, w = random_rows(rng, COARSE, max_size=12)
        bracket = check(y, p, w)
        expected = oracles.lower_distance(y, p, w)
        assert bracket.lower - 1e-8 <= expected <= bracket.upper + 1e-8


def test_a_warning_says_that_the_bracket_stays_wider():
    y, p = [0, 1, 0, 1], [0.45, 0.45, 0.55, 0.55]
    with pytest.warns(CalibrationWarning, match=r"up to .*, not to tol=1e-14"):
        bracket = distance(y, p, tol=1e-14)
    assert 1e-14 < bracket.upper - bracket.lower < 1e-6
    assert bracket.verify() is True


# Values by hand


@pytest.mark.parametrize("e", [0.01, 0.05, 0.2])
def test_two_predictions_with_both_outcomes(e):
    bracket = check([0, 1, 0, 1], [0.5 - e, 0.5 - e, 0.5 + e, 0.5 + e], tol=1e-6)
    assert bracket.value == close(2 * e**2 / (1 + 2 * e), 1e-6)


@pytest.mark.parametrize(
    ("y", "p", "w", "expected"),
    [
        ([0, 1], [0.45, 0.55], None, 0.045),  # with h = 0 in place of h <= 0: .0409
        ([1] * 4, [0.5] * 4, None, 0.5),  # ones alone are calibrated at 1 only
        ([0, 0], [0.5, 0.75], [1, 3], 0.6875),
        ([0, 1], [1.0, 0.0], None, 0.5),  # both to 1/2
        ([0, 1], [1.0, 0.0], [1, 3], None),
        ([0, 0, 1, 1], [0.5] * 4, None, 0.0),
    ],
)
def test_by_hand(y, p, w, expected):
    bracket = check(y, p, w, tol=1e-6)
    if expected is None:
        expected = oracles.lower_distance(np.array(y), np.array(p), np.array(w))
    assert bracket.value == close(expected, 1e-6)


DEGENERATE = {
    "one row": ([1], [0.3], None),
    "one row of zero": ([0], [0.0], None),
    "two rows": ([1, 0], [0.3, 0.9], None),
    "one class": ([1, 1, 1], [0.2, 0.4, 1.0], None),
    "the other class": ([0, 0, 0], [0.0, 0.4, 1.0], None),
    "hard": ([0, 1, 1, 0], [0.0, 1.0, 0.0, 1.0], None),
    "smallest number": ([1], [5e-324], None),
    "subnormal": ([1, 0, 1], [1e-310, 0.5, 2e-308], None),
    "subnormal zeros": ([0, 1], [1e-310, 0.5], None),
    "smallest zero": ([0, 1], [5e-324, 0.5], None),
    "below one": ([0, 1], [1 - 2**-53, 0.5], None),
    "neighbours": ([1, 0, 1, 0], [0.3, 0.3 + 1e-13, 0.3 + 2e-13, 0.7], None),
    "neighbours of one": ([0, 1, 0], [1 - 1e-13, 1 - 2e-13, 1.0], None),
    "adjacent floats": ([1, 0], [0.3, np.nextafter(0.3, 1)], None),
    "neighbours of a node": ([1, 0, 1], [0.5 - 1e-12, 0.5, 0.5 + 1e-12], None),
    "weights": ([1, 0, 1, 0], [0.2, 0.4, 0.6, 0.8], [1e-12, 1.0, 1e12, 1.0]),
    "tiny weights": ([1, 0, 1, 0], [0.2, 0.4, 0.6, 0.8], [1e-300, 1e-290, 1e-310, 1e-290]),
    "one heavy row": ([1, 0, 1], [0.2, 0.4, 0.6], [1e-200, 1.0, 1e200]),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_samples(case):
    y, p, w = DEGENERATE[case]
    bracket = check(y, p, w)
    scaled = None if w is None else np.array(w) / np.max(w)
    expected = oracles.lower_distance(np.array(y), np.array(p), scaled)
    assert bracket.lower - 1e-8 <= expected <= bracket.upper + 1e-8


# Laws


def check_laws(y, p, w):
    options = {"sample_weight": w}
    bracket = distance(y, p, w)
    smooth = metrics.smce(y, p, **options)
    soft = metrics.scdl(y, p, **options)
    # Every law with the end of the bracket that is the harder one, up to the bracket's width.
    lower, upper, slack = bracket.lower, bracket.upper, 1e-9
    assert upper - lower <= TOL
    assert smooth <= 2 * lower + 2 * TOL
    assert upper <= 2 * smooth + TOL
    assert soft <= 2 * np.sqrt(upper) + slack
    assert soft >= 0.18 * lower**2 - slack
    # The mean outcome at every prediction is a feasible target, so this holds without slack.
    assert upper <= metrics.ece(y, p, n_bins=None, **options) + 1e-15
    assert upper <= metrics.interval_calibration_error(y, p, **options) + TOL


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@settings(max_examples=6)
@given(rows=samples(COARSE))
def test_laws(rows):
    check_laws(*rows)


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@each_kind
@pytest.mark.parametrize("n", [200, pytest.param(20_000, marks=pytest.mark.verify)])
def test_laws_of_forecasters(kind, n):
    check_laws(*forecasts(kind, n), None)


# Invariances: the table of measures asks for more of them, among the large checks


@pytest.mark.filterwarnings("ignore::skcal.CalibrationWarning")
@few
@given(rows=samples(DYADIC, INTEGERS), seed=st.integers(0, 100))
def test_invariances(rows, seed):
    value = lower_calibration_distance(rows.y, rows.p, sample_weight=rows.w)
    order = np.random.default_rng(seed).permutation(rows.p.size)
    for other in (
        rows.take(order),
        rows.flipped(),
        rows._replace(w=rows.w / 3),
        rows.take(np.repeat(order, rows.w[order].astype(int)))._replace(w=None),
    ):
        assert lower_calibration_distance(other.y, other.p, sample_weight=other.w) == close(value)


# The certificate


@functools.cache
def valid():
    return distance(*forecasts("over", 60))


def moved(bracket):
    """Targets of the same cost that are not calibrated: the sample itself."""
    own = {"targets": bracket.x, "target_zeros": bracket.zeros, "target_ones": bracket.ones}
    return {**own, "upper": 0.0, "value": 0.0, "lower": 0.0}


@pytest.mark.parametrize(
    "forge",
    [
        moved,
        lambda c: {"phi_zeros": c.phi_zeros + 1e-6, "lower": c.lower + 1e-7},  # h above 0
        lambda c: {"phi_zeros": 1.01 * c.phi_zeros, "phi_ones": 1.01 * c.phi_ones},  # too steep
        lambda c: {"nodes": c.nodes[[0, -1]], "phi_zeros": np.ones(2), "phi_ones": np.ones(2)},
        lambda c: {"target_zeros": 0.99 * c.target_zeros, "target_ones": 0.99 * c.target_ones},
        lambda c: {"lower": c.lower + 1e-9},
        lambda c: {"lower": np.nextafter(c.upper, 1), "phi_ones": c.phi_ones + 1e-3},
        lambda c: {"upper": c.upper - 1e-9, "value": c.value - 1e-9},
        lambda c: {"value": c.lower},
        lambda c: {"zeros": c.ones, "ones": c.zeros},
        lambda c: {"phi_zeros": np.full_like(c.phi_zeros, np.nan)},
        lambda c: {"target_ones": np.full_like(c.target_ones, np.nan)},
        lambda c: {"value": np.nan, "upper": np.nan},
    ],
)  # fmt: skip
def test_certificate_notices_a_forged_proof(forge):
    bracket = valid()
    assert bracket.verify() is True
    assert dataclasses.replace(bracket, **forge(bracket)).verify() is False


def test_certificate_notices_nodes_that_end_before_one():
    # Constant potentials with h <= 0 up to .4 only prove ten times the distance, which moving
    # every row to its own outcome attains.
    bracket = distance([0, 1], [0.45, 0.55])
    assert bracket.upper == close(0.045)
    end = 0.45
    forged = {
        "nodes": np.array([0.0, 0.4]),
        "phi_zeros": np.full(2, -1.8),
        "phi_ones": np.full(2, 2.7),
        "targets": np.array([0.0, 1.0]),
        "target_zeros": np.array([0.5, 0.0]),
        "target_ones": np.array([0.0, 0.5]),
    }
    other = dataclasses.replace(bracket, value=end, lower=end, upper=end, **forged)
    assert other.verify() is False


def test_proof_holds_where_predictions_almost_touch():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    p = np.concatenate([p, p + 4e-8, p + 1.1e-9]).clip(0, 1)
    y = (rng.random(p.size) < p**1.3).astype(int)
    certificate = lower_calibration_distance(y, p, return_certificate=True)
    assert certificate.verify()
