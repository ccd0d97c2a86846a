"""Results of sketches where a number is expected."""

import operator

import numpy as np
import pytest

from skcal.sketch import SketchValue, SoftSketchValue

VALUES = [SketchValue(0.125, 0.1, 0.5), SoftSketchValue(0.125, 0.1, 0.5, 4, 0.125)]


@pytest.mark.parametrize("value", VALUES)
def test_rounds_and_formats_as_its_value(value):
    assert (round(value, 2), round(value)) == (0.12, 0)
    assert f"{value:.2f} {value:>8.1%}" == "0.12    12.5%"
    assert f"{value}" == str(value) == repr(value)
    with pytest.raises(ValueError, match="format code"):
        format(value, "d")


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("value", VALUES)
def test_compares_as_its_value(value, compare):
    for number in (0, 0.1, 0.125, 0.2, 1):
        for other in (number, np.float64(number), SketchValue(number, 0.0, 1.0)):
            assert bool(compare(value, other)) == compare(0.125, number)
            assert bool(compare(other, value)) == compare(number, 0.125)
    with pytest.raises(TypeError, match="not supported between"):
        compare(value, "0.125")


def test_notebooks_show_a_table():
    shown = VALUES[1]._repr_html_()
    assert shown.startswith("<table><caption>SoftSketchValue</caption>")
    assert shown.count("<tr>") == 5
    assert ">upper</th>" in shown and ">0.5</td>" in shown


def test_sorts_by_value():
    values = [SketchValue(0.3, 0.0, 1.0), SketchValue(0.1, 0.1, 0.1), VALUES[1]]
    assert [float(value) for value in sorted(values)] == [0.1, 0.125, 0.3]


def test_equality_is_that_of_all_fields():
    assert SketchValue(0.125, 0.1, 0.5) == VALUES[0]
    assert SketchValue(0.125, 0.0, 0.5) != VALUES[0]
    assert VALUES[0] != 0.125
    assert len({*VALUES, VALUES[0]}) == 2
