# Works on a fresh Debian-like machine. The second call of each target is quick.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup tune test test-all check clean

setup: $(STAMP) simulator rocksdb db_bench
	@$(if $(filter setup,$(MAKECMDGOALS)),echo "setup: done. Next: . $(BIN)/activate; make tune")

$(STAMP): pyproject.toml requirements.lock scripts/make-venv.sh
	@scripts/make-venv.sh $(PYTHON)
	@touch $(STAMP)

.PHONY: rocksdb
rocksdb: $(STAMP) simulator
	@scripts/ensure-rocksdb.sh $(BIN)/lsmtune

.PHONY: db_bench
db_bench: rocksdb
	@scripts/ensure-db-bench.sh $(BIN)/lsmtune

.PHONY: simulator
simulator: $(STAMP)
	@scripts/ensure-simulator.sh

# Needed only to tune MyRocks: a MariaDB server with the RocksDB engine, and sysbench.
.PHONY: myrocks
myrocks: setup
	@scripts/ensure-myrocks.sh

# Needed only for the embedded stores: the libraries of LevelDB and LMDB.
.PHONY: stores
stores: setup
	@scripts/ensure-stores.sh $(BIN)/python

# About ten minutes: tunes RocksDB for overwrites in a running store, verifies the winner, writes
# page and options to lsmtune-data/ and prints their paths.
tune: setup
	@$(BIN)/lsmtune tune --study make-tune --num 100000 --trials 10

# Without the tests that are marked slow; with them it is test-all. ARGS are arguments of pytest.
# SETUP= leaves the set-up out, and nothing is installed.
SETUP := setup
test: $(SETUP)
	@$(MAKE) --no-print-directory cargo-test pytest MARKED='-m "not slow" --durations=0 --durations-min=2'

test-all: $(SETUP)
	@$(MAKE) --no-print-directory cargo-test pytest

# These two install nothing. Each file of tests runs in one process: for quick tests that takes as
# much CPU as work stealing (measured), which makes a slow fixture once in each process.
.PHONY: cargo-test pytest
cargo-test:
	@if [ -z "$$(scripts/cargo-problem.sh)" ]; then cargo test --release --quiet --manifest-path native/Cargo.toml -p lsmsim -p lsmdriver; fi

pytest:
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(MARKED) $(ARGS)

# The numeric tests under the kernels of OpenBLAS that old and new processors run.
# ARGS="--only Haswell tests/learning" chooses kernels and tests.
.PHONY: kernels
kernels: $(SETUP)
	@$(BIN)/python scripts/kernels.py $(ARGS)

# The wheels of lsmtune and of its native module, for x86-64, in dist/.
.PHONY: wheels
wheels: $(STAMP)
	@scripts/wheels.sh $(BIN)

# Installs the wheels and RocksDB in an empty folder as an ordinary user, and tunes.
.PHONY: try-wheels
try-wheels: wheels
	@scripts/try-wheels.sh

# mypy takes about as long as all other checks together, so they run side by side. The Rust code
# needs no .venv.
.PHONY: check-types check-rust check-text
check:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync check-types check-rust check-text

check-types: $(STAMP)
	@$(BIN)/mypy

check-rust:
	@if cargo clippy --version >/dev/null 2>&1; then cargo fmt --all --check --manifest-path native/Cargo.toml && cargo clippy --quiet --manifest-path native/Cargo.toml -- -D warnings; fi

check-text: $(STAMP)
	@$(BIN)/ruff check src tests benchmarks scripts
	@$(BIN)/ruff format --check src tests benchmarks scripts
	@$(BIN)/python scripts/check_links.py
	@$(BIN)/python scripts/plain_text.py

# The documentation site in site/, with the pages that are generated from code and measurements.
.PHONY: docs
docs: $(STAMP) simulator
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@$(BIN)/python scripts/site.py

clean:
	rm -rf .venv site dist native/target .mypy_cache .ruff_cache .pytest_cache .hypothesis
