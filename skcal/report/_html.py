"""The report as a web page: one file, no script, nothing fetched."""

from hashlib import sha256
from html import escape

from skcal.report import _words
from skcal.report._pictures import inline, legible

CSS = """
:root { color-scheme: light; --paper: #ffffff; --ink: #1b1b1b; --faint: #6b6b6b; --rule: #c8c8c8;
  --blue: #1f6fad; --orange: #b05500; --green: #23802a; --red: #c02020; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --paper: #16181b;
  --ink: #e6e6e6; --faint: #a0a0a0; --rule: #4a4d52; --blue: #6cb4ee; --orange: #ffa657;
  --green: #6cc971; --red: #ff8a80; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.15rem; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
.faint { color: var(--faint); }
.verdict { padding-left: 0.75rem; border-left: 0.25rem solid var(--blue); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
th:first-child { text-align: left; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0; }
dt { font-weight: 600; }
dd { margin: 0; }
figure { margin: 1.5rem 0; break-inside: avoid; }
figcaption { color: var(--faint); }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--ink); }
@media print { body { font-size: 11pt; } main { max-width: none; padding: 0; }
  tr, dd { break-inside: avoid; } h2 { break-after: avoid; } }
"""
HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Calibration report</title>
<style>{CSS}</style>
</head>
<body>
<main>
"""


def render_html(report, pictures, source=None):
    """A report dict and its pictures as a page; ``source`` says where the forecasts are from."""
    # of the content: a notebook may hold several reports, and each is the same in every run
    name = sha256(repr((report, pictures, source)).encode()).hexdigest()[:12]
    parts = [
        "<h1>Calibration report</h1>",
        _paragraph(source, "faint"),
        _paragraph(_words.verdict(report), "verdict"),
        *map(_paragraph, _words.gates(report)),
        *map(_paragraph, _words.summary(report)),
        "<h2>Measures</h2>",
        _table(report),
        "<h2>What they promise</h2>",
        _promises(report),
        _paragraph(_words.worst_case(report)),
        "<h2>Pictures</h2>",
        *(
            _figure(caption, inline(svg, f"report-{name}-{k}-", caption))
            for k, (caption, svg) in enumerate(pictures)
        ),
    ]
    return HEAD + "\n".join(filter(None, parts)) + "\n</main>\n</body>\n</html>\n"


def _paragraph(text, kind=None):
    if text is None:
        return ""
    start = "<p>" if kind is None else f'<p class="{kind}">'
    return f"{start}{escape(legible(text))}</p>"


def _table(report):
    heads = _words.HEADINGS[_words.layout(report)]
    lines = ["<tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr>"]
    for short, cells in _words.table(report):
        empty = [()] * (len(heads) - 1 - len(cells))  # some measures have a value alone
        numbers = "".join(f"<td>{' to '.join(cell)}</td>" for cell in [*cells, *empty])
        lines.append(f'<tr><th scope="row">{short}</th>{numbers}</tr>')
    return "\n".join(['<div class="scroll"><table>', *lines, "</table></div>"])


def _promises(report):
    items = (
        f"<dt>{short}</dt><dd>{escape(sentence)}</dd>"
        for short, sentence in _words.promises(report)
    )
    return "<dl>\n" + "\n".join(items) + "\n</dl>"


def _figure(caption, svg):
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
