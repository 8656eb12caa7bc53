# make run: open the app · make test: every test · make check: style, types and tests
VENV ?= .venv
BIN := $(VENV)/bin
export TZ := UTC

# make screenshots: a picture of every state of the page
.PHONY: bench spark property screenshots run test check lint chromium clean

run: $(VENV)/.app
	$(BIN)/python -m streamlit run app.py --server.address localhost

test: $(VENV)/.dev chromium
	$(BIN)/python -m pytest $(PYTEST)

check: lint test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

screenshots: $(VENV)/.dev chromium
	$(BIN)/python -m tests.e2e.screenshots

chromium: $(VENV)/.dev
	@.ci/chromium $(VENV)

$(VENV)/.app: requirements.txt
	.ci/venv $(VENV) requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt
	.ci/venv $(VENV) requirements-dev.txt
	@touch $@ $(VENV)/.app

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results build dist

# A longer run of the random plans: make property PLANS=50000
property: $(VENV)/.dev
	PLANS=$(or $(PLANS),20000) $(BIN)/python -m pytest tests/property $(PYTEST)

# The contract's plans on a Spark cluster of this machine: a master, two workers, a Connect server. Needs Java 17 or newer.
spark: $(VENV)-spark/.spark
	$(VENV)-spark/bin/python -m pytest tests/spark --timeout 900 $(PYTEST)

$(VENV)-spark/.spark: requirements.txt requirements-dev.txt
	.ci/venv $(VENV)-spark requirements-dev.txt
	$(VENV)-spark/bin/python -m pip install --quiet "pyspark[connect]==4.3.*"
	@touch $@

# Every benchmark, interleaved in one run: JSON, and docs/benchmarks.md with this machine's facts (about 5 minutes)
bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.harness --page docs/benchmarks.md --json bench-results/benchmarks.json $(BENCH)
