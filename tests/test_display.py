"""What all displays share, on the artists that they draw."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from skcal import display as displays
from skcal._validation import CalibrationWarning
from skcal.display._base import COLUMNS, thin
from skcal.sketch import CalibrationSketch
from tests.displays import new_axes, paths, rows, same_paths

DISPLAYS = [getattr(displays, name) for name in displays.__all__]
SKETCHED = [display for display in DISPLAYS if hasattr(display, "from_sketch")]

every_display = pytest.mark.parametrize("display", DISPLAYS)


@every_display
def test_draws_on_the_axes_given_and_nowhere_else(display, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("show was called"))
    before, figures = dict(mpl.rcParams), plt.get_fignums()
    ax = new_axes()
    drawn = display.from_predictions(*rows(20), ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert ax.figure.axes == [ax]
    assert drawn.line_ in ax.get_lines()
    assert drawn.plot(ax) is drawn
    assert plt.get_fignums() == figures
    assert dict(mpl.rcParams) == before


@every_display
def test_makes_one_figure_without_axes(display):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figures = plt.get_fignums()
    drawn = display.from_predictions(*rows(20))
    (number,) = set(plt.get_fignums()) - set(figures)
    assert plt.figure(number) is drawn.figure_
    plt.close(number)


@every_display
def test_names_the_positive_class(display):
    y, p = rows(30)
    names = np.array(["good", "bad"])[y]
    drawn = display.from_predictions(names, p, pos_label="bad", ax=new_axes())
    assert "(positive class: bad)" in drawn.ax_.get_xlabel()
    same_paths(drawn, display.from_predictions(y, p, ax=new_axes()))
    other = display.from_predictions(y, p, pos_label=0, ax=new_axes())
    assert "(positive class: 0)" in other.ax_.get_xlabel()
    for labels, positive in (([0, 1], "1"), ([-1, 1], "1")):
        drawn = display.from_predictions(np.array(labels)[y], p, ax=new_axes())
        assert f"(positive class: {positive})" in drawn.ax_.get_xlabel()
    with pytest.raises(ValueError, match="pos_label must name"):
        display.from_predictions(names, p, ax=new_axes())


@every_display
@pytest.mark.parametrize("pos_label", [None, "bad", "good"])
def test_from_estimator(display, pos_label):
    y, p = rows(20)
    X, names = p[:, None], np.array(["bad", "good"])[y]
    estimator = LogisticRegression(C=100).fit(X, names)
    weight = np.minimum(np.arange(y.size) % 3, 1)
    options = {"sample_weight": weight, "pos_label": pos_label}
    drawn = display.from_estimator(estimator, X, names, ax=new_axes(), **options)
    column, positive = {"bad": (0, "bad")}.get(pos_label, (1, "good"))
    expected = display.from_predictions(
        names, estimator.predict_proba(X)[:, column], sample_weight=weight, pos_label=positive,
        ax=new_axes(),
    )  # fmt: skip
    same_paths(drawn, expected)
    assert drawn.line_.get_label().startswith("LogisticRegression")
    assert f"(positive class: {positive})" in drawn.ax_.get_xlabel()
    named = display.from_estimator(estimator, X, names, name="mine", ax=new_axes(), **options)
    assert named.line_.get_label().startswith("mine")


@every_display
def test_estimator_on_rows_of_one_class(display):
    y, p = rows(20)
    estimator, bad = LogisticRegression().fit(p[:, None], np.array(["bad", "good"])[y]), y == 0
    drawn = display.from_estimator(estimator, p[bad, None], ["bad"] * bad.sum(), ax=new_axes())
    y_proba = estimator.predict_proba(p[bad, None])[:, 1]
    same_paths(drawn, display.from_predictions(y[bad], y_proba, ax=new_axes()))
    assert "(positive class: good)" in drawn.ax_.get_xlabel()


@every_display
def test_estimators_that_do_not_suit(display):
    y, p = rows()
    X, ax = p[:, None], new_axes()
    with pytest.raises(AttributeError, match=r"SVC has no predict_proba.*CalibratedClassifierCV"):
        display.from_estimator(SVC().fit(X, y), X, y, ax=ax)
    three = LogisticRegression().fit(X, np.arange(y.size) % 3)
    with pytest.raises(ValueError, match=r"estimator must be fitted on two classes; got 3: \["):
        display.from_estimator(three, X, y, ax=ax)
    with pytest.raises(ValueError, match="two classes; got 1"):
        display.from_estimator(DummyClassifier().fit(X, 0 * y), X, y, ax=ax)
    with pytest.raises(ValueError, match="pos_label must be one of the labels"):
        display.from_estimator(LogisticRegression().fit(X, y), X, y, pos_label=7, ax=ax)
    nameless = LogisticRegression().fit(X, y)
    del nameless.classes_
    nameless.predict_proba = lambda X: np.full((len(X), 2), 0.5)
    with pytest.raises(ValueError, match="estimator must have classes_"):
        display.from_estimator(nameless, X, y, ax=ax)
    assert not ax.has_data()


@every_display
def test_bad_rows_are_refused_before_anything_is_drawn(display):
    ax = new_axes()
    with pytest.raises(ValueError, match="y_proba must lie in"):
        display.from_predictions([0, 1], [0.5, 1.5], ax=ax)
    with pytest.raises(ValueError, match="y_true must hold at most two labels"):
        display.from_predictions([0, 1, 2], [0.5, 0.5, 0.5], ax=ax)
    with pytest.raises(AttributeError, match="unexpected keyword argument 'colour'"):
        display.from_predictions([0, 1], [0.2, 0.7], ax=ax, colour="red")
    assert not ax.has_data()


@every_display
def test_several_models_share_axes(display):
    ax, y = new_axes(), rows(30)[0]
    drawn = [
        display.from_predictions(y, rows(30, seed=k)[1], name=f"model {k}", ax=ax) for k in range(3)
    ]
    assert len({model.line_.get_color() for model in drawn}) == 3
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(words)) == len(words)
    assert sum(word.startswith("model") for word in words) == 3
    alone = display.from_predictions(*rows(), ax=new_axes()).ax_
    shared = [word for word in alone.get_legend_handles_labels()[1] if word in words]
    assert all(words.count(word) == 1 for word in shared)
    # lines that models share are grey, and drawn once
    grey = [line for line in ax.get_lines() if line.get_color() == "0.5"]
    assert len(grey) == sum(line.get_color() == "0.5" for line in alone.get_lines())


@every_display
def test_style_and_name(display):
    drawn = display.from_predictions(*rows(), name="first", ax=new_axes(), c="red")
    assert drawn.line_.get_color() == "red"
    assert drawn.line_.get_label().startswith("first")
    again = drawn.line_.get_xydata()
    drawn.plot(new_axes(), name="second", label="third", lw=7)
    assert drawn.line_.get_label() == "third"
    assert drawn.line_.get_linewidth() == 7
    np.testing.assert_array_equal(drawn.line_.get_xydata(), again)
    assert drawn.plot(new_axes(), name="second").line_.get_label().startswith("second")


@every_display
def test_without_matplotlib(display, monkeypatch):
    drawn = display.from_predictions(*rows(), ax=new_axes())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sentence = rf"{display.__name__} needs matplotlib.*: pip install skcal\[plot\]"
    with pytest.raises(ImportError, match=sentence):
        drawn.plot()
    with pytest.raises(ImportError, match=sentence):
        display.from_predictions([0, 1], "not even read")
    with pytest.raises(ImportError, match=sentence):
        display.from_estimator(None, None, None)


@every_display
def test_rows_of_weight_zero_are_not_drawn(display):
    y, p = rows()
    weight = np.tile([1.0, 0.0, 1.0], 20)
    drawn = display.from_predictions(y, p, sample_weight=weight, ax=new_axes())
    kept = weight > 0
    same_paths(drawn, display.from_predictions(y[kept], p[kept], ax=new_axes()))


@pytest.mark.parametrize("display", [d for d in DISPLAYS if d is not displays.PartitionDisplay])
def test_whole_weights_are_copies(display):
    y, p = rows()
    weight = 1 + np.arange(y.size) % 3
    drawn = display.from_predictions(y, p, sample_weight=weight, ax=new_axes())
    copies = display.from_predictions(np.repeat(y, weight), np.repeat(p, weight), ax=new_axes())
    same_paths(drawn, copies)


@every_display
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1], [0.4]),
        ([0, 0, 0], [0.1, 0.5, 0.9]),
        ([1, 1, 1], [0.0, 0.5, 1.0]),
        ([0, 1, 1], [0.4, 0.4, 0.4]),
        ([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]),
        ([0, 0], [0.0, 0.0]),
    ],
)
@pytest.mark.filterwarnings("ignore:y_proba holds only 0 and 1")
def test_degenerate_rows_are_drawn(display, y, p):
    drawn = display.from_predictions(y, p, ax=new_axes())
    drawn.figure_.canvas.draw()
    low, high = drawn.ax_.get_ylim()
    assert np.isfinite([low, high]).all() and low < high


@every_display
def test_predicted_labels_warn_once(display):
    with pytest.warns(CalibrationWarning, match="only 0 and 1") as caught:
        display.from_predictions([1, 0, 1, 1], [1, 0, 0, 1], ax=new_axes())
    assert len(caught) == 1


@every_display
def test_texts_do_not_overlap(display):
    y, p = rows(30)
    names = np.array(["benign", "malignant"])[y]
    ax = new_axes()
    for name in ("naive Bayes", "logistic regression", "random forest"):
        drawn = display.from_predictions(names, p, pos_label="malignant", name=name, ax=ax)
    drawn.figure_.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert inside.contains(*legend.min) and inside.contains(*legend.max)
    texts = [ax.xaxis.label, ax.yaxis.label]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in [*boxes[:k], legend])


@pytest.mark.parametrize("display", [d for d in DISPLAYS if d is not displays.PartitionDisplay])
def test_many_rows_make_few_vertices(display):
    drawn = display.from_predictions(*rows(30_000), ax=new_axes())
    assert max(map(len, paths(drawn))) <= 6 * (COLUMNS + 1)
    for collection in drawn.ax_.collections:
        assert sum(len(path.vertices) for path in collection.get_paths()) <= 4 * (COLUMNS + 1)


@pytest.mark.parametrize("columns", [50, COLUMNS])
def test_thin_paths_keep_what_is_seen(columns):
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(20_000)).round(4)
    curves = rng.normal(size=(2, x.size)).cumsum(axis=1)
    at, *kept = thin(x, *curves, columns=columns)
    assert at.size <= 6 * (columns + 1)
    column = lambda v: np.floor((v - x[0]) / (x[-1] - x[0]) * columns)  # noqa: E731
    for full, short in zip(curves, kept, strict=True):
        assert short[[0, -1]].tolist() == full[[0, -1]].tolist()
        for k in range(0, columns, 37):
            whole, part = full[column(x) == k], short[column(at) == k]
            assert part[[0, -1]].tolist() == whole[[0, -1]].tolist()
            assert (part.min(), part.max()) == (whole.min(), whole.max())
    few = thin(x[:100], curves[0, :100])
    assert few[0] is not at
    np.testing.assert_array_equal(few[1], curves[0, :100])


@pytest.mark.parametrize("display", SKETCHED)
@pytest.mark.parametrize("labels", [[0, 1], ["good", "bad"]])
def test_from_sketch(display, labels):
    y, p = rows(300)
    p = np.floor(p * 64) / 64  # predictions that a sketch keeps as they are
    names = np.array(labels)[y]
    positive = None if labels == [0, 1] else "bad"
    sketch = CalibrationSketch(2**6, pos_label=positive).update(names, p)
    drawn = display.from_sketch(sketch, name="sketch", ax=new_axes())
    expected = display.from_predictions(names, p, pos_label=positive, name="sketch", ax=new_axes())
    same_paths(drawn, expected)
    assert drawn.line_.get_label() == expected.line_.get_label()
    assert drawn.ax_.get_xlabel() == expected.ax_.get_xlabel()


@pytest.mark.parametrize("display", SKETCHED)
@pytest.mark.parametrize("label", ["good", "bad"])
def test_sketch_of_one_class(display, label):
    sketch = CalibrationSketch(64, pos_label="bad").update([label] * 3, [0.25, 0.5, 0.75])
    drawn = display.from_sketch(sketch, ax=new_axes())
    options = {"pos_label": "bad", "ax": new_axes()}
    same_paths(drawn, display.from_predictions([label] * 3, [0.25, 0.5, 0.75], **options))


def test_sketches_that_do_not_suit():
    assert set(DISPLAYS) - set(SKETCHED) == {displays.PartitionDisplay}
    for display in SKETCHED:
        with pytest.raises(ValueError, match=r"The 'sketch' parameter of .*from_sketch must"):
            display.from_sketch([0.5])
        with pytest.raises(ValueError, match="hold a row of positive weight"):
            display.from_sketch(CalibrationSketch())
