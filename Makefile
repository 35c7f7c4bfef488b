# Everything runs in a virtual environment of its own, .venv; nothing else is touched.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check -q
# Versions that the tests were last run with. Users are not bound by them.
LOCKED = -c constraints.txt

# A test that starts `rpms` anew would compile all of it anew.
unexport PYTHONDONTWRITEBYTECODE

# Some tests wait (for servers, for processes to end): one worker more than processors keeps all of these busy.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')

EXTRAS = anthropic,scienceworld,report,ray,inspect,mcp,gym,openenv
# Folders of packages that no test imports: why compile them?
UNUSED = tests|rllib|ray/(data|train|tune|serve|llm)|inspect_evals|pip|debugpy|setuptools|datasets|mypyc
# Worlds that are packages of their own, each with its simulator.
WORLDS = examples/textworld_express examples/tau2_telecom

.PHONY: help install base docs quickstart requests readme test test-all lint types floors imports pytest coverage constraints audit golden benchmarks clean

help:
	@echo "make quickstart   the 2x2 ablation on embedded games, by a program and by recorded LLMs: tables and a page"
	@echo "make requests     goals in people's own words, read by a recorded LLM and played by a program"
	@echo "make test         install what the tests need and run them all"
	@echo "make coverage     the tests, and what of the code they reach"
	@echo "make test-all     the same with transformers, and with every ScienceWorld variation: heavy, and long"
	@echo "make docs         the documentation as a site, in build/docs"
	@echo "make imports      who imports whom, by folder"
	@echo "make golden       whole episodes, pages and manuals are the same to the byte: tests/golden/README.md"
	@echo "make constraints  renew the versions that the tests run with; make audit looks them up among known vulnerabilities"
	@echo "make benchmarks   print what things cost, as ratios"

$(VENV)/.python: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "RPMS needs Python 3.11 or later")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

# Few of the modules are ever imported: each is compiled when it is.
$(VENV)/.base: $(VENV)/.python constraints.txt
	$(PIP) install --no-compile $(LOCKED) -e '.[report]'
	touch $@

$(VENV)/.test: $(VENV)/.python constraints.txt $(WORLDS:=/pyproject.toml)
	$(PIP) install 'pip>=25.1'  # knows dependency groups
	$(PIP) install --no-compile $(LOCKED) -e '.[$(EXTRAS)]' $(WORLDS:%=-e ./%) --group test
	-$(BIN)/python -m compileall -qq -j 0 -x '/($(UNUSED))/' $(VENV)/lib  # pip uses one processor, and compiles all
	touch $@

install: $(VENV)/.test

base: $(VENV)/.base

$(VENV)/.docs: $(VENV)/.base
	$(PIP) install 'pip>=25.1'
	$(PIP) install --no-compile $(LOCKED) --group docs
	touch $@

# The pages of docs/ as a site that opens from disk.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo open build/docs/index.html

quickstart: $(VENV)/.base
	$(BIN)/rpms study run studies/quickstart.yaml --out runs/quickstart --no-report  # the last one writes the page of all
	$(BIN)/rpms study run studies/quickstart_taught.yaml --out runs/quickstart --no-report
	$(BIN)/rpms study run studies/quickstart_model.yaml --out runs/quickstart
	$(BIN)/rpms table overview runs/quickstart

# Goals in people's own words; as much to compute as all of the quickstart.
requests: $(VENV)/.base
	$(BIN)/rpms study run studies/quickstart_requests.yaml --out runs/quickstart-requests

# The table of the README, from the runs of the quickstart.
readme: quickstart
	$(BIN)/rpms table overview runs/quickstart --into README.md

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

floors: $(VENV)/.test
	$(BIN)/lint-imports --no-cache

imports: $(VENV)/.test
	$(BIN)/python benchmarks/imports.py

pytest: $(VENV)/.test
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

coverage: $(VENV)/.test
	$(BIN)/pytest -n auto --cov --cov-report=term:skip-covered

# The slow checks run beside the tests: each of them keeps one processor busy, and no more.
test: lint
	$(MAKE) --no-print-directory -j types floors pytest

test-all: lint types floors
	$(PIP) install $(LOCKED) -e '.[$(EXTRAS),hf,teach]' $(WORLDS:%=-e ./%) --group test --group docs
	RPMS_SLOW=1 RPMS_EXPLORE=1 $(BIN)/pytest -n auto

# The newest versions that pyproject.toml allows, installed in an environment of their own.
constraints:
	rm -rf $(VENV)-newest && $(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python -m pip -q install 'pip>=25.1'
	$(VENV)-newest/bin/python -m pip -q install -e '.[$(EXTRAS)]' $(WORLDS:%=-e ./%) --group test
	grep '^#' constraints.txt > constraints.new
	$(VENV)-newest/bin/python -m pip freeze --exclude-editable >> constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-newest

# Needs a network: pip-audit asks the Python Packaging Advisory Database about each line. Strict: a line
# that could not be looked up fails, and is not counted as sound.
audit:
	rm -rf $(VENV)-audit && $(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip -q install pip-audit
	$(VENV)-audit/bin/pip-audit --strict --requirement constraints.txt --disable-pip --no-deps
	rm -rf $(VENV)-audit

golden: $(VENV)/.test
	$(BIN)/python tests/golden/record.py

benchmarks: $(VENV)/.test
	for program in $(filter-out benchmarks/small_model.py benchmarks/amlgym_%.py,$(wildcard benchmarks/*.py examples/*/benchmark.py)); do echo "== $$program"; $(BIN)/python $$program || exit 1; done

clean:
	rm -rf $(VENV) $(VENV)-newest $(VENV)-audit runs .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
