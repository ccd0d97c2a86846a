"""The package imports one way: see the rules in CONTRIBUTING.md."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("skcal/**/*.py"))
ORDER = [
    "_numerics",
    "_results",
    "_reading",
    "_validation",
    "decision",
    "metrics",
    "recalibration",
    "scorers",
    "inference",
    "sketch",
    "display",
    "report",
    "_files",
    "_demo",
    "__main__",
]
NUMERICS = {"skcal", "numpy", "scipy"} | sys.stdlib_module_names
OPTIONAL = ["dask", "matplotlib", "pandas", "polars", "pyarrow"]


def _imports(source, package):
    """Yield each dotted name that is imported, split, and whether only a call imports it."""
    nodes = list(ast.walk(ast.parse(source)))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    lazy = {inner for node in nodes if isinstance(node, functions) for inner in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join(base + [node.module] * bool(node.module))
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name.split("."), node in lazy) for name in names)


def _complaints(path, source):
    """List what the file at `path` ("skcal/room/file.py") imports and must not."""
    *package, file = path.removesuffix(".py").split("/")
    room = [*package, file][1]
    if room == "__init__":  # the table of contents
        return []
    if room not in (*ORDER, "theory"):
        return [f"room {room} has no place in ORDER"]
    # theory stands beside the order: no room lists it, so none may import it.
    below = ORDER[: ORDER.index(room)] if room != "theory" else ORDER[: ORDER.index("scorers")]
    complaints = []
    for (top, *rest), lazy in _imports(source, package):
        private = any(part.startswith("_") and not part.startswith("__") for part in rest)
        if (
            (top == "skcal" and (rest or [""])[0] not in {*below, room, "__version__"})
            or (top == "sklearn" and private and room != "_validation")
            or (room == "_numerics" and top not in NUMERICS)
            or (top in OPTIONAL and not lazy)
        ):
            complaints.append(".".join([top, *rest]))
    return complaints


@pytest.mark.parametrize("path", FILES)
def test_imports(path):
    assert _complaints(path, (ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES)
def test_length(path):
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= 500


def test_import_without_optional_packages():
    # scikit-learn imports pandas where it can, so sys.modules would not show who did: hide them.
    code = (
        "import importlib, pkgutil, sys\n"
        f"sys.modules.update(dict.fromkeys({OPTIONAL}))\n"
        "import skcal\n"
        "for module in pkgutil.walk_packages(skcal.__path__, 'skcal.'):\n"
        "    importlib.import_module(module.name)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("skcal/decision/_task.py", "from skcal.metrics import f"),
        ("skcal/decision/_task.py", "from ..metrics._binned import f"),
        ("skcal/decision/__init__.py", "from .. import metrics"),
        ("skcal/_results.py", "def f():\n    from . import _validation"),
        ("skcal/scorers.py", "from skcal import DecisionTask"),
        ("skcal/scorers.py", "import skcal"),
        ("skcal/report.py", "from .theory import f"),
        ("skcal/theory.py", "from .scorers import f"),
        ("skcal/utils.py", ""),
        ("skcal/_numerics/_bins.py", "def f():\n    import sklearn.utils"),
        ("skcal/_numerics/_bins.py", "from joblib import Parallel"),
        ("skcal/_numerics/_bins.py", "from .._results import f"),
        ("skcal/scorers.py", "from sklearn.metrics._scorer import f"),
        ("skcal/scorers.py", "from sklearn.metrics import _scorer"),
        ("skcal/scorers.py", "import sklearn.utils._param_validation as checks"),
        ("skcal/display.py", "try:\n    import matplotlib.pyplot as plt\nexcept ImportError: pass"),
    ],
)
def test_checker_complains(path, source):
    assert len(_complaints(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("skcal/__init__.py", "from . import metrics, theory"),
        ("skcal/metrics/_binned.py", "from ._smooth import f\nfrom .._numerics import _bins"),
        ("skcal/metrics/__init__.py", "from ._binned import f\nfrom ..decision import g"),
        ("skcal/theory.py", "from . import metrics\nfrom .decision import f"),
        ("skcal/__main__.py", "from skcal import __version__, report\nimport argparse, numpy"),
        ("skcal/_validation.py", "from sklearn.utils._param_validation import validate_params"),
        ("skcal/_numerics/_bins.py", "from __future__ import annotations\nimport numpy as np"),
        ("skcal/scorers.py", "from sklearn import __version__\nimport sklearn.metrics"),
        ("skcal/display.py", "def plot():\n    import matplotlib.pyplot as plt"),
    ],
)
def test_checker_accepts(path, source):
    assert _complaints(path, source) == []
