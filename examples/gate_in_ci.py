"""
How do I stop a miscalibrated model in continuous integration?
==============================================================

A job trains the model, writes its forecasts to a file, and runs ``skcal report`` on it with a
limit. The exit status decides: 0 lets the model pass, 1 stops it, and 2 says that the file was
wrong.
"""

# %%
# The job trains two candidates and writes out-of-fold forecasts, one file each.
import csv
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
candidates = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive_bayes": GaussianNB(),
}


def write(path, p):
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["y_true", "y_proba"])
        rows.writerows(zip(y.tolist(), p.tolist(), strict=True))


# %%
# The step of the pipeline is one line of shell:
#
# .. code-block:: sh
#
#    skcal report forecasts.csv --max smce=0.01 --max scdl=0.05
#
# By default it compares the lower end of the 95% interval with the limit, so that a model is
# stopped only when the data show that it is worse, and not by bad luck: a calibrated forecaster
# shows an error above 0 too. ``--gate point`` compares the value itself. ``--html report.html``
# writes a page for the people who ask why.
with TemporaryDirectory() as folder:
    for name, model in candidates.items():
        path = Path(folder) / f"{name}.csv"
        write(path, cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1])
        gates = ["--max", "smce=0.01", "--max", "scdl=0.05"]
        command = [sys.executable, "-m", "skcal", "report", str(path), *gates, "--resamples", "99"]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith(("Passed", "FAILED")))
        print(f"--- {name}: exit status {done.returncode}", *lines[first:], "", sep="\n")

    # %%
    # A file that is not what the job thinks it is never passes for a good model.
    path.write_text("y_true,y_proba\n1,0.9\n0,oops\n")
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"--- a broken file: exit status {done.returncode}\n{done.stderr}", end="")
