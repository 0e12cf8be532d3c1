# Everything a newcomer or CI needs. Only Python (3.11 or newer) and make have to be there.
#
#   make demo     read our own technical report and show where the results are
#   make test     run the tests
#   make check    style, types, layers, lengths, and whether the generated docs are fresh
#   make docs     build the documentation into site/

PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo-output
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
REPORT := docs/report/moonpress-report.pdf

.PHONY: help install dev demo test check format docs docs-check docs-generate constraints clean

help:
	@sed -n '3,6s/^# *//p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
	  "Moonpress needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo \
	  "No virtual environment could be made (Debian and Ubuntu: apt install python3-venv)" >&2; \
	  exit 1; }

# A stamp for each set of dependencies, so that a second run installs nothing.
$(VENV)/installed-%: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.$(subst [run],,[$*])'
	@touch $@

install: $(VENV)/installed-run

dev: $(VENV)/installed-dev

demo: install
	$(BIN)/chandra-pdf $(REPORT) --output $(DEMO)/
	@echo
	@echo "The results are in $(abspath $(DEMO)):"
	@ls -1 $(DEMO)
	@echo
	@echo "How $(DEMO)/moonpress-report.md begins:"
	@echo
	@head -n 12 $(DEMO)/moonpress-report.md

test: dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/ratchet.py
	$(BIN)/python scripts/generate_docs.py --check

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs-generate: dev
	$(BIN)/python scripts/generate_docs.py

docs: $(VENV)/installed-docs docs-generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Newest versions of everything, tried in a fresh environment; run the tests before committing it.
constraints:
	rm -rf $(VENV)-constraints
	$(PYTHON) -m venv $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip install --quiet -e '.[dev,docs]'
	$(VENV)-constraints/bin/python -m pip freeze --exclude-editable > constraints.txt
	rm -rf $(VENV)-constraints

clean:
	rm -rf $(VENV) $(DEMO) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
