"""The rows of a file, all of them while they are few, and a sketch beyond."""

from dataclasses import dataclass

import numpy as np

from skcal._files._columns import Labels, choose, numbers
from skcal._files._tables import open_table
from skcal._validation import Sample, check_sample, fail
from skcal.sketch import CalibrationSketch

MOST_ROWS = 1_000_000  # kept: a report of so many takes minutes


@dataclass(frozen=True)
class Forecasts:
    """What a file holds."""

    sample: Sample  # the rows, or the few that stand for those of the sketch
    sketch: CalibrationSketch | None  # where there are more than `MOST_ROWS`
    columns: tuple  # names


def read_forecasts(file, true=None, proba=None, weight=None, pos_label=None, tell=None, check=None):
    """The `Forecasts` of a file, in memory that does not grow with it; ``-`` is standard input.

    ``tell`` hears how many rows were read. ``check`` hears how many of them have weight and whether
    they are in a sketch, and may refuse to go on.
    """
    kept, n, sketch, weighty = [], 0, None, 0
    with open_table(file) as table:
        chosen = _chosen(table.names, true, proba, weight)
        labels, (_, *kinds) = Labels(chosen["true"], pos_label), chosen
        for column, *columns in table.chunks(chosen.values()):
            codes = labels.encode(table, column, n)
            pairs = zip(columns, kinds, strict=True)
            kept.append([codes, *(numbers(table, x, chosen[kind], kind, n) for x, kind in pairs)])
            n += codes.size
            weighty += codes.size if weight is None else np.count_nonzero(kept[-1][-1])
            if sum(chunk[0].size for chunk in kept) > MOST_ROWS:
                sketch = _fold(kept, labels, sketch)
                kept.clear()
            if check is not None:
                check(weighty, sketch is not None)
            if tell is not None:
                tell(f"{n:,} rows read ...")
    if not n:
        raise ValueError(f"{file}: holds a header and no rows")
    if not weighty:
        fail(f"column {weight!r}", "hold a positive weight", "zeros only")
    columns = tuple(chosen.values())
    if sketch is None:
        return Forecasts(check_sample(*_joined(kept, labels.outcomes())), None, columns)
    if kept:
        sketch = _fold(kept, labels, sketch)
    return Forecasts(check_sample(*sketch.sample()), sketch, columns)


def _chosen(names, true, proba, weight):
    """The column of each kind, a different one; there may be no weights."""
    wanted = {"true": true, "proba": proba} | ({} if weight is None else {"weight": weight})
    chosen = {kind: choose(names, name, kind) for kind, name in wanted.items()}
    kinds = {name: kind for kind, name in chosen.items()}
    for kind, name in chosen.items():
        if kinds[name] != kind:
            fail(f"--{kinds[name]}", f"name another column than --{kind}", repr(name))
    return chosen


def _fold(kept, labels, sketch):
    sketch = CalibrationSketch() if sketch is None else sketch
    return sketch.update(*_joined(kept, labels.settle()))


def _joined(kept, outcomes):
    """Outcomes, probabilities and, if there are any, weights, of all chunks that were kept."""
    codes, *columns = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return outcomes[codes], *columns
