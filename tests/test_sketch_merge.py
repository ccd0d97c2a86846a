"""Sketches that are merged: what goes together, and parts that come twice."""

import pytest

from skcal.sketch import CalibrationSketch


def test_merge_changes_the_first_alone():
    a, b = (CalibrationSketch(8).update([y], [0.3]) for y in (0, 1))
    before = b.to_dict()
    both = a + b
    assert (a.n_rows, both.n_rows) == (1, 2)
    assert a.merge(b) is a
    assert a.to_dict() == both.to_dict()
    assert b.to_dict() == before
    assert sum([b]).update([0], [0.1]).n_rows == 2
    assert b.to_dict() == before
    twice = b.copy()
    assert twice.merge(twice).n_parts == 2  # the counts show it
    assert (twice.n_rows, twice.weight) == (2, 2.0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (CalibrationSketch(16), "n_bins=8; got n_bins=16"),
        (CalibrationSketch(8, pos_label="yes"), "the positive label 1; got 'yes'"),
        (CalibrationSketch(8, pos_label="1"), "the positive label 1; got '1'"),
        (CalibrationSketch(8, labels=[-1, 1]), r"\[0, 1\] here; got also -1"),
        (3, "other must be a CalibrationSketch; got a int"),
    ],
)
def test_sketches_that_do_not_go_together(other, message):
    sketch = CalibrationSketch(8).update([0], [0.5])
    kept = sketch.to_dict()
    with pytest.raises(ValueError, match=message):
        sketch.merge(other)
    assert sketch.to_dict() == kept


def test_only_sketches_add_up():
    for wrong in (lambda s: s + 1, lambda s: 1 + s, lambda s: s + None):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong(CalibrationSketch(8))


def test_named_parts_come_once():
    january, february = (
        CalibrationSketch(8).update([1], [0.5], part=name) for name in ("2024-01", "2024-02")
    )
    year = january + february
    assert year.parts == {"2024-01", "2024-02"}
    with pytest.raises(ValueError, match=r"other must hold parts that .* hold yet; got \['2024"):
        year.merge(january)
    with pytest.raises(ValueError, match=r"part must be a name that .* not hold yet; got \['2024"):
        year.update([1], [0.5], part="2024-01")
    assert (year.n_rows, year.n_parts) == (2, 2)
    with pytest.raises(ValueError, match="'part' parameter of update must be a string"):
        year.update([1], [0.5], part=3)


def test_effective_rows_are_those_of_equal_weight():
    y, p = [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4]
    assert CalibrationSketch().effective_rows == 0
    assert CalibrationSketch().update(y, p).effective_rows == 4
    idle = CalibrationSketch().update(y, p).update(y, p, [0, 0, 0, 0])
    assert (idle.n_rows, idle.effective_rows) == (8, 4)
    uneven = CalibrationSketch().update(y, p, [3, 1, 0, 0])
    assert uneven.effective_rows == pytest.approx(16 / 10, rel=1e-15)
    again = CalibrationSketch.from_dict((uneven + uneven).to_dict())
    assert again.effective_rows == pytest.approx(32 / 10, rel=1e-15)


def test_the_order_of_columns_survives_a_merge():
    plain = CalibrationSketch(pos_label="b").update(["a"], [0.3])
    ordered = CalibrationSketch(pos_label="b", labels=["b", "a"])
    for whole in (plain + ordered, ordered + plain):
        assert whole.update(["a"], [[0.25, 0.75]]).mean_forecast == pytest.approx(0.275)
    with pytest.raises(ValueError, match=r"other must have labels=\['b', 'a'\]"):
        ordered.merge(CalibrationSketch(pos_label="b", labels=["a", "b"]))


def test_an_empty_chunk_is_empty_throughout():
    with pytest.raises(ValueError, match="sample_weight must be as empty as y_true; got length 1"):
        CalibrationSketch().update([], [], [1])


@pytest.mark.parametrize("method", ["ece", "bece", "soft_cdl"])
def test_true_is_no_number_of_bins(method):
    with pytest.raises(ValueError, match="n_bins"):
        getattr(CalibrationSketch().update([0, 1], [0.2, 0.4]), method)(True)
