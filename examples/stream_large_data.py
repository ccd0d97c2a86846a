"""
How well calibrated are more forecasts than fit into memory?
=============================================================

A sketch keeps sums over a fine grid of forecasts: 5 MB, however many rows go by. SCDL comes out of
it exactly, other measures between two ends that are proven. Run it with ``--rows 100000000``.
"""

# %%
# Rows come in chunks, from a file, a database or, here, a generator. Each chunk has a name, so that
# it is refused when it comes twice; the number of rows shows whether one was lost.
import argparse
import time

import numpy as np

from skcal.sketch import CalibrationSketch

CHUNK = 1_000_000


def chunks(n_rows):
    for number, start in enumerate(range(0, n_rows, CHUNK)):
        rng = np.random.default_rng(number)
        p = rng.random(min(CHUNK, n_rows - start), dtype=np.float32)
        yield f"chunk {number}", rng.random(p.size, dtype=np.float32) < p**1.1, p


parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--rows", type=int, default=2_000_000)
n_rows = parser.parse_known_args()[0].rows

sketch, spent = CalibrationSketch(), 0.0
for name, y, p in chunks(n_rows):
    start = time.perf_counter()
    sketch.update(y, p, part=name)
    spent += time.perf_counter() - start
assert sketch.n_rows == n_rows
print(f"{n_rows} rows in {sketch.n_parts} chunks, {n_rows / spent:.2g} rows a second")

# %%
# SCDL is exact, and says what it promises. The decision loss of the forecasts as they are hangs on
# which of them are exactly equal. A sketch knows that where all rows of a cell are, and then every
# measure is exact; here they are not, and the ends lie far apart.
scdl = sketch.scdl()
print(f"SCDL {scdl.value:.6f} (exact: {scdl.exact}), m* = {scdl.n_bins}")
print(f"swap regret of forecasts rounded to that grid: at most {scdl.regret_bound:.4f}")
for measure in (sketch.smce, sketch.cutoff, sketch.ece, sketch.smece, sketch.cdl):
    value = measure()
    print(f"{measure.__name__:>10} {value.value:.6f} in [{value.lower:.6f}, {value.upper:.6f}]")

# %%
# Forecasts that were rounded are tied: even the decision loss is that of the rows.
rounded = CalibrationSketch()
for name, y, p in chunks(n_rows):
    rounded.update(y, p.astype(float).round(2), part=name)
for measure in (rounded.cutoff, rounded.ece, rounded.cdl):
    value = measure()
    print(f"{measure.__name__:>10} {value.value:.6f} (exact: {value.exact})")

# %%
# A sketch travels and rests as a small file, or as plain lists for JSON, and goes on from there.
print(
    CalibrationSketch.from_dict(sketch.to_dict()) + CalibrationSketch().update([0, 1], [0.4, 0.5])
)

# %%
# How much memory did that take?
try:
    import resource
except ImportError:  # not on Windows
    pass
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, Python and its libraries included")
