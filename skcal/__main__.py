"""The command line: ``python -m skcal report FILE`` and ``python -m skcal demo``."""

import argparse
import json
import os
import sys
import traceback
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

from skcal import __version__, _demo
from skcal._files import DEFAULT_COLUMNS, Progress, read_forecasts
from skcal._reading import CalibrationWarning, fail
from skcal.display._base import require_matplotlib
from skcal.inference._procedures import MOST_DRAWS
from skcal.metrics._names import MEASURES
from skcal.report._describe import describe, describe_sketch
from skcal.report._gates import check_rows, check_undrawn, judge, parse_limit
from skcal.report._html import render_html
from skcal.report._pictures import pictures
from skcal.report._text import render_text

EXCEEDED, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 70, 130
STATUSES = (
    "Exit status: 0; 1 when a --max is exceeded, and only then; 2 for bad input; 70, with a "
    "traceback, for a fault of skcal itself; 130 when interrupted."
)


def main(argv=None):
    """Run the command line.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments; None takes those of the process.

    Returns
    -------
    int
        Exit status: 0; 1 when a limit is exceeded, and only then; 2 for bad input; 70 for a fault
        of skcal itself; 130 when interrupted.
    """
    options = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CalibrationWarning)
            warnings.showwarning = _warn
            options.run(options)
        print(end="", flush=True)  # now, where a broken pipe is heard
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, ValueError, ImportError) as error:
        _complain(f"skcal: error: {_one_line(error)}")
        return BAD_INPUT
    except Exception:  # not status 1, by which Python would say that a limit is exceeded
        _complain(traceback.format_exc())
        return FAULT
    return options.status


def _report(options):
    limits = [parse_limit(text) for text in options.max]
    _check(options, limits)
    tell = Progress()
    try:
        report, forecasts = _measure(options, limits, tell)
        if limits:
            report["gates"] = judge(report, limits, options.gate)
            options.status = EXCEEDED * any(gate["exceeded"] for gate in report["gates"])
        if options.html is not None:
            tell("drawing pictures ...")
            page = render_html(
                report, pictures(forecasts.sample, options.pos_label), _source(options, forecasts)
            )
            Path(options.html).write_text(page, encoding="utf-8")
    finally:
        tell.clear()
    print(json.dumps(report, indent=2) if options.json else render_text(report))


def _check(options, limits):
    """Refuse before the work what would be refused after it."""
    if options.resamples and not 19 <= options.resamples <= MOST_DRAWS:
        must = "be 0 or at least 19" if options.resamples < 19 else f"be at most {MOST_DRAWS}"
        fail("--resamples", must, options.resamples)
    if options.html is None:
        return
    require_matplotlib("the HTML report")
    if options.html == "-":
        fail("--html", "name a file: the report itself goes to standard output", "'-'")
    out = Path(options.html)
    if out.is_dir() or not out.parent.is_dir():
        fail("--html", "name a file in a directory that exists", repr(options.html))
    if out.exists() and Path(options.file).exists() and out.samefile(options.file):
        fail("--html", "name another file than the forecasts", repr(options.html))


def _measure(options, limits, tell):
    columns = options.true, options.proba, options.weight
    check = partial(check_rows, limits, options.gate)
    forecasts = read_forecasts(options.file, *columns, options.pos_label, tell, check)
    if forecasts.sketch is not None:
        tell("measuring ...")
        return describe_sketch(forecasts.sketch), forecasts
    if options.gate == "lower" and not options.resamples:
        check_undrawn(limits)
    report = describe(forecasts.sample, options.resamples or None, None, 0, tell)
    return report, forecasts


def _source(options, forecasts):
    true, proba, *weight = forecasts.columns
    file = "standard input" if options.file == "-" else options.file
    positive = "" if options.pos_label is None else f" of class {options.pos_label!r}"
    return f"{file}: outcomes in column {true!r}, probabilities{positive} in column {proba!r}" + (
        f", weights in column {weight[0]!r}" if weight else ""
    )


def _run_demo(options):
    _demo.run(save=options.save)


def _parser():
    parser = argparse.ArgumentParser(
        prog="skcal", description="Calibration of predicted probabilities, and what it is worth."
    )
    parser.add_argument("--version", action="version", version=f"skcal {__version__}")
    parser.set_defaults(status=0)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="measure the forecasts of a CSV or Parquet file",
        epilog=STATUSES,
    )
    text = "CSV, .csv.gz or .parquet; - reads CSV from a pipe"
    report.add_argument("file", metavar="FILE", help=text)
    for name, what in (("true", "labels"), ("proba", "probabilities")):
        columns = ", ".join(DEFAULT_COLUMNS[name])
        text = f"column of the {what} (default: the first of {columns} that exists, any case)"
        report.add_argument(f"--{name}", metavar="COLUMN", help=text)
    report.add_argument("--weight", metavar="COLUMN", help="column of the weights")
    report.add_argument("--pos-label", metavar="LABEL", help="the positive label")
    text = "draws behind intervals and p-values (default: 199); 0 leaves these out"
    report.add_argument("--resamples", metavar="N", type=int, default=199, help=text)
    report.add_argument("--json", action="store_true", help="print JSON")
    report.add_argument("--html", metavar="OUT", help="also write a web page with pictures")
    text = f"fail when a measure exceeds a limit; may be repeated. NAME: {', '.join(MEASURES)}"
    report.add_argument("--max", metavar="NAME=LIMIT", action="append", default=[], help=text)
    text = "what exceeds: the lower end of the 95%% interval or, for distances and beyond a "
    text += "million rows, of what is proven of these rows, chance included (default); or the value"
    report.add_argument("--gate", choices=("lower", "point"), default="lower", help=text)
    report.set_defaults(run=_report)
    demo = commands.add_parser("demo", help="the whole job on data that scikit-learn bundles")
    demo.add_argument("--save", metavar="FILE", help="write the forecasts to a CSV for report")
    demo.set_defaults(run=_run_demo)
    return parser


def _warn(message, category, *where, **more):
    _complain(f"skcal: warning: {_one_line(message)}")


def _complain(text):
    with suppress(BrokenPipeError):  # when nobody listens, the exit status still tells
        print(text, file=sys.stderr)


def _one_line(error):
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
