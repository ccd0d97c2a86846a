"""The report as a web page: it stands alone, in both schemes, and says what the text says."""

import re
import sys
import warnings
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

from skcal import calibration_report, metrics
from skcal.report import sketch_report
from skcal.report._html import render_html
from skcal.report._pictures import PICTURES
from skcal.sketch import CalibrationSketch

VOID = {"meta"}
POSITIVE = """<script>alert('x')</script> & "$\\frac$" #ffffff url(#a) id="q\""""


class Page(HTMLParser):
    """Elements, attributes and text of a page; complains of tags that do not match."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.texts, self.drawn, self._open = [], [], Counter(), []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.drawn[self.pictures] += tag in ("path", "use", "rect")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def pictures(self):
        return sum(tag == "svg" for tag, _ in self.elements)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def values(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    p = rng.random(100)
    return (rng.random(100) < p**2).astype(int), p


@pytest.fixture(scope="module")
def source(rows):
    pytest.importorskip("matplotlib")
    y, p = rows
    labels = np.where(y == 1, POSITIVE, "fine")
    return calibration_report(labels, p, pos_label=POSITIVE, n_resamples=19, output="html")


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


def test_nothing_comes_from_elsewhere(source, page):
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "script",
        "link",
        "img",
        "image",
        "iframe",
        "object",
        "embed",
        "base",
        "use:",
    }
    assert "//" not in source
    assert "@import" not in source
    links = [v for name in ("href", "xlink:href", "src", "action") for v in page.values(name)]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_ids_are_unique_and_found(page):
    ids = Counter(page.values("id"))
    assert ids
    assert max(ids.values()) == 1
    wanted = references(page)
    assert len(wanted) > 10
    assert wanted <= set(ids)


def references(page):
    """Ids that attributes name: url(#id), href="#id", and lists of ids."""
    attributes = [value for _, found in page.elements for value in found.values()]
    found = {name for value in attributes for name in re.findall(r"url\(#(.+?)\)", value)}
    found |= {link[1:] for link in page.values("href")}
    for name in ("for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"):
        found |= {each for value in page.values(name) for each in value.split()}
    return found


def test_ids_of_reports_in_one_notebook(rows, source):
    (y, p), common = rows, {"n_resamples": None, "output": "html"}
    named = np.array(["well", "ill"])[y]
    others = [
        calibration_report(y, p, **common),
        calibration_report(y, p, **common | {"n_resamples": 19}),  # with the same pictures
        calibration_report(named, p, pos_label="ill", **common),  # with the same numbers
        calibration_report(y, p, sample_weight=1 + y, **common),
    ]
    pages = list(map(Page, [source, *others]))
    for page in pages:
        assert references(page) <= set(page.values("id"))
    all_ids = Counter(name for page in pages for name in page.values("id"))
    assert max(all_ids.values()) == 1
    assert calibration_report(y, p, **common) == others[0]


def test_top_label(rows):
    pytest.importorskip("matplotlib")
    proba = np.column_stack([rows[1] / 2, rows[1] / 2, 1 - rows[1]])
    source = calibration_report(
        np.arange(100) % 3, proba, multiclass="top_label", n_resamples=None, output="html"
    )
    assert "100 top-label forecasts" in Page(source).text
    assert "(positive class: right)" in source


def test_every_picture_is_drawn_and_named(page):
    pictures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert [picture["aria-label"] for picture in pictures] == [caption for caption, _ in PICTURES]
    assert {picture["role"] for picture in pictures} == {"img"}
    assert min(page.drawn[k + 1] for k in range(len(pictures))) > 20


def test_both_schemes_define_every_colour(source, page):
    sheet = re.search("<style>(.*?)</style>", source, re.DOTALL)[1]
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    assert sheet.index("screen and (prefers-color-scheme: dark)") < sheet.index(dark)
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", scheme)) for scheme in (light, dark)]
    used = set(re.findall(r"var\(--(\w+)\)", source))
    assert used <= set(schemes[0])
    assert set(schemes[0]) == set(schemes[1])
    for scheme in schemes:
        for name in ("ink", "faint", "blue", "orange", "green", "red"):
            assert contrast(scheme[name], scheme["paper"]) >= 4.5
    assert "@media print" in sheet
    styles = " ".join(page.values("style"))  # what is left of matplotlib's colours is none
    assert not re.search("#(000000|ffffff)", styles)


def contrast(one, other):
    """As the guidelines for accessible pages define it, of colours #rrggbb."""
    levels = []
    for colour in (one, other):
        rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        levels.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(levels) / min(levels)


def test_the_page_says_what_the_text_says(rows, page):
    text = calibration_report(*rows, n_resamples=19)
    summary, table, promises, *closings = (part.split("\n") for part in text.split("\n\n"))
    for paragraph in ([" ".join(summary)[:60]], *closings):
        assert " ".join(" ".join(paragraph).split()) in page.text
    for line in table[2:]:
        assert all(number in page.text for number in line.split())
    sentences = re.split(r"\n(?=\S)", "\n".join(promises))
    for sentence in sentences:
        assert " ".join(sentence.split()) in page.text


def test_user_text_is_only_text(source, page):
    assert "<script" not in source
    assert POSITIVE[:19] in page.text
    assert Page(calibration_report([0, 1], [0.4, 0.5], n_resamples=19, output="html")).pictures == 4


def test_numbers_as_labels_and_weights(rows):
    pytest.importorskip("matplotlib")
    y, p = rows
    w = np.arange(100) % 3
    source = calibration_report(
        y + 1, p, sample_weight=w, pos_label=2, n_resamples=None, output="html"
    )
    assert "positive class: 2" in source
    assert f"{metrics.ece(y, p, sample_weight=w):.4f}" in source
    for name in ("scdl", "cdl", "smce"):  # in the legends of the pictures
        value = getattr(metrics, name)(y, p, sample_weight=w)
        assert re.search(rf">{name} {value:.3f}<", source, re.IGNORECASE)
        assert f"{value:.3f}" != f"{getattr(metrics, name)(y, p):.3f}"


def test_signs_of_formulas_in_a_label(rows):
    pytest.importorskip("matplotlib")
    y, p = rows
    labels = np.where(y == 1, r"$\oops{$", "fine")
    source = calibration_report(labels, p, pos_label=r"$\oops{$", n_resamples=None, output="html")
    assert r"(positive class: $\oops{$)" in source


@pytest.mark.parametrize("odd", ["\x01", "\x1f", "\t", "\r", "\x85", "\ud800", "\udfff", "\uffff"])
def test_characters_that_no_page_can_hold(rows, odd):
    pytest.importorskip("matplotlib")
    y, p = rows
    label = f"il{odd}l"
    labels = np.where(y == 1, label, "fine")
    source = calibration_report(labels, p, pos_label=label, n_resamples=None, output="html")
    plain = np.where(y == 1, "il\ufffdl", "fine")
    same = calibration_report(plain, p, pos_label="il\ufffdl", n_resamples=None, output="html")
    assert source == same
    assert "(positive class: il\ufffdl)" in source


def test_names_of_files_that_no_page_can_hold(rows):
    report = calibration_report(*rows, n_resamples=None, output="dict")
    source = render_html(report, [], "a\x01\udcffb.csv")
    assert '<p class="faint">a\ufffd\ufffdb.csv</p>' in source
    source.encode()


def test_characters_that_a_page_can_hold_stay(rows):
    pytest.importorskip("matplotlib")
    y, p = rows
    label = "~ é 病\n\ud7ff\ue000\U0001f600"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        labels = np.where(y == 1, label, "fine")
        source = calibration_report(labels, p, pos_label=label, n_resamples=None, output="html")
    assert "\ufffd" not in source
    assert label.split()[2] in source


def test_the_page_is_the_same_whatever_the_users_style(rows, source):
    matplotlib = pytest.importorskip("matplotlib")
    y, p = rows
    labels = np.where(y == 1, POSITIVE, "fine")
    with matplotlib.rc_context():
        matplotlib.rcParams.update(
            {
                "svg.fonttype": "path",
                "figure.facecolor": "red",
                "lines.linewidth": 9,
                "font.size": 30,
            }
        )
        before = dict(matplotlib.rcParams)
        again = calibration_report(labels, p, pos_label=POSITIVE, n_resamples=19, output="html")
        assert dict(matplotlib.rcParams) == before
    assert again == source


def test_no_figure_is_left(rows):
    pytest.importorskip("matplotlib")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    calibration_report(*rows, n_resamples=None, output="html")
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize("y", [[1, 1], [0, 0], [0, 1]])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.filterwarnings("ignore:y_proba holds only 0 and 1")
def test_degenerate_rows(y, p):
    pytest.importorskip("matplotlib")
    assert Page(calibration_report(y, [p, p], n_resamples=None, output="html")).pictures == 4


def test_without_matplotlib_one_line_before_the_work(rows, monkeypatch):
    def work(*_):
        raise AssertionError("it came to work")

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("skcal.report._report.describe", work)
    monkeypatch.setattr("skcal.report._report.describe_sketch", work)
    with pytest.raises(ImportError, match=r"HTML report needs matplotlib.*skcal\[plot\]"):
        calibration_report(*rows, output="html")
    with pytest.raises(ImportError, match=r"HTML report needs matplotlib.*skcal\[plot\]"):
        sketch_report(CalibrationSketch().update(*rows), output="html")


def test_sketch(rows):
    pytest.importorskip("matplotlib")
    sketch = CalibrationSketch().update(*rows)
    page = Page(sketch_report(sketch, output="html"))
    assert page.pictures == 4
    assert "known to lie in" in page.text
    assert f"{sketch.cdl().lower:.4f} to {sketch.cdl().upper:.4f}" in page.text
    named = CalibrationSketch(pos_label="ill").update(np.array(["well", "ill"])[rows[0]], rows[1])
    assert "(positive class: ill)" in sketch_report(named, output="html")


def test_certificates_as_tables(rows):
    y, p = rows
    loss = metrics.cdl(y, p, return_certificate=True)
    page = Page(loss._repr_html_())
    assert "DecisionLossCertificate" in page.text
    assert f"{loss.value:.6g}" in page.text
    assert f"<array ({loss.points.size},)>" in page.text  # which is escaped, or no tag would match
    assert len(loss._repr_html_()) < 3000
    for measure in (metrics.scdl, metrics.smce, metrics.caldist, metrics.ece):
        classwise = measure(y[:20], p[:20], return_certificate=True, multiclass="classwise")
        assert f"{classwise.value:.6g}" in Page(classwise._repr_html_()).text
