# Everything a person does with this project. Needs make and a Python of 3.11 or later, nothing else; `make` alone explains.
SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BROWSER := $(VENV)/.browser
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
TEST ?= tests
PYTEST_ARGS ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run demo test check fix promises bench manifest lock clean

help: ## Show this help
	@echo "Steward: a Slack assistant that asks before it changes anything."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "The first command sets up $(VENV) by itself. Settings: see .env.example."

run: $(READY) ## Run it: the playground with the demo model, or Slack if its tokens are set
	@$(BIN)/steward run

demo: $(READY) ## Play a short conversation through the whole program, in this terminal
	@$(BIN)/steward demo

test: $(READY) $(BROWSER) ## Run the tests (TEST=tests/unit for a part)
	@$(BIN)/python -m pytest $(if $(CI),,-q) -n auto $(PYTEST_ARGS) $(TEST)

check: $(READY) ## Lint, formatting and types
	@$(BIN)/ruff check --quiet . && echo "lint: fine"
	@$(BIN)/ruff format --check --quiet . || { echo "formatting: run 'make fix'"; exit 1; }
	@echo "formatting: fine"
	@$(BIN)/mypy

fix: $(READY) ## Format the code and mend what the linter can mend
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

promises: $(READY) ## Measure every promise at full size (some minutes): build/promises.json and a table
	@mkdir -p build
	@$(BIN)/python -m pytest -q -p no:cacheprovider -m promise --full --timeout=1200 --figures=build/promises.json $(PYTEST_ARGS) tests/promises
	@$(BIN)/python scripts/figures.py build/promises.json README.md

bench: $(READY) ## Measure speed and memory
	@$(BIN)/python -m evals.bench

manifest: $(READY) ## Write manifest.yml anew
	@$(BIN)/steward manifest > manifest.yml.new && mv manifest.yml.new manifest.yml && echo "manifest.yml written"

lock: $(READY) ## Choose the versions of all dependencies anew (LOCK_ARGS=--upgrade for newer ones)
	@$(BIN)/python -m venv build/lock && build/lock/bin/python -m pip install -q uv
	@build/lock/bin/uv pip compile -q pyproject.toml --group build --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url $(LOCK_ARGS) -o requirements.lock
	@build/lock/bin/uv pip compile -q pyproject.toml --group build --group dev -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url $(LOCK_ARGS) -o requirements-dev.lock
	@rm -rf build/lock && echo "requirements.lock and requirements-dev.lock written"

clean: ## Remove what was built, the virtual environment included
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is made anew whenever the lock changes; packages are accepted only with the hashes written there.
$(READY): requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Steward needs Python 3.11 or later: install it, or name one with 'make PYTHON=/path/to/python3 …'."; exit 1; }
	@test -x $(BIN)/python || { echo "Setting up $(VENV) with $$($(PYTHON) --version) …"; PYTHON="$(PYTHON)" sh scripts/venv.sh $(VENV); }
	@echo "Installing the locked packages …"
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(BROWSER): $(READY) scripts/browser.sh
	@sh scripts/browser.sh
	@touch $@
