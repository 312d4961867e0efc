# Two commands set a bare machine up: `make demo` and `make test`.
# They need Python 3.11 or later with venv, and nothing else.

PYTHON ?= python3
VENV ?= .venv
PIP_CONSTRAINT ?= .ci/constraints.txt
export PIP_CONSTRAINT PIP_DISABLE_PIP_VERSION_CHECK = 1

BIN := $(VENV)/bin
DEMO := $(BIN)/lifelong-gym run --env Database-v0 --tasks builtin --env-arg database=seekdb

.PHONY: help demo test test-all lint bench clean

help:           ## Shows this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## /\t/' | expand -t 16

demo: $(VENV)/.demo    ## Plays the built-in tasks on the embedded engine, right and idle
	@rm -rf runs/demo
	$(DEMO) --agent oracle --output runs/demo/oracle
	$(DEMO) --agent idle --output runs/demo/idle
	@$(BIN)/lifelong-gym report runs/demo/oracle runs/demo/idle

test: $(VENV)/.test    ## Installs what the tests need and runs the fast ones
	$(BIN)/python -m pytest -q -m "not slow"

test-all: $(VENV)/.test    ## Runs every test
	$(BIN)/python -m pytest -q

lint: $(VENV)/.dev    ## Checks style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy lifelong_gym

bench: $(VENV)/.test    ## Measures; asserts nothing
	@for file in tests/benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean:          ## Removes what make made
	rm -rf $(VENV) runs/demo

$(VENV)/.%: pyproject.toml .ci/constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[$*]'
	@touch $@
