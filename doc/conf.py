"""Configuration of the documentation; `make doc` builds it."""

import matplotlib

import skcal

matplotlib.use("agg")

project = "skcal"
author = "skcal developers"
copyright = "2026, skcal developers"
version = release = skcal.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "",  # run all of them
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
}
extlinks = {
    "arxiv": ("https://arxiv.org/abs/%s", "arXiv:%s"),
    "doi": ("https://doi.org/%s", "doi:%s"),
}
exclude_patterns = ["_build"]
autodoc_default_options = {"members": True}  # methods carry half of the reference
# numpydoc would list the members of a class without pages for them, each a warning.
numpydoc_show_class_members = False
# The inherited docstrings of scikit-learn refer to pages of its own documentation.
suppress_warnings = ["ref.ref", "ref.term"]
html_theme = "alabaster"
