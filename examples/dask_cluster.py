"""
Calibration over a dask cluster
===============================

Each worker sketches the partitions that it holds, and the sketches are added up as a tree: no rows
travel. A task that is lost with its worker is run again by dask, so the counts of the sketch come
out right, or there is an error. ``--scheduler tcp://...`` runs this on a cluster; without it, dask
uses the threads of this machine.
"""

# %%
# dask comes with ``pip install "skcal[dask]"``.
import argparse

import numpy as np

from skcal.sketch import sketch_from_partitions

rng = np.random.default_rng(0)
p = rng.random(1_000_000)
y = rng.random(p.size) < p**1.1


# %%
# Of a data frame, say which columns of a partition are the outcomes and the forecasts.
def sketch_of_frame():
    import dask
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"outcome": y, "forecast": p}), npartitions=20)
    columns = dask.delayed(lambda rows: (rows["outcome"], rows["forecast"]))
    return sketch_from_partitions(map(columns, frame.to_delayed()), n_rows=p.size)


# %%
# Of arrays, pair the blocks.
def sketch_of_arrays():
    import dask.array as da

    blocks = (da.from_array(values, chunks=70_000).to_delayed() for values in (y, p))
    return sketch_from_partitions(zip(*blocks, strict=True), n_rows=p.size)


# %%
# A client, once made, is what dask works on.
def connect(address):
    from dask.distributed import Client

    return Client(address)


parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--scheduler")
address = parser.parse_known_args()[0].scheduler
try:
    client = connect(address) if address else None
    for sketch in (sketch_of_frame(), sketch_of_arrays()):
        print(sketch, sketch.smce(), sep="\n")
except ImportError as error:
    print("this example needs dask:", error)
