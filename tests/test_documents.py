"""What the README and the examples show runs as it stands."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import skcal
from skcal.metrics._names import MEASURES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GUIDE = sorted((ROOT / "doc" / "guide").glob("*.rst"))


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_readme_shows_both_commands():
    assert "make demo" in README
    assert "make test" in README


def test_readme_says_what_each_measure_promises():
    for short, measure in MEASURES.values():
        assert README.count(f"\n| `{measure.__name__}` ({short}) | ") == 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    source = path.read_text(encoding="utf-8")
    if re.search(r"^(import|from) matplotlib\b", source, re.MULTILINE):
        pytest.importorskip("matplotlib")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.stem)
def test_guide_runs(path):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(path), module_relative=False, optionflags=options).failed == 0


def _rooms():
    names = [room.name for room in pkgutil.iter_modules(skcal.__path__)]
    names = [name for name in names if not name.startswith("_")]
    return {name: importlib.import_module(f"skcal.{name}") for name in names}


def test_reference_lists_each_public_object_once():
    text = (ROOT / "doc/api.rst").read_text("utf-8")
    listed = re.findall(r"^   (skcal\.\S+)$", text, re.MULTILINE)
    assert set(re.findall(r"``(\w+)``", text)) == set(MEASURES)  # the short names
    public = [
        f"skcal.{room}.{name}"
        for room, module in _rooms().items()
        for name in module.__all__
        if name not in MEASURES
    ]
    assert sorted(listed) == sorted([*public, "skcal.CalibrationWarning"])


def test_contents_are_those_of_the_rooms():
    homes = [getattr(room, name) for room in _rooms().values() for name in room.__all__]
    own = (skcal.metrics, skcal.CalibrationWarning)
    for name in skcal.__all__:
        thing = getattr(skcal, name)
        assert thing in own or any(thing is home for home in homes), name
