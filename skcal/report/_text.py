"""The report as lines of text."""

import textwrap

from skcal.report import _words

WIDTH = 79
HEADS = {
    "values": [f"{'measure':<9}{'value':>8}"],
    "bounds": [f"{'measure':<9}{'value':>8}{'known to lie in':>19}"],
    "draws": [
        f"{'':<40}a calibrated forecaster",
        f"{'measure':<9}{'value':>8}{'95% interval':>19}    shows, 9 times in 10   p-value",
    ],
}
WIDTHS = ((8,), (11, 8), (12, 8), (12,))  # of the columns


def render_text(report):
    """A report dict as lines of text."""
    lines = [*_words.summary(report), "", *HEADS[_words.layout(report)]]
    for short, cells in _words.table(report):
        columns = zip(cells, WIDTHS, strict=False)  # some measures have a value alone
        padded = [
            f"{n:>{w}}" for cell, widths in columns for n, w in zip(cell, widths, strict=True)
        ]
        lines.append(f"{short:<9}{''.join(padded)}")
    lines.append("")
    for short, sentence in _words.promises(report):
        lines += _paragraph(f"{short:<9}", sentence)
    for closing in (_words.worst_case(report), _words.verdict(report), *_words.gates(report)):
        if closing is not None:
            lines += ["", *_paragraph("", closing)]
    return "\n".join(lines)


def _paragraph(start, text):
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
