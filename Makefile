# Everything a developer needs. `make run` and `make test` do their own set-up.

PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
ARGS ?=
# Browsers at once. More are faster, and each of them slower.
BROWSERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MODULES := node_modules/.installed
BUILT := static/build/.built
# uv takes a fifth of the time of pip. It does not find an index that only pip is configured with.
FROM_LOCK := --quiet --no-deps --require-hashes -r requirements-dev.lock
COMPILE := uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11

# The machine's Node where it is one that package.json's "engines" name; otherwise the one that
# came as a Python wheel.
NODE_FITS := $(shell command -v npm >/dev/null && node -e ' \
	const [major, minor] = process.versions.node.split(".").map(Number); \
	const fits = major >= 24 || (major == 22 && minor >= 13) || (major == 20 && minor >= 19); \
	if (fits) console.log("yes")' 2>/dev/null)
ifeq ($(NODE_FITS),yes)
export PATH := $(PATH):$(CURDIR)/$(BIN)
else
export PATH := $(CURDIR)/$(BIN):$(PATH)
endif
export DJANGO_SETTINGS_MODULE := playground.settings
# Tests start the playground many times: without bytecode each start compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := $(BIN)/pytest --dist=worksteal
# Runs the command of the second argument, and says how long the part in the first has taken.
timed = @start=$$(date +%s); $(2); status=$$?; echo "$(1): $$(($$(date +%s) - start)) s"; exit $$status

.PHONY: help setup run cluster generated quick test test-without-browser test-browser test-scale test-lowest test-peers test-wheel check format bench examples judge load faults simulate lock build wheel browser clean

help: ## Show what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(INSTALLED) build generated ## Install what the playground needs, and build the front end

run: setup ## Serve on http://127.0.0.1:8000 (PORT=8123 for another port)
	@$(BIN)/python manage.py serve --host $(HOST) --port $(PORT) $(ARGS)

cluster: setup ## Serve with PostgreSQL, Redis, nginx, two web processes and two workers (PORT=8123)
	@$(BIN)/python -m tests.qa.cluster --port $(PORT) $(ARGS)

quick: setup ## Run most tests: none that start a process, commit to a database, or generate values
	@$(PYTEST) --numprocesses=2 -m "not process and not slow and not commits and not hypothesis" $(ARGS)

ifdef ARGS
test: setup $(MODULES) browser
	@npm test --silent
	@$(BIN)/pytest -p playwright --override-ini=norecursedirs=tests/qa $(ARGS)
else
test: test-without-browser test-browser ## Run every test, the browser's included (ARGS="-k name")
endif

test-without-browser: setup $(MODULES)
	$(call timed,scripts,npm test --silent)
	$(call timed,tests,$(PYTEST) --numprocesses=auto)
	$(call timed,judge,$(PYTEST) --numprocesses=auto tests/qa/judge)
	$(call timed,simulation,$(PYTEST) --numprocesses=auto tests/qa/simulation)

test-browser: setup $(MODULES) browser
	$(call timed,browsers,$(PYTEST) -p playwright --numprocesses=$(BROWSERS) tests/browser tests/firefox)

test-scale: setup ## Run what needs a database on PostgreSQL and Redis, and in two processes
	@$(BIN)/python -m tests.qa.scale $(ARGS)

test-lowest: setup ## Run tests with the lowest versions that pyproject.toml permits, in an environment of their own
	@$(BIN)/python -m tests.qa.lowest $(ARGS)

test-peers: setup ## Run actions and requests against servers of other packages (ARGS=--all: large ones too)
	@$(BIN)/python -m tests.qa.peers $(ARGS)

test-wheel: setup ## Build the wheel, and start it in an environment of its own
	@$(BIN)/pytest tests/qa/wheel $(ARGS)

check: setup $(MODULES) ## Format, lint, types, templates, scripts, migrations
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy playground
	$(BIN)/lint-imports --no-cache
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	npm run --silent check

format: setup $(MODULES) ## Rewrite the code in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m tests.support.json_layout
	npm run --silent fix

bench: setup browser ## Measure speed and memory; prints the table of docs/benchmarks.md
	@$(BIN)/python -m tests.qa.bench $(ARGS)

examples: setup ## Generate the examples of rules, and the collection of misbehaving agents, from tables
	@$(BIN)/python -m tests.generated
	@$(BIN)/python -m tests.demo.scenarios.collection

judge: setup ## Measure what the conformance rules find in mutants of replies
	@$(BIN)/python -m tests.qa.judge $(ARGS)

load: setup ## Measure latency under load, in turns with a bare server
	@$(BIN)/python -m tests.qa.load $(ARGS)

faults: setup ## Stop databases and processes under load; fails if a run loses anything
	@$(BIN)/python -m tests.qa.faults $(ARGS)

simulate: setup ## Play a hundred thousand schedules of runs, pages and faults in a simulated world
	@$(BIN)/python -m tests.qa.simulation $(ARGS)

lock: $(INSTALLED) ## Write both locks after a change of pyproject.toml (ARGS=--upgrade: newest versions)
	@$(BIN)/$(COMPILE) --all-extras --group dev $(ARGS) pyproject.toml -o requirements-dev.lock
	@# The versions of an existing file are kept, so both locks have the same.
	@cp requirements-dev.lock requirements.lock
	@$(BIN)/$(COMPILE) --extra scale --extra uvicorn pyproject.toml -o requirements.lock

build: $(BUILT)

# What Git ignores and a checkout needs.
generated: $(INSTALLED)
	@$(BIN)/python -m tests.generated --outdated

wheel: setup ## Build the sdist and the wheel in dist/
	@test -e static/build/site/app.js || { echo "The front end was not built." >&2; exit 1; }
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist

browser: $(INSTALLED)
	@$(BIN)/python -m tests.browser.chromium

$(INSTALLED): requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11 …" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Python packages (once) …"
	@{ command -v uv >/dev/null && uv pip install --python $(BIN)/python $(FROM_LOCK); } || \
	$(BIN)/python -m pip install --disable-pip-version-check $(FROM_LOCK)
	@touch $@

$(MODULES): package-lock.json | $(INSTALLED)
	@echo "Installing front-end packages (once) …"
	@npm ci --silent --no-fund --no-audit
	@touch $@

# Without a build the page works all the same, with plain modules and a plain textarea: no
# network for npm is no reason not to start. A build that fails leaves the one before it alone.
$(BUILT): package.json package-lock.json $(shell find static -path static/build -prune -o -type f -print 2>/dev/null) | $(INSTALLED)
	@mkdir -p static/build
	@if $(MAKE) --silent --no-print-directory $(MODULES) && npm run --silent build; then touch $@; \
	elif test -e static/build/site/app.js; then \
		echo "The front end was not built again; the page uses the build before." >&2; \
	else echo "The front end was not built; the page will use a plain textarea." >&2; fi

clean: ## Remove what was installed and built; data in var/ stays
	rm -rf $(VENV) node_modules static/build playground/generated/*.json .mypy_cache .ruff_cache .pytest_cache
	rm -rf tests/qa/peers/*/.venv tests/qa/peers/*/node_modules
