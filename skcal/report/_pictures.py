"""Pictures of a sample as SVG that stands inside a web page."""

import io
import re
from xml.etree import ElementTree

import numpy as np

from skcal import display

# What matplotlib draws by default, and the variable of the page that takes its place: the page has
# one set of colours for light and for paper, and one for dark.
COLOURS = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#808080": "var(--faint)",
    "#cccccc": "var(--rule)",
    "#1f77b4": "var(--blue)",
    "#ff7f0e": "var(--orange)",
    "#2ca02c": "var(--green)",
    "#d62728": "var(--red)",
}
STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "skcal",  # the same page each time
    "text.parse_math": False,  # a label may hold any signs
    "figure.autolayout": True,
}
# characters that XML, HTML or an axis cannot show
UNFIT = re.compile(r"[\0-\t\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
LONGEST = 20  # characters of a label that fit beside an axis
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
PICTURES = [
    ("Reliability: rates of outcomes against predictions", display.ReliabilityDisplay),
    ("Decision loss: what each threshold of a decision loses", display.DecisionLossDisplay),
    ("Smooth calibration: residuals, summed from the left", display.SmoothCalibrationDisplay),
    ("Net benefit: decisions by the forecasts, and by none", display.NetBenefitDisplay),
]


def pictures(sample, pos_label=None):
    """Caption and SVG of each picture of a sample; the axes name the positive label, if given."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.style import context

    y = sample.y
    if pos_label is not None:
        pos_label = legible(str(pos_label))
        if len(pos_label) > LONGEST:
            pos_label = pos_label[: LONGEST - 1] + "…"
        y = np.where(y == 1, pos_label, f"not {pos_label}")
    drawn = []
    for caption, picture in PICTURES:
        # in matplotlib's own style, whatever the user's is: the colours below are those
        with context(["default", STYLE]), io.StringIO() as file:
            figure = Figure(figsize=(6, 4.5))
            picture.from_predictions(
                y,
                sample.p.astype(sample.precision),
                sample_weight=sample.w,
                pos_label=pos_label,
                ax=figure.add_subplot(),
            )
            FigureCanvasSVG(figure).print_svg(file, metadata=NO_METADATA)
            drawn.append((caption, file.getvalue()))
    return drawn


def legible(text):
    """The text with a mark where a character is none: control codes and halves of pairs."""
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def inline(svg, prefix, caption):
    """The element as it stands in a page: ids start with the prefix, colours are those of the page.

    Text stays as it is.
    """
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {_local(name): value for name, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update({k: _owned(k, v, prefix) for k, v in attributes.items()})
    root.attrib.update({"role": "img", "aria-label": caption})
    return ElementTree.tostring(root, encoding="unicode")


def _local(name):
    """Without its namespace: web pages know those of SVG."""
    return name.rpartition("}")[2]


def _owned(name, value, prefix):
    """The value of an attribute, as it reads in the page."""
    if name == "id":
        return prefix + value
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    value = value.replace("url(#", f"url(#{prefix}")
    if name != "style":
        return value
    return re.sub("#[0-9a-f]{6}", lambda found: COLOURS.get(found[0], found[0]), value)
