"""The command line: ``python -m skcal report FILE`` and ``python -m skcal demo``."""

import argparse
import json
import os
import sys

from skcal import __version__, _demo, _files
from skcal.report import calibration_report


def main(argv=None):
    """Run the command line.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments; None takes those of the process.

    Returns
    -------
    int
        Exit status: 0, or 2 for bad input.
    """
    options = _parser().parse_args(argv)
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, ImportError) as error:
        print(f"skcal: error: {_one_line(error)}", file=sys.stderr)
        return 2
    return 0


def _report(options):
    if options.resamples and options.resamples < 19:
        raise ValueError(f"--resamples must be 0 or at least 19; got {options.resamples}.")
    y_true, y_proba, sample_weight = _files.read_forecasts(
        options.file, options.true, options.proba, options.weight
    )
    report = calibration_report(
        y_true,
        y_proba,
        sample_weight=sample_weight,
        pos_label=_files.parse_label(options.pos_label, y_true),
        n_resamples=options.resamples or None,
        output="dict" if options.json else "text",
    )
    print(json.dumps(report, indent=2) if options.json else report)


def _run_demo(options):
    _demo.run(save=options.save)


def _parser():
    parser = argparse.ArgumentParser(
        prog="skcal", description="Calibration of predicted probabilities, and what it is worth."
    )
    parser.add_argument("--version", action="version", version=f"skcal {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="measure the forecasts of a CSV or Parquet file")
    report.add_argument("file", metavar="FILE", help="CSV or Parquet; - reads CSV from a pipe")
    for name, what in (("true", "labels"), ("proba", "probabilities")):
        columns = ", ".join(_files.DEFAULT_COLUMNS[name])
        text = f"column of the {what} (default: the first of {columns} that exists)"
        report.add_argument(f"--{name}", metavar="COLUMN", help=text)
    report.add_argument("--weight", metavar="COLUMN", help="column of the weights")
    report.add_argument("--pos-label", metavar="LABEL", help="the positive label")
    text = "draws behind intervals and p-values (default: 199); 0 leaves these out"
    report.add_argument("--resamples", metavar="N", type=int, default=199, help=text)
    report.add_argument("--json", action="store_true", help="print JSON")
    report.set_defaults(run=_report)
    demo = commands.add_parser("demo", help="the whole job on data that scikit-learn bundles")
    demo.add_argument("--save", metavar="FILE", help="write the forecasts to a CSV for report")
    demo.set_defaults(run=_run_demo)
    return parser


def _one_line(error):
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
