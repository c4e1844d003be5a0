# `make demo` and `make test` need Python 3.11 or newer and make, and set everything else up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEV := .venv/.dev
DOCS := .venv/.docs
DIST := .venv/.dist
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

WORKERS := $(shell $(PYTHON) -c "import os; print(min(os.cpu_count(), 4))")

.PHONY: demo test tests browser lint types format docs external-links dist bench fuzz trust audit clean

demo: $(READY)
	$(BIN)/chmcnn demo --output build/demo --force

# Types and tests side by side: each of them leaves some core idle for a while.
test: lint
	$(MAKE) --no-print-directory --jobs 2 types tests

# One process for each core, as each of them imports everything once more, and one thread for each: torch's own threads would
# get into each other's way. Bytecode is kept, also where the environment says otherwise: each process would
# compile all modules anew. Torch's compiler starts no processes of its own.
tests: $(DEV)
	OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 PYTHONDONTWRITEBYTECODE= \
		$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

# The explorer in Chromium: apt-get install chromium chromium-driver, or the like.
browser: $(DEV)
	$(BIN)/pytest -m browser tests/explorer

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(DEV)
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, in build/docs. Warnings are errors, and so are links without a target and anything loaded from elsewhere; the
# tests run the examples. Links to other sites need the network: make external-links
docs: $(DOCS)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --quiet -d build/doctrees docs build/docs
	$(BIN)/python docs/_extensions/check_site.py build/docs

external-links: $(DOCS)
	$(BIN)/sphinx-build --builder linkcheck --quiet -d build/doctrees docs build/links

# Wheel and source distribution, in build/dist. The wheel is installed into an empty environment, outside of the repository.
dist: $(DIST)
	rm -rf build/dist build/installed
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir build/dist
	$(BIN)/twine check --strict build/dist/*
	$(PYTHON) -m venv build/installed/venv
	build/installed/venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt build/dist/*.whl
	cd build/installed && venv/bin/chmcnn --version && venv/bin/chmcnn demo --output demo && test -s demo/report.html

bench: $(DEV)
	$(BIN)/python -m benchmarks.cost
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.ratios
	$(BIN)/python -m benchmarks.reading
	$(BIN)/python -m benchmarks.ways
	$(BIN)/python -m benchmarks.loss_ways
	$(BIN)/python -m benchmarks.report

# Altered files for every reader: make fuzz INPUTS=100000 takes hours.
INPUTS ?= 1000
fuzz: $(DEV)
	$(BIN)/python -m benchmarks.fuzz --inputs $(INPUTS)
	$(BIN)/python -m benchmarks.report

# All that is counted about faults: altered models, crash points, and disturbed trainings, comparisons and searches.
MINUTES ?= 10
trust: $(DEV)
	$(BIN)/python -m benchmarks.altered
	$(BIN)/python -m benchmarks.crash_points
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)
	$(BIN)/python -m benchmarks.report

# Suspicious code, and known vulnerabilities of the pinned packages where that data can be reached. Its packages have an
# environment of their own: the tests do not need them.
AUDIT := build/audit/.ready
audit: $(AUDIT)
	build/audit/bin/bandit --quiet --recursive --configfile pyproject.toml src
	build/audit/bin/python -m benchmarks.audit

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis

# What a user needs, with the service that the demo names, and nothing for development: `make demo` installs no more.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable ".[serve]"
	touch $@

$(DOCS): $(READY)
	$(PIP) --editable ".[docs]"
	touch $@

$(DIST): $(READY)
	$(PIP) --editable ".[dist]"
	touch $@

$(AUDIT): pyproject.toml constraints.txt
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "bandit[toml]" pip-audit
	touch $@

$(DEV): $(READY)
	$(PIP) --editable ".[dev]"
	touch $@
