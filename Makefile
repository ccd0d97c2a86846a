# Every target makes what it needs: on a bare machine `make demo` or `make test` is enough.
# PYTHON=... chooses the interpreter, PYTESTFLAGS=... is added to pytest's arguments.
CANDIDATES = $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
BIN = .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: help demo test verify lint lint-ruff lint-types lint-spelling lint-docstrings bench doc clean

help:
	@echo 'make demo | test | verify | lint | bench | doc | clean   (see CONTRIBUTING.md)'

demo: .venv/.runtime
	@$(BIN)/python -m skcal demo

test: .venv/.extra-test,dask
	@$(BIN)/python -m pytest -n auto $(PYTESTFLAGS)

verify: .venv/.extra-test,dask
	@$(BIN)/python -m pytest -n auto -m verify $(PYTESTFLAGS)

lint: lint-ruff lint-types lint-spelling lint-docstrings

lint-ruff: .venv/.extra-lint
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { \
	  echo 'lint: run .venv/bin/ruff format' >&2; exit 1; }

lint-types: .venv/.extra-lint
	@$(BIN)/mypy --no-error-summary

lint-spelling: .venv/.extra-lint
	@$(BIN)/codespell

lint-docstrings: .venv/.extra-lint
	@$(BIN)/python .ci/docstrings.py

bench: .venv/.extra-bench
	@$(BIN)/python -m tests.benchmarks

doc: .venv/.extra-doc
	@$(BIN)/sphinx-build -q -W --keep-going doc doc/_build
	@echo 'doc/_build/index.html'

clean:
	@rm -rf .venv build dist skcal.egg-info doc/_build doc/generated doc/auto_examples \
	  .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.created:
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    "$$python" -m venv .venv && touch $@; exit; \
	  fi; \
	done; \
	echo 'skcal needs Python 3.11 or newer (tried: $(CANDIDATES)); name one with PYTHON=...' >&2; \
	exit 1

.venv/.runtime: setup.cfg pyproject.toml | .venv/.created
	@echo 'installing skcal into .venv ...'
	@$(INSTALL) .
	@touch $@

.venv/.extra-%: setup.cfg pyproject.toml | .venv/.created
	@echo 'installing skcal[$*] into .venv ...'
	@$(INSTALL) '.[$*]'
	@touch $@
