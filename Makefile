# Gatehouse. `make help` lists what can be done.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help run test faults lint types check bench lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

run: $(VENV)/run.done  ## set everything up and serve on 127.0.0.1:8000
	@$(BIN)/gatehouse serve

test: $(VENV)/dev.done  ## set everything up and run every check
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest

faults: $(VENV)/dev.done  ## two hundred faults under load, and a checker that reads the history (a quarter of an hour)
	$(BIN)/python -m tests.faults --faults 200

check: $(VENV)/dev.done  ## formatting, lint, types, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: $(VENV)/dev.done  ## pin the newest versions of all dependencies, with hashes
	$(BIN)/uv pip compile --quiet --upgrade $(LOCK) --group build -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --upgrade $(LOCK) --extra client --group build --group dev -c requirements/run.txt -o requirements/dev.txt

LOCK = pyproject.toml --extra postgres --extra redis --extra mysql --universal --python-version 3.11 \
  --generate-hashes --no-header --no-emit-index-url --annotation-style line

clean:  ## remove the environment and caches; data/ stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/pip.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Gatehouse needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.done: requirements/run.txt pyproject.toml | $(VENV)/pip.done
	@echo "Installing Gatehouse into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.done: requirements/dev.txt pyproject.toml | $(VENV)/pip.done
	@echo "Installing Gatehouse and its test tools into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/run.done
