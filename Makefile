# `make demo` and `make test` need Python 3.11 or newer and make, and set everything else up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEV := .venv/.dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

WORKERS := $(shell $(PYTHON) -c "import os; print(min(os.cpu_count(), 3) + 1)")

.PHONY: demo test tests browser lint types format bench fuzz clean

demo: $(READY)
	$(BIN)/chmcnn demo --output build/demo --force

# Types and tests side by side: each of them leaves some core idle for a while.
test: lint
	$(MAKE) --no-print-directory --jobs 2 types tests

# One process more than there are cores, as some tests wait for processes of their own, and one thread for each: torch's own
# threads would get into each other's way. Bytecode is kept, also where the environment says otherwise: each process would
# compile all modules anew.
tests: $(DEV)
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

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

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis

# What a user needs, and nothing for development: `make demo` installs no more than this.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

$(DEV): $(READY)
	$(PIP) --editable ".[dev]"
	touch $@
