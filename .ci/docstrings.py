"""Validate the docstrings of what the package makes public, with the checks of pyproject.toml.

numpydoc's own command reads files without importing them: it takes each helper in a private file
for public, and each property for a function.
"""

import functools
import importlib
import inspect
import pkgutil
import sys
import tomllib
from pathlib import Path

from numpydoc.validate import validate

import skcal

MEMBERS = (property, functools.cached_property, classmethod, staticmethod)


def _public_names():
    rooms = [skcal.__name__]
    rooms += [room.name for room in pkgutil.iter_modules(skcal.__path__, "skcal.")]
    for room in (room for room in rooms if "._" not in room):
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if not getattr(thing, "__module__", "").startswith("skcal."):
                continue  # a room or a plain value
            yield f"{room}.{name}"
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, MEMBERS)):
                    yield f"{room}.{name}.{member}"


def _findings(checks):
    for name in _public_names():
        report = validate(name)
        for code, text in report["errors"]:
            if code in checks:
                yield f"{report['file']}:{report['file_line']}: {code} {text}"


config = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
# One name may be public in two rooms.
findings = sorted(set(_findings(config["tool"]["numpydoc_validation"]["checks"])))
if findings:
    sys.exit("\n".join(findings))
